# SPDX-License-Identifier: Apache-2.0
"""Operators written in Python (include/tenon/ext.h): numpy arrays in, numpy arrays out.

An operator belongs to the sessions that are made with it. Its functions are called on the thread that runs the session; what they raise
ends the run as tenon.Error, with the exception as its cause.
"""
from __future__ import annotations

import ctypes as c
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _check, _dtype, _ffi
from ._error import Error, Status, only_errors

_DYNAMIC, _IMPURE = 1, 2
_INT, _REAL, _TEXT, _INTS, _REALS = range(5)
_TYPES = {int: _INT, float: _REAL, str: _TEXT}

Shape = Optional[Tuple[Optional[int], ...]]


def _arity(what: str, value: Union[int, Tuple[int, int]]) -> Tuple[int, int]:
    pair = [value, value] if isinstance(value, int) else _check.items(what, value, "a number, or (least, most)")
    if len(pair) != 2:
        raise _check.refuse(what, value, "a number, or (least, most)")
    return _check.unsigned(what, pair[0], 31), _check.unsigned(what, pair[1], 31)


def _schema(name: str, value: Any) -> _ffi.Attribute:
    """An attribute from its default, its type (then it is required), or [int] or [float] for a list."""
    row = _ffi.Attribute(name=_check.encode(name, "attributes"))
    if isinstance(value, list) and len(value) == 1 and value[0] in (int, float):
        row.kind = _INTS if value[0] is int else _REALS
    elif isinstance(value, type) and value in _TYPES:
        row.kind, row.required = _TYPES[value], 1
    elif type(value) in _TYPES:
        row.kind = _TYPES[type(value)]
        row.default_int = value if row.kind == _INT else 0
        row.default_real = value if row.kind == _REAL else 0
        row.default_text = _check.encode(value, name) if row.kind == _TEXT else None
    else:
        raise Error(Status.INVALID_ARGUMENT, f"attribute {name}={value!r} is no default, no type of int, float and str, and no [int] or [float]", name)
    return row


