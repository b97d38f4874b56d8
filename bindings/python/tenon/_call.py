# SPDX-License-Identifier: Apache-2.0
"""Calls: runs of arrays that are read where they lie, which the next run with arrays like them repeats.

What names, types and shapes say to the library is worked out once; a run that repeats the last one tells it the new addresses and nothing
else. A call holds no array and no part of the session.
"""
from __future__ import annotations

import ctypes as c
import functools
import math
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _dtype, _ffi

_BUILT_IN = 16                                    # type numbers below are of numpy's own types, which export a buffer


class Place:
    """An array of one type and shape, as the library is told of it."""

    __slots__ = ("name", "shape", "dtype", "number", "dims", "bytes", "buffer")

    def __init__(self, name: bytes, shape: Tuple[int, ...], number: int) -> None:
        self.name, self.shape, self.dtype, self.number = name, shape, _dtype.to_numpy(number), number
        self.dims = (c.c_int64 * max(1, len(shape)))(*shape)
        self.bytes = self.dtype.itemsize * math.prod(shape)
        self.buffer = c.c_char * self.bytes if number < _BUILT_IN and self.bytes else None

    def new(self) -> Optional[np.ndarray]:
        """An array for a result; None where there is none."""
        try:
            return np.empty(self.shape, self.dtype)
        except (MemoryError, ValueError):
            return None                            # the run itself says what is wrong

    def at(self, array: np.ndarray) -> Any:
        """The array's address, as an argument: twice as fast as array.ctypes where there is a buffer to write to."""
        return self.buffer.from_buffer(array) if self.buffer is not None and array.flags.writeable else c.c_void_p(array.ctypes.data)


def in_place(array: Any, want: int) -> bool:
    """Whether an input of type `want` is read where it lies: it is not converted or copied first, nor refused."""
    if type(array) is not np.ndarray or want == _dtype.STRING or want in _dtype._WIDENED or array.dtype != _dtype.to_numpy(want):
        return False
    return array.ndim <= _ffi.MAX_RANK and array.flags.c_contiguous and array.flags.aligned


class Call:
    """What a run of a session is told besides addresses, with all arguments but these made ready.

    wanted: the names of outputs as they were given. inputs: by name, where all lie in place; else None. order: the names of the
    outputs, each with its place where its shape is known ahead.
    """

    __slots__ = ("wanted", "inputs", "order", "bound", "proved", "error", "_names", "_run", "_bind_input", "_bind_output", "__weakref__")

    def __init__(self, lib: c.CDLL, session: Optional[int], wanted: Optional[List[str]], names: Optional[List[bytes]],
                 inputs: Optional[Dict[str, Place]], order: List[Tuple[bytes, Optional[Place]]]) -> None:
        self.wanted, self.error, handle = wanted, c.c_void_p(), c.c_void_p(session)
        self.bound = [name for name, place in order if place is not None]
        self.proved = False                       # a run has written every output to its place
        # Arguments before and after the address, of the types that the functions have: nothing is converted when they are called.
        error_at, size = c.byref(self.error), c.c_size_t
        self._bind_input, self._bind_output = lib["tenon_session_bind_input"], lib["tenon_session_bind_output_as"]
        self.inputs = None if inputs is None else [
            (name, p, (handle, c.c_char_p(p.name), p.number, len(p.shape), p.dims), (size(p.bytes), error_at))
            for name, p in inputs.items()]
        self.order = [
            (name, p, (handle, c.c_char_p(name), p.number) if p else (), (size(p.bytes), error_at) if p else ())
            for name, p in order]
        self._names = (c.c_char_p * len(names))(*names) if names else None
        run, array, count = lib["tenon_session_run"], self._names, size(len(names or ()))
        self._run = functools.partial(run, handle, array, count, error_at)

    def arrays(self, wanted: Any, feeds: Any) -> Optional[List[np.ndarray]]:
        """The feeds in order, where running `wanted` of them is this call and they lie in place; else None."""
        if self.inputs is None or type(feeds) is not dict or len(feeds) != len(self.inputs):
            return None
        if wanted is not self.wanted and (type(wanted) not in (list, tuple) or list(wanted) != self.wanted):
            return None
        found = []
        for name, place, _, _ in self.inputs:
            array = feeds.get(name)
            if type(array) is not np.ndarray or array.shape != place.shape or array.dtype != place.dtype:
                return None
            flags = array.flags
            if not (flags.c_contiguous and flags.aligned):
                return None
            found.append(array)
        return found

    def tell(self, arrays: List[np.ndarray]) -> None:
        """Hands the inputs to the library by reference; they must stay alive for that."""
        for (_, place, before, after), array in zip(self.inputs or (), arrays):
            status = self._bind_input(*before, place.at(array), *after)
            if status:
                _ffi.check(status, self.error)

    def run(self) -> Tuple[int, List[Optional[np.ndarray]]]:
        """Runs, and gives the status and the new arrays that outputs of known shapes were written to; None for the others."""
        results: List[Optional[np.ndarray]] = []
        for name, place, before, after in self.order:
            array = place.new() if place is not None else None
            if place is not None:
                status = self._bind_output(*before, None if array is None else place.at(array), *after)
                if status:
                    _ffi.check(status, self.error)
            results.append(array)
        return self._run(), results
