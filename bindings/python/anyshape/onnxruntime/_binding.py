"""Inputs and outputs bound to memory before a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from .._anyshape import BoundRun
from ._errors import InvalidArgument
from ._values import OrtDevice, OrtValue, OrtValueVector, array_at, numpy_type, only_cpu, plain

if TYPE_CHECKING:
    from ._session import InferenceSession


# Of element types that are the same in NumPy and in a model.
_PLAIN = frozenset("?bhilqBHILQefdFD")


def _is_plain(value: Any) -> bool:
    """An array whose memory a run reads as it is."""
    return (type(value) is np.ndarray and value.dtype.char in _PLAIN and value.dtype.isnative
            and value.flags.c_contiguous and value.flags.aligned)  # fmt: skip


class IOBinding:
    """What a run reads and where it writes. An output bound to memory is written there; others are made by each run."""

    def __init__(self, session: InferenceSession):
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Optional[np.ndarray[Any, Any]]] = {}
        self._made: list[OrtValue] = []
        self._bound: Optional[BoundRun] = None

    def _input(self, name: str, value: Any) -> None:
        if name not in self._session._input_names:
            raise InvalidArgument("input.unknown", f'input "{name}"', "the model has no such input",
                                  ", ".join(self._session._input_names), "usage")  # fmt: skip
        self._inputs[name] = value
        self._bound = None

    def _output(self, name: str, memory: Optional[np.ndarray[Any, Any]]) -> None:
        if name not in self._session._output_index:
            raise InvalidArgument("output.unknown", f'output "{name}"', "the model has no such output",
                                  ", ".join(self._session._output_index), "usage")  # fmt: skip
        self._outputs[name] = memory
        self._bound = None

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        self._input(name, arr_on_cpu)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        self._input(name, plain(ortvalue))

    def bind_input(self, name: str, device_type: Any, device_id: int, element_type: Any, shape: Sequence[int],
                   buffer_ptr: int) -> None:  # fmt: skip
        """Memory of the caller, which must stay until the binding is cleared."""
        if not isinstance(device_type, OrtDevice):
            only_cpu(device_type, device_id)
        self._input(name, array_at(buffer_ptr, element_type, shape))

    def bind_output(self, name: str, device_type: Any = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Optional[Sequence[int]] = None, buffer_ptr: Optional[int] = None) -> None:  # fmt: skip
        """`buffer_ptr`: memory of the caller for elements of that type and shape. Without it each run makes the output."""
        if not isinstance(device_type, OrtDevice):
            only_cpu(device_type, device_id)
        if buffer_ptr is None:
            return self._output(name, None)
        if element_type is None or shape is None:
            raise InvalidArgument("output.memory", f'output "{name}"', "memory for it needs an element type and a shape",
                                  "bind_output(name, 'cpu', 0, numpy.float32, shape, pointer)", "usage")  # fmt: skip
        return self._output(name, array_at(buffer_ptr, numpy_type(element_type), shape))

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        self._output(name, ortvalue._array())

    def clear_binding_inputs(self) -> None:
        self._inputs, self._bound = {}, None

    def clear_binding_outputs(self) -> None:
        self._outputs, self._made, self._bound = {}, [], None

    def get_outputs(self) -> list[OrtValue]:
        """Those of the last run, in the order they were bound in."""
        return list(self._made)

    def get_outputs_as_ortvaluevector(self) -> OrtValueVector:
        return OrtValueVector(self._made)

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The outputs of the last run; arrays are copies."""
        return [np.copy(one.numpy()) if one.is_tensor() else one.numpy() for one in self._made]

    def synchronize_inputs(self) -> None:
        """Runs of the processor are done when they return."""

    def synchronize_outputs(self) -> None:
        """Runs of the processor are done when they return."""

    def _is_in_place(self) -> bool:
        """Each run reads and writes the very memory that was bound."""
        everywhere = all(self._outputs.get(name) is not None for name in self._session._output_index)
        return everywhere and all(_is_plain(value) for value in self._inputs.values())

    def _run(self, run_options: Any) -> None:
        if self._bound is None and self._is_in_place():
            self._bound = self._session._bound(self._inputs, [self._outputs[name] for name in self._session._output_index])
            self._made = [OrtValue(memory) for memory in self._outputs.values()]
        if (bound := self._bound) is not None:
            self._session._guarded(lambda arguments: bound.run(**arguments), run_options)
            return
        into = [self._outputs.get(name) for name in self._session._output_index]
        made = self._session._run_into(self._inputs, into, run_options)
        self._made = [OrtValue(made[self._session._output_index[name]]) for name in self._outputs]
