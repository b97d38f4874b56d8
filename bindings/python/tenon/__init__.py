# SPDX-License-Identifier: Apache-2.0
"""Tenon: run a trained model on the hardware at hand.

    import numpy as np, tenon
    session = tenon.InferenceSession("classifier.onnx", threads=2)
    image = np.zeros((1, 3, 224, 224), np.float32)
    scores, = session.run(None, {session.get_inputs()[0].name: image})

The shape of the interface is that of onnxruntime. Importing loads nothing, starts no thread and probes no device.
"""
from ._binding import Binding
from ._convert import convert
from ._custom import CustomOp
from ._dlpack import DLPackArray
from ._error import Error, Status
from ._session import InferenceSession, NodeArg, devices, version
from ._tune import cache_list, cache_prune, tune

__all__ = ["Binding", "CustomOp", "DLPackArray", "Error", "InferenceSession", "NodeArg", "Status", "cache_list", "cache_prune", "convert",
           "devices", "tune", "version"]
__version__ = "0.1.0"
