# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models and tensors as bytes, written with the standard library alone (protobuf.dev, "Encoding"; onnx.proto)."""
import struct


def varint(n):
    n &= (1 << 64) - 1
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


FLOAT, INT64 = 1, 7


def tensor(dtype, dims, values, name=""):
    """TensorProto with raw_data; values are floats or ints."""
    raw = struct.pack(f"<{len(values)}{'f' if dtype == FLOAT else 'q'}", *values)
    return b"".join(field(1, d) for d in dims) + field(2, dtype) + field(8, name) + field(9, raw)


def value_info(name, dtype, dims):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, shape)))


def sequence_info(name, dtype):
    return field(1, name) + field(2, field(4, field(1, field(1, field(1, dtype)))))


def node(op, inputs, outputs, name="", domain="", **attributes):
    out = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(3, name) + field(4, op)
    for key, value in attributes.items():
        if isinstance(value, float):
            body = varint(2 << 3 | 5) + struct.pack("<f", value) + field(20, 1)
        elif isinstance(value, Body):
            body = field(6, value) + field(20, 5)
        elif isinstance(value, str):
            body = field(4, value) + field(20, 3)
        elif isinstance(value, list) and value and isinstance(value[0], float):
            body = field(7, struct.pack(f"<{len(value)}f", *value)) + field(20, 6)
        elif isinstance(value, list):
            body = b"".join(field(8, v) for v in value) + field(20, 7)
        else:
            body = field(3, value) + field(20, 2)
        out += field(5, field(1, key) + body)
    return out + (field(7, domain) if domain else b"")


def array(values, name, dtype):
    """TensorProto of a numpy array; dtype: its number in ONNX."""
    return b"".join(field(1, d) for d in values.shape) + field(2, dtype) + field(8, name) + field(9, values.tobytes())


class Body(bytes):
    """GraphProto bytes: an attribute of that type."""


def body(nodes, inputs, outputs):
    """The body of a Loop, Scan or If, for node(..., body=...)."""
    return Body(b"".join(field(1, n) for n in nodes) + field(2, "body") + b"".join(field(11, value_info(*v)) for v in inputs) +
                b"".join(field(12, value_info(*v)) for v in outputs))


def model(nodes, inputs, outputs, initialisers=(), opset=13, domains=()):
    """inputs, outputs: (name, dtype, dims), or (name, dtype) for a sequence; initialisers: TensorProto bytes; domains: (name, version) besides the default one."""
    graph = b"".join(field(1, n) for n in nodes) + field(2, "graph") + b"".join(field(5, t) for t in initialisers)
    info = lambda v: value_info(*v) if len(v) == 3 else sequence_info(*v)
    graph += b"".join(field(11, info(i)) for i in inputs) + b"".join(field(12, info(o)) for o in outputs)
    return field(1, 8) + field(2, "tiny_onnx") + field(7, graph) + field(8, field(1, "") + field(2, opset)) + b"".join(field(8, field(1, d) + field(2, v)) for d, v in domains) + field(14, field(1, "note") + field(2, "hello"))


def npy(dtype, dims, values):
    """A .npy file, version 1."""
    head = f"{{'descr': '{'<f4' if dtype == FLOAT else '<i8'}', 'fortran_order': False, 'shape': ({''.join(f'{d},' for d in dims)}), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{'f' if dtype == FLOAT else 'q'}", *values)
