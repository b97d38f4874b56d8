#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random graphs of 3 to 30 operators with random shapes against the reference evaluator of the onnx package.

usage: test_random.py [--graphs N | --full] [--seed S] [--one K]     --one: only graph K of the seed, with its text
       exit status 77 when the onnx package is not there

Of each graph is asked: the same results as the reference; the same bits from the graph without optimisation and from 1 and 2 threads; that one
session that sees several shapes in turn gives what a fresh session for each gives; that a batch of N gives what N single runs give. Shapes have
ranks from 0 to 8, and some have a dim of 0. A finding prints the seed and the number of its graph.
"""
import argparse
import logging
import sys
import warnings
from pathlib import Path

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator
except ImportError:
    print("the onnx package is not there: skipped")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings" / "python"))
import tenon

logging.getLogger("tenon").setLevel(logging.ERROR)
np.seterr(all="ignore")
warnings.simplefilter("ignore")
OPSET = 21


class Graph:
    """A graph in the making. Values are known by running each node once: name -> array; `batched` are those whose dim 0 is the batch."""

    def __init__(self, r, batch):
        self.r, self.batch = r, batch
        self.nodes, self.weights, self.inputs, self.values, self.batched = [], [], [], {}, set()
        for i in range(int(r.integers(1, 3))):
            shape = self.shape()
            self.add_input(f"in{i}", self.draw(np.float32, (batch,) + shape if batch else shape))

    # ---- drawing ----

    def shape(self, low=0, high=4):
        rank = int(self.r.integers(5, 8)) if self.r.integers(12) == 0 and not self.batch else int(self.r.integers(low, high + 1))
        dims = [int(d) for d in self.r.integers(1, 5 if rank < 5 else 3, rank)]
        if dims and self.r.integers(12) == 0 and not self.batch:
            dims[int(self.r.integers(rank))] = 0
        return tuple(dims)

    def draw(self, dtype, shape):
        if np.issubdtype(dtype, np.floating):
            return self.r.standard_normal(shape).astype(dtype)
        return self.r.integers(0, 2 if dtype == np.bool_ else 7, shape).astype(dtype)

    def add_input(self, name, value):
        self.inputs.append(name)
        self.values[name] = value
        if self.batch:
            self.batched.add(name)

    def weight(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        self.values[name] = np.asarray(value)
        return name

    def ints(self, *v):
        return self.weight(np.array(v, np.int64))

    def pick(self, kind=None, low=0, high=8):
        """A value with such a type and rank; None: there is none."""
        weights = {w.name for w in self.weights}
        fits = [n for n, v in self.values.items() if n not in weights and (kind is None or v.dtype.kind in kind) and low <= v.ndim <= high]
        if not fits:
            return None
        near = fits[-6:]
        return near[int(self.r.integers(len(near)))] if self.r.integers(4) else fits[int(self.r.integers(len(fits)))]

    # ---- adding nodes ----

    def add(self, op, inputs, outputs=1, batched=True, **attributes):
        """Adds a node and computes it; undone when the reference refuses it or its values are of no use."""
        names = [f"v{len(self.nodes)}_{k}" for k in range(outputs)]
        node = helper.make_node(op, inputs, names, name=f"n{len(self.nodes)}", **attributes)
        feeds = {n: self.values[n] for n in inputs if n}
        info = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in feeds.items()]
        graph = helper.make_graph([node], "one", info, [helper.make_empty_tensor_value_info(n) for n in names])
        try:
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
            results = [np.asarray(x) for x in ReferenceEvaluator(model).run(None, feeds)]
        except Exception:   # the reference evaluator does not take it: no graph of ours either
            return False
        for value in results:
            big = value.size and value.dtype.kind == "f" and (not np.isfinite(value).all() or np.abs(value).max() > 1e4)
            steep = op in ("Reciprocal", "Div", "Pow", "Log") and value.size and np.abs(value.astype(np.float64)).max() > 100   # of a last bit much
            if big or steep or value.size > 20000 or value.ndim > 8:
                return False
        if self.batch and any(n in self.batched for n in feeds) and not batched:
            return False
        if self.batch and any(n in self.batched for n in feeds) and any(v.ndim < 1 or v.shape[0] != self.batch for v in results):
            return False
        self.nodes.append(node)
        self.values.update(zip(names, results))
        if any(n in self.batched for n in feeds):
            self.batched.update(names)
        return True

    def like(self, name, fresh=False):
        """A partner that broadcasts to a value: another value, or a weight of a shape that fits."""
        shape = self.values[name].shape
        kind = self.values[name].dtype
        others = [n for n, v in self.values.items() if v.dtype == kind and v.shape == shape and (not self.batch or n in self.batched)]
        if others and not fresh and self.r.integers(2):
            return others[int(self.r.integers(len(others)))]
        rank = int(self.r.integers(0, len(shape) + (0 if self.batch else 1)))
        part = [d if self.r.integers(2) else 1 for d in shape[len(shape) - rank:]]
        return self.weight(self.draw(kind, tuple(part)))

    def axis(self, x):
        rank = self.values[x].ndim
        low = 1 if self.batch else 0
        if rank <= low:
            return None
        axis = int(self.r.integers(low, rank))
        return axis - rank if self.r.integers(2) else axis

    # ---- kinds of nodes ----

    def unary(self):
        x = self.pick("f")
        return x and self.add(str(self.r.choice(["Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Exp", "Floor", "Ceil", "Sqrt", "Erf", "Softplus", "Softsign",
                                                 "Elu", "Selu", "LeakyRelu", "HardSigmoid", "HardSwish", "Mish", "Round", "Sign", "Sin", "Cos",
                                                 "Identity", "Gelu", "Celu", "ThresholdedRelu", "Reciprocal", "Log", "Atan", "Asinh"])), [x])

    def binary(self):
        x = self.pick("f")
        return x and self.add(str(self.r.choice(["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Mean", "Sum", "PRelu"])), [x, self.like(x)])

    def integer(self):
        x = self.pick("i")
        if x:
            return self.add(str(self.r.choice(["Add", "Sub", "Mul", "Max", "Min", "Abs", "Neg"])[0:]), [x, self.like(x)]) if self.r.integers(2) \
                else self.add("Cast", [x], to=TensorProto.FLOAT)
        x = self.pick("f")
        return x and self.add("Cast", [x], to=int(self.r.choice([TensorProto.INT32, TensorProto.INT64])))

    def compare(self):
        x = self.pick("f")
        return x and self.add(str(self.r.choice(["Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"])), [x, self.like(x)])

    def logic(self):
        x = self.pick("b")
        if not x:
            return self.compare()
        return self.add("Not", [x]) if self.r.integers(2) else self.add(str(self.r.choice(["And", "Or", "Xor"])), [x, self.like(x)])

    def where(self):
        c, x = self.pick("b"), self.pick("f")
        if self.batch and c and x and self.values[c].ndim != self.values[x].ndim:
            return False   # the batches would lie in different dims
        return c and x and self.add("Where", [c, x, self.like(x)])

    def double(self):
        x = self.pick("f")
        return x and self.add("Cast", [x], to=int(self.r.choice([TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16])))

    def clip(self):
        x = self.pick("f")
        if not x:
            return False
        kind = self.values[x].dtype
        return self.add("Clip", [x, self.weight(np.array(-0.5, kind)), self.weight(np.array(0.8, kind))])

    def reduce(self):
        x = self.pick("f", 1)
        axis = x and self.axis(x)
        if axis is None or not x:
            return False
        op = str(self.r.choice(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceProd", "ReduceSumSquare",
                                "ReduceLogSumExp"]))
        return self.add(op, [x, self.ints(axis)], keepdims=int(self.r.integers(2)))

    def arg(self):
        x = self.pick("f", 1)
        axis = x and self.axis(x)
        return axis is not None and x and self.add(str(self.r.choice(["ArgMax", "ArgMin"])), [x], axis=axis, keepdims=int(self.r.integers(2)))

    def softmax(self):
        x = self.pick("f", 1)
        axis = x and self.axis(x)
        return axis is not None and x and self.add(str(self.r.choice(["Softmax", "LogSoftmax", "Hardmax"])), [x], axis=axis)

    def norm(self):
        x = self.pick("f", 2)
        if not x:
            return False
        v, kind = self.values[x], self.values[x].dtype
        form = int(self.r.integers(4))
        if form == 0:
            return self.add("LayerNormalization", [x, self.weight(self.draw(kind, v.shape[-1:])), self.weight(self.draw(kind, v.shape[-1:]))], axis=-1)
        c = v.shape[1]
        scale, bias = self.weight(self.draw(kind, (c,))), self.weight(self.draw(kind, (c,)))
        if form == 1:
            return self.add("BatchNormalization", [x, scale, bias, self.weight(self.draw(kind, (c,))), self.weight(np.abs(self.draw(kind, (c,))) + kind.type(0.5))])
        if form == 2 and v.ndim > 2:
            return self.add("InstanceNormalization", [x, scale, bias])
        return self.add("LpNormalization", [x], axis=1, p=2)   # of p = 1 the reference forgets the sign

    def cumulate(self):
        x = self.pick("f", 1)
        axis = x and self.axis(x)
        return axis is not None and x and self.add("CumSum", [x, self.weight(np.array(axis, np.int64))], exclusive=int(self.r.integers(2)),
                                                   reverse=int(self.r.integers(2)))

    def matmul(self):
        x = self.pick("f", 2 if self.batch else 1)
        if not x:
            return False
        k, n = self.values[x].shape[-1], int(self.r.integers(1, 6))
        w = self.draw(self.values[x].dtype, (k, n) if self.r.integers(3) else (k,))
        if self.values[x].ndim == 2 and self.r.integers(2) and w.ndim == 2:
            return self.add("Gemm", [x, self.weight(w.T.copy()), self.weight(self.draw(w.dtype, (n,)))], transB=1, alpha=0.5, beta=2.0)
        return self.add("MatMul", [x, self.weight(w)])

    def conv(self):
        x = self.pick("f", 3, 5)
        if not x:
            return False
        v = self.values[x]
        spatial = v.ndim - 2
        kernel = [int(self.r.integers(1, min(4, d + 2) + 1)) for d in v.shape[2:]]
        group = v.shape[1] if self.r.integers(3) == 0 else 1
        out = (group or 1) * int(self.r.integers(1, 4))
        pads = [int(p) for p in self.r.integers(0, 2, 2 * spatial)]
        w = self.draw(v.dtype, (out, v.shape[1] // max(group, 1), *kernel))
        dilations = [int(s) for s in self.r.integers(1, 3, spatial)]
        if any(d + pads[i] + pads[i + spatial] < (k - 1) * s + 1 for i, (d, k, s) in enumerate(zip(v.shape[2:], kernel, dilations))):
            return False   # the reference computes something where no window fits
        return group and self.add("Conv", [x, self.weight(w)] + ([self.weight(self.draw(v.dtype, (out,)))] if self.r.integers(2) else []), pads=pads,
                                  strides=[int(s) for s in self.r.integers(1, 3, spatial)], group=group,
                                  dilations=dilations)

    def pool(self):
        x = self.pick("f", 3, 5)
        if not x:
            return False
        v = self.values[x]
        if self.r.integers(3) == 0:   # of GlobalMaxPool the reference knows pictures only
            return self.add("GlobalMaxPool" if v.ndim == 4 and self.r.integers(2) else "GlobalAveragePool", [x])
        kernel = [int(self.r.integers(1, min(3, d) + 1)) for d in v.shape[2:] if d]
        return len(kernel) == v.ndim - 2 and self.add(str(self.r.choice(["MaxPool", "AveragePool"])), [x], kernel_shape=kernel,
                                                      strides=[int(s) for s in self.r.integers(1, 3, len(kernel))])

    def transpose(self):
        x = self.pick(None, 1)
        if not x:
            return False
        rank = self.values[x].ndim
        perm = [0] + [1 + int(p) for p in self.r.permutation(rank - 1)] if self.batch else [int(p) for p in self.r.permutation(rank)]
        return self.add("Transpose", [x], perm=perm)

    def reshape(self):
        x = self.pick(None, 1 if self.batch else 0)
        if not x:
            return False
        v, form = self.values[x], int(self.r.integers(4))
        if form == 0:
            return self.add("Reshape", [x, self.ints(0, -1) if self.batch else self.ints(-1)])
        if form == 1 and v.ndim < 8:
            return self.add("Unsqueeze", [x, self.ints(int(self.r.integers(1 if self.batch else 0, v.ndim + 1)))])
        if form == 2:
            ones = [i for i, d in enumerate(v.shape) if d == 1 and (i or not self.batch)]
            return bool(ones) and self.add("Squeeze", [x, self.ints(ones[int(self.r.integers(len(ones)))])])
        return self.add("Flatten", [x], axis=1) if v.ndim else False

    def slice(self):
        x = self.pick(None, 1)
        axis = x and self.axis(x)
        if axis is None or not x:
            return False
        d, step = self.values[x].shape[axis], int(self.r.choice([1, 1, 2, -1]))
        # Backwards from before the first element: ONNX begins at the first, numpy, and so the reference, takes nothing.
        a, b = int(self.r.integers(-d - (step > 0), d + 1)), int(self.r.integers(-d - 1, d + 2))
        return self.add("Slice", [x, self.ints(a), self.ints(b), self.ints(axis), self.ints(step)])

    def pad(self):
        x = self.pick("f", 1)
        if not x:
            return False
        rank = self.values[x].ndim
        pads = [int(p) for p in self.r.integers(0, 3, 2 * rank)]
        if self.batch:
            pads[0] = pads[rank] = 0
        return self.add("Pad", [x, self.ints(*pads)], mode=str(self.r.choice(["constant", "edge"])))

    def concat(self):
        x = self.pick("f", 1)
        axis = x and self.axis(x)
        if axis is None or not x:
            return False
        y = x if self.batch or self.r.integers(2) else self.weight(self.draw(self.values[x].dtype, self.values[x].shape))
        return self.add("Concat", [x, y, x][:int(self.r.integers(2, 4))], axis=axis)

    def split(self):
        x = self.pick(None, 1)
        axis = x and self.axis(x)
        if axis is None or not x:
            return False
        d = self.values[x].shape[axis]
        first = int(self.r.integers(0, d + 1))
        return self.add("Split", [x, self.ints(first, d - first)], 2, axis=axis)

    def gather(self):
        x = self.pick(None, 1)
        axis = x and self.axis(x)
        if axis is None or not x or not self.values[x].shape[axis]:
            return False
        d = self.values[x].shape[axis]
        at = self.r.integers(-d, d, self.shape(0, 2) if not self.batch else tuple(self.r.integers(1, 3, int(self.r.integers(0, 3)))))
        return self.add("Gather", [x, self.weight(np.asarray(at, np.int64))], axis=axis)

    def expand(self):
        x = self.pick(None, 1 if self.batch else 0)
        if not x:
            return False
        if self.r.integers(2):
            repeats = [int(k) for k in self.r.integers(1, 3, self.values[x].ndim)]
            if self.batch:
                repeats[0] = 1
            return self.add("Tile", [x, self.ints(*repeats)])
        dims = [d if d != 1 else int(self.r.integers(1, 4)) for d in self.values[x].shape]
        if self.batch:
            dims[0] = 1
        return self.add("Expand", [x, self.ints(*dims)])

    def depth(self):
        x = self.pick("f", 4, 4)
        if x and (self.values[x].shape[2] % 2 or self.values[x].shape[3] % 2):
            return False
        if self.r.integers(2):
            return x and self.add("SpaceToDepth", [x], blocksize=2)
        return x and self.values[x].shape[1] % 4 == 0 and self.add("DepthToSpace", [x], blocksize=2)

    def top(self):
        x = self.pick("f", 1)
        axis = x and self.axis(x)
        if axis is None or not x or not self.values[x].shape[axis]:
            return False
        return self.add("TopK", [x, self.ints(int(self.r.integers(1, self.values[x].shape[axis] + 1)))], 2, axis=axis)

    def quantise(self):
        x = self.pick("f")
        if not x or self.values[x].dtype != np.float32:
            return False
        scale, zero = self.weight(np.array(0.05, np.float32)), self.weight(np.array(int(self.r.integers(0, 200)), np.uint8))
        return self.add("QuantizeLinear", [x, scale, zero]) and self.add("DequantizeLinear", [f"v{len(self.nodes) - 1}_0", scale, zero])

    def resize(self):
        x = self.pick("f", 4, 4)
        scales = x and self.weight(np.array([1, 1, self.r.choice([0.5, 2]), self.r.choice([1, 1.5, 2])], np.float32))
        return x and self.add("Resize", [x, "", scales], mode=str(self.r.choice(["nearest", "linear"])))

    def non_zero(self):
        x = self.pick("f", 1, 3)
        return bool(x) and not self.batch and self.add("NonZero", [x])

    def shape_of(self):
        x = self.pick()
        return bool(x) and not self.batch and self.add("Shape", [x])

    KINDS = ["unary"] * 5 + ["binary"] * 5 + ["integer", "compare", "logic", "where", "double", "clip", "reduce", "reduce", "arg", "softmax", "norm",
             "norm", "cumulate", "matmul", "matmul", "conv", "conv", "pool", "transpose", "transpose", "reshape", "reshape", "slice", "pad",
             "concat", "split", "gather", "expand", "depth", "top", "quantise", "resize", "non_zero", "shape_of"]

    def grow(self, count):
        for _ in range(4 * count):
            if len(self.nodes) >= count:
                break
            getattr(self, self.KINDS[int(self.r.integers(len(self.KINDS)))])()
        return bool(self.nodes)

    def model(self, free):
        """free: dims of inputs are left open."""
        used = {n for node in self.nodes for n in node.input}
        ends = [n for node in self.nodes for n in node.output if n not in used]
        inner = [n for node in self.nodes for n in node.output if n in used]
        if inner and self.r.integers(3) == 0:
            ends.append(inner[int(self.r.integers(len(inner)))])   # a result that others read as well
        info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [f"{n}_{i}" for i in range(self.values[n].ndim)] if free else self.values[n].shape)
                for n in self.inputs]
        graph = helper.make_graph(self.nodes, "random", info, [helper.make_empty_tensor_value_info(n) for n in ends],
                                  [w for w in self.weights if w.name in used])
        # results need a type: it is known from the values
        for output, n in zip(graph.output, ends):
            output.CopyFrom(helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(self.values[n].dtype), None))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10), ends


def near(have, want, loose, bits=False):
    if have.shape != want.shape or have.dtype != want.dtype:
        return f"{have.dtype.name}{have.shape}, not {want.dtype.name}{want.shape}"
    if bits:
        return None if have.tobytes() == want.tobytes() or np.array_equal(have, want, equal_nan=have.dtype.kind == "f") else "other bits"
    if want.dtype.kind != "f":
        return None if np.array_equal(have, want) else "other numbers"
    a, b = have.astype(np.float64), want.astype(np.float64)
    scale = max(1.0, np.abs(b[np.isfinite(b)]).max(initial=0))
    if not np.allclose(a, b, rtol=loose, atol=loose * scale, equal_nan=True):
        return f"off by {np.nanmax(np.abs(a - b)):g} at a scale of {scale:g}"
    return None


# What rounding decides: a last bit before them may move their result by a whole step, or to another place.
SHARP = {"Floor", "Ceil", "Round", "Sign", "ArgMax", "ArgMin", "TopK", "Hardmax", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal",
         "QuantizeLinear", "NonZero", "ThresholdedRelu"}


def blunt(graph):
    """Values that a sharp operator behind arithmetic decides: only their shape and type are compared with the reference."""
    rough, decided = set(), set()
    exact = {"Identity", "Transpose", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Slice", "Pad", "Concat", "Split", "Gather", "Expand", "Tile",
             "DepthToSpace", "SpaceToDepth", "Abs", "Neg", "Relu", "Max", "Min", "Not", "And", "Or", "Xor", "Where", "Shape", "Clip"}
    for node in graph.nodes:
        to_whole = node.op_type == "Cast" and any(graph.values[n].dtype.kind == "i" for n in node.output)
        inexact = any(n in rough for n in node.input)
        if any(n in decided for n in node.input) or (inexact and (node.op_type in SHARP or to_whole)):
            decided.update(node.output)
        if inexact or node.op_type not in exact:
            rough.update(node.output)
    return decided


def outcome(session, feeds):
    """What a run gives: its results, or the error's status (an empty batch may leave a dim open, say the -1 of a Reshape)."""
    try:
        return session.run(None, feeds)
    except tenon.Error as error:
        return error.status


