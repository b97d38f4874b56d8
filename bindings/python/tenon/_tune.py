# SPDX-License-Identifier: Apache-2.0
"""tune: the fastest sizes for a model's kernels on a device. cache_list, cache_prune: the folder where that and built programs are kept."""
from __future__ import annotations

import ctypes as c
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _check, _ffi
from ._error import Error, Status, only_errors, said_by
from ._session import InferenceSession


@only_errors
def tune(model: Union[str, os.PathLike, bytes], cache: Union[str, os.PathLike], *, device: str = "opencl", seconds: float = 30.0,
         seed: int = 0, shapes: Optional[Mapping[str, Union[Sequence[int], np.ndarray]]] = None,
         progress: Optional[Callable[[int, int, str, float, float], Any]] = None, **options: Any) -> List[Dict[str, Any]]:
    """Searches for the fastest work-groups and tiles of `model` on a device (device "cpu": kernels, sizes of blocks, one thread or all);
    sessions with the same `cache` folder use them.

    shapes: of inputs that the model leaves open, as for InferenceSession.prepare. progress(done, count, layer, before_us, after_us) is
    called after each layer; False from it stops the search, and what was found so far is kept; so does an exception, which comes out as
    the cause of Error(CANCELLED). Results of the model stay the same, but for rounding on the CPU.
    Nothing else should use the device meanwhile. Other options are those of InferenceSession. Returns [{"layer", "before_us",
    "after_us"}]. Raises tenon.Error, UNSUPPORTED where the device runs nothing that can be tuned.
    """
    layers: List[Dict[str, Any]] = []
    raised: List[BaseException] = []

    def on_layer(_context: Any, done: int, count: int, layer: bytes, before: float, after: float) -> int:
        name = layer.decode("utf-8", "replace")
        layers.append({"layer": name, "before_us": before / 1e3, "after_us": after / 1e3})
        try:
            return int(progress is None or progress(done, count, name, before / 1e3, after / 1e3) is not False)
        except BaseException as error:  # noqa: BLE001 - no exception may pass through the library: it is raised when the search has stopped
            raised.append(error)
            return 0

    if progress is not None and not callable(progress):
        raise _check.refuse("progress", progress, "a function")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise Error(Status.INVALID_ARGUMENT, f"seconds is a number, not {type(seconds).__name__}", "seconds")
    with InferenceSession(model, device=device, cache=cache, **options) as session:
        lib = _ffi.library()
        given = _ffi.TuneOptions()
        lib.tenon_options_init(c.byref(given), c.sizeof(given))
        given.seconds, given.seed = float(seconds), _check.unsigned("seed", seed)
        function = _ffi.TuneFn(on_layer)
        given.progress = function
        session.prepare({} if shapes is None else shapes)
        try:
            session._tune(given)
        except Error:
            if not raised:
                raise
    if raised:
        if isinstance(raised[0], Error) or not isinstance(raised[0], Exception):
            raise raised[0]
        raise Error(Status.CANCELLED, f"progress raised {said_by(raised[0])}", "progress") from raised[0]
    return layers


@only_errors
def cache_list(folder: Union[str, os.PathLike]) -> Dict[str, Any]:
    """What devices keep in a cache folder: {"files": [{"name", "kind", "bytes", "whole"}], "readable", "count", "bytes", "broken"}."""
    return _ffi.taken_json(_ffi.library().tenon_cache_json(_check.encode(folder, "folder")))


@only_errors
def cache_prune(folder: Union[str, os.PathLike], keep_bytes: int = 0) -> int:
    """Removes files that are cut short or changed, then the oldest programs until at most keep_bytes are left. The number removed."""
    removed = int(_ffi.library().tenon_cache_prune(_check.encode(folder, "folder"), _check.unsigned("keep_bytes", keep_bytes)))
    if removed < 0:
        raise Error(Status.IO, f"cache: a file of the folder '{os.fspath(folder)}' cannot be removed; is it read-only?")
    return removed
