#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the small ONNX models that the importer's tests read (tests/data/onnx/*.onnx).

usage: make_onnx.py [FOLDER]     needs: onnx 1.23, numpy, ml_dtypes

Each model shows one side of the format: how names, tensors, functions, bodies and old operator sets are written. They are not
meant to be run. The bytes are kept in the tree; this script says how they came about.
"""
import os
import sys

import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, dtype=F32, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def node(op, inputs, outputs, name="", **attrs):
    return helper.make_node(op, inputs.split(), outputs.split(), name=name, **attrs)


def model(nodes, inputs, outputs, opset=21, ir=10, inits=(), functions=(), domains=()):
    graph = helper.make_graph(nodes, "test", inputs, outputs, initializer=list(inits))
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, v) for d, v in domains]
    m = helper.make_model(graph, opset_imports=imports, functions=list(functions), producer_name="tests")
    m.ir_version = ir
    return m


def ints(name, *v):
    return numpy_helper.from_array(np.array(v, np.int64), name)


def reals(name, *v):
    return numpy_helper.from_array(np.array(v, np.float32), name)


def names():
    """Nodes without names, a result that is an input, one given twice, symbols, metadata, an initialiser that is an input too."""
    m = model([node("Add", "x w", "sum"), node("Relu", "sum", "y", "the relu"), node("Neg", "sum", "unused")],
              [info("x", F32, ["batch", 3, "size", None]), info("w", F32, [3, 1, 1])],
              [info("y"), info("y"), info("x")], ir=3, opset=8, inits=[numpy_helper.from_array(np.ones((3, 1, 1), np.float32), "w")])
    m.producer_version = "2"
    helper.set_model_props(m, {"author": "nobody", "licence": ""})
    return m


def tensors():
    """Every way in which elements are written. The identities make them results."""
    made = []

    def typed(name, dtype, dims, **fields):
        t = TensorProto(name=name, data_type=dtype, dims=dims)
        for key, value in fields.items():
            if key == "raw_data":
                t.raw_data = value
            else:
                getattr(t, key).extend(value)
        made.append(t)
    typed("f32_raw", F32, [2], raw_data=np.array([1.5, -2], np.float32).tobytes())
    typed("f32_list", F32, [3], float_data=[1, 2, 3])
    typed("f64_list", TensorProto.DOUBLE, [1], double_data=[0.1])
    typed("f16_list", TensorProto.FLOAT16, [2], int32_data=[0x3C00, 0xC000])
    typed("bf16_list", TensorProto.BFLOAT16, [1], int32_data=[0x3F80])
    typed("i8_list", TensorProto.INT8, [2], int32_data=[-1, 127])
    typed("u8_list", TensorProto.UINT8, [2], int32_data=[0, 255])
    typed("i16_list", TensorProto.INT16, [1], int32_data=[-300])
    typed("i32_list", TensorProto.INT32, [1], int32_data=[-70000])
    typed("u32_list", TensorProto.UINT32, [1], uint64_data=[4000000000])
    typed("u64_list", TensorProto.UINT64, [1], uint64_data=[1 << 63])
    typed("i64_list", I64, [2], int64_data=[-1, 1 << 40])
    typed("bool_list", BOOL, [3], int32_data=[1, 0, 7])
    typed("bool_raw", BOOL, [3], raw_data=b"\x01\x00\x02")
    typed("i4_raw", TensorProto.INT4, [3], raw_data=b"\x8f\x07")
    typed("u4_list", TensorProto.UINT4, [3], int32_data=[0x8F, 0x07])
    typed("u2_raw", TensorProto.UINT2, [5], raw_data=b"\xe4\x03")
    typed("i2_raw", TensorProto.INT2, [4], raw_data=b"\xe4")
    typed("c64_list", TensorProto.COMPLEX64, [1], float_data=[1, 2])
    typed("none_raw", F32, [2, 0], raw_data=b"")
    typed("scalar", F32, [], float_data=[7])
    nodes = [node("Identity", t.name, "out_" + t.name) for t in made]
    return model(nodes, [], [info("out_" + t.name, t.data_type, None) for t in made], ir=14, opset=28, inits=made)


def constants():
    """All forms of the operator Constant, and a tensor in an attribute."""
    nodes = [node("Constant", "", "c_int", value_int=3), node("Constant", "", "c_float", value_float=0.5),
             node("Constant", "", "c_ints", value_ints=[1, 2]), node("Constant", "", "c_floats", value_floats=[1.0, 2.0]),
             node("Constant", "", "c_tensor", value=reals("t", 4, 5)),
             node("ConstantOfShape", "c_ints", "made", value=ints("v", 9)), node("ConstantOfShape", "c_ints", "zeros")]
    return model(nodes, [], [info(n, F32, None) for n in ("c_int", "c_float", "c_floats", "c_tensor", "made", "zeros")])


def reference(attr, of, kind):
    return AttributeProto(name=attr, ref_attr_name=of, type=kind)


def functions():
    """Calls in calls, attributes by reference and by default, an operand left out, an operand handed through."""
    leaky = node("LeakyRelu", "a", "b")
    leaky.attribute.append(reference("alpha", "slope", AttributeProto.FLOAT))
    inner = helper.make_function("own", "Inner", ["a"], ["b"], [leaky], [helper.make_opsetid("", 21)], [],
                                 [helper.make_attribute("slope", 0.25)])
    call = node("Inner", "x", "t", domain="own")
    call.attribute.append(reference("slope", "steep", AttributeProto.FLOAT))
    clip = node("Clip", "t low high", "u")
    outer = helper.make_function("own", "Outer", ["x", "low", "high"], ["u", "x"],
                                 [call, clip], [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)], ["steep"])
    nodes = [node("Outer", "in zero", "one same", "first", domain="own", steep=0.5),
             node("Outer", "one  one_high".replace("  ", " "), "two", "second", domain="own"),
             node("Inner", "two", "three", "third", domain="own")]
    nodes[1].input[:] = ["one", "", "high"]
    return model(nodes, [info("in", F32, [2])], [info("three"), info("same")], functions=[inner, outer], domains=[("own", 1)],
                 inits=[numpy_helper.from_array(np.float32(0), "zero"), numpy_helper.from_array(np.float32(6), "high")])


def graph(name, nodes, inputs, outputs, inits=()):
    return helper.make_graph(nodes, name, inputs, [info(o) for o in outputs], initializer=list(inits))


def control():
    """If whose branches capture different values, one nested in the other; Loop and Scan with captures."""
    deep_then = graph("deep_then", [node("Add", "p x", "d1")], [], ["d1"])
    deep_else = graph("deep_else", [node("Identity", "y", "d2")], [], ["d2"])
    then = graph("then", [node("Mul", "x k", "p"), node("If", "cond", "q", "inner", then_branch=deep_then, else_branch=deep_else)], [],
                 ["q"])
    other = graph("other", [node("Sub", "y own", "r")], [], ["r"], [reals("own", 2)])
    body = graph("body", [node("Add", "sum x", "next"), node("Identity", "go", "on"), node("Mul", "next k", "line")],
                 [info("i", I64, []), info("go", BOOL, []), info("sum", F32, [2])], ["on", "next", "line"])
    step = graph("step", [node("Add", "s e", "s2"), node("Add", "s2 y", "o")], [info("s", F32, [2]), info("e", F32, [2])], ["s2", "o"])
    nodes = [node("If", "cond", "chosen", "choose", then_branch=then, else_branch=other),
             node("Loop", "trips cond chosen", "total lines", "repeat", body=body),
             node("Scan", "x lines", "state rows", "walk", body=step, num_scan_inputs=1)]
    return model(nodes, [info("x", F32, [2]), info("y", F32, [2]), info("cond", BOOL, []), info("trips", I64, [])],
                 [info("total"), info("state"), info("rows")], inits=[reals("k", 3)])


def opset6():
    """Operands laid along an axis, attributes that became operands, operators before numpy's broadcasting."""
    nodes = [node("Add", "x c", "a1", axis=1, broadcast=1), node("Mul", "a1 c2", "a2", broadcast=1), node("PRelu", "a2 c", "a3"),
             node("Clip", "a3", "a4", min=0.0, max=6.0), node("Reshape", "a4 shape", "a5"), node("Dropout", "a5", "a6 mask", ratio=0.3),
             node("Softmax", "a6", "a7"), node("BatchNormalization", "x c c c c", "b1", is_test=1), node("Pad", "b1", "b2", pads=[0] * 8,
                                                                                                       mode="reflect"),
             node("Slice", "b2", "b3", starts=[1], ends=[2]), node("Squeeze", "b3", "b4", axes=[0]), node("ReduceSum", "b4", "b5", axes=[1]),
             node("Cast", "b5", "b6", to=I64), node("Split", "x", "s1 s2", axis=1, split=[1, 2]), node("Concat", "s1 s2", "s3", axis=1),
             node("TopK", "a7", "t1 t2", k=2), node("Gemm", "a6 g g", "g1", broadcast=1, transB=1)]
    return model(nodes, [info("x", F32, [2, 3, 4, 4])], [info(n) for n in ("g1", "b6", "s3", "t1", "t2", "mask")], opset=6, ir=3,
                 inits=[reals("c", 1, 2, 3), numpy_helper.from_array(np.ones((4, 4), np.float32), "c2"), ints("shape", 2, 48),
                        numpy_helper.from_array(np.ones((48, 48), np.float32), "g")])


