#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes digits.onnx, a small network that reads one handwritten-looking digit, and seven.png, a digit it never saw.

usage: train.py [FOLDER]

The data is made here: each digit is a few strokes, bent, turned, shifted, drawn with a pen of random width and some noise. Network:
conv 5x5 x8, ReLU, max-pool 2, conv 5x5 x16, ReLU, max-pool 2, fully connected, softmax. Training is plain Adam in numpy with fixed
seeds, about a minute; the ONNX file is written by the few lines of protobuf at the end. Needs numpy alone.
"""
import struct
import sys
import zlib
from pathlib import Path

import numpy as np

SIZE = 28
# Polylines in the unit square, y downwards.
_CIRCLE = [(0.5 + 0.28 * np.cos(t), 0.5 + 0.38 * np.sin(t)) for t in np.linspace(0, 2 * np.pi, 17)]
STROKES = {
    0: [_CIRCLE],
    1: [[(0.35, 0.28), (0.55, 0.12), (0.55, 0.88)]],
    2: [[(0.25, 0.3), (0.32, 0.16), (0.5, 0.1), (0.7, 0.18), (0.73, 0.36), (0.6, 0.55), (0.25, 0.87), (0.77, 0.87)]],
    3: [[(0.26, 0.2), (0.45, 0.1), (0.68, 0.18), (0.7, 0.36), (0.45, 0.48), (0.72, 0.6), (0.72, 0.8), (0.48, 0.9), (0.25, 0.8)]],
    4: [[(0.62, 0.88), (0.62, 0.1), (0.2, 0.62), (0.8, 0.62)]],
    5: [[(0.72, 0.12), (0.32, 0.12), (0.28, 0.46), (0.52, 0.4), (0.73, 0.56), (0.7, 0.78), (0.48, 0.9), (0.25, 0.82)]],
    6: [[(0.66, 0.1), (0.4, 0.3), (0.27, 0.6), (0.34, 0.84), (0.54, 0.9), (0.72, 0.76), (0.68, 0.56), (0.48, 0.5), (0.3, 0.62)]],
    7: [[(0.24, 0.13), (0.76, 0.13), (0.45, 0.88)]],
    8: [[(0.5, 0.48), (0.3, 0.36), (0.32, 0.18), (0.5, 0.1), (0.68, 0.18), (0.7, 0.36), (0.5, 0.48), (0.27, 0.64), (0.3, 0.82),
         (0.5, 0.9), (0.7, 0.82), (0.73, 0.64), (0.5, 0.48)]],
    9: [[(0.7, 0.38), (0.52, 0.5), (0.32, 0.42), (0.28, 0.24), (0.46, 0.1), (0.66, 0.16), (0.7, 0.38), (0.66, 0.65), (0.5, 0.9)]],
}


def draw(digit, rng):
    """One picture, float32[28, 28] in 0..1: distance to the nearest stroke, through a soft pen."""
    angle, shear = rng.normal(0, 0.12), rng.normal(0, 0.15)
    scale, shift = rng.uniform(0.62, 0.85, 2), rng.normal(0.5, 0.04, 2)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ np.array([[1, shear], [0, 1]])
    grid = (np.stack(np.meshgrid(np.arange(SIZE), np.arange(SIZE)), -1) + 0.5) / SIZE
    nearest = np.full((SIZE, SIZE), 9.0)
    for stroke in STROKES[digit]:
        points = (np.array(stroke) - 0.5 + rng.normal(0, 0.015, (len(stroke), 2))) * scale @ turn.T + shift
        for a, b in zip(points, points[1:]):
            ab = b - a
            t = np.clip((grid - a) @ ab / max(ab @ ab, 1e-9), 0, 1)[..., None]
            nearest = np.minimum(nearest, np.linalg.norm(grid - a - t * ab, axis=-1))
    pen = rng.uniform(0.03, 0.06)
    ink = np.clip((pen - nearest) * SIZE / 1.5 + 0.5, 0, 1)
    return np.clip(ink * rng.uniform(0.75, 1) + rng.normal(0, 0.03, ink.shape), 0, 1).astype(np.float32)


def dataset(count, seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 10
    return np.stack([draw(d, rng) for d in labels])[:, None], labels


def columns(x, k):
    """x: [N, C, H, W] -> [N, H-k+1, W-k+1, C*k*k], the patches under a k x k window."""
    w = np.lib.stride_tricks.sliding_window_view(x, (k, k), (2, 3)).transpose(0, 2, 3, 1, 4, 5)
    return w.reshape(*w.shape[:3], -1)


class Conv:
    """Convolution without padding, ReLU, max-pool 2. w: [M, C, k, k]."""

    def __init__(self, rng, m, c, k):
        self.p = [rng.normal(0, np.sqrt(2 / (c * k * k)), (m, c, k, k)).astype(np.float32), np.zeros(m, np.float32)]

    def forward(self, x):
        w, b = self.p
        self.x, self.cols = x, columns(x, w.shape[2])
        y = self.cols @ w.reshape(len(w), -1).T + b
        n, h, wd, m = y.shape
        self.quads = y.reshape(n, h // 2, 2, wd // 2, 2, m).transpose(0, 1, 3, 5, 2, 4).reshape(n, h // 2, wd // 2, m, 4)
        self.best = self.quads.argmax(-1)
        self.out = np.maximum(self.quads.max(-1), 0)
        return self.out.transpose(0, 3, 1, 2)

    def backward(self, g):
        w, _ = self.p
        g = g.transpose(0, 2, 3, 1) * (self.out > 0)
        q = np.zeros_like(self.quads)
        np.put_along_axis(q, self.best[..., None], g[..., None], -1)
        n, h, wd, m, _ = q.shape
        dy = q.reshape(n, h, wd, m, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(n, 2 * h, 2 * wd, m)
        flat = dy.reshape(-1, m)
        self.g = [(flat.T @ self.cols.reshape(len(flat), -1)).reshape(w.shape), flat.sum(0)]
        k = w.shape[2]
        padded = np.pad(dy.transpose(0, 3, 1, 2), ((0, 0), (0, 0), (k - 1, k - 1), (k - 1, k - 1)))
        turned = w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3).reshape(w.shape[1], -1)
        return (columns(padded, k) @ turned.T).transpose(0, 3, 1, 2)


class Dense:
    def __init__(self, rng, n_in, n_out):
        self.p = [rng.normal(0, np.sqrt(1 / n_in), (n_in, n_out)).astype(np.float32), np.zeros(n_out, np.float32)]

    def forward(self, x):
        self.shape, self.x = x.shape, x.reshape(len(x), -1)
        return self.x @ self.p[0] + self.p[1]

    def backward(self, g):
        self.g = [self.x.T @ g, g.sum(0)]
        return (g @ self.p[0].T).reshape(self.shape)


def train(layers, x, labels, epochs=6, batch=64, rate=2e-3):
    rng, step = np.random.default_rng(2), 0
    moments = [[(np.zeros_like(p), np.zeros_like(p)) for p in layer.p] for layer in layers]
    for epoch in range(epochs):
        order, loss = rng.permutation(len(x)), 0.0
        for at in range(0, len(x), batch):
            pick = order[at:at + batch]
            y = x[pick]
            for layer in layers:
                y = layer.forward(y)
            p = np.exp(y - y.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            loss -= np.log(p[np.arange(len(pick)), labels[pick]] + 1e-9).sum()
            g = p
            g[np.arange(len(pick)), labels[pick]] -= 1
            g = (g / len(pick)).astype(np.float32)
            for layer in reversed(layers):
                g = layer.backward(g)
            step += 1
            for layer, held in zip(layers, moments):       # Adam (Kingma and Ba 2014)
                for p_, g_, (m, v) in zip(layer.p, layer.g, held):
                    m += 0.1 * (g_ - m)
                    v += 0.001 * (g_ * g_ - v)
                    p_ -= rate * (m / (1 - 0.9 ** step)) / (np.sqrt(v / (1 - 0.999 ** step)) + 1e-8)
        print(f"epoch {epoch}: loss {loss / len(x):.4f}", flush=True)


def predict(layers, x):
    for layer in layers:
        x = layer.forward(x)
    return x.argmax(1)


# ---- the ONNX file: protobuf by hand (protobuf.dev, "Encoding"; field numbers of onnx.proto) ----

def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, array):
    kind = {"float32": 1, "int64": 7}[array.dtype.name]
    return b"".join(field(1, d) for d in array.shape) + field(2, kind) + field(8, name) + field(9, array.tobytes())


def value_info(name, shape):
    dims = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def node(op, inputs, output, **ints):
    out = b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, output) + field(4, op)
    for key, value in ints.items():
        many = isinstance(value, list)
        body = b"".join(field(8, v) for v in value) if many else field(3, value)
        out += field(5, field(1, key) + body + field(20, 7 if many else 2))
    return out


def model(layers):
    c1, c2, d = (layer.p for layer in layers)
    weights = [("w1", c1[0]), ("b1", c1[1]), ("w2", c2[0]), ("b2", c2[1]), ("w3", d[0]), ("b3", d[1])]
    nodes = [node("Conv", ["image", "w1", "b1"], "conv1", kernel_shape=[5, 5]), node("Relu", ["conv1"], "relu1"),
             node("MaxPool", ["relu1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
             node("Conv", ["pool1", "w2", "b2"], "conv2", kernel_shape=[5, 5]), node("Relu", ["conv2"], "relu2"),
             node("MaxPool", ["relu2"], "pool2", kernel_shape=[2, 2], strides=[2, 2]),
             node("Flatten", ["pool2"], "flat", axis=1), node("Gemm", ["flat", "w3", "b3"], "scores"),
             node("Softmax", ["scores"], "digit", axis=1)]
    graph = b"".join(field(1, n) for n in nodes) + field(2, "digits") + b"".join(field(5, tensor(*w)) for w in weights)
    graph += field(11, value_info("image", ["batch", 1, SIZE, SIZE])) + field(12, value_info("digit", ["batch", 10]))
    return field(1, 8) + field(2, "tenon examples/digits") + field(7, graph) + field(8, field(1, "") + field(2, 13))


def png(gray):
    """uint8[H, W] -> the bytes of a PNG file."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    h, w = gray.shape
    rows = b"".join(b"\0" + row.tobytes() for row in gray)
    head = struct.pack(">IIBBBBB", w, h, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    rng = np.random.default_rng(1)
    layers = [Conv(rng, 8, 1, 5), Conv(rng, 16, 8, 5), Dense(rng, 16 * 4 * 4, 10)]
    train(layers, *dataset(6000, seed=10))
    x, labels = dataset(2000, seed=11)
    right = (predict(layers, x) == labels).mean()
    print(f"right on 2000 unseen digits: {100 * right:.2f} %")
    (folder / "digits.onnx").write_bytes(model(layers))
    (folder / "seven.png").write_bytes(png((draw(7, np.random.default_rng(12)) * 255).astype(np.uint8)))
    return 0 if right > 0.98 else 1


if __name__ == "__main__":
    sys.exit(main())