def sessions(data, **options):
    return tenon.InferenceSession(data, threads=1, **options)


def check(r, show):
    """One graph, all properties. A sentence on what is wrong, or None."""
    batch = int(r.integers(2, 5)) if r.integers(3) == 0 else 0
    graph = Graph(r, batch)
    if not graph.grow(int(r.integers(3, 31))):
        return None
    free = bool(r.integers(2)) or bool(batch)
    model, ends = graph.model(free)
    data = model.SerializeToString()
    if show:
        print(onnx.printer.to_text(model))
    feeds = {n: graph.values[n] for n in graph.inputs}
    decided, halves = blunt(graph), any(v.dtype == np.float16 for v in graph.values.values())
    session = sessions(data)
    results = session.run(None, feeds)
    for name, have in zip(ends, results):
        want = graph.values[name]
        wrong = None if name in decided and have.dtype == want.dtype and have.ndim == want.ndim else near(have, want, 2e-2 if halves else 1e-4)
        if wrong:
            return f"result {name}: {wrong}"
    plain = sessions(data, optimise=False).run(None, feeds)
    two = tenon.InferenceSession(data, threads=2).run(None, feeds)
    for name, have, unfused, split in zip(ends, results, plain, two):
        wrong = near(split, have, 0, bits=True)
        if wrong:
            return f"result {name} with 2 threads: {wrong}"
        wrong = None if name in decided else near(unfused, have, 2e-2 if halves else 1e-4)
        if wrong:
            return f"result {name} without optimisation: {wrong}"
    if batch:
        singles = [session.run(None, {n: v[i:i + 1] for n, v in feeds.items()}) for i in range(batch)]
        for k, (name, have) in enumerate(zip(ends, results)):
            if name in graph.batched and name not in decided:
                wrong = near(np.concatenate([s[k] for s in singles]), have, 2e-2 if halves else 1e-5)
                if wrong:
                    return f"result {name} as {batch} single runs: {wrong}"
    if free and batch:
        for count in (batch, 1, batch + 2, 0, batch):
            other = {n: np.resize(v, (count,) + v.shape[1:]) if count else v[:0] for n, v in feeds.items()}
            used, unused = outcome(session, other), outcome(sessions(data), other)
            if not isinstance(used, list) or not isinstance(unused, list):
                if isinstance(used, list) != isinstance(unused, list) or count:
                    return f"batch {count}: {used} after other shapes, {unused} in a fresh session"
                continue
            for name, have, fresh in zip(ends, used, unused):
                wrong = near(have, fresh, 0, bits=True)
                if wrong:
                    return f"result {name} after other shapes, batch {count}: {wrong}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", type=int, default=60)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", type=int, default=-1)
    chosen = parser.parse_args()
    bad = 0
    for k in [chosen.one] if chosen.one >= 0 else range(3000 if chosen.full else chosen.graphs):
        try:
            wrong = check(np.random.default_rng([chosen.seed, k]), chosen.one >= 0)
        except tenon.Error as error:
            wrong = f"{error}"
        if wrong:
            bad += 1
            print(f"--seed {chosen.seed} --one {k}: {wrong}", flush=True)
    print(f"seed {chosen.seed}: {bad} findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
