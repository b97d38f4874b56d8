# SPDX-License-Identifier: Apache-2.0
"""The C interface (include/tenon/tenon.h) through ctypes: structures, prototypes, and the one shared library.

The library is opened at the first call that needs it, never at import, so that importing starts no thread and probes no device.
Ownership is that of the C header. ctypes releases the interpreter lock during every call.
"""
from __future__ import annotations

import ctypes as c
import ctypes.util
import json
import os
import threading
from pathlib import Path
from typing import Any, Dict, Optional, Tuple

import numpy as np

from ._error import Error, Status

MAX_RANK = 8

TakeFn = c.CFUNCTYPE(c.c_void_p, c.c_void_p, c.c_size_t, c.c_size_t)
GiveFn = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p)
KeyFn = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p, c.POINTER(c.c_uint8))
LogFn = c.CFUNCTYPE(None, c.c_void_p, c.c_int, c.c_char_p)


class Allocator(c.Structure):
    _fields_ = [("take", TakeFn), ("give", GiveFn), ("context", c.c_void_p)]


class ModelOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("allocator", Allocator), ("log", LogFn), ("log_context", c.c_void_p),
                ("folder", c.c_char_p), ("no_optimise", c.c_int), ("limit_tensor_bytes", c.c_uint64), ("limit_nodes", c.c_uint64),
                ("registry", c.c_void_p), ("sha256", c.c_char_p), ("verify", c.c_int), ("key", KeyFn), ("key_context", c.c_void_p)]


class ValueInfo(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("name", c.c_char_p), ("dtype", c.c_int), ("rank", c.c_int),
                ("dims", c.c_int64 * MAX_RANK), ("symbols", c.c_char_p * MAX_RANK), ("optional", c.c_int),
                ("kind", c.c_int)]


class Power(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("affinity", c.c_int), ("gpu_performance", c.c_int), ("gpu_priority", c.c_int),
                ("dsp_level", c.c_int), ("dsp_latency_us", c.c_int), ("dsp_dcvs", c.c_int)]


class SessionOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("device", c.c_char_p), ("threads", c.c_uint), ("precision", c.c_char_p),
                ("strict", c.c_uint), ("memory_limit", c.c_uint64), ("isa", c.c_char_p), ("pin", c.c_char_p),
                ("limit_work", c.c_uint64), ("limit_loop_steps", c.c_uint64), ("limit_peak_bytes", c.c_uint64),
                ("plan_cache", c.c_size_t), ("pool", c.c_void_p), ("arenas", c.c_void_p), ("light", c.c_int),
                ("power", c.c_void_p), ("cache", c.c_char_p), ("store", c.c_char_p), ("calibration", c.c_void_p),
                ("calibration_count", c.c_size_t), ("device_log", c.c_int)]


class SaveOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("targets", c.c_char_p), ("session", c.c_void_p), ("split_weights", c.c_int),
                ("drop_imported", c.c_int), ("key", KeyFn), ("key_context", c.c_void_p), ("key_name", c.c_char_p),
                ("chunk_bytes", c.c_size_t), ("precision", c.c_char_p)]


class Tensor(c.Structure):
    _fields_ = [("dtype", c.c_int), ("rank", c.c_int), ("dims", c.c_int64 * MAX_RANK), ("data", c.c_void_p), ("bytes", c.c_size_t),
                ("kind", c.c_int), ("count", c.c_size_t)]


class Sample(c.Structure):
    _fields_ = [("names", c.POINTER(c.c_char_p)), ("tensors", c.POINTER(Tensor)), ("count", c.c_size_t)]


class InputShape(c.Structure):
    _fields_ = [("name", c.c_char_p), ("rank", c.c_int), ("dims", c.c_int64 * MAX_RANK), ("values", c.c_void_p)]


# (context, done, count, layer, nanoseconds before, after) -> 0 to stop
TuneFn = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_size_t, c.c_size_t, c.c_char_p, c.c_double, c.c_double)


class TuneOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("seconds", c.c_double), ("seed", c.c_uint64), ("progress", TuneFn), ("context", c.c_void_p)]


# ---- ext.h ----

class Call(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("node", c.c_char_p), ("user", c.c_void_p), ("input_count", c.c_size_t),
                ("output_count", c.c_size_t), ("inputs", c.POINTER(Tensor)), ("outputs", c.POINTER(Tensor)), ("inner", c.c_void_p)]


CallFn = c.CFUNCTYPE(c.c_int, c.POINTER(Call))
DestroyFn = c.CFUNCTYPE(None, c.c_void_p)


