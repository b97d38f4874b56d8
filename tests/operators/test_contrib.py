#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators of com.microsoft over random shapes against formulas in numpy, written from the operators' documents.

usage: test_contrib.py [--rounds N] [--seed S] [--only NAME] [--engine tenon|onnxruntime]

With --engine onnxruntime the formulas themselves are compared with the implementation that the documents describe (NhwcConv and
DynamicQuantizeLSTM aside: it has no CPU kernel for the one and rounds activations in the other). Needs numpy (exit status 77 without).
"""
import argparse
import logging
import sys
from math import erf
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("numpy is not there: skipped")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
import tiny_onnx as tiny

NUMBERS = {"float32": 1, "float64": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9}
MS = "com.microsoft"


class Case:
    """One node: operands in order (None: absent), attributes, what its results are (None: not asked for) and how near they must be."""

    def __init__(self, op, operands, attributes, results, near=1e-4, constants=(), levels=0):
        self.op, self.operands, self.attributes, self.results = op, operands, attributes, results
        self.near, self.constants, self.levels = near, constants, levels   # levels: steps that an integer result may be off

    def model(self):
        names = [f"x{i}" if x is not None else "" for i, x in enumerate(self.operands)]
        outs = [f"y{i}" if y is not None else "" for i, y in enumerate(self.results)]
        while names and not names[-1]:
            names.pop()
        number = lambda x: NUMBERS[str(x.dtype)]
        feeds = {n: x for i, (n, x) in enumerate(zip(names, self.operands)) if n and i not in self.constants}
        weights = [tiny.array(np.array(self.operands[i], order="C"), names[i], number(self.operands[i])) for i in self.constants
                   if self.operands[i] is not None]
        return tiny.model([tiny.node(self.op, names, outs, name="node", domain=MS, **self.attributes)],
                          [(n, number(x), list(x.shape)) for n, x in feeds.items()],
                          [(n, number(np.asarray(y)), [f"d{k}{n}" for k in range(np.ndim(y))]) for n, y in zip(outs, self.results) if n],
                          weights, opset=17, domains=[(MS, 1)]), feeds


def normal(r, *shape):
    return r.standard_normal(shape).astype(np.float32)


def size(r, high=6):
    return int(r.integers(1, high + 1))


# ---- formulas ----

def gelu(x):
    return np.vectorize(lambda v: v * 0.5 * (1 + erf(v / 2 ** 0.5)), otypes=[np.float64])(x)


def fast_gelu(x):
    x = x.astype(np.float64)
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def layer_norm(x, gamma, beta, epsilon):
    x = x.astype(np.float64)
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    y = (x - mean) / np.sqrt(var + epsilon) * gamma
    return y if beta is None else y + beta


def heads(x, count):
    return x.reshape(x.shape[0], x.shape[1], count, -1).transpose(0, 2, 1, 3)


def join(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def attend(q, k, v, scale, added=0.0, seen=None):
    """q [B, Hq, L, D]; seen: bool, what a query may see."""
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    scores = q.astype(np.float64) @ k.transpose(0, 1, 3, 2) * (scale or q.shape[-1] ** -0.5) + added
    if seen is not None:
        scores = np.where(seen, scores, -np.inf)
    return softmax(scores) @ v


def causal(length, total):
    return np.arange(total)[None] <= np.arange(length)[:, None] + total - length


def quantise(x, scale, zero):
    kind = np.iinfo(zero.dtype)
    return np.clip(np.rint(x / np.float32(scale)) + zero, kind.min, kind.max).astype(zero.dtype)


def dequantise(q, scale, zero):
    return (q.astype(np.float64) - zero) * scale


# ---- cases: each draws one ----

def draw_gelu(r):
    x = normal(r, size(r), size(r))
    return Case("Gelu", [x], {}, [gelu(x)])


def draw_bias_gelu(r):
    x, b = normal(r, size(r), 2, 7), normal(r, 7)
    return Case("BiasGelu", [x, b], {}, [gelu(x + b)])


def draw_fast_gelu(r):
    x, b = normal(r, size(r), 9), normal(r, 9) if r.integers(2) else None
    return Case("FastGelu", [x, b], {}, [fast_gelu(x if b is None else x + b)])


def draw_quick_gelu(r):
    x, alpha = normal(r, size(r), size(r), 3), float(r.uniform(0.5, 2))
    return Case("QuickGelu", [x], {"alpha": alpha}, [x / (1 + np.exp(-alpha * x))])


def draw_fused_matmul(r):
    m, k, n, batch = size(r), size(r), size(r), [size(r, 3) for _ in range(r.integers(1, 3))]
    a, b = normal(r, *batch, m, k), normal(r, *batch, k, n)
    alpha, attributes = float(r.uniform(0.1, 2)), {}
    want = alpha * (a.astype(np.float64) @ b)
    if r.integers(2):
        a, attributes["transA"] = np.swapaxes(a, -1, -2), 1
    if r.integers(2):
        b, attributes["transB"] = np.swapaxes(b, -1, -2), 1
    if r.integers(2):
        a, attributes["transBatchA"] = np.moveaxis(a, -2, 0), 1
    if r.integers(2):
        b, attributes["transBatchB"] = np.moveaxis(b, -2, 0), 1
    return Case("FusedMatMul", [np.ascontiguousarray(a), np.ascontiguousarray(b)], {"alpha": alpha, **attributes}, [want])


def draw_skip_layer_norm(r):
    b, s, d = size(r), size(r), size(r, 20)
    x, skip, gamma = normal(r, b, s, d), normal(r, b, s, d), normal(r, d)
    beta, bias = normal(r, d) if r.integers(2) else None, normal(r, d) if r.integers(2) else None
    total = x + skip + (0 if bias is None else bias)
    return Case("SkipLayerNormalization", [x, skip, gamma, beta, bias], {"epsilon": 1e-3},
                [layer_norm(total, gamma, beta, 1e-3), None, None, total])


def draw_skip_rms_norm(r):
    b, s, d = size(r), size(r), size(r, 20)
    x, skip, gamma = normal(r, b, s, d), normal(r, b, s, d), normal(r, d)
    bias = normal(r, d) if r.integers(2) else None
    total = (x + skip + (0 if bias is None else bias)).astype(np.float64)
    return Case("SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], {"epsilon": 1e-3},
                [total / np.sqrt((total ** 2).mean(-1, keepdims=True) + 1e-3) * gamma, None, None, total])


def draw_embed(r):
    b, s, d = size(r), size(r), size(r, 20)
    words, places, kinds = normal(r, 30, d), normal(r, 12, d), normal(r, 2, d)
    ids, gamma, beta = r.integers(0, 30, (b, s)).astype(np.int32), normal(r, d), normal(r, d)
    segments = r.integers(0, 2, (b, s)).astype(np.int32) if r.integers(2) else None
    mask = np.sort(r.integers(0, 2, (b, s)), 1)[:, ::-1].astype(np.int32) if r.integers(2) else None
    at = r.integers(0, 12, (b, s)).astype(np.int32) if r.integers(2) else None
    total = words[ids] + (places[at] if at is not None else places[:s][None]) + (0 if segments is None else kinds[segments])
    lengths = np.zeros(b, np.int32) if mask is None else mask.sum(1).astype(np.int32)
    return Case("EmbedLayerNormalization", [ids, segments, words, places, kinds if segments is not None else None, gamma, beta, mask, at],
                {"epsilon": 1e-3}, [layer_norm(total, gamma, beta, 1e-3), lengths, total], constants=(2, 3, 4))


def draw_mask(r, batch, length, total):
    """A mask operand and the numbers that it adds [B, 1, L or 1, T]."""
    kind, keys = r.integers(5), np.arange(total)
    if kind == 0:
        return None, 0.0
    if kind == 1:
        mask = r.integers(1, total + 1, batch).astype(np.int32)
        seen = (keys[None] < mask[:, None])[:, None, None]
    elif kind == 2:
        end = r.integers(1, total + 1, batch).astype(np.int32)
        start = np.minimum(r.integers(0, total, batch), end - 1).astype(np.int32)
        mask = np.concatenate([end, start])
        seen = ((keys[None] < end[:, None]) & (keys[None] >= start[:, None]))[:, None, None]
    elif kind == 3:
        mask = np.concatenate([np.ones((batch, 1)), r.integers(0, 2, (batch, total - 1))], 1).astype(np.int32)
        seen = mask[:, None, None] > 0
    else:
        mask = np.concatenate([np.ones((batch, length, 1)), r.integers(0, 2, (batch, length, total - 1))], 2).astype(np.int32)
        seen = mask[:, None] > 0
    return mask, np.where(seen, 0.0, -10000.0)


def draw_projected(r, past_too):
    """What Attention and QAttention share: shapes, masks, past; gives a function from q, k, v to the results."""
    batch, length, count, width = size(r, 3), size(r, 5), size(r, 3), 2 * size(r, 4)
    past = normal(r, 2, batch, count, size(r, 4), width) if past_too and r.integers(2) else None
    before = 0 if past is None else past.shape[3]
    mask, added = draw_mask(r, batch, length, length + before)
    one_way, scale = int(r.integers(2)), float(r.uniform(0.2, 1)) if r.integers(2) else 0.0

    def results(q, k, v):
        q, k, v = heads(q, count), heads(k, count), heads(v, count)
        if past is not None:
            k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
        seen = causal(length, length + before) if one_way else None
        y = join(attend(q, k, v, scale, added, seen))
        return [y] if past is None else [y, np.stack([k, v])]
    attributes = {"num_heads": count, "unidirectional": one_way}
    if scale:
        attributes["scale"] = scale
    return batch, length, count * width, mask, past, attributes, results


def draw_attention(r):
    batch, length, wide, mask, past, attributes, results = draw_projected(r, True)
    d = size(r, 7)
    x, w, b = normal(r, batch, length, d), normal(r, d, 3 * wide), normal(r, 3 * wide)
    bias = normal(r, batch, attributes["num_heads"], length, length + (0 if past is None else past.shape[3])) if r.integers(2) else None
    if bias is not None:
        # the same results with the bias as part of what is added
        count, width = attributes["num_heads"], wide // attributes["num_heads"]
        mask, past, attributes = None, None, {"num_heads": count}
        bias = bias[..., -length:]
        q, k, v = (heads(p, count) for p in np.split(x @ w + b, 3, -1))
        return Case("Attention", [x, w, b, None, None, bias], attributes, [join(attend(q, k, v, width ** -0.5, bias))], constants=(1, 2))
    return Case("Attention", [x, w, b, mask, past], attributes, results(*np.split(x @ w + b, 3, -1)), constants=(1, 2))


def draw_qattention(r):
    batch, length, wide, mask, past, attributes, results = draw_projected(r, True)
    d = size(r, 7)
    x, zero = r.integers(0, 256, (batch, length, d)).astype(np.uint8), np.uint8(r.integers(100, 150))
    w = weights(r, d, 3 * wide)
    scale, steps, b = np.float32(0.02), np.float32(0.01), normal(r, 3 * wide)
    qkv = dequantise(x, scale, zero) @ dequantise(w, steps, 0) + b
    if past is None:
        past_operand = None
    else:
        past_operand = past
    return Case("QAttention", [x, w, b, np.array(scale), np.array(steps), mask, np.array(zero), np.array(np.int8(0)), past_operand],
                attributes, results(*np.split(qkv, 3, -1)), near=2e-4, constants=(1, 2, 3, 4, 6, 7))


def draw_multi_head(r):
    batch, length, other, count, width = size(r, 3), size(r, 5), size(r, 5), size(r, 3), 2 * size(r, 4)
    wide, form = count * width, r.integers(4)
    q = normal(r, batch, length, wide)
    bias = normal(r, 3 * wide) if r.integers(2) and form != 3 else None
    b = np.split(bias, 3) if bias is not None else [0, 0, 0]
    past_key = past_value = None
    one_way = 0
    if form == 0:       # keys and values beside the queries
        k, v = normal(r, batch, other, wide), normal(r, batch, other, wide)
        operands, k4, v4 = [q, k, v], heads(k + b[1], count), heads(v + b[2], count)
    elif form == 1:     # with a cache
        k, v = normal(r, batch, length, wide), normal(r, batch, length, wide)
        past_key, past_value = normal(r, batch, count, size(r, 4), width), None
        past_value = normal(r, *past_key.shape)
        operands, k4, v4 = [q, k, v], heads(k + b[1], count), heads(v + b[2], count)
        k4, v4 = np.concatenate([past_key, k4], 2), np.concatenate([past_value, v4], 2)
        one_way = int(r.integers(2))
    elif form == 2:     # of another sequence, ready
        k4, v4 = normal(r, batch, count, other, width), normal(r, batch, count, other, width)
        operands = [q, k4, v4]
    else:               # keys and values packed
        kv = normal(r, batch, other, count, 2, width)
        operands, k4, v4 = [q, kv, None], kv[:, :, :, 0].transpose(0, 2, 1, 3), kv[:, :, :, 1].transpose(0, 2, 1, 3)
    total = k4.shape[2]
    added = normal(r, batch, count, length, total) if r.integers(2) else None
    mask, hidden = (None, 0.0)
    if r.integers(2):
        mask = np.concatenate([np.ones((batch, 1)), r.integers(0, 2, (batch, total - 1))], 1).astype(np.int32)
        hidden = np.where(mask[:, None, None] > 0, 0.0, -10000.0)
    seen = causal(length, total) if one_way else None
    y = join(attend(heads(q + b[0], count), k4, v4, 0, hidden + (0 if added is None else added), seen))
    results = [y, k4, v4] if form == 1 else [y]
    return Case("MultiHeadAttention", operands + [bias, mask, added, past_key, past_value], {"num_heads": count, "unidirectional": one_way}, results)


def rotate(x, cosines, sines, at, interleaved):
    """x [B, H, L, D], at [B, L]."""
    half = cosines.shape[1]
    c, s = cosines[at][:, None], sines[at][:, None]
    turned, rest = x[..., :2 * half], x[..., 2 * half:]
    a, b = (turned[..., 0::2], turned[..., 1::2]) if interleaved else (turned[..., :half], turned[..., half:])
    p, q = a * c - b * s, a * s + b * c
    turned = np.stack([p, q], -1).reshape(turned.shape) if interleaved else np.concatenate([p, q], -1)
    return np.concatenate([turned, rest], -1)


def angles(r, count, half):
    a = r.uniform(0, 6, (count, half))
    return np.cos(a).astype(np.float32), np.sin(a).astype(np.float32)


def draw_rotary(r):
    batch, length, count, half, interleaved = size(r, 3), size(r, 5), size(r, 3), size(r, 4), int(r.integers(2))
    c, s = angles(r, 16, half)
    x4 = normal(r, batch, count, length, 2 * half)
    offset = r.integers(2)
    at = np.array([r.integers(0, 8)]) if offset else r.integers(0, 16, (batch, length))
    places = at[:, None] + np.arange(length)[None] if offset else at
    want = rotate(x4, c, s, np.broadcast_to(places, (batch, length)), interleaved)
    flat = r.integers(2)
    return Case("RotaryEmbedding", [join(x4) if flat else x4, at.astype(np.int64), c, s], {"interleaved": interleaved},
                [join(want) if flat else want], constants=(2, 3))


def draw_group_query(r):
    batch, kv, group, half = size(r, 3), size(r, 2), size(r, 3), 8 * size(r, 2)
    width, count = 2 * half, kv * group
    first = r.integers(2)
    before = 0 if first else size(r, 6)
    length = size(r, 5) if first else 1
    total = before + length
    lengths = np.full(batch, total, np.int32)
    if r.integers(2):       # shorter elements, padded at their end in the first call, with an earlier place in later ones
        lengths[1:] = r.integers(max(1, length if not first else 1), total + 1, batch - 1)
    q, k, v = normal(r, batch, length, count * width), normal(r, batch, length, kv * width), normal(r, batch, length, kv * width)
    past_key, past_value = normal(r, batch, kv, before, width), normal(r, batch, kv, before, width)
    rotary, interleaved = int(r.integers(2)), int(r.integers(2))
    window, cap = int(r.integers(1, 5)) if r.integers(3) == 0 else -1, 0.0
    c, s = angles(r, 32, half)
    start = np.zeros(batch, int) if first else lengths - length
    at = start[:, None] + np.arange(length)
    q4, k4, v4 = heads(q, count), heads(k, kv), heads(v, kv)
    if rotary:
        q4, k4 = rotate(q4, c, s, at, interleaved), rotate(k4, c, s, at, interleaved)
    keys, values = np.zeros((batch, kv, total, width)), np.zeros((batch, kv, total, width))
    keys[:, :, :before], values[:, :, :before] = past_key, past_value
    for i in range(batch):
        keys[i, :, start[i]:start[i] + length], values[i, :, start[i]:start[i] + length] = k4[i], v4[i]
    j = np.arange(total)[None, None]
    seen = (j <= at[:, :, None]) & ((j > at[:, :, None] - window) if window > 0 else True)
    y = join(attend(q4, keys, values, 0, 0.0, seen[:, None]))
    live = at < lengths[:, None]            # what padding gives is open
    operands = [q, k, v]
    if r.integers(2):
        operands = [np.concatenate([q, k, v], -1), None, None]
    attributes = {"num_heads": count, "kv_num_heads": kv, "do_rotary": rotary, "rotary_interleaved": interleaved}
    if window > 0:
        attributes["local_window_size"] = window
    case = Case("GroupQueryAttention", operands + [past_key, past_value, (lengths - 1).astype(np.int32), np.array(total, np.int32)] +
                ([c, s] if rotary else []), attributes, [y, keys, values], constants=(7, 8) if rotary else ())
    kept = np.arange(total)[None] < lengths[:, None]
    case.look = [live[..., None], kept[:, None, :, None], kept[:, None, :, None]]
    return case


def draw_nbits(r):
    bits, block = int(r.choice([4, 8])), int(r.choice([16, 32]))
    k, n, rows = size(r, 70), size(r, 9), size(r, 3)
    blocks = -(-k // block)
    codes = r.integers(0, 1 << bits, (n, blocks * block))
    b = (codes[:, 0::2] | codes[:, 1::2] << 4 if bits == 4 else codes).astype(np.uint8).reshape(n, blocks, -1)
    scales, a = r.uniform(0.5, 2, (n, blocks)).astype(np.float32), normal(r, 2, rows, k)
    zeros, middle = None, np.full((n, blocks), 1 << (bits - 1))
    if r.integers(2):
        middle = r.integers(0, 1 << bits, (n, blocks))
        padded = np.pad(middle, [(0, 0), (0, blocks % 2)]) if bits == 4 else middle
        zeros = (padded[:, 0::2] | padded[:, 1::2] << 4 if bits == 4 else padded).astype(np.uint8)
    w = ((codes.reshape(n, blocks, block) - middle[..., None]) * scales[..., None].astype(np.float64)).reshape(n, -1)[:, :k]
    bias = normal(r, n) if r.integers(2) else None
    want = a @ w.T + (0 if bias is None else bias)
    return Case("MatMulNBits", [a, b, scales, zeros, None, bias], {"K": k, "N": n, "bits": bits, "block_size": block}, [want], near=1e-3,
                constants=(1, 2, 3, 5))


def scale_of(r):
    return np.array(r.uniform(0.01, 0.1), np.float32)


def draw_kind(r):
    return np.uint8 if r.integers(2) else np.int8


def codes(r, kind, *shape):
    i = np.iinfo(kind)
    return r.integers(i.min, i.max + 1, shape).astype(kind)


def weights(r, *shape):
    """Seven bits: with eight the other engine's sums of two products saturate on processors without a dot product instruction."""
    return r.integers(-63, 64, shape).astype(np.int8)


