#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every operator with every element type that its ONNX schema allows, on the inputs of the standard's own first test of the operator.

usage: test_types.py [--only OPERATOR] [--verbose]      exit status 77 when the onnx package is not there

A type that the schema allows must be taken, and give a result of the type that the schema says. Where the standard's reference evaluator takes
it too, the numbers are compared (8- and 4-bit floats and 2- and 4-bit integers aside, whose rounding in it is numpy's, not the operator's).
"""
import argparse
import logging
import sys
import warnings
from pathlib import Path

try:
    import ml_dtypes
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
    from onnx.backend.test.loader import load_model_tests
    from onnx.reference import ReferenceEvaluator
except ImportError:
    print("the onnx package is not there: skipped")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings" / "python"))
import tenon

logging.getLogger("tenon").setLevel(logging.ERROR)
warnings.simplefilter("ignore")
np.seterr(all="ignore")

KINDS = {"float": "float32", "double": "float64", "float16": "float16", "bfloat16": "bfloat16", "bool": "bool", "string": "object",
         "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8", "uint16": "uint16", "uint32": "uint32",
         "uint64": "uint64", "int4": "int4", "uint4": "uint4", "int2": "int2", "uint2": "uint2", "complex64": "complex64",
         "complex128": "complex128", "float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz", "float8e5m2": "float8_e5m2",
         "float8e5m2fnuz": "float8_e5m2fnuz", "float4e2m1": "float4_e2m1fn", "float8e8m0": "float8_e8m0fnu"}
WIDE = {"float32", "float64", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
# What a type makes meaningless on the inputs or attributes of the test that is taken.
NOT_MEANT = {
    "BitCast": None,            # types of another width than the attribute's
    "LabelEncoder": None, "TreeEnsemble": None, "TfIdfVectorizer": {"tensor(string)"},     # types that contradict the attributes' tensors
    "ImageDecoder": None,       # other bytes are no picture
    "Col2Im": {"tensor(string)", "tensor(complex64)", "tensor(complex128)"},               # sums of strings
    "GridSample": {"tensor(string)", "tensor(bool)", "tensor(complex64)", "tensor(complex128)"},   # linear mixtures; nearest takes them
    "DequantizeLinear": {"tensor(float8e8m0)"},   # a scale's type that is none of a result
}
# Where the reference evaluator's answer is not the schema's: results in float32 for float64 or the other way round, sums widened by numpy, casts
# out of range, means that are cut to whole numbers after arithmetic in another order.
ODD_REFERENCE = {"Adam", "AffineGrid", "CastLike", "GridSample", "Momentum", "LayerNormalization", "ReduceSumSquare", "RMSNormalization"}
RANDOM = {"Bernoulli", "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Dropout"}


def numpy_type(text):
    """The dtype of "tensor(float)"; None: no tensor."""
    if not text.startswith("tensor("):
        return None
    name = KINDS.get(text[7:-1])
    if name is None:
        return None   # the 6-bit floats, which no test of the standard uses and which the engine does not have
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def convert(array, dtype):
    if dtype == object:
        return array.astype(str).astype(object)
    if array.dtype == object:
        return np.arange(array.size).reshape(array.shape).astype(dtype)
    if dtype == bool:
        return array.astype(np.float64) > 0 if array.dtype.kind != "c" else array.real > 0
    if dtype.kind in "ui" or dtype.name.startswith(("int", "uint")):
        if dtype.name.startswith("uint") and array.dtype.kind != "c":
            array = np.abs(array.astype(np.float64))
        low = 0 if dtype.name.startswith("uint") else -1 if dtype.name in ("int2",) else -7
        return np.clip(array.real if array.dtype.kind == "c" else array.astype(np.float64), low, 3 if dtype.name.endswith("2") and len(dtype.name) < 6 else 7).astype(dtype)
    return array.astype(dtype)


def templates():
    """(node, opsets, inputs by name) of the first test of each operator, of one node."""
    seen = set()
    for case in load_model_tests(kind="node"):
        model = case.model
        if model is None or len(model.graph.node) != 1 or model.functions or model.graph.initializer:
            continue
        node = model.graph.node[0]
        if (node.domain, node.op_type) in seen or any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.TYPE_PROTO) for a in node.attribute):
            continue
        values = [numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in case.data_sets[0][0]]
        if all(isinstance(v, (np.ndarray, np.generic)) for v in values):
            seen.add((node.domain, node.op_type))
            yield node, model.opset_import, dict(zip([i.name for i in model.graph.input], [np.asarray(v) for v in values]))


def formal(schema_values, i):
    return schema_values[min(i, len(schema_values) - 1)] if schema_values else None


def variants(node, schema, feeds):
    """(type variable, its type in text, feeds) with one variable of the schema changed to each of its types."""
    for constraint in schema.type_constraints:
        name = constraint.type_param_str
        places = [n for i, n in enumerate(node.input) if n and formal(schema.inputs, i).type_str == name]
        for text in constraint.allowed_type_strs:
            dtype = numpy_type(text)
            meant = node.op_type not in NOT_MEANT or (NOT_MEANT[node.op_type] and text not in NOT_MEANT[node.op_type])
            if dtype is not None and places and meant:
                yield name, text, {n: convert(v, dtype) if n in places else v for n, v in feeds.items()}


def model_of(node, opsets, feeds):
    info = [helper.make_tensor_value_info(n, onnx.TensorProto.STRING if v.dtype == object else helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
            for n, v in feeds.items()]
    graph = helper.make_graph([node], "types", info, [onnx.ValueInfoProto(name=n) for n in node.output if n])
    return helper.make_model(graph, opset_imports=opsets)


def compare(node, model, feeds, have):
    """What differs from the reference evaluator, or None."""
    if node.op_type in RANDOM | ODD_REFERENCE or any(not isinstance(h, np.ndarray) for h in have) or any(v.dtype.name not in WIDE for v in list(feeds.values()) + [np.asarray(h) for h in have]):
        return None
    try:
        want = ReferenceEvaluator(model).run(None, feeds)
    except Exception:   # it does not take the type
        return None
    for h, w in zip(have, want):
        w = np.asarray(w)
        if h.shape != w.shape or h.dtype != w.dtype:
            return f"{h.dtype}{h.shape}, the reference has {w.dtype}{w.shape}"
        if not np.allclose(h.astype(np.float64), w.astype(np.float64), rtol=1e-3, atol=1e-4, equal_nan=True):
            return f"other numbers: {h.ravel()[:4]}, the reference has {w.ravel()[:4]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    chosen = parser.parse_args()
    tried, refused, odd = 0, [], []
    for node, opsets, feeds in templates():
        if chosen.only not in node.op_type:
            continue
        version = max((o.version for o in opsets if o.domain == node.domain), default=1)
        schema = onnx.defs.get_schema(node.op_type, version, node.domain)
        for variable, text, changed in variants(node, schema, feeds):
            tried += 1
            model = model_of(node, opsets, changed)
            what = f"{node.domain or 'onnx'}.{node.op_type} {version}, {variable} = {text}"
            try:
                have = tenon.InferenceSession(model.SerializeToString(), threads=1).run(None, changed)
            except tenon.Error as error:
                refused.append(f"{what}: {error}")
                continue
            wrong = compare(node, model, changed, have)
            if wrong:
                odd.append(f"{what}: {wrong}")
    for sentence in refused + odd:
        print(sentence)
    print(f"{tried} combinations, {len(refused)} refused, {len(odd)} differ")
    return 1 if refused or odd else 0


if __name__ == "__main__":
    sys.exit(main())
