# SPDX-License-Identifier: Apache-2.0
"""Element types: the numbers of ONNX TensorProto.DataType against numpy's and ml_dtypes' types.

ml_dtypes is imported only when a model or an array needs it. numpy arrays are never owned here.
"""
from __future__ import annotations

import functools
from typing import Optional

import numpy as np

from ._error import Error, Status

STRING = 8

# number -> (name of the dtype in numpy or ml_dtypes, ONNX's name for it)
_NAMES = {
    1: ("float32", "float"), 2: ("uint8", "uint8"), 3: ("int8", "int8"), 4: ("uint16", "uint16"), 5: ("int16", "int16"),
    6: ("int32", "int32"), 7: ("int64", "int64"), 8: ("object", "string"), 9: ("bool", "bool"), 10: ("float16", "float16"),
    11: ("float64", "double"), 12: ("uint32", "uint32"), 13: ("uint64", "uint64"), 14: ("complex64", "complex64"),
    15: ("complex128", "complex128"), 16: ("bfloat16", "bfloat16"), 17: ("float8_e4m3fn", "float8e4m3fn"),
    18: ("float8_e4m3fnuz", "float8e4m3fnuz"), 19: ("float8_e5m2", "float8e5m2"), 20: ("float8_e5m2fnuz", "float8e5m2fnuz"),
    21: ("uint4", "uint4"), 22: ("int4", "int4"), 23: ("float4_e2m1fn", "float4e2m1"), 24: ("float8_e8m0fnu", "float8e8m0"),
    25: ("uint2", "uint2"), 26: ("int2", "int2"),
}
_NUMBERS = {numpy_name: number for number, (numpy_name, _) in _NAMES.items()}
_FIRST_EXTENDED = 16

# The library keeps signed 4- and 2-bit elements sign-extended in a byte, ml_dtypes keeps only the low bits.
_WIDENED = {22, 26}


def name(number: int) -> str:
    """numpy's or ml_dtypes' name of a type number."""
    return _NAMES[number][0] if number in _NAMES else f"type {number}"


def onnx_type(number: int) -> str:
    """How onnxruntime would write it: 'tensor(float)'."""
    return f"tensor({_NAMES[number][1]})" if number in _NAMES else "tensor(undefined)"


@functools.lru_cache(maxsize=None)
def to_numpy(number: int) -> np.dtype:
    """The dtype of arrays that come out of the library."""
    if number < _FIRST_EXTENDED:
        return np.dtype(_NAMES[number][0])
    try:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, _NAMES[number][0]))
    except (ImportError, AttributeError):
        raise Error(Status.UNSUPPORTED, f"{name(number)} arrays need a recent ml_dtypes package (pip install ml_dtypes)") from None


@functools.lru_cache(maxsize=None)
def number_of(dtype: np.dtype) -> Optional[int]:
    """The type number of an array, or None. Text and object arrays count as strings."""
    if dtype.kind in "OUST":
        return STRING
    return _NUMBERS.get(dtype.name)


def to_library(array: np.ndarray, number: int) -> np.ndarray:
    """The same values as the library keeps them: native, dense, row-major, aligned. Copies only where it must."""
    if number in _WIDENED:
        array = array.astype(np.int8)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else np.require(array, requirements=["C", "A"])


def from_library(raw: np.ndarray, number: int) -> np.ndarray:
    """raw: uint8[..., element bytes] as the library left it -> an array of the right dtype over the same memory where possible."""
    if number in _WIDENED:
        return raw.view(np.int8).astype(to_numpy(number))
    return raw.view(to_numpy(number))