def draw_qlinear_binary(r):
    kind, name = draw_kind(r), str(r.choice(["QLinearAdd", "QLinearMul"]))
    shape = [size(r) for _ in range(r.integers(1, 4))]
    a, b = codes(r, kind, *shape), codes(r, kind, *shape[-int(r.integers(1, len(shape) + 1)):])
    sa, sb, sy, za, zb, zy = scale_of(r), scale_of(r), scale_of(r), codes(r, kind), codes(r, kind), codes(r, kind)
    x, y = dequantise(a, sa, za), dequantise(b, sb, zb)
    want = quantise(x + y if name == "QLinearAdd" else x * y, sy, np.asarray(zy))
    return Case(name, [a, sa, np.asarray(za), b, sb, np.asarray(zb), sy, np.asarray(zy)], {}, [want], levels=1, constants=(1, 2, 4, 5, 6, 7))


def draw_qlinear_concat(r):
    kind, axis = draw_kind(r), int(r.integers(3))
    sy, zy, operands, parts = scale_of(r), np.asarray(codes(r, kind)), [], []
    shape = [size(r) for _ in range(3)]
    for _ in range(r.integers(1, 4)):
        shape[axis] = size(r)
        x, s, z = codes(r, kind, *shape), scale_of(r), np.asarray(codes(r, kind))
        operands += [x, s, z]
        parts.append(dequantise(x, s, z))
    constants = tuple(i for i in range(2 + len(operands)) if i < 2 or (i - 2) % 3)
    return Case("QLinearConcat", [sy, zy] + operands, {"axis": axis}, [quantise(np.concatenate(parts, axis), sy, zy)], levels=1, constants=constants)