class Attribute(c.Structure):
    _fields_ = [("name", c.c_char_p), ("kind", c.c_int), ("required", c.c_int), ("default_int", c.c_int64), ("default_real", c.c_double),
                ("default_text", c.c_char_p)]


class CustomOp(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("domain", c.c_char_p), ("name", c.c_char_p), ("since_version", c.c_int),
                ("min_inputs", c.c_size_t), ("max_inputs", c.c_size_t), ("min_outputs", c.c_size_t), ("max_outputs", c.c_size_t),
                ("attributes", c.POINTER(Attribute)), ("attribute_count", c.c_size_t), ("flags", c.c_uint), ("shape_inputs", c.c_uint32),
                ("shape", CallFn), ("run", CallFn), ("destroy", DestroyFn), ("user", c.c_void_p)]


# Tensor.kind and ValueInfo.kind
TENSOR, SEQUENCE, NONE = 0, 1, 2

Handle = c.c_void_p
_OUT = c.POINTER(c.c_void_p)
_DIMS = c.POINTER(c.c_int64)
_NAMES = c.POINTER(c.c_char_p)

# name -> (result, arguments); `error` pointers are _OUT.
_PROTOTYPES = {
    "tenon_version": (c.c_char_p, []),
    "tenon_error_status": (c.c_int, [Handle]),
    "tenon_error_message": (c.c_char_p, [Handle]),
    "tenon_error_place": (c.c_char_p, [Handle]),
    "tenon_error_destroy": (None, [Handle]),
    "tenon_status_text": (c.c_char_p, [c.c_int]),
    "tenon_options_init": (None, [c.c_void_p, c.c_size_t]),
    "tenon_model_open": (c.c_int, [_OUT, c.c_char_p, c.POINTER(ModelOptions), _OUT]),
    "tenon_model_open_memory": (c.c_int, [_OUT, c.c_void_p, c.c_size_t, c.POINTER(ModelOptions), _OUT]),
    "tenon_model_destroy": (None, [Handle]),
    "tenon_model_input_count": (c.c_size_t, [Handle]),
    "tenon_model_output_count": (c.c_size_t, [Handle]),
    "tenon_model_input": (c.c_int, [Handle, c.c_size_t, c.POINTER(ValueInfo)]),
    "tenon_model_output": (c.c_int, [Handle, c.c_size_t, c.POINTER(ValueInfo)]),
    "tenon_session_create": (c.c_int, [_OUT, Handle, c.POINTER(SessionOptions), _OUT]),
    "tenon_session_destroy": (None, [Handle]),
    "tenon_session_set_input": (c.c_int, [Handle, c.c_char_p, c.c_int, c.c_int, _DIMS, c.c_void_p, c.c_size_t, _OUT]),
    "tenon_session_set_sequence": (c.c_int, [Handle, c.c_char_p, c.POINTER(Tensor), c.c_size_t, _OUT]),
    "tenon_session_set_none": (c.c_int, [Handle, c.c_char_p, _OUT]),
    "tenon_session_output_item": (c.c_int, [Handle, c.c_size_t, c.c_size_t, c.POINTER(Tensor), _OUT]),
    "tenon_session_bind_input": (c.c_int, [Handle, c.c_char_p, c.c_int, c.c_int, _DIMS, c.c_void_p, c.c_size_t, _OUT]),
    "tenon_session_bind_output_as": (c.c_int, [Handle, c.c_char_p, c.c_int, c.c_void_p, c.c_size_t, _OUT]),
    "tenon_session_bind_output": (c.c_int, [Handle, c.c_char_p, c.c_void_p, c.c_size_t, _OUT]),
    "tenon_model_save": (c.c_int, [Handle, c.c_char_p, c.POINTER(SaveOptions), _OUT]),
    "tenon_session_clear_inputs": (None, [Handle]),
    "tenon_session_run": (c.c_int, [Handle, _NAMES, c.c_size_t, _OUT]),
    "tenon_session_prepare_shapes": (c.c_int, [Handle, c.POINTER(InputShape), c.c_size_t, _NAMES, c.c_size_t, _OUT]),
    "tenon_session_profile": (c.c_int, [Handle, c.c_size_t, _OUT]),
    "tenon_session_trim": (None, [Handle]),
    "tenon_session_output": (c.c_int, [Handle, c.c_size_t, c.POINTER(Tensor), _OUT]),
    "tenon_session_output_count": (c.c_size_t, [Handle]),
    "tenon_session_cancel": (None, [Handle]),
    "tenon_session_set_deadline": (None, [Handle, c.c_uint64]),
    "tenon_report": (c.c_int, [Handle, c.c_int, _OUT, _OUT]),
    "tenon_model_report": (c.c_int, [Handle, c.c_int, _OUT, _OUT]),
    "tenon_report_destroy": (None, [c.c_void_p]),
    "tenon_devices_json": (c.c_void_p, []),
    "tenon_session_tune": (c.c_int, [Handle, c.POINTER(TuneOptions), _OUT]),
    "tenon_cache_json": (c.c_void_p, [c.c_char_p]),
    "tenon_cache_prune": (c.c_int64, [c.c_char_p, c.c_uint64]),
    "tenon_registry_create": (c.c_int, [_OUT, c.POINTER(Allocator), _OUT]),
    "tenon_registry_destroy": (None, [Handle]),
    "tenon_registry_add": (c.c_int, [Handle, c.POINTER(CustomOp), _OUT]),
    "tenon_call_int": (c.c_int64, [c.POINTER(Call), c.c_char_p]),
    "tenon_call_real": (c.c_double, [c.POINTER(Call), c.c_char_p]),
    "tenon_call_text": (c.c_char_p, [c.POINTER(Call), c.c_char_p]),
    "tenon_call_ints": (_DIMS, [c.POINTER(Call), c.c_char_p, c.POINTER(c.c_size_t)]),
    "tenon_call_reals": (c.POINTER(c.c_float), [c.POINTER(Call), c.c_char_p, c.POINTER(c.c_size_t)]),
    "tenon_call_fail": (c.c_int, [c.POINTER(Call), c.c_int, c.c_char_p]),
    "tenon_call_resize": (c.c_int, [c.POINTER(Call), c.c_size_t, c.c_int, _DIMS]),
    "tenon_call_copy_text": (c.c_void_p, [c.POINTER(Call), c.c_char_p, c.c_size_t]),
}

