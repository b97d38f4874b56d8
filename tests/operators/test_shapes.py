#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Empty tensors in every operator, and ranks from 0 to 8, against the reference evaluator of the onnx package.

usage: test_shapes.py [--only OPERATOR]      exit status 77 when the onnx package is not there

Empty: the inputs of the standard's first test of each operator with one of their sizes made 0 throughout. What the reference computes must come
out with its shape and type, and what it refuses may be refused, with words.
"""
import argparse
import sys

import test_types   # says so itself when something is missing
import numpy as np
import tenon
from onnx import helper
from onnx.reference import ReferenceEvaluator

# Why an operator may refuse an empty operand that the reference takes.
MAY_REFUSE = {
    "ArgMax", "ArgMin",              # there is no place to tell (the reference's numpy refuses most forms too)
    "GridSample",                    # no pixel to sample
    "BitCast", "ImageDecoder",
    "Attention", "FlexAttention",    # no heads to share
    "ConvInteger",                   # a kernel without elements
    "ScatterND", "TensorScatter", "Upsample",   # operands that contradict each other once one of them is empty
}
# Of these the reference's answer for nothing is its own: other shapes than the document says, or numbers out of no elements.
ODD_REFERENCE = {"Loop", "Scan", "SequenceMap", "MaxUnpool", "ConvTranspose", "GRU", "LSTM", "RNN", "RoiAlign", "MaxRoiPool", "TfIdfVectorizer"}

UNARY = ["Abs", "Relu", "Exp", "Identity", "Sigmoid", "Softplus", "Erf", "Gelu", "Clip", "IsNaN", "Sign", "Floor"]
BINARY = ["Add", "Sub", "Mul", "Max", "Min", "Less", "Equal", "Where", "PRelu"]
REDUCE = ["ReduceSum", "ReduceMax", "ReduceMean", "ReduceL2", "ReduceProd", "ReduceLogSumExp"]
ALONG = ["Softmax", "LogSoftmax", "CumSum", "ArgMax", "TopK", "Concat", "Split", "Gather", "GatherElements", "ScatterElements", "Slice",
         "LayerNormalization", "Unique", "Compress", "OneHot"]
WHOLE = ["Transpose", "Reshape", "Flatten", "Unsqueeze", "Squeeze", "Expand", "Tile", "Pad", "Shape", "Size", "NonZero", "GatherND", "MatMul", "Cast",
         "ConstantOfShape", "Dropout"]


def agree(node, opsets, feeds, strict=True):
    """What is wrong with our answer, or None."""
    model = test_types.model_of(node, opsets, feeds)
    try:
        want = ReferenceEvaluator(model).run(None, feeds)
    except Exception:   # the reference does not take it
        want = None
    try:
        have = tenon.InferenceSession(model.SerializeToString(), threads=1).run(None, feeds)
    except tenon.Error as error:
        clear = error.place or node.op_type.lower() in str(error).lower().replace("_", "")
        if not clear:
            return f"an unclear error: {error}"
        return None if want is None or not strict else f"refused: {error}"
    for h, w in zip(have, want or []):
        if not isinstance(h, np.ndarray) or w is None or isinstance(w, list):
            continue
        w = np.asarray(w)
        if h.shape != w.shape or (h.dtype != w.dtype and h.size and h.dtype != object):
            return f"{h.dtype}{h.shape}, the reference has {w.dtype}{w.shape}"
        numbers = h.dtype.name in test_types.WIDE and node.op_type not in test_types.RANDOM
        if numbers and not np.allclose(h.astype(np.float64), w.astype(np.float64), rtol=1e-3, atol=1e-4, equal_nan=True):
            return f"other numbers: {h.ravel()[:4]}, the reference has {w.ravel()[:4]}"
    return None


def emptied(feeds):
    """The inputs with each of their sizes made 0 in turn, in all tensors of numbers that are no lists of whole numbers."""
    data = {n for n, v in feeds.items() if v.ndim and not (v.ndim == 1 and v.dtype.kind in "iu")}
    for size in sorted({d for n in data for d in feeds[n].shape} - {0})[:5]:
        yield {n: v[tuple(slice(0, 0) if d == size else slice(None) for d in v.shape)] if n in data else v for n, v in feeds.items()}


def check_empty(only):
    for node, opsets, feeds in test_types.templates():
        if only not in node.op_type:
            continue
        for k, changed in enumerate(emptied(feeds)):
            odd = node.op_type in ODD_REFERENCE
            wrong = agree(node, opsets, changed, node.op_type not in MAY_REFUSE and not odd)
            if wrong and not (odd and "unclear" not in wrong):
                yield f"{node.op_type}, empty {k} ({', '.join(str(v.shape) for v in changed.values())}): {wrong}"


def one_of(op, shape, r):
    """Inputs and attributes of one call of an operator on a tensor of this shape; None: it means nothing there."""
    rank = len(shape)
    x = r.standard_normal(shape).astype(np.float32)
    axis = int(r.integers(-rank, rank)) if rank else 0
    ints = lambda *v: np.array(v, np.int64)
    if op in ("Where",):
        return [x > 0, x, -x], {}
    if op in BINARY:
        keep = int(r.integers(0, rank + 1))
        return [x, r.standard_normal([d if r.integers(2) else 1 for d in shape[rank - keep:]]).astype(np.float32)], {}
    if op in REDUCE:
        return [x] + ([ints(axis)] if rank else []), {"keepdims": int(r.integers(2))}
    if op in ALONG and not rank:
        return None
    calls = {
        "Cast": ([x], {"to": 11}), "CumSum": ([x, np.array(axis, np.int64)], {}), "TopK": ([x, ints(1)], {"axis": axis}),
        "Concat": ([x, x], {"axis": axis}), "Gather": ([x, ints(0, -1)], {"axis": axis}), "Compress": ([x, np.array([True])], {"axis": axis}),
        "GatherElements": ([x, np.zeros(shape, np.int64)], {"axis": axis}), "Unique": ([x], {"axis": axis}),
        "ScatterElements": ([x, np.zeros(shape, np.int64), x], {"axis": axis}), "Slice": ([x, ints(0), ints(9), ints(axis), ints(2)], {}),
        "LayerNormalization": ([x, np.ones(shape[-1:], np.float32)], {"axis": -1}), "OneHot": ([np.abs(x).astype(np.int64), np.array(3, np.int64), ints(0, 1)], {}),
        "Transpose": ([x], {"perm": [int(p) for p in r.permutation(rank)]} if rank else {}), "Reshape": ([x, ints(-1)], {}), "Flatten": ([x], {"axis": axis}),
        "Unsqueeze": ([x, ints(0)], {}), "Squeeze": ([x], {}), "Expand": ([x, np.array(shape, np.int64)], {}),
        "Tile": ([x, np.array([1 + int(r.integers(2))] * rank, np.int64)], {}), "Pad": ([x, np.array([1] * 2 * rank, np.int64)], {}),
        "GatherND": ([x, np.zeros((2, max(1, rank)), np.int64)], {}), "ConstantOfShape": ([np.array(shape, np.int64)], {}),
        "MatMul": ([x, np.swapaxes(x, -1, -2) if rank > 1 else x], {}), "Split": ([x], {"axis": axis, "num_outputs": 1}),
    }
    return calls.get(op, ([x], {"axis": axis} if op in ALONG else {}))


def check_ranks(only):
    r = np.random.default_rng(3)
    opsets = [helper.make_opsetid("", 21)]
    for op in UNARY + BINARY + REDUCE + ALONG + WHOLE:
        for rank in range(9):
            call = one_of(op, tuple(int(d) for d in r.integers(1, 4, rank)), r) if only in op else None
            if call is None or (op in ("OneHot", "Unsqueeze") and rank == 8) or (op in ("MatMul", "GatherND", "ArgMax") and not rank):
                continue
            names = [f"x{i}" for i in range(len(call[0]))]
            node = helper.make_node(op, names, ["y", "z"] if op == "TopK" else ["y"], **call[1])
            wrong = agree(node, opsets, dict(zip(names, call[0])))
            if wrong:
                yield f"{op}, rank {rank}: {wrong}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    found = list(check_empty(only)) + list(check_ranks(only))
    for sentence in found:
        print(sentence)
    print(f"{len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