def draw_qlinear_unary(r):
    kind, name = draw_kind(r), str(r.choice(["QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"]))
    shape, alpha = [size(r, 4) for _ in range(3)], 0.1
    x, sx, zx, zy = codes(r, kind, *shape), scale_of(r), np.asarray(codes(r, kind)), np.asarray(codes(r, kind))
    sy, real, attributes = scale_of(r), dequantise(x, sx, zx), {}
    if name == "QLinearSigmoid":
        y, sy = 1 / (1 + np.exp(-real)), np.array(1 / 256, np.float32)
    elif name == "QLinearLeakyRelu":
        y, attributes = np.where(real < 0, np.float32(alpha) * real, real), {"alpha": alpha}
    else:
        old, axis = int(r.integers(2)), int(r.integers(3))
        sy, attributes = np.array(1 / 256, np.float32), {"axis": axis, "opset": 12 if old else 13}
        zy = np.asarray(kind(np.iinfo(kind).min))
        flat = real.reshape(int(np.prod(shape[:axis])), -1)
        y = softmax(flat).reshape(shape) if old else softmax(real, axis)
    return Case(name, [x, sx, zx, sy, zy], attributes, [quantise(y, sy, zy)], levels=1, constants=(1, 2, 3, 4))


def draw_qlinear_pool(r):
    kind, last = draw_kind(r), int(r.integers(2))
    x = codes(r, kind, size(r, 2), size(r, 3), 3 + size(r), 3 + size(r))
    sx, zx, sy, zy = scale_of(r), np.asarray(codes(r, kind)), scale_of(r), np.asarray(codes(r, kind))
    real = dequantise(x, sx, zx)
    if r.integers(2):
        name, attributes, y = "QLinearGlobalAveragePool", {"channels_last": last}, real.mean((2, 3), keepdims=True)
    else:
        name, attributes = "QLinearAveragePool", {"kernel_shape": [3, 2], "strides": [2, 1], "channels_last": last}
        rows, columns = (x.shape[2] - 3) // 2 + 1, x.shape[3] - 1
        y = np.stack([np.stack([real[:, :, 2 * i:2 * i + 3, j:j + 2].mean((2, 3)) for j in range(columns)], -1) for i in range(rows)], -2)
    want = quantise(y, sy, zy)
    turn = (lambda v: np.ascontiguousarray(v.transpose(0, 2, 3, 1))) if last else (lambda v: v)
    return Case(name, [turn(x), sx, zx, sy, zy], attributes, [turn(want)], levels=1, constants=(1, 2, 3, 4))


