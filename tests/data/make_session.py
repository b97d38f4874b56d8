#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the small models of the session tests into session/ (needs: onnx, numpy).

deciders  inputs whose values decide shapes, an axis and a branch
swallow   convolutions whose inner tensors fusion swallows
spin      a loop that runs as often as its input says
folded    an operator of the application over a constant
custom    operators that only their application knows
weighty   convolutions and a product whose packed weights are most of what they need
huge      movement into more elements than 64 bits count
wide      windows over more padding than any machine holds
"""
import os

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "session")


def save(name, nodes, inputs, outputs, initialisers=()):
    graph = h.make_graph(nodes, name, inputs, outputs, list(initialisers))
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, os.path.join(HERE, name + ".onnx"))


def value(name, kind, shape):
    return h.make_tensor_value_info(name, kind, shape)


def deciders():
    def branch(name, node):
        return h.make_graph([node], name, [], [value(node.output[0], T.FLOAT, None)])

    one = nh.from_array(np.float32(1), "one")
    nodes = [
        h.make_node("Reshape", ["x", "shape"], ["reshaped"]),
        h.make_node("Slice", ["x", "starts", "ends", "axes"], ["sliced"]),
        h.make_node("TopK", ["x", "k"], ["top", "where"]),
        h.make_node("If", ["cond"], ["chosen"], then_branch=branch("yes", h.make_node("Add", ["x", "one"], ["plus"])),
                    else_branch=branch("no", h.make_node("Concat", ["x", "x"], ["twice"], axis=0))),
    ]
    inputs = [value("x", T.FLOAT, [2, 6]), value("shape", T.INT64, [None]), value("starts", T.INT64, [1]), value("ends", T.INT64, [1]),
              value("k", T.INT64, [1]), value("cond", T.BOOL, [])]
    outputs = [value("reshaped", T.FLOAT, None), value("sliced", T.FLOAT, None), value("top", T.FLOAT, None),
               value("where", T.INT64, None), value("chosen", T.FLOAT, None)]
    save("deciders", nodes, inputs, outputs, [one, nh.from_array(np.array([1], np.int64), "axes")])


def swallow():
    r = np.random.default_rng(1)
    weights = [nh.from_array((r.standard_normal(s) * 0.2).astype(np.float32), n)
               for n, s in (("w1", (20, 3, 3, 3)), ("w2", (20, 20, 1, 1)), ("w3", (20, 1, 3, 3)))]
    nodes = [
        h.make_node("Conv", ["x", "w1"], ["c1"], pads=[1, 1, 1, 1]),
        h.make_node("Relu", ["c1"], ["r1"]),
        h.make_node("Conv", ["r1", "w2"], ["c2"]),
        h.make_node("Add", ["c2", "r1"], ["sum"]),
        h.make_node("Sigmoid", ["sum"], ["gate"]),
        h.make_node("Mul", ["sum", "gate"], ["silu"]),
        h.make_node("Conv", ["silu", "w3"], ["c3"], group=20, pads=[1, 1, 1, 1]),
        h.make_node("GlobalAveragePool", ["c3"], ["pooled"]),
        h.make_node("Flatten", ["pooled"], ["flat"]),
        h.make_node("Softmax", ["flat"], ["y"]),
        h.make_node("Tanh", ["r1"], ["side"]),
    ]
    save("swallow", nodes, [value("x", T.FLOAT, ["n", 3, "h", "w"])], [value("y", T.FLOAT, None), value("side", T.FLOAT, None)], weights)


def spin():
    body = h.make_graph([h.make_node("MatMul", ["state", "w"], ["next"]), h.make_node("Identity", ["cond_in"], ["cond_out"])], "body",
                        [value("i", T.INT64, []), value("cond_in", T.BOOL, []), value("state", T.FLOAT, [64, 64])],
                        [value("cond_out", T.BOOL, []), value("next", T.FLOAT, [64, 64])])
    nodes = [h.make_node("Loop", ["count", "", "x"], ["y"], body=body)]
    w = nh.from_array(np.eye(64, dtype=np.float32), "w")
    save("spin", nodes, [value("count", T.INT64, []), value("x", T.FLOAT, [64, 64])], [value("y", T.FLOAT, [64, 64])], [w])


def custom():
    own = {"domain": "com.example"}
    nodes = [h.make_node("Ramp", ["x"], ["y"], name="ramp", slope=2.0, **own), h.make_node("Add", ["y", "y"], ["twice"]),
             h.make_node("Above", ["twice", "limit"], ["kept"], name="above", **own)]
    graph = h.make_graph(nodes, "custom", [value("x", T.FLOAT, ["n"]), value("limit", T.FLOAT, [])],
                         [value("twice", T.FLOAT, ["n"]), value("kept", T.FLOAT, ["m"])])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17), h.make_opsetid("com.example", 2)], ir_version=8)
    onnx.save(model, os.path.join(HERE, "custom.onnx"))


def folded():
    own = {"domain": "com.example"}
    nodes = [h.make_node("Ramp", ["c"], ["r"], name="ramp", **own), h.make_node("Add", ["x", "r"], ["s"]), h.make_node("Relu", ["s"], ["t"]),
             h.make_node("Neg", ["t"], ["y"])]
    graph = h.make_graph(nodes, "folded", [value("x", T.FLOAT, [4])], [value("y", T.FLOAT, [4])], [nh.from_array(np.arange(4, dtype=np.float32), "c")])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17), h.make_opsetid("com.example", 2)], ir_version=8)
    onnx.save(model, os.path.join(HERE, "folded.onnx"))


def huge():
    repeats = nh.from_array(np.array([1 << 40, 1 << 40, 2], np.int64), "repeats")
    dims = nh.from_array(np.array([1 << 40, 1 << 40, 3], np.int64), "dims")
    nodes = [h.make_node("Tile", ["x", "repeats"], ["tiled"]), h.make_node("Expand", ["x", "dims"], ["expanded"]),
             h.make_node("Transpose", ["tiled"], ["y"]), h.make_node("Transpose", ["expanded"], ["z"])]
    save("huge", nodes, [value("x", T.FLOAT, [1, 1, 3])], [value("y", T.FLOAT, None), value("z", T.FLOAT, None)], [repeats, dims])


def wide():
    w = nh.from_array(np.ones((1, 1, 3, 3), np.float32), "w")
    pads = [0, 1 << 30, 0, 1 << 30]
    nodes = [h.make_node("Conv", ["x", "w"], ["c"], pads=pads), h.make_node("Relu", ["c"], ["y"]),
             h.make_node("AveragePool", ["x"], ["z"], kernel_shape=[3, 3], pads=pads, count_include_pad=1)]
    save("wide", nodes, [value("x", T.FLOAT, ["n", 1, 4, 4])], [value("y", T.FLOAT, None), value("z", T.FLOAT, None)], [w])


def weighty():
    r = np.random.default_rng(5)
    weights = [nh.from_array((r.standard_normal(s) * 0.1).astype(np.float32), n)
               for n, s in (("w1", (32, 16, 3, 3)), ("w2", (32, 32, 3, 3)), ("w3", (32, 96)))]
    nodes = [h.make_node("Conv", ["x", "w1"], ["c1"], pads=[1, 1, 1, 1]), h.make_node("Relu", ["c1"], ["r1"]),
             h.make_node("Conv", ["r1", "w2"], ["c2"], pads=[1, 1, 1, 1]), h.make_node("GlobalAveragePool", ["c2"], ["g"]),
             h.make_node("Flatten", ["g"], ["f"]), h.make_node("MatMul", ["f", "w3"], ["y"])]
    save("weighty", nodes, [value("x", T.FLOAT, [1, 16, 16, 16])], [value("y", T.FLOAT, [1, 96])], weights)


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    deciders()
    swallow()
    spin()
    custom()
    folded()
    weighty()
    huge()
    wide()
