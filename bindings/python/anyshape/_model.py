"""A model that a call has made."""

from __future__ import annotations

import os
from typing import Optional, Union

from . import _anyshape
from ._check import CheckReport
from ._errors import shown
from ._session import InferenceSession, SessionOptions
from ._source import contents, write

_Bytes = bytes


class Model:
    """An ONNX model made by fix(), simplify() or infer_shapes(); any call takes it where it takes a path.

    changes: what was done, one sentence each.
    warnings: what there is to know of it, as `check()` finds it.
    path: where it was last saved, or None.

    >>> made = anyshape.simplify("lstm_batch.onnx")
    >>> made.inputs
    {'x': 'f32[batch, 120, 1]'}
    """

    def __init__(self, model: _anyshape.Model, changes: list[str]):
        self._model = model
        self._report: Optional[CheckReport] = None
        self.changes = list(changes)
        self.path: Optional[str] = None

    def save(self, path: Union[str, os.PathLike[str]], external_data: Union[bool, str] = False) -> None:
        """Writes the file, complete or not at all. `external_data`: larger weights into a file beside it.

        >>> anyshape.simplify("lstm_baked.onnx").save("smaller.onnx", external_data=True)
        """
        self.path = write(self._model, path, external_data)

    @property
    def bytes(self) -> _Bytes:
        """What save() would write."""
        return contents(self._model)

    def check(self) -> CheckReport:
        """Which shapes it takes, and why."""
        if self._report is None:
            self._report = CheckReport(self._model, {})
        return self._report

    def session(self, options: Optional[SessionOptions] = None) -> InferenceSession:
        """The model ready to run.

        >>> anyshape.simplify("lstm_batch.onnx").session().get_outputs()[0].name
        'y'
        """
        return InferenceSession._of(self._model, options)

    @property
    def warnings(self) -> list[str]:
        return [shown(f"{one['rule']}: {one['message']}") for one in self.check().findings if one["severity"] != "info"]

    @property
    def inputs(self) -> dict[str, str]:
        return {value["name"]: value["type"] for value in self._model.inputs()}

    @property
    def outputs(self) -> dict[str, str]:
        return {value["name"]: value["type"] for value in self._model.outputs()}

    def __str__(self) -> str:
        words = [f"changed: {change}" for change in self.changes] + [f"warning: {one}" for one in self.warnings]
        return "\n".join([*words, f"takes {_listed(self.inputs)}", f"gives {_listed(self.outputs)}"])

    def __repr__(self) -> str:
        return f"<Model of ({_listed(self.inputs)}) -> ({_listed(self.outputs)})>"


def _listed(types: dict[str, str]) -> str:
    return shown(", ".join(f"{name}: {kind}" for name, kind in types.items()))