def draw_integer_to_float(r):
    m, k, n = size(r), size(r, 12), size(r)
    a, b = codes(r, np.uint8, m, k), weights(r, k, n)
    sa, sb = scale_of(r), r.uniform(0.01, 0.1, n).astype(np.float32) if r.integers(2) else scale_of(r)
    za, bias = np.asarray(codes(r, np.uint8)), normal(r, n) if r.integers(2) else None
    want = dequantise(a, sa, za) @ dequantise(b, sb, 0) + (0 if bias is None else bias)
    return Case("MatMulIntegerToFloat", [a, b, sa, sb, za, None, bias], {}, [want], near=1e-3, constants=(1, 3))


def draw_qgemm(r):
    kind, m, k, n = draw_kind(r), size(r), size(r, 12), size(r)
    turn_a, turn_b, alpha = int(r.integers(2)), int(r.integers(2)), float(r.choice([1.0, 0.5]))
    a, b, sa, za = codes(r, kind, m, k), weights(r, k, n), scale_of(r), np.asarray(codes(r, kind))
    sb = r.uniform(0.01, 0.1, n).astype(np.float32) if r.integers(2) else scale_of(r)
    zb = np.zeros(sb.shape, np.int8)
    c = [None, r.integers(-500, 500, n).astype(np.int32), r.integers(-500, 500, (1, n)).astype(np.int32),
         r.integers(-500, 500, (m, n)).astype(np.int32)][r.integers(4)]
    sy, zy = scale_of(r), np.asarray(codes(r, kind))
    sums = (a.astype(np.int32) - za) @ b.astype(np.int32) + (0 if c is None else c)
    want = sums.astype(np.float32) * (np.float32(alpha) * sa * sb)
    attributes = {"transA": turn_a, "transB": turn_b, "alpha": alpha}
    operands = [a.T.copy() if turn_a else a, sa, za, b.T.copy() if turn_b else b, sb, zb, c]
    if r.integers(4):
        return Case("QGemm", operands + [sy, zy], attributes, [quantise(want, sy, zy)], levels=1, constants=(1, 2, 3, 4, 5, 6, 7, 8))
    return Case("QGemm", operands, attributes, [want], near=1e-3, constants=(1, 2, 3, 4, 5, 6))


