"""Many rows through one model: grouped by shape, run together where that is proved to change nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from ._arguments import text, texts_by_name
from ._check import CheckReport
from ._columns import Column, column, columns
from ._errors import Error, Stopped, shown, usage
from ._integers import integer
from ._limits import RunOptions
from ._session import InferenceSession, SessionOptions
from ._source import Source

_MEMORY = "run.memory"


@dataclass(frozen=True)
class _Joint:
    """An axis of the inputs and outputs along which rows are put together."""

    symbol: str
    proved: bool
    inputs: dict[str, int]
    outputs: dict[str, int]


def _called_batch(symbol: str) -> bool:
    return symbol in ("N", "B") or symbol.lower() in ("b", "bs") or "batch" in symbol.lower()


def _places(types: Sequence[Mapping[str, Any]], symbol: str) -> dict[str, int]:
    """Name -> the axis of that size, of those that have one."""
    found = {}
    for value in types:
        axes = [axis for axis, dim in enumerate(value.get("dims") or []) if dim == symbol]
        if len(axes) == 1:
            found[value["name"]] = axes[0]
    return found


class Batches:
    """Runs a model on many rows of any shapes it takes, each as if it ran alone.

    A row is what the model takes for one entry of its batch axis: `x[batch, seq, 4]` has rows of [seq, 4]. Rows of
    equal shapes run together only where it is proved that they do not see each other (`check` says "rows along batch are
    independent: proved"); else one by one.

    >>> rows = [numpy.zeros((120, 1), "float32"), numpy.zeros((60, 1), "float32")]
    >>> answers = anyshape.Batches("lstm_batch.onnx")({"x": rows})
    >>> answers["y"][0].shape, answers["y"][1], answers["error"][0]
    ((1,), None, None)
    """

    def __init__(self, model: Union[Source, InferenceSession], *, inputs: Optional[Mapping[str, str]] = None,
                 outputs: Optional[Mapping[str, str]] = None, axis: Optional[str] = None, error: str = "error",
                 max_rows: int = 256, max_bytes: Optional[int] = None, threads: int = 0):  # fmt: skip
        """model: a path, bytes, or a session, whose options then hold.

        inputs: input of the model -> column; without it columns have the names of the inputs.
        outputs: output of the model -> column of the answers; without it all, under their own names.
        axis: the symbol that counts the rows; without it the one that is called the batch, else one that is proved.
        error: the column of sentences why a row has no answer, None for one that has.
        max_rows, max_bytes: of one run: its rows, and all it makes, planned before it starts.
        threads: of one run; 0: all cores.
        """
        self._arguments = {"inputs": inputs, "outputs": outputs, "axis": axis, "error": error, "max_rows": max_rows,
                           "max_bytes": max_bytes}  # fmt: skip
        if isinstance(model, InferenceSession):
            self._session = model
        else:
            self._session = InferenceSession(model, SessionOptions(intra_op_num_threads=threads))
        self._max_rows = integer(max_rows, "max_rows", 1)
        self._options = RunOptions(max_bytes=max_bytes)
        self._error = text(error, "error")
        self._wanted = None if axis is None else text(axis, "axis")
        self._input_names = [arg.name for arg in self._session.get_inputs()]
        self._all_outputs = [arg.name for arg in self._session.get_outputs()]
        self._inputs = {name: name for name in self._input_names} if inputs is None else texts_by_name(inputs, "inputs")
        self._outputs = {name: name for name in self._all_outputs} if outputs is None else texts_by_name(outputs, "outputs")
        self._check_names()
        self._ranks = {value["name"]: len(value["dims"]) for value in self._types()["inputs"] if "dims" in value}
        self._joint = self._find_joint()
        self._fits: dict[Any, int] = {}
        self.runs = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """By its session, which pickles, and its arguments."""
        return _restored, (self._session, self._arguments)

    def _types(self) -> dict[str, Any]:
        if not hasattr(self, "_report"):
            self._report = CheckReport(self._session._loaded, {}).data
        return self._report

    def _check_names(self) -> None:
        for given, known, what in ((self._inputs, self._input_names, "input"),
                                   (self._outputs, self._all_outputs, "output")):  # fmt: skip
            for name in given:
                if name not in known:
                    raise usage(f"{what}.unknown", f"the model has no {what} \"{shown(name)}\"", hint=", ".join(known))
        for name in self._input_names:
            if name not in self._inputs:
                raise usage("input.missing", f"no column is named for input \"{shown(name)}\"")

    def _find_joint(self) -> Optional[_Joint]:
        """The axis of all inputs that is called the batch; where none is, one that is proved. If it is not, it is good
        for runs of one row."""
        report = self._types()
        found = []
        for rows in report["rows"]:
            places = _places(report["inputs"], rows["symbol"])
            if len(places) != len(self._input_names):
                continue
            if rows["independent"]:
                outputs = {one["name"]: one["axis"] for one in rows["outputs"] if one["entries"] == 1}
                blocks = any(one["entries"] != 1 for one in rows["outputs"])
                found.append(_Joint(rows["symbol"], not blocks, places, outputs))
            else:
                found.append(_Joint(rows["symbol"], False, places, _places(report["outputs"], rows["symbol"])))
        if self._wanted is not None:
            found = [joint for joint in found if joint.symbol == self._wanted]
            if not found:
                raise usage("rows.axis", f"\"{shown(self._wanted)}\" is not the size of one axis of every input")
        called = [joint for joint in found if _called_batch(joint.symbol)]
        return min(called or found, key=lambda joint: (not joint.proved, sum(joint.inputs.values())), default=None)

    @property
    def axis(self) -> Optional[str]:
        """The symbol along which rows are joined; None: they run one by one."""
        return self._joint.symbol if self._joint and self._joint.proved else None

    def __call__(self, rows: Any) -> dict[str, np.ndarray]:
        """rows: column name -> rows, or a table of Arrow. A column is an array whose axis 0 counts the rows, a list of
        arrays, or one of Arrow: lists of different lengths are read where they lie.

        The columns of outputs, in the order of the rows: an array where all rows have one shape, else an array of
        objects; and the column of errors.

        >>> anyshape.Batches("lstm_batch.onnx")({"x": numpy.zeros((5, 120, 1), "float32")})["y"].shape
        (5, 1)
        """
        table = columns(rows)
        given = {name: self._column(table, of) for name, of in self._inputs.items()}
        count = max((len(one) for one in given.values()), default=0)
        for name, one in given.items():
            if len(one) != count:
                raise usage("rows.count", f"the column for \"{shown(name)}\" has {len(one)} rows, another {count}")
        work = _Work(given, [None] * count, {name: [None] * count for name in self._outputs})
        for shapes, indices in self._groups(work).items():
            self._run_group(work, shapes, indices)
        answers = {column_name: _packed(work.made[name]) for name, column_name in self._outputs.items()}
        answers[self._error] = _objects(work.errors)
        return answers

    @staticmethod
    def _column(table: Mapping[str, Any], name: str) -> Column:
        if name not in table:
            raise usage("rows.column", f"there is no column \"{shown(name)}\"", hint=", ".join(map(str, table)))
        return column(table[name])

    def _groups(self, work: _Work) -> dict[Any, list[int]]:
        groups: dict[Any, list[int]] = {}
        for row in range(len(work.errors)):
            columns_of = work.given.values()
            why = next((why for one in columns_of if (why := one.missing(row)) is not None), None)
            if why is not None:
                work.errors[row] = why
            else:
                groups.setdefault(tuple(one.shape(row) for one in columns_of), []).append(row)
        return groups

    def _run_group(self, work: _Work, shapes: Any, indices: list[int]) -> None:
        """In runs as large as they may be; what is refused is halved until the rows it is about stand alone."""
        joined = self._joint is not None and self._joint.proved and self._are_rows(shapes)
        waiting = [indices]
        while waiting:
            rows = waiting.pop()
            most = min(self._max_rows, self._fits.get(shapes, self._max_rows)) if joined else 1
            if len(rows) > most:
                waiting += [rows[start : start + most] for start in range(0, len(rows), most)][::-1]
                continue
            try:
                self._run(work, shapes, rows)
            except Stopped:
                raise
            except Error as error:
                half = len(rows) // 2
                if error.code == _MEMORY and half:
                    self._fits[shapes] = half
                elif error.kind == "system" and error.code != _MEMORY:
                    raise
                if half:
                    waiting += [rows[half:], rows[:half]]
                else:
                    work.errors[rows[0]] = str(error)

    def _are_rows(self, shapes: Any) -> bool:
        """They have all axes but the one that counts rows."""
        return all(len(shape) + 1 == self._ranks.get(name) for name, shape in zip(self._inputs, shapes))

    def _run(self, work: _Work, shapes: Any, rows: list[int]) -> None:
        joint = self._joint if self._are_rows(shapes) else None
        feed = {}
        for name, one in work.given.items():
            values = one.rows(rows)
            feed[name] = np.moveaxis(values, 0, joint.inputs[name]) if joint else values[0]
        self.runs += 1
        made = self._session.run(list(self._outputs), feed, self._options)
        for name, value in zip(self._outputs, made):
            axis = joint.outputs.get(name) if joint else None
            for place, row in enumerate(rows):
                work.made[name][row] = value if axis is None else value.take(place, axis)


def _restored(session: InferenceSession, arguments: Mapping[str, Any]) -> Batches:
    return Batches(session, **arguments)


@dataclass
class _Work:
    """The rows of one call and what has been made of them."""

    given: dict[str, Column]
    errors: list[Optional[str]]
    made: dict[str, list[Any]]


def _objects(values: Sequence[Any]) -> np.ndarray:
    out = np.empty(len(values), object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def _packed(values: list[Any]) -> np.ndarray:
    """One array where all rows have one shape and type."""
    kinds = {(value.shape, value.dtype) if isinstance(value, (np.ndarray, np.generic)) else None for value in values}
    return np.stack(values) if len(kinds) == 1 and None not in kinds else _objects(values)
