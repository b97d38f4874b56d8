# SPDX-License-Identifier: Apache-2.0
"""DLPack (dmlc.github.io/dlpack): arrays of other packages in, arrays out, over the same memory.

A producer hands out a capsule named "dltensor" around a DLManagedTensor; whoever consumes it renames it and calls its deleter once.
Here consuming gives a numpy array whose base keeps the DLManagedTensor alive, and producing keeps the array alive until the consumer's
deleter call. numpy does both for its own types; this does it for bfloat16 and 8-bit floats too.
"""
from __future__ import annotations

import ctypes as c
from typing import Any, Tuple

import numpy as np

from . import _dtype
from ._error import Error, Status, said_by

CPU, CUDA_HOST, ROCM_HOST = 1, 3, 11           # devices whose memory the CPU reads
_NAME, _USED = b"dltensor", b"used_dltensor"

# (code, bits) of DLDataType -> number of the element type
_CODES = {
    (0, 8): 3, (0, 16): 5, (0, 32): 6, (0, 64): 7, (1, 8): 2, (1, 16): 4, (1, 32): 12, (1, 64): 13, (2, 16): 10, (2, 32): 1, (2, 64): 11,
    (4, 16): 16, (5, 64): 14, (5, 128): 15, (6, 8): 9, (10, 8): 17, (11, 8): 18, (12, 8): 19, (13, 8): 20, (14, 8): 24,
}
_TYPES = {number: pair for pair, number in _CODES.items()}


class _Device(c.Structure):
    _fields_ = [("type", c.c_int32), ("id", c.c_int32)]


class _DataType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class _Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", _Device), ("ndim", c.c_int32), ("dtype", _DataType), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class _Managed(c.Structure):
    pass


_Deleter = c.CFUNCTYPE(None, c.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", c.c_void_p), ("deleter", c.c_void_p)]

_new = c.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
_is_valid = c.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = c.c_int, [c.py_object, c.c_char_p]
_pointer = c.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
_rename = c.pythonapi.PyCapsule_SetName
_rename.restype, _rename.argtypes = c.c_int, [c.py_object, c.c_char_p]
# The same two for a capsule that is being destroyed: a py_object would take a reference to it again.
_is_valid_raw = c.PYFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p)(("PyCapsule_IsValid", c.pythonapi))
_pointer_raw = c.PYFUNCTYPE(c.c_void_p, c.c_void_p, c.c_char_p)(("PyCapsule_GetPointer", c.pythonapi))


# ---- in ----

class _Holder:
    """A DLManagedTensor that was consumed: its deleter is called when nothing looks at the memory any more."""

    def __init__(self, address: int) -> None:
        self.address = address

    def __del__(self) -> None:
        managed = c.cast(self.address, c.POINTER(_Managed))
        if managed.contents.deleter:
            _Deleter(managed.contents.deleter)(managed)


def is_producer(value: Any) -> bool:
    return hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")


def array_of(name: str, value: Any) -> np.ndarray:
    """A numpy array over the memory of any object with __dlpack__. Nothing is copied."""
    def refuse(why: str) -> Error:
        return Error(Status.INVALID_ARGUMENT, f"the {type(value).__name__} given by DLPack {why}", name)

    try:
        device = int(value.__dlpack_device__()[0])
    except Error:
        raise
    except Exception as why:
        raise refuse(f"does not say where it is: {said_by(why)}") from why
    if device not in (CPU, CUDA_HOST, ROCM_HOST):
        raise refuse(f"is on a device of type {device}; move it to the CPU first")
    try:
        capsule = value.__dlpack__()
    except Error:
        raise
    except Exception as why:                       # each package has its own: a tensor that needs gradients, say
        raise refuse(f"could not be taken: {said_by(why)}") from why
    if not _is_valid(capsule, _NAME):
        raise refuse("is no capsule named dltensor")
    address = _pointer(capsule, _NAME)
    _rename(capsule, _USED)
    holder = _Holder(address)
    tensor = c.cast(address, c.POINTER(_Managed)).contents.tensor
    number = _CODES.get((tensor.dtype.code, tensor.dtype.bits))
    if number is None or tensor.dtype.lanes != 1:
        raise refuse(f"has elements of code {tensor.dtype.code} and {tensor.dtype.bits} bits, which no model takes")
    return _view(holder, tensor, number)


def _view(holder: _Holder, tensor: _Tensor, number: int) -> np.ndarray:
    dtype = _dtype.to_numpy(number)
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    steps = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else _dense(shape)
    if 0 in shape or not tensor.data:
        return np.empty(shape, dtype)
    # Steps may be negative: the block then begins below the first element.
    below = sum(-s * (n - 1) for n, s in zip(shape, steps) if s < 0) * dtype.itemsize
    above = (sum(s * (n - 1) for n, s in zip(shape, steps) if s > 0) + 1) * dtype.itemsize
    block = (c.c_ubyte * (below + above)).from_address(tensor.data + tensor.byte_offset - below)
    block.holder = holder                          # as long as an array looks at the block
    return np.ndarray(shape, dtype, block, below, tuple(s * dtype.itemsize for s in steps))


def _dense(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    steps, step = [], 1
    for dim in reversed(shape):
        steps.append(step)
        step *= dim
    return tuple(reversed(steps))


# ---- out ----

_alive = {}                                        # address of a DLManagedTensor that was handed out -> what it needs


@_Deleter
def _delete(managed: Any) -> None:
    _alive.pop(c.addressof(managed.contents), None)


@c.PYFUNCTYPE(None, c.c_void_p)
def _drop_capsule(capsule: int) -> None:
    """Destructor of a capsule: one that nobody consumed still owns its tensor."""
    if _is_valid_raw(capsule, _NAME):
        _alive.pop(_pointer_raw(capsule, _NAME), None)


class DLPackArray:
    """An array as DLPack gives it out: torch.from_dlpack(DLPackArray(a)), np.from_dlpack(DLPackArray(a)). Shares the array's memory."""

    def __init__(self, array: np.ndarray) -> None:
        if not isinstance(array, np.ndarray):
            raise Error(Status.INVALID_ARGUMENT, f"a {type(array).__name__} is no numpy array", "array")
        number = _dtype.number_of(array.dtype)
        if number not in _TYPES or not array.dtype.isnative or any(s % array.itemsize for s in array.strides):
            raise Error(Status.INVALID_ARGUMENT, f"an array of {array.dtype} with these strides cannot be given by DLPack", "array")
        self.array, self._number = array, number

    def __dlpack_device__(self) -> Tuple[int, int]:
        return CPU, 0

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        if stream is not None or (dl_device is not None and tuple(dl_device) != (CPU, 0)):
            raise BufferError("the array is in the memory of the CPU, which has no streams")
        if not (copy or self.array.flags.writeable):
            raise BufferError("the array is read-only, which this form of DLPack cannot say; ask for a copy")
        array = self.array.copy() if copy else self.array
        managed = _Managed()
        shape, steps = (c.c_int64 * max(1, array.ndim))(*array.shape), (c.c_int64 * max(1, array.ndim))(*(s // array.itemsize for s in array.strides))
        code, bits = _TYPES[self._number]
        managed.tensor = _Tensor(array.ctypes.data, _Device(CPU, 0), array.ndim, _DataType(code, bits, 1), shape, steps, 0)
        managed.deleter = c.cast(_delete, c.c_void_p)
        address = c.addressof(managed)
        _alive[address] = (managed, array, shape, steps)
        return _new(address, _NAME, c.cast(_drop_capsule, c.c_void_p))