def draw_qlinear_where(r):
    kind, shape = draw_kind(r), [size(r) for _ in range(r.integers(1, 4))]
    sx, sy, sz, zx, zy, zz = scale_of(r), scale_of(r), scale_of(r), *(np.asarray(codes(r, kind)) for _ in range(3))
    pick, x, y = r.integers(0, 2, shape).astype(bool), codes(r, kind, *shape), codes(r, kind, *shape[-1:])
    want = quantise(np.where(pick, dequantise(x, sx, zx), dequantise(y, sy, zy)), sz, zz)
    return Case("QLinearWhere", [pick, x, sx, zx, y, sy, zy, sz, zz], {}, [want], levels=1, constants=(2, 3, 5, 6, 7, 8))


def draw_dynamic_matmul(r):
    m, k, n = size(r), size(r, 12), size(r)
    a, b, sb = normal(r, m, k), weights(r, k, n), scale_of(r)
    bias = normal(r, n) if r.integers(2) else None
    low, high = min(a.min(), 0), max(a.max(), 0)
    step = np.float32((high - low) / 255)
    zero = np.uint8(np.clip(np.rint(-low / step), 0, 255))
    want = dequantise(quantise(a, step, zero), step, zero) @ dequantise(b, sb, 0) + (0 if bias is None else bias)
    return Case("DynamicQuantizeMatMul", [a, b, sb, None, bias], {}, [want], near=1e-3, constants=(1, 2))