def opset10():
    """Meanings that ended with opset 10 to 12."""
    nodes = [node("Upsample", "x scales", "u1", mode="linear"), node("Resize", "u1 small", "u2"), node("Slice", "u2 from to", "u3"),
             node("Softmax", "u3", "m1", axis=1), node("LogSoftmax", "flat", "m2", axis=1), node("Hardmax", "unknown", "m3"),
             node("Dropout", "m1", "d1 d2"), node("TopK", "d1 from", "k1 k2", axis=1), node("Clip", "half", "h1", min=-1.0),
             node("Cast", "flat", "half", to=TensorProto.FLOAT16), node("Unsqueeze", "m2", "q1", axes=[0, 1]),
             node("Pad", "x", "p1", pads=[0] * 8, value=1.0)]
    nodes = [nodes[i] for i in (0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 10, 11)]
    return model(nodes, [info("x", F32, [1, 3, 4, 4]), info("flat", F32, [2, 5]), info("unknown", F32, None)],
                 [info(n) for n in ("m3", "d2", "k1", "k2", "h1", "q1", "p1")], opset=10, ir=5,
                 inits=[reals("scales", 1, 1, 2, 2), reals("small", 1, 1, 0.5, 0.5), ints("from", 1), ints("to", 3)])


def resize13():
    """Empty operands that stand for absent ones; recurrent layers; quantisation."""
    nodes = [node("Resize", "x none none sizes", "r1", mode="linear", coordinate_transformation_mode="align_corners"),
             node("LSTM", "seq w r", "y1 y2", direction="reverse", hidden_size=2, activations=["Sigmoid", "Tanh", "HardSigmoid"],
                  activation_alpha=[0.3], clip=3.0),
             node("QuantizeLinear", "x s z", "q1", axis=0), node("DequantizeLinear", "q1 s z", "q2")]
    nodes[1].output[:] = ["", "y2"]
    return model(nodes, [info("x", F32, [1, 3, 4, 4]), info("seq", F32, [5, 1, 3])], [info(n) for n in ("r1", "y2", "q2")], opset=13, ir=7,
                 inits=[reals("none"), ints("sizes", 1, 3, 8, 8), reals("s", 0.5), numpy_helper.from_array(np.array([3], np.uint8), "z"),
                        numpy_helper.from_array(np.ones((1, 8, 3), np.float32), "w"), numpy_helper.from_array(np.ones((1, 8, 2), np.float32), "r")])


