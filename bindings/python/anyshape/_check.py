"""Which shapes a model takes, and why."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from . import _anyshape
from ._errors import shown
from ._integers import sizes

Shape = Sequence[int]
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]


def _types(values: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {value["name"]: value["type"] for value in values}


class Answer(int):
    """Whether one shape is taken: true or false in conditions, with the reason.

    kind: "accept", "refuse" or "unknown" (no rule can tell; counts as false).
    code, place, why: of the refusal; empty for "accept".
    outputs: name -> type of each output, e.g. "f32[1, 60, 1]"; for "accept".
    data_conditions: what the entries of inputs must fulfil, as sentences; for "accept".
    """

    kind: str
    code: str
    place: str
    why: str
    outputs: dict[str, str]
    data_conditions: list[str]

    def __new__(cls, told: Mapping[str, Any]) -> Answer:
        self = super().__new__(cls, told["kind"] == "accept")
        self.kind, self.code, self.place, self.why = told["kind"], told["code"], told["place"], told["sentence"]
        self.outputs = _types(told["outputs"])
        self.data_conditions = [reason["sentence"] for reason in told["data_conditions"]]
        return self

    def __repr__(self) -> str:
        if self:
            return "accept"
        return shown(f"{self.kind} [{self.code}] {self.place + ': ' if self.place else ''}{self.why}")

    __str__ = __repr__


class Proof(int):
    """Whether every shape of a set is taken: true only where it is proved.

    kind: "proved", "refuted" (`shapes` is the smallest counterexample, `answer` says why it is refused), or
    "unproved" (`why` says what stands in the way).
    """

    kind: str
    shapes: dict[str, tuple[int, ...]]
    answer: Answer
    why: str

    def __new__(cls, told: Mapping[str, Any]) -> Proof:
        self = super().__new__(cls, told["kind"] == "proved")
        self.kind = told["kind"]
        self.shapes = {name: tuple(shape) for name, shape in told["shapes"].items()}
        self.answer = Answer(told["answer"])
        self.why = told["why"] or (self.answer.why if self.kind == "refuted" else "")
        return self

    def __repr__(self) -> str:
        if self.kind == "refuted":
            return f"refuted by {self.shapes}: {self.answer}"
        return self.kind if self else f"unproved: {self.why}"

    __str__ = __repr__


class CheckReport:
    """All that check() says about one model. str() is the report for people, `data` the same as plain data."""

    def __init__(self, model: _anyshape.Model, options: Mapping[str, Any]):
        self._model = model
        self._ignore_assumed = bool(options.get("ignore_assumed", False))
        told = model.check(**options)
        self.text: str = told["text"]
        self.data: dict[str, Any] = json.loads(told["json"])
        # JSON has no bytes that are no UTF-8.
        self._inputs, self._outputs = _types(model.inputs()), _types(model.outputs())

    def accepts(self, shapes: Mapping[str, Shape] | None = None, /, **named: Shape) -> Answer:
        """The exact answer for one shape: `accepts(x=(1, 120, 1))`, or a dict for names that are no identifiers."""
        return Answer(self._model.accepts(sizes({**(shapes or {}), **named}), self._ignore_assumed))

    def require(self, *wanted: str) -> Proof:
        """Is every shape of a set taken? `require("x=[1..64, 1..512, 80]")`, `require("batch in 1..64, h % 32 == 0")`."""
        return Proof(self._model.require(list(wanted), self._ignore_assumed))

    def explain(self, value: str) -> str:
        """Why the axes of a value, or one of them ("VALUE:AXIS"), are what they are."""
        return "\n".join(self._model.explain(value))

    def smallest(self, shapes: Mapping[str, Shape] | None = None, /, **named: Shape) -> dict[str, tuple[int, ...]]:
        """The smallest shape the model takes, where some inputs may be given."""
        found = self._model.smallest_shapes(sizes({**(shapes or {}), **named}))
        return {name: tuple(shape) for name, shape in found.items()}

    @property
    def conditions(self) -> list[str]:
        """What the sizes must fulfil, e.g. ["seq == 120"]; empty: every shape of the declared dims is taken."""
        return [condition["text"] for condition in self.data["accepted"]["conditions"]]

    @property
    def exact(self) -> bool:
        """False: the model may refuse more than `conditions` say."""
        return self.data["accepted"]["exact"]

    @property
    def assumed(self) -> list[str]:
        """Conditions the exporter recorded."""
        return [condition["text"] for condition in self.data["assumed"]]

    @property
    def findings(self) -> list[dict[str, str]]:
        """What lint rules have to say: dicts of rule, severity, node, message, fix."""
        return self.data["findings"]

    @property
    def inputs(self) -> dict[str, str]:
        """Name -> type: {"x": "f32[batch, seq, 1]"}."""
        return dict(self._inputs)

    @property
    def outputs(self) -> dict[str, str]:
        return dict(self._outputs)

    @property
    def ok(self) -> bool:
        """No finding of severity "error", and the model takes some shape."""
        return "error" not in self.data and all(finding["severity"] != "error" for finding in self.findings)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<CheckReport of {self.data['model']}: {'; '.join(self.conditions) or 'every declared shape'}>"


def load(source: Source) -> _anyshape.Model:
    """The model of a path or of bytes."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _anyshape.Model.from_bytes(source)
    return _anyshape.Model.load(source)


def check(source: Source, *, batch_only: bool = False, allow: Sequence[str] = (), ignore: Sequence[str] = (),
          ignore_assumed: bool = False, target: Optional[str] = None) -> CheckReport:  # fmt: skip
    """Which input shapes the ONNX model takes, which node demands what, and what is wrong with its axes.

    source: a path, or the bytes of a model.
    batch_only: report every dynamic axis but the batch; `allow` waives some, "NAME:AXIS".
    ignore: findings to leave out, "RULE" or "RULE@NODE".
    ignore_assumed: conditions recorded by the exporter demand nothing.
    target: "mql5", as `anyshape check --target`: also report what that target does not take.
    """
    options = {"batch_only": batch_only, "allow": list(allow), "ignore": list(ignore), "ignore_assumed": ignore_assumed,
               "target": target or ""}  # fmt: skip
    return CheckReport(load(source), options)