def draw_fused_conv(r):
    c, m = size(r, 4), size(r, 4)
    x, w, b = normal(r, size(r, 2), c, 4 + size(r), 4 + size(r)), normal(r, m, c, 3, 3), normal(r, m)
    y = conv(x, w) + b[:, None, None]
    name, parameters, act = [("Relu", [], lambda v: np.maximum(v, 0)), ("LeakyRelu", [0.2], lambda v: np.where(v < 0, 0.2 * v, v)),
                             ("Clip", [-0.5, 0.5], lambda v: np.clip(v, -0.5, 0.5)), ("Tanh", [], np.tanh)][r.integers(4)]
    attributes = {"activation": name, "kernel_shape": [3, 3]}
    if parameters:
        attributes["activation_params"] = parameters
    return Case("FusedConv", [x, w, b], attributes, [act(y)], constants=(1, 2))


def conv(x, w):
    rows, columns = x.shape[2] - 2, x.shape[3] - 2
    return np.stack([np.stack([np.einsum("ncij,mcij->nm", x[:, :, i:i + 3, j:j + 3].astype(np.float64), w) for j in range(columns)], -1)
                     for i in range(rows)], -2)


def draw_nhwc_conv(r):
    c, m = size(r, 4), size(r, 4)
    x, w, b = normal(r, size(r, 2), c, 4 + size(r), 4 + size(r)), normal(r, m, c, 3, 3), normal(r, m)
    y = conv(x, w) + b[:, None, None]
    return Case("NhwcConv", [np.ascontiguousarray(x.transpose(0, 2, 3, 1)), w, b], {"kernel_shape": [3, 3]}, [y.transpose(0, 2, 3, 1)], constants=(1, 2))


