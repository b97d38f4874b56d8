# SPDX-License-Identifier: Apache-2.0
"""Binding: inputs and outputs of a session in memory of the caller, set once and run many times.

Nothing is copied: inputs are read where they are, results are written where they shall be. A binding keeps what it was given alive;
it holds no part of the session, so that several bindings may take turns. The library stays told of the addresses until the session is used
in another way, so that running again costs one call.
"""
from __future__ import annotations

import ctypes as c
import math
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import numpy as np

from . import _check, _dlpack, _dtype
from ._error import Error, Status, only_errors

if TYPE_CHECKING:
    from ._session import InferenceSession

_ALIGNMENT = 8


def output_array(name: str, value: Any) -> np.ndarray:
    """The array that an output is written to: value itself, or a view of its memory by DLPack or the buffer protocol."""
    if isinstance(value, np.ndarray):
        array = value
    elif _dlpack.is_producer(value):
        array = _dlpack.array_of(name, value)
    else:
        try:
            array = np.asarray(memoryview(value))
        except TypeError:
            raise Error(Status.INVALID_ARGUMENT, f"a {type(value).__name__} is no array, DLPack tensor or buffer", name) from None
    number = _dtype.number_of(array.dtype)
    if number is None or number == _dtype.STRING or number in _dtype._WIDENED:
        raise Error(Status.INVALID_ARGUMENT, f"results of dtype {array.dtype.name} cannot be written in place", name)
    if not (array.flags.c_contiguous and array.flags.writeable and array.dtype.isnative) or array.ctypes.data % _ALIGNMENT:
        raise Error(Status.INVALID_ARGUMENT, f"an output needs a writable, dense, row-major array of native numbers, aligned to {_ALIGNMENT} bytes", name)
    return array


class Bound:
    """What the library has been told for a binding, and the outputs of a run with it."""

    __slots__ = ("names", "count", "array", "into", "keep", "lasting", "fixed", "error", "error_at", "__weakref__")

    def __init__(self, names: Optional[List[bytes]], into: Dict[bytes, np.ndarray]) -> None:
        self.names, self.into = names, into
        self.count = len(names or ())
        self.array = (c.c_char_p * self.count)(*names) if names else None
        self.keep: List[Any] = []                 # inputs
        self.lasting = True                       # no input has to be copied again for the next run
        self.fixed: Optional[List[np.ndarray]] = None    # the outputs, where no run can change their shape
        self.error = c.c_void_p()
        self.error_at = c.byref(self.error)


class Binding:
    """What a run reads and writes. Made by InferenceSession.io_binding().

    binding.bind_input("image", image); binding.bind_output("scores", scores); binding.run()
    """

    def __init__(self, session: "InferenceSession") -> None:
        self._session = session
        self._inputs: Dict[str, Any] = {}
        self._outputs: Dict[str, Optional[np.ndarray]] = {}
        self._results: List[Any] = []
        self._bound: Optional[Bound] = None       # of the last run; None since something was bound

    @only_errors
    def bind_input(self, name: str, value: Any) -> None:
        """Reads `value` in every run, by reference where its layout allows: numpy arrays, buffers, tensors with __dlpack__ (torch, jax ...).

        Writing to its memory between runs changes what the next run reads. Dense row-major arrays of the model's type, aligned to
        their element, are read in place; others are copied here, once.
        """
        session, self._bound = self._session, None
        arg = session._args.get(name) if isinstance(name, str) else None
        if arg is None:
            raise Error(Status.NOT_FOUND, f"the model has no input '{name}'", str(name))
        if isinstance(value, (list, tuple)) or value is None:
            self._inputs[name] = value if value is None else list(value)   # sequences are copied by each run
            return
        self._inputs[name] = session._tensor(name, value, arg.dtype)

    @only_errors
    def bind_output(self, name: str, value: Any = None) -> None:
        """Writes the result to the memory of `value` in every run; None: to an array of its own, new in each run.

        value: a writable, dense, row-major array (or buffer, or DLPack tensor) of the result's type that is large enough, aligned to 8
        bytes. Outputs are computed in the order in which they were bound first.
        """
        _check.encode(name, "name")
        if not isinstance(name, str):
            raise _check.refuse("name", name, "text")
        self._bound = None
        self._outputs[name] = None if value is None else output_array(name, value)

    def clear(self) -> None:
        """Forgets everything that was bound."""
        self._inputs.clear()
        self._outputs.clear()
        self._results, self._bound = [], None

    @only_errors
    def run(self) -> List[Any]:
        """Runs, and returns the outputs: for a bound one an array over the memory it was bound to, of the result's shape."""
        self._results = self._session._run_bound(self)
        return self._results

    def get_outputs(self) -> List[Any]:
        """The outputs of the last run."""
        return list(self._results)


def shaped(name: str, array: np.ndarray, number: int, shape: Tuple[int, ...], address: Optional[int]) -> np.ndarray:
    """The part of a bound array that a result fills, in the result's shape; the array itself when it has that shape."""
    if _dtype.number_of(array.dtype) != number:
        raise Error(Status.INVALID_ARGUMENT, f"the result is {_dtype.name(number)}, the array it was bound to {array.dtype.name}", name)
    count = math.prod(shape)
    if count and address != array.ctypes.data:
        raise Error(Status.INTERNAL, "a result is not where it was bound to", name)
    return array if array.shape == shape else array.reshape(-1)[:count].reshape(shape)


def is_known(shape: Any, number: int) -> bool:
    """Whether an array for a result of this shape and type can be made before the run."""
    return shape is not None and number not in (0, _dtype.STRING) and number not in _dtype._WIDENED and all(isinstance(d, int) for d in shape)
