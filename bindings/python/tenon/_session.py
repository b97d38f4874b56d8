# SPDX-License-Identifier: Apache-2.0
"""InferenceSession: one model opened for running, in the shape that onnxruntime made usual.

A session belongs to the process that made it and serves one run at a time (a lock sees to it). Feeds are read in place where their
layout allows: numpy arrays, buffers, DLPack tensors. Results of shapes that are known ahead are written straight into new arrays, others
are copied once; either way they belong to the caller. io_binding() gives runs that read and write the caller's own memory.
"""
from __future__ import annotations

import ctypes as c
import json
import logging
import mmap
import os
import threading
import weakref
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _binding, _call, _check, _dlpack, _dtype, _ffi
from ._custom import CustomOp, make_registry
from ._error import Error, Status, only_errors, said_by

_REPORTS = {"explain": 0, "placement": 1, "memory": 2, "statistics": 3, "model": 4, "graph": 5, "profile": 6}
_MODEL_REPORTS = ("model",)
_STRICT = {"device": 1, "reference": 2, "precision": 4}
_POWER = {
    "affinity": ("none", "big", "little", "high-performance", "power-save"),
    "gpu_performance": ("default", "low", "normal", "high"), "gpu_priority": ("default", "low", "normal", "high"),
    "dsp_level": None, "dsp_dcvs": ("default", "off", "on"), "dsp_latency_us": None,
}
_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
_CALLS = 16                                       # that a session keeps, as many as plans
_log = logging.getLogger("tenon")


class NodeArg:
    """One input or output of a model.

    name: str. shape: list of int, of str for a named free dim, of None for an unnamed one; None when the rank is unknown.
    type: 'tensor(float)' and the like. dtype: the number in ONNX TensorProto.DataType. optional: None may be fed.
    sequence: a list of arrays is fed.
    """

    __slots__ = ("name", "shape", "type", "dtype", "optional", "sequence")

    def __init__(self, info: _ffi.ValueInfo) -> None:
        self.name: str = (info.name or b"").decode("utf-8", "surrogateescape")
        self.dtype: int = info.dtype
        self.optional: bool = bool(info.optional)
        self.sequence: bool = info.kind == _ffi.SEQUENCE
        self.type: str = _dtype.onnx_type(info.dtype)
        self.type = f"seq({self.type})" if self.sequence else self.type
        self.type = f"optional({self.type})" if self.optional else self.type
        self.shape: Optional[List[Union[int, str, None]]] = None
        if info.rank >= 0:
            self.shape = [info.dims[i] if info.dims[i] >= 0 else (_ffi.text(info.symbols[i]) or None)
                          for i in range(info.rank)]

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape!r})"


def version() -> str:
    """Version of the C library, "0.1.0"."""
    return _ffi.text(_ffi.library().tenon_version())


@only_errors
def devices() -> List[Dict[str, Any]]:
    """The devices of this machine, present or not, each a dict with at least name and present."""
    return _ffi.taken_json(_ffi.library().tenon_devices_json()).get("devices", [])


def _strict_flags(strict: Union[bool, int, str, Sequence[str]]) -> int:
    """True: device; a name, names or names with commas between: those."""
    if isinstance(strict, (bool, int)):
        return _check.unsigned("strict", int(strict), 3)
    words = strict.split(",") if isinstance(strict, str) else _check.items("strict", strict, "True, False or a list of words")
    flags = 0
    for word in words:
        if word == "":
            continue
        if not isinstance(word, str) or word not in _STRICT:
            raise Error(Status.INVALID_ARGUMENT, f"unknown strict word {word!r}; there are {', '.join(_STRICT)}", "strict")
        flags |= _STRICT[word]
    return flags


def _power(hints: Mapping[str, Union[str, int]]) -> _ffi.Power:
    """The struct of the C interface from names and numbers."""
    power = _ffi.Power()
    _ffi.library().tenon_options_init(c.byref(power), c.sizeof(power))
    for name, value in _check.mapping("power", hints, "a dict from names of hints to values").items():
        if name not in _POWER:
            raise Error(Status.INVALID_ARGUMENT, f"unknown power hint {name!r}; there are {', '.join(_POWER)}", "power")
        words = _POWER[name]
        if words is not None and isinstance(value, str):
            if value not in words:
                raise Error(Status.INVALID_ARGUMENT, f"power hint {name}={value!r} is none of {', '.join(words)}", "power")
            value = words.index(value)
        setattr(power, name, _check.unsigned(name, value, 31))
    return power


