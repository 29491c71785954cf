"""Which shapes a model takes, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from . import _anyshape
from ._arguments import flag, mapping, text, text_or_empty, texts
from ._errors import shown
from ._html import report as report_html
from ._integers import sizes
from ._source import Source, load, write_text

Shape = Sequence[int]


def _types(values: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {value["name"]: value["type"] for value in values}


class Answer(int):
    """Whether one shape is taken: true or false in conditions, with the reason.

    kind: "accept", "refuse" or "unknown" (no rule can tell; counts as false).
    code, place, why: of the refusal; empty for "accept".
    outputs: name -> type of each output, e.g. "f32[1, 60, 1]"; for "accept".
    data_conditions: what the entries of inputs must fulfil, as sentences; for "accept".

    >>> answer = anyshape.check("lstm_baked.onnx").accepts(x=(2, 60, 1))
    >>> bool(answer), answer.kind, answer.code
    (False, 'refuse', 'reshape.count')
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

    >>> proof = anyshape.check("lstm_baked.onnx").require("x=[1..64, 100..200, 1]")
    >>> proof.kind, proof.shapes
    ('refuted', {'x': (1, 100, 1)})
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
    """All that check() says about one model. str() is the report for people, `data` the same as plain data.

    >>> anyshape.check("lstm_baked.onnx")
    <CheckReport of lstm_baked.onnx: batch >= 1; seq == 120>
    """

    def __init__(self, model: _anyshape.Model, options: Mapping[str, Any]):
        self._model = model
        self._ignore_assumed = bool(options.get("ignore_assumed", False))
        self._options = dict(options)
        told = model.check(**options)
        self.text: str = told["text"]
        self.data: dict[str, Any] = json.loads(told["json"])
        # JSON has no bytes that are no UTF-8.
        self._inputs, self._outputs = _types(model.inputs()), _types(model.outputs())

    def accepts(self, shapes: Mapping[str, Shape] | None = None, /, **named: Shape) -> Answer:
        """The exact answer for one shape, or a dict for names that are no identifiers.

        >>> anyshape.check("lstm_baked.onnx").accepts(x=(1, 120, 1))
        accept
        >>> bool(anyshape.check("lstm_baked.onnx").accepts({"x": (1, 60, 1)}))
        False
        """
        return Answer(self._model.accepts(sizes({**mapping(shapes, "shapes"), **named}), self._ignore_assumed))

    def require(self, *wanted: str) -> Proof:
        """Is every shape of a set taken? `require("x=[1..64, 1..512, 80]")`, `require("batch in 1..64, h % 32 == 0")`.

        >>> anyshape.check("unet.onnx").require("height % 8 == 0, height in 8..4096, width == height")
        proved
        """
        return Proof(self._model.require(texts(wanted, "require"), self._ignore_assumed))

    def explain(self, value: str) -> str:
        """Why the axes of a value, or one of them ("VALUE:AXIS"), are what they are.

        >>> print(anyshape.check("lstm_batch.onnx").explain("y:0").splitlines()[-1])
        dynamic: batch is axis 0 of input "x"
        """
        return "\n".join(self._model.explain(text(value, "value")))

    def against(self, old: Source) -> Proof:
        """Does the model take every shape that `old` takes?

        >>> anyshape.check("lstm_batch.onnx").against("lstm_baked.onnx")
        proved
        """
        return Proof(self._model.against(load(old)))

    def save_html(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the report beside the model's graph as one page, for a browser.

        >>> anyshape.check("unet.onnx").save_html("unet.html")
        """
        page = self._model.page(**self._options)
        write_text(page, path)

    def smallest(self, shapes: Mapping[str, Shape] | None = None, /, **named: Shape) -> dict[str, tuple[int, ...]]:
        """The smallest shape the model takes, where some inputs may be given.

        >>> anyshape.check("lstm_baked.onnx").smallest()
        {'x': (1, 120, 1)}
        """
        found = self._model.smallest_shapes(sizes({**mapping(shapes, "shapes"), **named}))
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

    def _repr_html_(self) -> str:
        return report_html(self.data, self._inputs, self._outputs)

    def __repr__(self) -> str:
        return f"<CheckReport of {self.data['model']}: {'; '.join(self.conditions) or 'every declared shape'}>"


@dataclass(frozen=True)
class Rule:
    """A lint rule of check(): its name for `ignore`, how severe its findings are, and what it looks for.

    >>> anyshape.rules()[0].severity in ("error", "warning", "info")
    True
    """

    name: str
    severity: str
    sentence: str


def rules() -> list[Rule]:
    """Every lint rule.

    >>> [rule.severity for rule in anyshape.rules() if rule.name == "pinned-axis"]
    ['warning']
    """
    return [Rule(*told) for told in _anyshape.rules()]


def check(source: Source, *, batch_only: bool = False, allow: Sequence[str] = (), ignore: Sequence[str] = (),
          ignore_assumed: bool = False, target: Optional[str] = None, strict: bool = False) -> CheckReport:  # fmt: skip
    """Which input shapes the ONNX model takes, which node demands what, and what is wrong with its axes.

    source: a path, the bytes of a model, or an onnx.ModelProto.
    batch_only: report every dynamic axis but the batch; `allow` waives some, "NAME:AXIS".
    ignore: findings to leave out, "RULE" or "RULE@NODE".
    ignore_assumed: conditions recorded by the exporter demand nothing.
    target: "mql5": also report what that target does not take.
    strict: refuse what ONNX Runtime runs although no operator's text promises it (lenient.*).

    >>> report = anyshape.check("lstm_baked.onnx")
    >>> report.conditions
    ['batch >= 1', 'seq == 120']
    >>> report.accepts(x=(1, 60, 1)).code
    'reshape.count'
    """
    options = {"batch_only": flag(batch_only, "batch_only"), "allow": texts(allow, "allow"),
               "ignore": texts(ignore, "ignore"), "ignore_assumed": flag(ignore_assumed, "ignore_assumed"),
               "target": text_or_empty(target, "target")}  # fmt: skip
    return CheckReport(load(source, flag(strict, "strict")), options)