class CustomOp:
    """An operator that models of a session may use: InferenceSession(model, custom_ops=[CustomOp("Ramp", run, domain="com.example")]).

    name, domain: op_type and domain of the nodes. version: first opset of the domain with this meaning.
    run(inputs, attributes): inputs is a list of arrays (None: absent); gives an array, or a list of one per output. The arrays of inputs are
    the library's own memory: read them during the call only.
    shape(inputs, attributes): inputs is a list of (numpy dtype, shape), dims None where not known, shape None where not even the rank is;
    gives a list of (dtype, shape) in the same way. Without it each result is like input 0. With dynamic=True run decides the shapes.
    inputs, outputs: how many, or (least, most). attributes: name -> default (int, float or str), type (required), or [int] or [float].
    impure=True: two calls may differ, so the result is never computed ahead.
    """

    @only_errors
    def __init__(self, name: str, run: Callable, shape: Optional[Callable] = None, *, domain: str = "", version: int = 1,
                 inputs: Union[int, Tuple[int, int]] = 1, outputs: Union[int, Tuple[int, int]] = 1,
                 attributes: Optional[Mapping[str, Any]] = None, dynamic: bool = False, impure: bool = False) -> None:
        for what, text in (("name", name), ("domain", domain)):
            if not isinstance(text, str):
                raise _check.refuse(what, text, "text")
        if not callable(run) or not (shape is None or callable(shape)):
            raise Error(Status.INVALID_ARGUMENT, "run, and shape if there is one, must be functions", name)
        self.name, self.domain, self._run, self._shape, self._dynamic = name, domain, run, shape, dynamic
        self.raised: Optional[BaseException] = None       # by the last call that failed
        self._rows = [_schema(key, value) for key, value in _check.mapping("attributes", {} if attributes is None else attributes, "a dict from names to defaults or types").items()]
        self._array = (_ffi.Attribute * max(1, len(self._rows)))(*self._rows)
        self._run_fn = _ffi.CallFn(lambda call: self._guard(self._call_run, call))
        self._shape_fn = _ffi.CallFn(lambda call: self._guard(self._call_shape, call))
        op = self._op = _ffi.CustomOp(struct_size=c.sizeof(_ffi.CustomOp))
        op.domain, op.name, op.since_version = _check.encode(domain, "domain"), _check.encode(name, "name"), _check.unsigned("version", version, 31)
        (op.min_inputs, op.max_inputs), (op.min_outputs, op.max_outputs) = _arity("inputs", inputs), _arity("outputs", outputs)
        op.attributes, op.attribute_count = self._array, len(self._rows)
        op.flags = (_DYNAMIC if dynamic else 0) | (_IMPURE if impure else 0)
        op.run = self._run_fn
        if shape is not None or dynamic:
            op.shape = self._shape_fn

    def _guard(self, function: Callable, pointer: Any) -> int:
        """No exception may cross into C: it becomes the call's failure, and the session raises it as the cause of its own."""
        call = pointer.contents
        try:
            function(_ffi.library(), pointer, call)
            return Status.OK
        except BaseException as error:
            self.raised = error
            status = error.status if isinstance(error, Error) else Status.OUT_OF_MEMORY if isinstance(error, MemoryError) else Status.INTERNAL
            said = f"{type(error).__name__}: {error}".encode("utf-8", "replace").replace(b"\0", b" ")
            return _ffi.library().tenon_call_fail(pointer, status, said)

    def _attributes(self, lib: c.CDLL, pointer: Any) -> Dict[str, Any]:
        result: Dict[str, Any] = {}
        count = c.c_size_t()
        for row in self._rows:
            if row.kind == _INT:
                value: Any = lib.tenon_call_int(pointer, row.name)
            elif row.kind == _REAL:
                value = lib.tenon_call_real(pointer, row.name)
            elif row.kind == _TEXT:
                value = _ffi.text(lib.tenon_call_text(pointer, row.name))
            else:
                function = lib.tenon_call_ints if row.kind == _INTS else lib.tenon_call_reals
                numbers = function(pointer, row.name, c.byref(count))
                value = [numbers[i] for i in range(count.value)]
            result[row.name.decode()] = value
        return result

    def _call_shape(self, lib: c.CDLL, pointer: Any, call: Any) -> None:
        inputs: List[Any] = []
        for i in range(call.input_count):
            t = call.inputs[i]
            dims: Shape = tuple(d if d >= 0 else None for d in t.dims[:t.rank]) if t.rank >= 0 else None
            inputs.append((_dtype.to_numpy(t.dtype), dims) if t.dtype else None)
        if self._shape is None:
            answers: Sequence[Any] = [(inputs[0][0], None)] * call.output_count
        else:
            answers = self._shape(inputs, self._attributes(lib, pointer))
        if len(answers) < call.output_count:
            raise ValueError(f"shape gave {len(answers)} results, the node has {call.output_count}")
        for i in range(call.output_count):
            dtype, shape = answers[i]
            out = call.outputs[i]
            out.dtype = self._number(np.dtype(dtype))
            out.rank = -1 if shape is None else len(shape)
            for axis, dim in enumerate(shape or ()):
                out.dims[axis] = -1 if dim is None else int(dim)

    @staticmethod
    def _number(dtype: np.dtype) -> int:
        number = _dtype.number_of(dtype)
        if number is None:
            raise TypeError(f"{dtype.name} is no element type of tensors")
        return number

    def _call_run(self, lib: c.CDLL, pointer: Any, call: Any) -> None:
        inputs = [self._view(call.inputs[i]) if call.inputs[i].dtype else None for i in range(call.input_count)]
        results = self._run(inputs, self._attributes(lib, pointer))
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        if len(results) < call.output_count:
            raise ValueError(f"run gave {len(results)} results, the node has {call.output_count}")
        for i in range(call.output_count):
            if call.outputs[i].dtype:                     # somebody wants it
                self._store(lib, pointer, call.outputs[i], i, np.asarray(results[i]))

    @staticmethod
    def _view(tensor: _ffi.Tensor) -> np.ndarray:
        """The library's memory as an array that cannot be written."""
        shape = tuple(tensor.dims[:tensor.rank])
        if tensor.dtype == _dtype.STRING:
            return _ffi.texts(tensor, shape)
        dtype = _dtype.to_numpy(tensor.dtype)
        raw = (c.c_uint8 * tensor.bytes).from_address(tensor.data) if tensor.bytes else b""
        array = _dtype.from_library(np.frombuffer(raw, np.uint8).reshape(shape + (dtype.itemsize,)), tensor.dtype).reshape(shape)
        array.flags.writeable = False
        return array

    def _store(self, lib: c.CDLL, pointer: Any, out: _ffi.Tensor, index: int, array: np.ndarray) -> None:
        if self._number(array.dtype) != out.dtype:
            raise TypeError(f"result {index} has dtype {array.dtype.name}, announced was {_dtype.name(out.dtype)}")
        if self._dynamic:
            if lib.tenon_call_resize(pointer, index, array.ndim, (c.c_int64 * max(1, array.ndim))(*array.shape)) != Status.OK:
                raise Error(Status.OUT_OF_MEMORY, f"no room for result {index} of shape {array.shape}", self.name)
        elif tuple(out.dims[:out.rank]) != array.shape:
            raise ValueError(f"result {index} has shape {array.shape}, announced was {tuple(out.dims[:out.rank])}")
        if out.dtype == _dtype.STRING:
            cells = c.cast(out.data, c.POINTER(c.c_void_p))
            for i, word in enumerate(array.ravel().tolist()):
                encoded = str(word).encode("utf-8", "replace")
                cells[i] = lib.tenon_call_copy_text(pointer, encoded, len(encoded))
        elif array.nbytes:
            keep = _dtype.to_library(array, out.dtype)
            c.memmove(out.data, keep.ctypes.data, keep.nbytes)


def make_registry(ops: Sequence[CustomOp]) -> int:
    """A registry of the operators; whoever opens a model with it destroys the handle afterwards."""
    lib = _ffi.library()
    registry, error = c.c_void_p(), c.c_void_p()
    _ffi.check(lib.tenon_registry_create(c.byref(registry), None, c.byref(error)), error)
    try:
        for op in ops:
            if not isinstance(op, CustomOp):
                raise Error(Status.INVALID_ARGUMENT, f"custom_ops holds {type(op).__name__}, not CustomOp", "custom_ops")
            error = c.c_void_p()
            _ffi.check(lib.tenon_registry_add(registry, c.byref(op._op), c.byref(error)), error)
    except BaseException:
        lib.tenon_registry_destroy(registry)
        raise
    return registry.value or 0