def key_function(key: Union[bytes, Callable[[str], bytes], None]) -> Any:
    """A key, or a function from its name to it, as the C interface takes it; None for None."""
    if key is None:
        return None
    if not callable(key) and not isinstance(key, (bytes, bytearray)):
        raise Error(Status.INVALID_ARGUMENT, "a key is 32 bytes, or a function from its name to them", "key")

    raised: List[BaseException] = []

    def give(_: Any, name: bytes, out: Any) -> int:
        try:
            found = bytes(key(_ffi.text(name)) if callable(key) else key)
        except BaseException as error:             # it cannot pass through C: the library says that there is no such key, and why is the cause
            raised.append(error)
            return 1
        if len(found) != 32:
            return 1
        c.memmove(out, found, 32)
        return 0

    function = _ffi.KeyFn(give)
    function.raised = raised
    return function


def with_key_cause(error: BaseException, function: Any) -> BaseException:
    """The error, with what the key function raised as its cause; that itself where it is no Exception (KeyboardInterrupt)."""
    if function is None or not function.raised:
        return error
    cause = function.raised.pop()
    if not isinstance(cause, Exception):
        return cause
    error.__cause__ = cause
    return error


def _trace_events(record: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """Complete events, times in microseconds: one track for the steps, one for each thread."""
    def event(track: int, name: str, category: str, begin: int, end: int, **facts: Any) -> Dict[str, Any]:
        return {"name": name, "cat": category, "ph": "X", "pid": 1, "tid": track, "ts": begin / 1e3, "dur": (end - begin) / 1e3, "args": facts}

    nodes, steps = record["nodes"], record["steps"]
    tracks = ["steps"] + [f"thread {t}" for t in range(record["threads"])]
    events = [{"name": "thread_name", "ph": "M", "pid": 1, "tid": t, "args": {"name": name}} for t, name in enumerate(tracks)]
    events += [event(0, "run", "run", begin, end, planning_ns=planning) for begin, end, planning in record["runs"]]
    for node, _, begin, end in steps:
        n = nodes[node]
        events.append(event(0, n["name"], n["op"], begin, end, kernel=n["kernel"], device=n["device"], macs=n["macs"]))
    for step, thread, begin, end, tiles in record["shares"]:
        n = nodes[steps[step][0]]
        events.append(event(1 + thread, n["name"], n["op"], begin, end, tiles=tiles))
    return events


def _in_memory(model: Union[bytes, bytearray, memoryview]) -> np.ndarray:
    """The bytes of a model file, in place where nobody can change them: bytes, and read-only views of a mapping. The library uses packed
    weights of a .tenon file where they lie at multiples of 64, which Python's bytes do not: those are copied once, to where they do."""
    view = memoryview(model)
    owner = view.obj
    if not view.contiguous:
        view = memoryview(bytes(view))
    array = np.frombuffer(view, np.uint8) if view.nbytes else np.empty(0, np.uint8)
    fixed = isinstance(view.obj, bytes) or (isinstance(owner, mmap.mmap) and view.readonly)
    if fixed and (array.ctypes.data % 64 == 0 or bytes(view[4:8]) != b"TNN1"):
        return array
    block = np.empty(array.size + 64, np.uint8)
    start = -block.ctypes.data % 64
    block[start:start + array.size] = array
    return block[start:start + array.size]


class InferenceSession:
    """A model, opened, optimised and ready to run.

    model: path of a model file, or its bytes: `bytes` and read-only views of a mapping are read in place, others copied. Opening a .tenon file
    by its path, or as such a view, copies nothing; as `bytes` it is copied once, so that its packed weights lie aligned.
    device: "cpu", "opencl", "hexagon", or None for the best that needs no name. threads: 0 for one per core. precision: "fp32", "fp16", "fp16_pure" (opencl), "bf16" (cpu), "int8"; None:
    "fp32", and for a model that comes quantised integers where the CPU is faster with them.
    calibration: for precision "int8", a list of feeds as for run(): activations are quantised by the ranges that they lead to.
    strict: True, or any of "device", "reference", "precision": what raises Error(FALLBACK) instead of logging a warning.
    memory_limit: bytes that a run may take, as report("memory")["peak_bytes"] counts them; 0 for the default limit.
    isa: highest instruction set to use ("portable", "avx2", ...). pin: "op=version,...". optimise: False keeps the graph as it is.
    folder: where external data of a model given as bytes may lie. cache: folder where a device may keep programs that it built.
    store: "image" or "buffer", how a GPU keeps tensors of pictures.
    device_log: what the device says of its own work goes to the log as DEBUG: 1 each call, 2 each node (hexagon).
    power: hints such as {"affinity": "big", "gpu_priority": "low", "dsp_level": 3}; those that this machine cannot follow are told
    in report("statistics")["power"]. plan_cache: plans kept, 0 for 16. The limit_* options are those of tenon.h.
    sha256: refuse any other file (docs/format.md). verify: compare the weights of a .tenon file with its hashes. key: 32 bytes, or a
    function from a key's name to them, for encrypted weights.
    custom_ops: operators written in Python (tenon.CustomOp) that the model uses.

    Raises tenon.Error. Warnings of the library go to logging.getLogger("tenon").
    """

    @only_errors
    def __init__(self, model: Union[str, os.PathLike, bytes, bytearray, memoryview], device: Optional[str] = "cpu", threads: int = 0,
                 precision: Optional[str] = None, strict: Union[bool, int, str, Sequence[str]] = False, *, memory_limit: int = 0,
                 isa: Optional[str] = None, pin: Optional[str] = None, optimise: bool = True,
                 folder: Union[str, os.PathLike, None] = None, cache: Union[str, os.PathLike, None] = None,
                 store: Optional[str] = None, power: Optional[Mapping[str, Union[str, int]]] = None,
                 calibration: Sequence[Mapping[str, Any]] = (), device_log: int = 0,
                 plan_cache: int = 0, limit_tensor_bytes: int = 0,
                 limit_nodes: int = 0, limit_work: int = 0, limit_loop_steps: int = 0, limit_peak_bytes: int = 0,
                 sha256: Optional[str] = None, verify: bool = False, key: Union[bytes, Callable[[str], bytes], None] = None,
                 custom_ops: Sequence[CustomOp] = ()) -> None:
        self._model: Optional[int] = None
        self._session: Optional[int] = None
        # What the library was told last and still knows: it reads and writes there in a run alone, so that the arrays may go before.
        self._told: Optional[Tuple[Any, List[bytes]]] = None
        self._last: Optional[_call.Call] = None   # of the last run
        self._calls: Dict[Any, _call.Call] = {}
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._lib = lib = _ffi.library()

        model_options = _ffi.ModelOptions()
        lib.tenon_options_init(c.byref(model_options), c.sizeof(model_options))
        self._log_fn = _ffi.LogFn(lambda _, level, said: _log.log(_LEVELS[min(max(level, 0), 3)], "%s", _ffi.text(said)))
        model_options.log = self._log_fn
        model_options.folder = _check.encode(folder, "folder")
        model_options.no_optimise = 1 - _check.flag("optimise", optimise)
        model_options.limit_tensor_bytes = _check.unsigned("limit_tensor_bytes", limit_tensor_bytes)
        model_options.limit_nodes = _check.unsigned("limit_nodes", limit_nodes)

        model_options.sha256 = _check.encode(sha256, "sha256")
        model_options.verify = _check.flag("verify", verify)
        key_fn = key_function(key)
        if key_fn is not None:
            model_options.key = key_fn

        options = _ffi.SessionOptions()
        lib.tenon_options_init(c.byref(options), c.sizeof(options))
        options.device, options.precision = _check.encode(device, "device"), _check.encode(precision, "precision")
        options.isa, options.pin = _check.encode(isa, "isa"), _check.encode(pin, "pin")
        options.cache, options.store = _check.encode(cache, "cache"), _check.encode(store, "store")
        options.threads = _check.unsigned("threads", threads, 32)
        options.strict = _strict_flags(strict)
        hints = _power({} if power is None else power)
        options.power = c.cast(c.pointer(hints), c.c_void_p)
        options.memory_limit = _check.unsigned("memory_limit", memory_limit)
        options.device_log = _check.unsigned("device_log", device_log, 31)
        options.plan_cache = _check.unsigned("plan_cache", plan_cache)
        options.limit_work = _check.unsigned("limit_work", limit_work)
        options.limit_loop_steps = _check.unsigned("limit_loop_steps", limit_loop_steps)
        options.limit_peak_bytes = _check.unsigned("limit_peak_bytes", limit_peak_bytes)

        self._customs = _check.items("custom_ops", custom_ops, "a list of tenon.CustomOp")     # their functions live as long as the session
        for op in self._customs:
            if not isinstance(op, CustomOp):
                raise _check.refuse("custom_ops", op, "a tenon.CustomOp")
        if self._customs:
            model_options.registry = make_registry(self._customs)
        try:
            try:
                self._model, self._bytes = self._open(model, model_options)
            finally:
                lib.tenon_registry_destroy(model_options.registry)   # the model keeps it
            self._inputs = self._describe(lib.tenon_model_input_count, lib.tenon_model_input)
            samples, keep = self._samples(calibration)
            options.calibration, options.calibration_count = c.cast(samples, c.c_void_p), len(samples)
            self._session = self._made(lib.tenon_session_create, self._model, c.byref(options))
            del keep
            self._outputs = self._describe(lib.tenon_model_output_count, lib.tenon_model_output)
        except BaseException as error:
            self.close()
            raise with_key_cause(self._with_cause(error), key_fn)
        self._args = {arg.name: arg for arg in self._inputs}
        self._order = [arg.name.encode("utf-8", "surrogateescape") for arg in self._outputs]
        self._known = [(name, tuple(arg.shape or ()), arg.dtype) for name, arg in zip(self._order, self._outputs)
                       if not (arg.sequence or arg.optional) and _binding.is_known(arg.shape, arg.dtype)]

    def _samples(self, calibration: Sequence[Mapping[str, Any]]) -> Tuple[Any, List[Any]]:
        """Sample inputs as the library sees them, and what must stay alive for that."""
        wanted = {arg.name: arg.dtype for arg in self._inputs}
        calibration = _check.items("calibration", calibration, "a list of feeds")
        samples, keep = (_ffi.Sample * len(calibration))(), []
        for sample, feeds in zip(samples, calibration):
            _check.mapping("calibration", feeds, "a dict from names to arrays")
            names, tensors = (c.c_char_p * len(feeds))(), (_ffi.Tensor * len(feeds))()
            for i, (name, value) in enumerate(feeds.items()):
                names[i] = _check.encode(name, "calibration")
                tensors[i], alive = self._tensor(name, value, wanted.get(name))
                keep.append(alive)
            sample.names, sample.tensors, sample.count = names, tensors, len(feeds)
            keep += [names, tensors]
        return samples, keep

    def _with_cause(self, error: BaseException) -> BaseException:
        """The error, with what a custom operator raised as its cause."""
        for op in self._customs:
            if op.raised is not None:
                error.__cause__, op.raised = op.raised, None
        return error

    # ---- opening and closing ----

    def _made(self, function: Callable, *arguments: Any) -> int:
        """Calls function(&out, *arguments, &error) and gives out."""
        out, error = c.c_void_p(), c.c_void_p()
        _ffi.check(function(c.byref(out), *arguments, c.byref(error)), error)
        return out.value or 0

    def _call(self, function: Callable, *arguments: Any) -> None:
        error = c.c_void_p()
        _ffi.check(function(*arguments, c.byref(error)), error)

    def _open(self, model: Any, options: _ffi.ModelOptions) -> Tuple[int, Any]:
        """The model, and what must outlive it."""
        if isinstance(model, (bytes, bytearray, memoryview)):
            held = _in_memory(model)
            opened = self._made(self._lib.tenon_model_open_memory, held.ctypes.data, held.size, c.byref(options))
            return opened, held
        if not isinstance(model, (str, os.PathLike)):
            raise Error(Status.INVALID_ARGUMENT, f"a model is a path or bytes, not {type(model).__name__}", "model")
        return self._made(self._lib.tenon_model_open, _check.encode(model, "model"), c.byref(options)), None

    def _describe(self, count: Callable, get: Callable) -> List[NodeArg]:
        result = []
        for index in range(count(self._model)):
            info = _ffi.ValueInfo(struct_size=c.sizeof(_ffi.ValueInfo))
            _ffi.check(get(self._model, index, c.byref(info)), c.c_void_p())
            result.append(NodeArg(info))
        return result

    def close(self) -> None:
        """Gives back everything once a run in progress has ended; the session cannot be used after it. Safe to call twice."""
        if self._pid != os.getpid():
            self._session = self._model = None    # its threads live in the parent only: nothing here can be taken down
            return
        with self._alone():
            session, model = self._session, self._model
            self._session = self._model = None
            if session:
                self._lib.tenon_session_destroy(session)
                self._told = None
            if model:
                self._lib.tenon_model_destroy(model)

    def __enter__(self) -> "InferenceSession":
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_model", None) or getattr(self, "_session", None):
            self.close()

    def _usable(self) -> int:
        if self._pid != os.getpid():
            raise Error(Status.STATE, "this session was made before a fork; make a new one in the child process", "session")
        if not self._session:
            raise Error(Status.STATE, "this session is closed", "session")
        return self._session

    def _alone(self) -> Any:
        """The lock, to be entered; refused on a thread that is inside it already, where waiting would never end."""
        if self._lock._is_owned():                # type: ignore[attr-defined]  # what threading.Condition asks of a lock too
            raise Error(Status.STATE, "this session is running: its own custom operators must leave it alone", "session")
        return self._lock

    # ---- what the model is ----

    def get_inputs(self) -> List[NodeArg]:
        """Inputs in graph order, without those that have an initialiser."""
        return list(self._inputs)

    def get_outputs(self) -> List[NodeArg]:
        """Outputs in graph order."""
        return list(self._outputs)

    # ---- running ----

    @only_errors
    def run(self, output_names: Optional[Sequence[str]], feeds: Mapping[str, Any]) -> List[Any]:
        """Runs the model and returns one array per name, in that order.

        output_names: names of outputs or of tensors inside the model; None for all outputs. Only what they need is computed.
        feeds: name -> array of the input's dtype and a shape that fits it. numpy and ml_dtypes arrays, scalars as 0-d arrays,
        object arrays of str for text, lists of arrays for sequences; None leaves an optional input out. Anything with the buffer
        protocol or __dlpack__ (torch, jax ...) is taken too. Dense aligned arrays are read in place. Results are arrays, lists of arrays for sequences, and None for an optional that holds nothing.
        """
        call = self._last                         # as a rule a run is like the one before
        arrays = call.arrays(output_names, feeds) if call is not None else None
        if arrays is None:
            _check.mapping("feeds", feeds, "a dict from names to arrays")
            call = self._last = self._call_of(output_names, feeds)
            arrays = call.arrays(call.wanted, feeds)
        self._usable()                            # before the lock, which another thread of the parent may hold in a forked child
        with self._alone():
            session, good = self._session or self._usable(), False    # again: another thread may have closed it meanwhile
            try:
                if arrays is None or self._told is None or self._told[0]() is not call:
                    self._let_go(session)
                    self._told = weakref.ref(call), call.bound
                keep = call.tell(arrays) if arrays is not None else self._tell_feeds(session, feeds)
                results = self._run_call(session, call) if call.order or output_names is None else []
                good = arrays is not None         # they may go: the library does not look there before it is told again
                del keep
                return results
            finally:
                if not good:
                    self._let_go(session)

    def _call_of(self, output_names: Optional[Sequence[str]], feeds: Mapping[str, Any]) -> _call.Call:
        """What a run of these feeds is told besides addresses."""
        names, kinds = _check.names(output_names), []
        for name, value in feeds.items():
            arg = self._args.get(name)
            if arg is None or arg.sequence or not _call.in_place(value, arg.dtype):
                kinds = None
                break
            kinds.append((name, value.shape, arg.dtype))
        key = None if names is None else tuple(names), None if kinds is None else tuple(kinds)
        call = self._calls.get(key)
        if call is None:
            order = self._order if names is None else names
            places = {name: _call.Place(name, shape, number) for name, shape, number in self._known if order.count(name) == 1 and 0 not in shape}
            inputs = None if kinds is None else {name: _call.Place(_check.encode(name, "feeds") or b"", *kind) for name, *kind in kinds}
            wanted = None if names is None else [_ffi.text(name) for name in names]
            call = _call.Call(self._lib, self._session, wanted, names, inputs, [(name, places.get(name)) for name in order])
            if len(self._calls) == _CALLS:
                self._calls.clear()
            self._calls[key] = call
        return call

    def _tell_feeds(self, session: int, feeds: Mapping[str, Any]) -> List[Any]:
        """Hands feeds of any kind to the library; returns what must stay alive for that."""
        keep = []
        for name, value in feeds.items():
            if value is not None:
                keep.append(self._bind(session, name, value))
            elif name not in self._args:
                raise Error(Status.NOT_FOUND, "the model has no input of this name", str(name))
            elif self._args[name].optional:
                self._call(self._lib.tenon_session_set_none, session, _check.encode(name, "feeds"))
        return keep

    def _run_call(self, session: int, call: _call.Call) -> List[Any]:
        """Runs with new arrays for the outputs whose shapes are known ahead, and gives all outputs."""
        status, written = call.run()
        if status:
            self._failed(status, call.error)
        if call.proved:
            return written
        results = [self._result(session, index, name, array) for index, ((name, *_), array) in enumerate(zip(call.order, written))]
        call.proved = not self._customs and all(a is b is not None for a, b in zip(results, written))
        return results

    def _bind_output(self, session: int, name: bytes, array: np.ndarray) -> None:
        self._call(self._lib.tenon_session_bind_output_as, session, name, _dtype.number_of(array.dtype) or 0, array.ctypes.data, array.nbytes)

    def io_binding(self) -> _binding.Binding:
        """A Binding of this session: inputs and outputs in the caller's memory."""
        return _binding.Binding(self)

    @only_errors
    def run_with_iobinding(self, binding: _binding.Binding) -> List[Any]:
        """The same as binding.run()."""
        if not isinstance(binding, _binding.Binding):
            raise _check.refuse("binding", binding, "what io_binding() made")
        return binding.run()

    def _tell(self, session: int, binding: _binding.Binding) -> _binding.Bound:
        """Tells the library of all that is bound."""
        names = [_check.encode(name, "name") for name in binding._outputs] or None
        bound = _binding.Bound(names, {name: array for name, array in zip(names or (), binding._outputs.values()) if array is not None})
        self._told = weakref.ref(bound), list(bound.into)
        for name, value in binding._inputs.items():
            encoded = _check.encode(name, "name")
            if value is None:
                self._call(self._lib.tenon_session_set_none, session, encoded)
            elif isinstance(value, list):
                self._bind(session, name, value)
                bound.lasting = False
            else:
                t = value[0]
                self._call(self._lib.tenon_session_bind_input, session, encoded, t.dtype, t.rank, t.dims, t.data, t.bytes)
                bound.keep.append(value)
        for name, array in bound.into.items():
            self._bind_output(session, name, array)
        return bound

    def _let_go(self, session: int) -> None:
        """The library forgets what the last binding told it."""
        told, self._told = self._told, None
        if told is not None:
            self._lib.tenon_session_clear_inputs(session)
            for name in told[1]:
                self._lib.tenon_session_bind_output(session, name, None, 0, None)

    def _run_bound(self, binding: _binding.Binding) -> List[Any]:
        self._usable()
        with self._alone():
            session, bound, good = self._usable(), binding._bound, False
            try:
                if bound is None or self._told is None or self._told[0]() is not bound:
                    self._let_go(session)
                    bound = self._tell(session, binding)
                status = self._lib.tenon_session_run(session, bound.array, bound.count, bound.error_at)
                if status:
                    self._failed(status, bound.error)
                results = self._bound_results(session, bound) if bound.fixed is None else list(bound.fixed)
                binding._bound, good = bound, bound.lasting
                return results
            finally:
                if not good:
                    self._let_go(session)

    def _failed(self, status: int, error: c.c_void_p) -> None:
        try:
            _ffi.check(status, error)
        except Error as failure:
            raise self._with_cause(failure)

    def _bound_results(self, session: int, bound: _binding.Bound) -> List[Any]:
        """The outputs; where all lie in arrays of the only shape that they can have they are the same for later runs."""
        order = bound.names if bound.names is not None else self._order
        results = [self._result(session, index, name, bound.into.get(name)) for index, name in enumerate(order)]
        if bound.names and all(name in bound.into and (name, bound.into[name].shape, _dtype.number_of(bound.into[name].dtype)) in self._known
                               for name in order):
            bound.fixed = list(results)
        return results

    def _save(self, path: Optional[bytes], options: _ffi.SaveOptions, feeds: Mapping[str, Any]) -> None:
        """tenon_model_save for these inputs."""
        self._usable()
        with self._alone():
            session = self._usable()
            self._let_go(session)
            keep = []
            try:
                for name, value in feeds.items():
                    keep.append(self._bind(session, name, value))
                options.session = session
                self._call(self._lib.tenon_model_save, self._model, path, c.byref(options))
            finally:
                self._lib.tenon_session_clear_inputs(session)
                del keep

    def _tune(self, options: _ffi.TuneOptions) -> None:
        """tenon_session_tune of what was prepared last."""
        self._usable()
        with self._alone():
            self._let_go(self._usable())
            self._call(self._lib.tenon_session_tune, self._session, c.byref(options))

    def _bind(self, session: int, name: str, value: Any) -> Tuple[Any, ...]:
        """Hands one feed to the library by reference; returns what must stay alive for that."""
        if not isinstance(name, str):
            raise Error(Status.INVALID_ARGUMENT, f"feeds are named by str, not {type(name).__name__}", "feeds")
        arg = self._args.get(name)
        if isinstance(value, (list, tuple)) and arg is not None and arg.sequence:
            parts = [self._tensor(name, item, arg.dtype) for item in value]
            items = (_ffi.Tensor * max(1, len(parts)))(*[tensor for tensor, _ in parts])
            self._call(self._lib.tenon_session_set_sequence, session, _check.encode(name, "feeds"), items, len(parts))
            return ()                             # the library has copied the items
        t, keep = self._tensor(name, value, arg.dtype if arg is not None else None)
        self._call(self._lib.tenon_session_bind_input, session, _check.encode(name, "feeds"), t.dtype, t.rank, t.dims, t.data, t.bytes)
        return keep, t

    def _tensor(self, name: str, value: Any, want: Optional[int]) -> Tuple[Any, Any]:
        """One array as the library sees it, and what must stay alive for that."""
        array = self._as_array(name, value, want)
        number = _dtype.number_of(array.dtype)
        if number is None or (want is not None and number != want):
            wanted = f"; the model wants {_dtype.name(want)}" if want is not None else ", which no model takes"
            raise Error(Status.INVALID_ARGUMENT, f"the array given has dtype {array.dtype.name}{wanted}", name)
        if array.ndim > _ffi.MAX_RANK:
            raise Error(Status.INVALID_ARGUMENT, f"arrays have at most {_ffi.MAX_RANK} dims, not {array.ndim}", name)
        if number == _dtype.STRING:
            data, size, keep = self._strings(name, array)
        else:
            keep = _dtype.to_library(array, number)
            data, size = keep.ctypes.data, keep.nbytes
        tensor = _ffi.Tensor(dtype=number, rank=array.ndim, data=data, bytes=size)
        for axis, dim in enumerate(array.shape):
            tensor.dims[axis] = dim
        return tensor, keep

    @staticmethod
    def _as_array(name: str, value: Any, want: Optional[int]) -> np.ndarray:
        if isinstance(value, np.ndarray):
            return value
        try:
            if _dlpack.is_producer(value):
                return _dlpack.array_of(name, value)
        except (Error, MemoryError):
            raise
        except Exception as why:                   # attributes of the object that raise when they are looked at
            raise Error(Status.INVALID_ARGUMENT, f"the {type(value).__name__} given could not be taken: {said_by(why)}", name) from why
        if isinstance(value, (list, tuple)):
            raise Error(Status.INVALID_ARGUMENT, "a list was given, but the model takes a tensor here: give a numpy array", name)
        if isinstance(value, (bool, int, float, complex)) and want not in (None, _dtype.STRING):
            try:
                return np.asarray(value, dtype=_dtype.to_numpy(want))
            except (OverflowError, TypeError, ValueError):
                raise Error(Status.INVALID_ARGUMENT, f"{value!r} is not a {_dtype.name(want)}", name) from None
        try:
            return np.asarray(value)
        except MemoryError:
            raise
        except Exception as why:                   # what __array__, or the buffer, of the object raises
            raise Error(Status.INVALID_ARGUMENT, f"the {type(value).__name__} given is no array: {said_by(why)}", name) from why

    @staticmethod
    def _strings(name: str, array: np.ndarray) -> Tuple[int, int, Any]:
        """Text as an array of char pointers: address, bytes, what must stay alive."""
        try:
            words = [w if isinstance(w, bytes) else str(w).encode("utf-8") for w in array.ravel().tolist()]
        except UnicodeEncodeError:
            raise Error(Status.INVALID_ARGUMENT, "text with a lone surrogate in it is not UTF-8", name) from None
        if any(b"\0" in w for w in words):
            raise Error(Status.INVALID_ARGUMENT, "text with a zero byte in it cannot be given", name)
        pointers = (c.c_char_p * max(1, len(words)))(*words)
        return c.addressof(pointers), len(words) * c.sizeof(c.c_char_p), (pointers, words)

    def _result(self, session: int, index: int, name: bytes, bound: Optional[np.ndarray]) -> Any:
        """Result `index` of the last run: the array it was written to, else a copy."""
        tensor = _ffi.Tensor()
        self._call(self._lib.tenon_session_output, session, index, c.byref(tensor))
        if bound is not None and tensor.kind == _ffi.TENSOR:
            return _binding.shaped(_ffi.text(name), bound, tensor.dtype, tuple(tensor.dims[:tensor.rank]), tensor.data)
        if tensor.kind == _ffi.NONE:
            return None
        if tensor.kind == _ffi.SEQUENCE:
            items = []
            for item in range(tensor.count):
                part = _ffi.Tensor()
                self._call(self._lib.tenon_session_output_item, session, index, item, c.byref(part))
                items.append(self._array(part))
            return items
        return self._array(tensor)

    @staticmethod
    def _array(tensor: _ffi.Tensor) -> np.ndarray:
        """A copy of a borrowed tensor."""
        shape = tuple(tensor.dims[i] for i in range(tensor.rank))
        if tensor.dtype == _dtype.STRING:
            return _ffi.texts(tensor, shape)
        dtype = _dtype.to_numpy(tensor.dtype)
        try:
            raw = np.empty(shape + (dtype.itemsize,), np.uint8)
        except MemoryError:
            raise Error(Status.OUT_OF_MEMORY, f"no memory for a result of {tensor.bytes} bytes") from None
        if raw.nbytes != tensor.bytes:
            raise Error(Status.INTERNAL, f"a result of shape {shape} has {tensor.bytes} bytes, not {raw.nbytes}")
        if tensor.bytes:
            c.memmove(raw.ctypes.data, tensor.data, tensor.bytes)
        return _dtype.from_library(raw, tensor.dtype).reshape(shape)

    def cancel(self) -> None:
        """Makes a run in progress on another thread raise Error(CANCELLED) soon."""
        self._lib.tenon_session_cancel(self._usable())

    @only_errors
    def prepare(self, shapes: Mapping[str, Union[Sequence[int], np.ndarray]], output_names: Optional[Sequence[str]] = None) -> None:
        """Plans ahead of time, without running: a later run with these shapes finds its plan and its memory.

        shapes: name -> shape, or the array itself for an input whose contents decide shapes. Inputs whose shape the model fixes can
        be left out.
        """
        _check.shapes(shapes)
        names = _check.names(output_names)
        self._usable()
        with self._alone():
            session = self._usable()
            self._let_go(session)
            items = (_ffi.InputShape * max(1, len(shapes)))()
            keep = []
            for item, (name, value) in zip(items, shapes.items()):
                arg = self._args.get(name)
                item.name = _check.encode(name, "shapes")
                if isinstance(value, np.ndarray):
                    tensor, held = self._tensor(name, value, arg.dtype if arg is not None else None)
                    keep.append(held)
                    item.values, dims = tensor.data, value.shape
                else:
                    dims = _check.shape(name, value, 0, _ffi.MAX_RANK)
                if len(dims) > _ffi.MAX_RANK:
                    raise Error(Status.INVALID_ARGUMENT, f"shapes have at most {_ffi.MAX_RANK} dims, not {len(dims)}", name)
                item.rank = len(dims)
                for axis, dim in enumerate(dims):
                    item.dims[axis] = dim
            array = (c.c_char_p * len(names))(*names) if names else None
            self._call(self._lib.tenon_session_prepare_shapes, session, items, len(shapes), array, len(names or ()))
            del keep

    @only_errors
    def set_deadline(self, seconds: Optional[float]) -> None:
        """From now on a run that takes longer raises Error(DEADLINE) at its next node. None or 0: none. Not during a run."""
        nanoseconds = _check.nanoseconds("seconds", seconds or 0)
        self._usable()
        with self._alone():
            self._lib.tenon_session_set_deadline(self._usable(), nanoseconds)

    @only_errors
    def trim(self) -> None:
        """Gives back arenas, result buffers and all plans but the last."""
        self._usable()
        with self._alone():
            self._lib.tenon_session_trim(self._usable())

    # ---- reports ----

    @only_errors
    def profile(self, feeds: Mapping[str, Any], runs: int = 10, output_names: Optional[Sequence[str]] = None, *, warmup: int = 3,
                trace: Union[str, os.PathLike, None] = None, events: int = 1 << 18) -> Dict[str, Any]:
        """Runs and records when each step began and ended, and which thread did how much of it.

        Gives report("profile") (keys: PROFILE in tenon.h). trace: also write trace events for Perfetto or chrome://tracing there.
        """
        if trace is not None:
            trace = os.fsdecode(_check.encode(trace, "trace") or b"")
        for _ in range(_check.unsigned("warmup", warmup, 31)):
            self.run(output_names, feeds)
        self._record(_check.unsigned("events", events, 32))
        try:
            for _ in range(_check.unsigned("runs", runs, 31)):
                self.run(output_names, feeds)
            record = self.report("profile")
        finally:
            self._record(0)
        if trace is not None:
            with open(trace, "w", encoding="utf-8") as file:
                json.dump({"traceEvents": _trace_events(record), "displayTimeUnit": "ns"}, file)
        return record

    def _record(self, events: int) -> None:
        self._usable()
        with self._alone():
            self._call(self._lib.tenon_session_profile, self._usable(), events)

    def placement(self) -> Dict[str, Dict[str, int]]:
        """What runs where: {device: {"nodes": n, "macs": m}} of the last plan."""
        return self.report("placement")

    @only_errors
    def report(self, kind: str) -> Any:
        """A report as Python objects: "explain", "placement", "memory", "statistics", "model", "graph" or
        "profile" (keys: tenon.h).

        explain, placement and memory speak of the last plan: of the first run, where input shapes are not fixed by the model.
        """
        if not isinstance(kind, str) or kind not in _REPORTS:
            raise Error(Status.INVALID_ARGUMENT, f"unknown report {kind!r}; there are {', '.join(_REPORTS)}", "kind")
        self._usable()
        with self._alone():
            session = self._usable()
            block = c.c_void_p()
            if kind in _MODEL_REPORTS:
                self._call(self._lib.tenon_model_report, self._model, _REPORTS[kind], c.byref(block))
            else:
                self._call(self._lib.tenon_report, session, _REPORTS[kind], c.byref(block))
            try:
                return json.loads(c.cast(block, c.c_char_p).value or b"null")
            finally:
                self._lib.tenon_report_destroy(block)