def contrib():
    """Operators of com.microsoft."""
    ms = {"domain": "com.microsoft"}
    nodes = [node("BiasGelu", "x b", "g1", **ms), node("FastGelu", "g1", "g2", **ms), node("QuickGelu", "g2", "g3", alpha=1.5, **ms),
             node("SkipLayerNormalization", "g3 x b b b", "n1 n2 n3 n4", epsilon=0.001, **ms),
             node("FusedMatMul", "n1 x", "f1", transB=1, alpha=0.5, **ms),
             node("FusedConv", "im w", "f2", kernel_shape=[1, 1], activation="LeakyRelu", activation_params=[0.1], **ms),
             node("FusedConv", "im w", "f3", kernel_shape=[1, 1], activation="Relu", **ms)]
    nodes[3].output[:] = ["n1", "", "", "n4"]
    return model(nodes, [info("x", F32, [2, 4]), info("im", F32, [1, 3, 2, 2])], [info(n) for n in ("f1", "f2", "f3", "n4")], opset=13, ir=7,
                 domains=[("com.microsoft", 1)], inits=[reals("b", 1, 2, 3, 4), numpy_helper.from_array(np.ones((2, 3, 1, 1), np.float32), "w")])


def many():
    """More operands than a kernel takes."""
    return model([node("Concat", " ".join(["x"] * 130), "y", axis=0), node("Sum", " ".join(["x"] * 65), "z")], [info("x", F32, [1])],
                 [info("y"), info("z")])


def unsupported():
    """What cannot be mapped, in the graph, in a body and in a function."""
    branch = graph("branch", [node("Beyond", "x", "t", "deep", domain="far")], [], ["t"])
    other = graph("other", [node("Identity", "x", "e")], [], ["e"])
    function = helper.make_function("own", "F", ["a"], ["b"], [node("Nothing", "a", "b", "within")], [helper.make_opsetid("", 21)])
    nodes = [node("If", "c", "y", "choose", then_branch=branch, else_branch=other), node("Relu", "y", "z", "odd", slope=1.0),
             node("F", "z", "v", "call", domain="own"), node("Upsample", "v", "w", "late"),
             node("ReduceSum", "w", "r", "fine")]
    return model(nodes, [info("x", F32, [1]), info("c", BOOL, []), info("s", TensorProto.STRING, [1]),
                         helper.make_tensor_sequence_value_info("q", F32, None)], [info("r")],
                 functions=[function], domains=[("own", 1), ("far", 2)])


