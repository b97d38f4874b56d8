# SPDX-License-Identifier: Apache-2.0
"""What is raced, as ONNX bytes, at three granularities: single kernels, fused blocks, whole models.

Kernels that only move or walk data have tensors far larger than the caches, so that their time is that of memory. Layer sizes of the models
are those of the papers (MobileNetV2: arXiv 1801.04381, table 2; ResNet: arXiv 1512.03385, table 1); weights are random.
"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "cli"))
import tiny_onnx as tiny  # noqa: E402

INT64 = tiny.INT64


class Net:
    """A network being written. Each method appends one operator behind `last` and gives the name of its result."""

    def __init__(self, *shape, name="x"):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(1)
        self.inputs, self.last, self.channels, self.count = [(name, tiny.FLOAT, list(shape))], name, shape[1] if len(shape) > 1 else 1, 0

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def constant(self, values, dtype=tiny.FLOAT):
        name = self.fresh()
        self.weights.append(tiny.array(np.ascontiguousarray(values, np.float32 if dtype == tiny.FLOAT else np.int64), name, dtype))
        return name

    def weight(self, *shape, fan=None):
        return self.constant(self.random.standard_normal(shape, np.float32) * np.float32((2.0 / (fan or shape[0])) ** 0.5))

    def input(self, *shape):
        name = self.fresh()
        self.inputs.append((name, tiny.FLOAT, list(shape)))
        return name

    def node(self, op, *inputs, **attributes):
        self.last = self.fresh()
        self.nodes.append(tiny.node(op, list(inputs) or [], [self.last], self.last, **attributes))
        return self.last

    def unary(self, op, **attributes):
        return self.node(op, self.last, **attributes)

    def clip(self, low=0.0, high=6.0):
        return self.node("Clip", self.last, self.constant(np.float32(low)), self.constant(np.float32(high)))

    def conv(self, out, kernel, stride=1, group=1, act=None):
        fan, pad = self.channels // group * kernel * kernel, kernel // 2
        w, b = self.weight(out, self.channels // group, kernel, kernel, fan=fan), self.weight(out, fan=200)
        self.node("Conv", self.last, w, b, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=group)
        self.channels = out
        return self.clip() if act == "relu6" else self.unary(act) if act else self.last

    def matmul(self, k, n):
        return self.node("MatMul", self.last, self.weight(k, n, fan=k))

    def dense(self, k, n):
        self.matmul(k, n)
        return self.node("Add", self.last, self.weight(n, fan=200))

    def layer_norm(self, n):
        return self.node("LayerNormalization", self.last, self.constant(np.ones(n)), self.weight(n, fan=200), axis=-1)

    def classify(self, classes=1000):
        self.unary("GlobalAveragePool")
        self.unary("Flatten")
        self.node("Gemm", self.last, self.weight(classes, self.channels, fan=self.channels), self.weight(classes, fan=200), transB=1)
        return self

    def bytes(self):
        """The model; its result has a shape that inference finds."""
        self.nodes.append(tiny.node("Identity", [self.last], ["y"], "y"))
        graph_outputs = [("y", tiny.FLOAT, [])]
        return model_without_shape(self.nodes, self.inputs, graph_outputs, self.weights)


def model_without_shape(nodes, inputs, outputs, weights):
    """As tiny.model, with a result of which only the type is told, and an opset that has LayerNormalization."""
    f = tiny.field
    graph = b"".join(f(1, n) for n in nodes) + f(2, "graph") + b"".join(f(5, w) for w in weights)
    graph += b"".join(f(11, tiny.value_info(*i)) for i in inputs)
    graph += b"".join(f(12, f(1, name) + f(2, f(1, f(1, dtype)))) for name, dtype, _ in outputs)
    return f(1, 8) + f(2, "race") + f(7, graph) + f(8, f(1, "") + f(2, 17))


# ---- kernels ----

def product(m, k, n):
    net = Net(m, k)
    net.matmul(k, n)
    return net


def convolution(channels, size, out, kernel, stride=1, group=1, act="Relu"):
    net = Net(1, channels, size, size)
    net.conv(out, kernel, stride, group, act)
    return net


def walk(op, *shape, **attributes):
    net = Net(*shape)
    net.unary(op, **attributes)
    return net


def chain():
    net = Net(4096, 4096)
    x = net.node("Mul", net.last, net.constant(np.float32(0.5)))
    net.node("Add", x, net.constant(np.float32(0.25)))
    net.unary("Relu")
    net.node("Sub", net.last, x)
    return net


def binary():
    net = Net(4096, 4096)
    net.node("Add", "x", net.input(4096, 4096))
    return net


def norm():
    net = Net(16384, 1024)
    net.layer_norm(1024)
    return net


def join():
    net = Net(4096, 2048)
    net.node("Concat", "x", net.input(4096, 2048), axis=1)
    return net


def resize(mode, side=1024, scale=2.0):
    net = Net(1, 4, side, side)
    net.node("Resize", "x", "", net.constant(np.array([1, 1, scale, scale], np.float32)), mode=mode)
    return net


def recurrent(op, steps, units):
    net, gates = Net(steps, 1, units), 4 if op == "LSTM" else 3
    w, r = net.weight(1, gates * units, units, fan=units), net.weight(1, gates * units, units, fan=units)
    net.node(op, "x", w, r, net.weight(1, 2 * gates * units, fan=200), hidden_size=units)
    return net


# The names say operator and size; bound: what a kernel of that kind should be limited by.
KERNELS = {
    "gemm_512": lambda: product(512, 512, 512), "gemm_1024": lambda: product(1024, 1024, 1024), "gemm_196x512x512": lambda: product(196, 512, 512),
    "gemm_128x384x1536": lambda: product(128, 384, 1536), "gemv_4096": lambda: product(1, 4096, 4096),
    "conv1x1_64_56": lambda: convolution(64, 56, 256, 1), "conv1x1_512_14": lambda: convolution(512, 14, 512, 1),
    "conv3x3_64_56": lambda: convolution(64, 56, 64, 3), "conv3x3_256_14": lambda: convolution(256, 14, 256, 3),
    "conv3x3s2_128_56": lambda: convolution(128, 56, 128, 3, 2), "conv7x7s2_3_224": lambda: convolution(3, 224, 64, 7, 2),
    "dw3x3_144_56": lambda: convolution(144, 56, 144, 3, 1, 144), "dw3x3s2_144_56": lambda: convolution(144, 56, 144, 3, 2, 144),
    "dw5x5_672_14": lambda: convolution(672, 14, 672, 5, 1, 672), "lstm_84x256": lambda: recurrent("LSTM", 84, 256), "gru_84x256": lambda: recurrent("GRU", 84, 256),
    "elementwise_chain": chain, "elementwise_add": binary, "layer_norm": norm, "softmax": lambda: walk("Softmax", 16384, 1024, axis=-1),
    "reduce_rows": lambda: walk("ReduceMean", 16384, 1024, axes=[1]), "reduce_columns": lambda: walk("ReduceMean", 16384, 1024, axes=[0]),
    "resize_nearest": lambda: resize("nearest"), "resize_linear": lambda: resize("linear"),
    "resize_linear_half": lambda: resize("linear", 4096, 0.5), "resize_cubic": lambda: resize("cubic"), "concat": join,
    "transpose_2d": lambda: walk("Transpose", 4096, 4096, perm=[1, 0]), "transpose_nhwc": lambda: walk("Transpose", 1, 64, 512, 512, perm=[0, 2, 3, 1]),
    "transpose_nhwc_128": lambda: walk("Transpose", 1, 128, 256, 512, perm=[0, 2, 3, 1]),
    "transpose_nchw_128": lambda: walk("Transpose", 1, 256, 512, 128, perm=[0, 3, 1, 2]),
    "transpose_nhwc_cached": lambda: walk("Transpose", 1, 64, 56, 56, perm=[0, 2, 3, 1]),
    "transpose_nchw_cached": lambda: walk("Transpose", 1, 56, 56, 64, perm=[0, 3, 1, 2]),
    "max_pool": lambda: walk("MaxPool", 1, 64, 512, 512, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
}


# ---- blocks ----

def inverted_residual(net, out, stride, expand):
    before, channels = net.last, net.channels
    if expand > 1:
        net.conv(channels * expand, 1, act="relu6")
    net.conv(channels * expand, 3, stride, channels * expand, "relu6")
    net.conv(out, 1)
    return net.node("Add", net.last, before) if stride == 1 and channels == out else net.last


def residual(net, width, stride, bottleneck):
    before, channels, out = net.last, net.channels, width * 4 if bottleneck else width
    shortcut = before
    if stride > 1 or channels != out:
        shortcut = net.conv(out, 1, stride)
        net.last, net.channels = before, channels
    net.conv(width, 1 if bottleneck else 3, 1 if bottleneck else stride, act="Relu")
    net.conv(width, 3, stride if bottleneck else 1, act="Relu" if bottleneck else None)
    if bottleneck:
        net.conv(out, 1)
    net.node("Add", net.last, shortcut)
    return net.unary("Relu")


def squeeze_excite(net, reduced):
    x, channels = net.last, net.channels
    net.unary("GlobalAveragePool")
    net.conv(reduced, 1, act="Relu")
    net.conv(channels, 1, act="HardSigmoid")
    return net.node("Mul", x, net.last)


def attention(net, tokens, width, heads):
    x, parts = net.last, []
    for transposed in (False, True, False):
        net.last = x
        net.dense(width, width)
        net.node("Reshape", net.last, net.constant([1, tokens, heads, width // heads], INT64))
        parts.append(net.unary("Transpose", perm=[0, 2, 3, 1] if transposed else [0, 2, 1, 3]))
    net.node("MatMul", parts[0], parts[1])
    net.node("Mul", net.last, net.constant(np.float32((width // heads) ** -0.5)))
    net.unary("Softmax", axis=-1)
    net.node("MatMul", net.last, parts[2])
    net.unary("Transpose", perm=[0, 2, 1, 3])
    net.node("Reshape", net.last, net.constant([1, tokens, width], INT64))
    net.dense(width, width)
    net.node("Add", net.last, x)
    return net.layer_norm(width)


def feed_forward(net, width, inner):
    x = net.last
    h = net.dense(width, inner)
    net.node("Mul", h, net.constant(np.float32(0.5 ** 0.5)))
    net.unary("Erf")
    net.node("Add", net.last, net.constant(np.float32(1)))
    net.node("Mul", h, net.last)
    net.node("Mul", net.last, net.constant(np.float32(0.5)))
    net.dense(inner, width)
    net.node("Add", net.last, x)
    return net.layer_norm(width)


def block(shape, *steps):
    def make():
        net = Net(*shape)
        for function, *arguments in steps:
            function(net, *arguments)
        return net
    return make


BLOCKS = {
    "inverted_residual_24_56": block((1, 24, 56, 56), (inverted_residual, 24, 1, 6)),
    "inverted_residual_96_14": block((1, 96, 14, 14), (inverted_residual, 96, 1, 6)),
    "residual_64_56": block((1, 64, 56, 56), (residual, 64, 1, False)),
    "bottleneck_256_14": block((1, 1024, 14, 14), (residual, 256, 1, True)),
    "squeeze_excite_120_28": block((1, 40, 28, 28), (Net.conv, 120, 1, 1, 1, "HardSwish"), (Net.conv, 120, 5, 1, 120, "HardSwish"), (squeeze_excite, 32), (Net.conv, 40, 1)),
    "attention_128x384": block((1, 128, 384), (attention, 128, 384, 12)),
    "feed_forward_128x384": block((1, 128, 384), (feed_forward, 384, 1536)),
}


# ---- models ----

def mobilenet_v2():
    net = Net(1, 3, 224, 224)
    net.conv(32, 3, 2, act="relu6")
    for expand, out, times, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(times):
            inverted_residual(net, out, 1 if i else stride, expand)
    net.conv(1280, 1, act="relu6")
    return net.classify()


def resnet(counts, bottleneck):
    net = Net(1, 3, 224, 224)
    net.conv(64, 7, 2, act="Relu")
    net.unary("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for stage, times in enumerate(counts):
        for i in range(times):
            residual(net, 64 << stage, 2 if i == 0 and stage else 1, bottleneck)
    return net.classify()


def encoder(layers=6, tokens=128, width=384, heads=12):
    net = Net(1, tokens, width)
    for _ in range(layers):
        attention(net, tokens, width, heads)
        feed_forward(net, width, 4 * width)
    return net


MODELS = {
    "mobilenet_v2": mobilenet_v2, "resnet18": lambda: resnet((2, 2, 2, 2), False), "resnet50": lambda: resnet((3, 4, 6, 3), True), "encoder_6x384": encoder,
}

LEVELS = {"kernel": KERNELS, "block": BLOCKS, "model": MODELS}


def write(folder, levels, words=()):
    """The cases of these levels whose names hold one of the words, written to FOLDER/NAME.onnx: (level, name, path) each."""
    found = []
    for level in levels:
        for name, make in LEVELS[level].items():
            if not words or any(word in name for word in words):
                path = Path(folder) / f"{name}.onnx"
                path.write_bytes(make().bytes())
                found.append((level, name, str(path)))
    return found
