# SPDX-License-Identifier: Apache-2.0
"""Arguments of public functions, as the C interface takes them. What is of the wrong kind is refused here, with its name and what it should be,
before numpy or ctypes says something of their own about it.
"""
from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from ._error import Error, Status, said_by


def refuse(what: str, value: Any, wanted: str) -> Error:
    """The error to raise for an argument of another kind than wanted."""
    try:
        shown = f"{what}={value!r}"
    except Exception:                              # its own __repr__ fails
        shown = f"{what}, a {type(value).__name__},"
    return Error(Status.INVALID_ARGUMENT, f"{shown if len(shown) < 200 else f'{what}, a {type(value).__name__},'} is not {wanted}", what)


def unsigned(name: str, value: Any, bits: int = 64) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 1 << bits:
        raise refuse(name, value, f"a whole number from 0 to 2^{bits} - 1")
    return int(value)


def flag(name: str, value: Any) -> int:
    """True or False, or 1 or 0."""
    if not isinstance(value, (bool, int, np.bool_, np.integer)) or int(value) not in (0, 1):
        raise refuse(name, value, "True or False")
    return int(value)


def encode(value: Union[str, bytes, os.PathLike, None], what: str) -> Optional[bytes]:
    """A path, name or option as the C interface takes it; names that are not UTF-8 come back as they were given out."""
    if value is None:
        return None
    try:
        value = os.fspath(value)
        encoded = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    except (TypeError, UnicodeEncodeError):
        raise refuse(what, value, "text") from None
    if b"\0" in encoded:
        raise Error(Status.INVALID_ARGUMENT, f"{what}={value!r} has a zero byte in it", what)
    return encoded


def mapping(what: str, value: Any, wanted: str) -> Any:
    """A dict whose keys are names."""
    if not isinstance(value, (dict, Mapping)):
        raise refuse(what, value, wanted)
    for name in value:
        if not isinstance(name, str):
            raise refuse(what, name, "a name: the keys are str")
    return value


def items(what: str, value: Any, wanted: str) -> List[Any]:
    """The items of a list, tuple or other iterable that is no text."""
    if isinstance(value, (str, bytes, bytearray, Mapping)) or not isinstance(value, Iterable):
        raise refuse(what, value, wanted)
    try:
        return list(value)
    except Exception as why:                       # what its own iterator raises
        raise Error(Status.INVALID_ARGUMENT, f"the {type(value).__name__} given could not be read: {said_by(why)}", what) from why


def names(value: Any) -> Optional[List[bytes]]:
    """Names of wanted tensors; None for all outputs."""
    if value is None:
        return None
    hint = f"; for one output give [{value!r}]" if isinstance(value, str) else ""
    given = items("output_names", value, f"a list of names{hint}")
    for name in given:
        if not isinstance(name, str):
            raise refuse("output_names", name, "a name: outputs are named by str")
    return [encode(name, "output_names") or b"" for name in given]


def shape(name: str, value: Any, least: int = 0, most: int = 8) -> Tuple[int, ...]:
    """The dims of an input."""
    dims = items(name, value, "a shape: a list of whole numbers")
    if len(dims) > most:
        raise Error(Status.INVALID_ARGUMENT, f"shapes have at most {most} dims, not {len(dims)}", name)
    for dim in dims:
        if unsigned(name, dim, 63) < least:
            raise Error(Status.INVALID_ARGUMENT, f"dim {dim} of the shape {value!r} is below {least}", name)
    return tuple(int(dim) for dim in dims)


def shapes(value: Any) -> Dict[str, Any]:
    return mapping("shapes", value, "a dict from names of inputs to shapes")


def nanoseconds(what: str, seconds: Any) -> int:
    """A span of time for the library: at least one nanosecond where it is not 0."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds <= 1e9:
        raise refuse(what, seconds, "0 to 1e9 seconds")
    return math.ceil(seconds * 1e9)
