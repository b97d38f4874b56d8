#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes kinds.onnx and kinds.bin: one model with one node of each kind, and what to feed it.

usage: make_kinds.py            (needs: onnx, numpy, and the tenon package)

One small case of every operator in the onnx package's own tests is taken that Tenon can open; its nodes are renamed and put into one
graph; so is one case of each operator of com.microsoft from tests/operators/test_contrib.py, with its weights. kinds.bin holds the inputs one after another: name length, name, dtype number, rank, dims, byte count, bytes (little-endian,
32-bit numbers, 64-bit dims).
"""
import os
import struct
import sys

import numpy as np
import onnx
import tenon
from onnx import helper, numpy_helper
from onnx.backend.test import loader

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "operators"))
import test_contrib
LIMIT = 4096     # bytes of one input
OPSET = 28


def small(arrays):
    return all(isinstance(a, np.ndarray) and a.dtype.kind in "fiub" and a.nbytes <= LIMIT for a in arrays)


def usable(case):
    model = case.model
    if model is None or not case.data_sets or len(model.graph.node) != 1 or model.functions:
        return None
    if len(model.opset_import) != 1 or model.opset_import[0].domain not in ("", "ai.onnx") or model.opset_import[0].version > OPSET:
        return None
    model.opset_import[0].version = OPSET
    inputs, outputs = case.data_sets[0]
    if not small(inputs) or not small(outputs) or sum(a.nbytes for a in inputs) > 2 * LIMIT:
        return None
    try:
        feeds = dict(zip([i.name for i in model.graph.input], inputs))
        tenon.InferenceSession(model.SerializeToString(), threads=1).run(None, feeds)
    except Exception:  # noqa: BLE001 - what cannot be opened is not taken
        return None
    return model, feeds


def renamed(node, prefix):
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.name = prefix + node.op_type
    for names in (copy.input, copy.output):
        for i, name in enumerate(names):
            names[i] = prefix + name if name else ""
    return copy


def main():
    nodes, inputs, outputs, feeds, seen = [], [], [], [], set()
    for case in loader.load_model_tests(kind="node"):
        kind = case.model.graph.node[0].op_type if case.model is not None and case.model.graph.node else ""
        if not kind or kind in seen:
            continue
        if kind == "ImageDecoder" and "bmp" not in case.name:
            continue             # BMP is read without a library of others, wherever the tests run
        taken = usable(case)
        if not taken:
            continue
        model, values = taken
        seen.add(kind)
        prefix = f"n{len(nodes)}_"
        nodes.append(renamed(model.graph.node[0], prefix))
        for info in model.graph.input:
            copy = onnx.ValueInfoProto()
            copy.CopyFrom(info)
            copy.name = prefix + info.name
            inputs.append(copy)
            feeds.append((copy.name, values[info.name]))
        for info in model.graph.output:
            copy = onnx.ValueInfoProto()
            copy.CopyFrom(info)
            copy.name = prefix + info.name
            outputs.append(copy)
    weights = []
    for kind, draw in test_contrib.DRAWS.items():
        data, values = draw(np.random.default_rng([3, len(kind)])).model()
        model = onnx.load_from_string(data)
        prefix = f"n{len(nodes)}_"
        nodes.append(renamed(model.graph.node[0], prefix))
        for into, values_of in ((inputs, model.graph.input), (outputs, model.graph.output), (weights, model.graph.initializer)):
            for value in values_of:
                value.name = prefix + value.name
                into.append(value)
        feeds += [(prefix + name, value) for name, value in values.items()]
        seen.add(kind)
    graph = helper.make_graph(nodes, "kinds", inputs, outputs, weights)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(test_contrib.MS, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=13)
    onnx.save(model, os.path.join(HERE, "kinds.onnx"))
    with open(os.path.join(HERE, "kinds.bin"), "wb") as out:
        for name, value in feeds:
            value = np.ascontiguousarray(value).reshape(np.shape(value))
            text = name.encode()
            out.write(struct.pack("<I", len(text)) + text)
            out.write(struct.pack("<II", helper.np_dtype_to_tensor_dtype(value.dtype), value.ndim))
            out.write(struct.pack(f"<{value.ndim}q", *value.shape) + struct.pack("<I", value.nbytes) + value.tobytes())
    print(len(nodes), "kinds:", " ".join(sorted(seen)))


if __name__ == "__main__":
    main()
