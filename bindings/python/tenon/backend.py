# SPDX-License-Identifier: Apache-2.0
"""Tenon behind the interface that the onnx package gives to backends (onnx.backend.base), so that its tools and its test runner can use it.

    import onnx, tenon.backend
    outputs = tenon.backend.run_model(onnx.load("model.onnx"), [x])

Needs the onnx package; importing tenon alone does not.
"""
from __future__ import annotations

from typing import Any, Mapping, Sequence, Tuple

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, helper, numpy_helper
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict

from ._error import Error, Status
from ._session import InferenceSession

_DEVICES = {DeviceType.CPU: "cpu"}


class TenonRep(BackendRep):
    """A prepared model."""

    def __init__(self, session: InferenceSession) -> None:
        self.session = session
        self._names = [arg.name for arg in session.get_inputs()]
        self._outputs = [arg.name for arg in session.get_outputs()]

    def run(self, inputs: Any, **kwargs: Any) -> Tuple[Any, ...]:
        """inputs: arrays in the order of the model's inputs, a dict by name, or the only array. Results by place and by name."""
        if isinstance(inputs, np.ndarray):
            inputs = [inputs]
        if not isinstance(inputs, Mapping):
            if len(inputs) > len(self._names):
                raise Error(Status.INVALID_ARGUMENT, f"{len(inputs)} inputs are given, the model takes {len(self._names)}", "inputs")
            inputs = dict(zip(self._names, inputs))
        feeds = {name: np.asarray(value) if isinstance(value, np.generic) else value for name, value in inputs.items()}
        return namedtupledict("Outputs", self._outputs)(*self.session.run(None, feeds))


def _type_of(name: str, value: Any) -> Any:
    """The ValueInfoProto of an array, or of a list of arrays."""
    if isinstance(value, (list, tuple)):
        first = np.asarray(value[0]) if value else np.zeros(0, np.float32)
        return helper.make_tensor_sequence_value_info(name, helper.np_dtype_to_tensor_dtype(first.dtype), None)
    array = np.asarray(value)
    dtype = onnx.TensorProto.STRING if array.dtype.kind in "OUS" else helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, dtype, array.shape)


class TenonBackend(Backend):
    """onnx.backend.base.Backend over InferenceSession. Keyword arguments of prepare are those of InferenceSession."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether the model opens; what it lacks is in the error that prepare raises."""
        try:
            cls.prepare(model, device, **kwargs).session.close()
            return True
        except Error:
            return False

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> TenonRep:
        if not cls.supports_device(device):
            raise Error(Status.DEVICE, f"device {device!r} is not one of {', '.join(d.upper() for d in _DEVICES.values())}", "device")
        data = model if isinstance(model, bytes) else model.SerializeToString()
        return TenonRep(InferenceSession(data, _DEVICES[Device(device).type], **kwargs))

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> Tuple[Any, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node: NodeProto, inputs: Sequence[Any], device: str = "CPU", outputs_info: Any = None, opset_version: int = 0,
                 **kwargs: Any) -> Tuple[Any, ...]:
        """Runs one node. inputs: an array per operand that is there, or a dict by name; opset_version 0: the newest."""
        names = [name for name in node.input if name]
        if isinstance(inputs, Mapping):
            inputs = [inputs[name] for name in names]
        given = [numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else x for x in inputs]
        feeds = dict(zip(names, given))
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], "node", [_type_of(name, value) for name, value in feeds.items()], outputs)
        opsets = [helper.make_opsetid("", opset_version or onnx.defs.onnx_opset_version())]
        if node.domain not in ("", "ai.onnx"):
            opsets.append(helper.make_opsetid(node.domain, kwargs.pop("domain_version", 1)))
        return cls.run_model(helper.make_model(graph, opset_imports=opsets), feeds, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """"CPU", or "CPU:0": there is one."""
        try:
            parsed = Device(device)
        except (AttributeError, ValueError):
            return False
        return parsed.type in _DEVICES and parsed.device_id == 0


is_compatible = TenonBackend.is_compatible
prepare = TenonBackend.prepare
run_model = TenonBackend.run_model
run_node = TenonBackend.run_node
supports_device = TenonBackend.supports_device