_library: Optional[c.CDLL] = None
_lock = threading.Lock()


def _candidates() -> list:
    """Where the library may be, best first: TENON_LIBRARY alone if set, else inside the package, else the system's."""
    named = os.environ.get("TENON_LIBRARY")
    if named:
        # Absolute, because what lies beside the library is found by its path.
        return [os.path.abspath(named) if os.sep in named else named]
    inside = sorted(str(p) for p in Path(__file__).parent.glob("libtenon.so*"))
    return inside + [p for p in (ctypes.util.find_library("tenon"), "libtenon.so.0") if p]


def library() -> c.CDLL:
    """The library with its prototypes set; opened once for the process. Raises tenon.Error with status NOT_FOUND."""
    global _library
    if _library is not None:
        return _library
    with _lock:
        if _library is None:
            _library = _open()
    return _library


def _open() -> c.CDLL:
    reasons = []
    for path in _candidates():
        try:
            lib = c.CDLL(path)
            for name, (result, arguments) in _PROTOTYPES.items():
                function = getattr(lib, name)
                function.restype, function.argtypes = result, arguments
            return lib
        except (OSError, AttributeError) as why:
            reasons.append(f"{path}: {why}")
    raise Error(Status.NOT_FOUND, "the tenon library could not be opened; set TENON_LIBRARY to the path of libtenon.so"
                + "".join(f" ({r})" for r in reasons), "TENON_LIBRARY")


def check(status: int, error: c.c_void_p) -> None:
    """Turns a failure into tenon.Error and frees the C error object; the pointer, which further calls may use, is cleared."""
    if status == Status.OK:
        return
    lib = library()
    if not error:
        raise Error(status, text(lib.tenon_status_text(status)), "")
    try:
        raise Error(status, text(lib.tenon_error_message(error)), text(lib.tenon_error_place(error)))
    finally:
        lib.tenon_error_destroy(error)
        error.value = None                         # else the next failure would free it again, to put its own in its place


def text(value: Optional[bytes]) -> str:
    return (value or b"").decode("utf-8", "replace")


def texts(tensor: "Tensor", shape: Tuple[int, ...]) -> np.ndarray:
    """The strings of a borrowed tensor, copied."""
    words = c.cast(tensor.data, c.POINTER(c.c_char_p))
    result = np.empty(shape, object)
    result.reshape(-1)[:] = [text(words[i]) for i in range(result.size)]
    return result


def taken_json(block: Optional[int]) -> Dict[str, Any]:
    """The object of a text that the library took with malloc, which is freed."""
    if not block:
        raise Error(Status.OUT_OF_MEMORY, "the list did not fit", "")
    document = c.cast(block, c.c_char_p).value
    free = c.CDLL(None).free
    free.argtypes, free.restype = [c.c_void_p], None
    free(block)
    return json.loads(document or b"{}")