def draw_dynamic_lstm(r):
    steps, batch, wide, hidden = size(r), size(r, 3), size(r), size(r)
    x, w, q = normal(r, steps, batch, wide), codes(r, np.int8, 1, wide, 4 * hidden), codes(r, np.int8, 1, hidden, 4 * hidden)
    each = r.integers(2)
    shape = (1, 4 * hidden) if each else (1,)
    sw, sq = (r.uniform(0.001, 0.01, shape).astype(np.float32) for _ in range(2))
    zw, zq = (np.zeros(shape, np.int8) for _ in range(2))
    b = normal(r, 1, 8 * hidden)
    wide_w, wide_q = (v[0] * (s[0] if each else s) for v, s in ((w, sw), (q, sq)))
    h, c, out = np.zeros((batch, hidden)), np.zeros((batch, hidden)), []
    sigmoid = lambda v: 1 / (1 + np.exp(-v))
    for t in range(steps):
        i, o, f, g = np.split(x[t] @ wide_w + h @ wide_q + b[0, :4 * hidden] + b[0, 4 * hidden:], 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return Case("DynamicQuantizeLSTM", [x, w, q, b, None, None, None, None, sw, zw, sq, zq], {"hidden_size": hidden},
                [np.stack(out)[:, None], h[None], c[None]], near=1e-3, constants=(1, 2, 3, 8, 9, 10, 11))


DRAWS = {name[5:]: draw for name, draw in list(globals().items()) if name.startswith("draw_") and name not in ("draw_mask", "draw_projected", "draw_kind")}
ONLY_OURS = {"nhwc_conv", "dynamic_lstm"}


def run(engine, model, feeds):
    if engine == "onnxruntime":
        import onnxruntime
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    else:
        sys.path.insert(0, str(ROOT / "bindings" / "python"))
        import tenon
        logging.getLogger("tenon").setLevel(logging.ERROR)
        session = tenon.InferenceSession(model, threads=1)
    return session.run(None, feeds)


def check(case, got):
    """A sentence on what is wrong, or None."""
    wanted = [(i, y) for i, y in enumerate(case.results) if y is not None]
    for (i, want), have in zip(wanted, got):
        want = np.asarray(want)
        if have.shape != want.shape:
            return f"result {i} has shape {have.shape}, not {want.shape}"
        look = np.broadcast_to(case.look[i], want.shape) if hasattr(case, "look") else np.ones(want.shape, bool)
        if want.dtype.kind in "iu":
            off = np.abs(have.astype(np.int64) - want.astype(np.int64))
            if (off > case.levels).any():
                return f"result {i} is off by {off.max()}"
        elif not np.allclose(have[look], want[look], rtol=case.near, atol=case.near):
            return f"result {i} is off by {np.abs(have[look] - want[look]).max():g}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--engine", default="tenon")
    chosen = parser.parse_args()
    bad = 0
    for name, draw in DRAWS.items():
        if chosen.only not in name or (chosen.engine != "tenon" and name in ONLY_OURS):
            continue
        for at in range(chosen.rounds):
            case = draw(np.random.default_rng([chosen.seed, at, len(name)]))
            model, feeds = case.model()
            try:
                wrong = check(case, run(chosen.engine, model, feeds))
            except Exception as error:   # whatever the engine raises is a finding
                wrong = f"{type(error).__name__}: {error}"
            if wrong:
                bad += 1
                print(f"{name}: --only {name} --seed {chosen.seed}, round {at}: {wrong}")
    print(f"{len(DRAWS)} operators drawn, {bad} findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