def external():
    """Weights in another file: two tensors of one file, one packed."""
    def outside(name, dtype, dims, offset, length):
        t = TensorProto(name=name, data_type=dtype, dims=dims, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "external.bin"), ("offset", str(offset)), ("length", str(length))):
            entry = t.external_data.add()
            entry.key, entry.value = key, value
        return t
    return model([node("Add", "a a", "y"), node("Cast", "b", "z", to=F32)], [], [info("y"), info("z")],
                 inits=[outside("a", F32, [2], 3, 8), outside("b", TensorProto.UINT4, [3], 1, 2)])


def quantised():
    """Quantised operators of com.microsoft."""
    ms = {"domain": "com.microsoft"}
    nodes = [node("QLinearSigmoid", "q s z s z", "a1", **ms), node("QLinearLeakyRelu", "a1 s z s z", "a2", alpha=0.2, **ms),
             node("QLinearAveragePool", "a2 s z s z", "a3", kernel_shape=[2, 2], **ms),
             node("QLinearGlobalAveragePool", "a3 s z s z", "a4", channels_last=0, **ms),
             node("QLinearSoftmax", "a3 s z s z", "a5", axis=-1, opset=13, **ms), node("QLinearAdd", "a3 s z a5 s z s z", "a6", **ms),
             node("QLinearMul", "a3 s z a5 s z s z", "a7", **ms), node("QLinearConcat", "s z a6 s z a7 s z", "a8", axis=1, **ms),
             node("QGemm", "m s z m s z c", "g1", transA=1, transB=1, alpha=0.5, **ms), node("QGemm", "m s z m s z c s z", "g2", **ms),
             node("MatMulIntegerToFloat", "m m s s z z bias", "g3", **ms), node("DynamicQuantizeMatMul", "g3 m s", "g4", **ms)]
    return model(nodes, [info("q", TensorProto.UINT8, [1, 3, 4, 4]), info("m", TensorProto.UINT8, [2, 2])],
                 [info(n) for n in ("a4", "a8", "g1", "g2", "g4")], opset=13, ir=7, domains=[("com.microsoft", 1)],
                 inits=[numpy_helper.from_array(np.float32(0.5), "s"), numpy_helper.from_array(np.uint8(3), "z"),
                        numpy_helper.from_array(np.array([7, 8], np.int32), "c"), reals("bias", 1, 2)])


def domains():
    """Graphs read in place, operators of the smaller domains, the Scan of opset 8."""
    score = graph("score", [node("Mul", "s two", "t"), node("Tanh", "t", "u")], [info("s")], ["u"], [reals("two", 2)])
    body = graph("body", [node("Add", "sum e", "next"), node("Mul", "next k", "line")], [info("sum", F32, [2]), info("e", F32, [2])],
                 ["next", "line"])
    nodes = [node("FlexAttention", "q kv kv", "f", "flex", domain="ai.onnx.preview", score_mod=score, scale=0.25),
             node("Adam", "rate t x g v h", "x2 v2 h2", domain="ai.onnx.preview.training", norm_coefficient=0.1),
             node("Binarizer", "x", "b", domain="ai.onnx.ml", threshold=0.5),
             node("ArrayFeatureExtractor", "x at", "e", domain="ai.onnx.ml"),
             node("Scan", "none init seq", "final lines", "old", body=body, num_scan_inputs=1, directions=[1])]
    nodes[4].input[0] = ""
    m = model(nodes, [info("q", F32, [1, 4, 2, 8]), info("kv", F32, [1, 2, 3, 8]), info("rate", F32, []), info("t", I64, []),
                      info("x", F32, [2]), info("g", F32, [2]), info("v", F32, [2]), info("h", F32, [2]), info("init", F32, [1, 2]),
                      info("seq", F32, [1, 3, 2])],
              [info(n) for n in ("f", "x2", "v2", "h2", "b", "e", "final", "lines")], opset=8, ir=7,
              domains=[("ai.onnx.preview", 1), ("ai.onnx.preview.training", 1), ("ai.onnx.ml", 1)],
              inits=[reals("k", 3), ints("at", 1)])
    return m


MODELS = [names, tensors, constants, functions, control, opset6, opset10, resize13, contrib, many, unsupported, external, quantised, domains]


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx")
    os.makedirs(folder, exist_ok=True)
    for make in MODELS:
        with open(os.path.join(folder, make.__name__ + ".onnx"), "wb") as file:
            file.write(make().SerializeToString(deterministic=True))
    with open(os.path.join(folder, "external.bin"), "wb") as file:
        file.write(b"\x00\x21\x03" + np.array([1.5, 2.5], np.float32).tobytes())


if __name__ == "__main__":
    main()
