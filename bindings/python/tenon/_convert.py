# SPDX-License-Identifier: Apache-2.0
"""convert: a model file into a .tenon file (docs/format.md)."""
from __future__ import annotations

import ctypes as c
import os
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _check, _dtype, _ffi
from ._error import Error, Status, only_errors
from ._session import InferenceSession, key_function, with_key_cause


def _zeros(session: InferenceSession, shapes: Mapping[str, Sequence[int]]) -> dict:
    """An array for each input whose shape is given."""
    args = {arg.name: arg for arg in session.get_inputs()}
    feeds = {}
    for name, shape in _check.shapes(shapes).items():
        if name not in args:
            raise Error(Status.NOT_FOUND, f"the model has no input '{name}'", str(name))
        feeds[name] = np.zeros(_check.shape(name, shape, 1), _dtype.to_numpy(args[name].dtype))
    return feeds


def _targets(targets: Sequence[str]) -> str:
    words = _check.items("targets", targets, "names of instruction sets")
    for word in words:
        if not isinstance(word, str):
            raise _check.refuse("targets", word, "the name of an instruction set")
    return ",".join(words)


@only_errors
def convert(model: Union[str, os.PathLike, bytes], out: Union[str, os.PathLike], targets: Union[str, Sequence[str]] = "host", *,
            shapes: Optional[Mapping[str, Sequence[int]]] = None, inputs: Optional[Mapping[str, Any]] = None, split_weights: bool = False,
            drop_imported: bool = False, key: Union[bytes, Callable[[str], bytes], None] = None, key_name: Optional[str] = None,
            chunk_bytes: int = 0, precision: Optional[str] = None, **options: Any) -> None:
    """Writes `model` (a path or bytes; ONNX or .tenon) to the .tenon file `out`, whole or not at all.

    targets: instruction sets to pack weights for ("avx2", "avx512", ...), "host", or "none". shapes, inputs: shapes or arrays of
    inputs that the model leaves open (else 1; no dim is 0); the choice of packed weights depends on them. split_weights: weights in a file beside.
    drop_imported: keep only the optimised graph. key: 32 bytes, or a function from a key's name to them: encrypts the weights.
    precision: of the sessions that weights are packed for: "fp32", "int8" for a model that comes quantised, None for the default.
    Other options are those of InferenceSession (folder, sha256 ...). Raises tenon.Error.
    """
    save = _ffi.SaveOptions()
    with InferenceSession(model, device="cpu", threads=1, precision=precision, **options) as session:
        lib = _ffi.library()
        lib.tenon_options_init(c.byref(save), c.sizeof(save))
        save.targets = _check.encode(targets if isinstance(targets, str) else _targets(targets), "targets")
        save.split_weights, save.drop_imported = _check.flag("split_weights", split_weights), _check.flag("drop_imported", drop_imported)
        function = key_function(key)
        if function is not None:
            save.key = function
        save.key_name = _check.encode(key_name, "key_name")
        save.precision = _check.encode(precision, "precision")
        save.chunk_bytes = _check.unsigned("chunk_bytes", chunk_bytes)
        feeds = _zeros(session, {} if shapes is None else shapes)
        feeds.update({} if inputs is None else _check.mapping("inputs", inputs, "a dict from names to arrays"))
        try:
            session._save(_check.encode(out, "out"), save, feeds)
        except Error as error:
            raise with_key_cause(error, function)
