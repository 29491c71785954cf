"""One captured program: exported, its guards decided, and compared with the live model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from . import _anyshape
from ._check import Answer, Proof
from ._compare import Compared, Guard, LiveModel, Sizes, both_sides, difference, points
from ._errors import Error, Stopped
from ._request import Request

# Points tried on the far side of one guard, and how many are looked at to find them.
_TRIED, _LOOKED_AT = 3, 40


@dataclass
class Candidate:
    """An exported model and what is known about it."""

    capture: str
    model: _anyshape.Model
    report: dict[str, Any]
    compared: list[Compared] = field(default_factory=list)
    refused: list[tuple[dict[str, list[int]], Answer]] = field(default_factory=list)  # where the live model runs
    forgotten: list[str] = field(default_factory=list)  # guards that do not matter
    insisted: list[str] = field(default_factory=list)  # those that do
    proved: Optional[Proof] = None

    @property
    def complete(self) -> bool:
        """Nothing that was tried works in the live model only."""
        return not self.refused

    def rank(self) -> tuple[int, int, int]:
        """The higher the better: accepts more, is proved to, is smaller."""
        return -len(self.refused), int(bool(self.proved)), -int(self.report["nodes"])


class _Tester:
    """The program without any guard, beside the live model."""

    def __init__(self, model: _anyshape.Model, request: Request, live: LiveModel):
        self.model, self.request, self.live = model, request, live
        self._session = _anyshape.Session(model)
        self._known: dict[tuple[int, ...], Any] = {}

    def at(self, sizes: Sizes) -> Any:
        """Compared; an Answer where the file refuses; None where the live model does."""
        key = tuple(sizes[name] for name in self.request.example())
        if key not in self._known:
            self._known[key] = self._compare(sizes)
        return self._known[key]

    def runs_live(self, sizes: Sizes) -> bool:
        return not isinstance(self.live.run(self.live.inputs(sizes, 1)), Exception)

    def _compare(self, sizes: Sizes) -> Any:
        from ._compare import array

        shapes = self.request.shapes(sizes)
        answer = Answer(self.model.accepts(shapes))
        if answer.kind == "refuse":
            return answer
        tensors = self.live.inputs(sizes, 0 if sizes == self.request.example() else 1)
        wanted = self.live.run(tensors)
        if isinstance(wanted, Exception):
            return None
        try:
            got = self._session.run({name: array(tensor) for name, tensor in zip(self.request.names, tensors)})
        except Stopped:
            raise
        except Error as refusal:
            return Compared(shapes, float("inf"), f"the file fails where the model runs: {refusal}")
        if self.live.values_vary:
            got, wanted = [one * 0 for one in got], [one * 0 for one in wanted]
        return Compared(shapes, *difference(got, wanted))


def _matters(guard: Guard, others: list[Guard], tester: _Tester) -> Optional[bool]:
    """Whether the live model does something else beyond the guard; None where no point could be tried."""
    outside, _ = both_sides(guard, tester.request.example())
    broken = [(sum(other.holds(sizes) is False for other in others), i) for i, sizes in enumerate(outside)]
    tried = 0
    for _, i in sorted(broken)[:_LOOKED_AT]:
        result = tester.at(outside[i])
        if isinstance(result, Answer):
            continue
        if result is None or result.difference:
            return True
        tried += 1
        if tried == _TRIED:
            break
    return False if tried else None


def _keeps(guard: Guard, declared: bool) -> bool:
    """A range the user gave is part of the request."""
    return declared and guard.origin.endswith("range")


def _decide(guards: list[Guard], tester: _Tester, declared: bool) -> dict[str, list[str]]:
    """The texts of guards that matter ("insist") and that do not ("forget"); of others nothing is known."""
    out: dict[str, list[str]] = {"insist": [], "forget": []}
    for guard in guards:
        others = [other for other in guards if other is not guard]
        matters = _keeps(guard, declared) or _matters(guard, others, tester)
        if matters is not None:
            out["insist" if matters else "forget"].append(guard.text)
    return out


def _compare_all(candidate: Candidate, stay: list[Guard], tester: _Tester) -> None:
    """Fills compared and refused. Raises Error export.differs."""
    request, model = tester.request, candidate.model

    def answer(sizes: Sizes) -> Answer:
        return Answer(model.accepts(request.shapes(sizes)))

    smallest = model.smallest_shapes({})
    least = {a.symbol: smallest[request.names[a.leaf]][a.axis] for a in request.axes
             if len(smallest.get(request.names[a.leaf], ())) > a.axis}  # fmt: skip
    tried = list(points(request, lambda sizes: bool(answer(sizes)), least))
    for guard in stay:
        tried += both_sides(guard, request.example())[1]
    for sizes in tried:
        verdict = answer(sizes)
        if verdict.kind == "refuse":
            if tester.runs_live(sizes):
                candidate.refused.append((request.shapes(sizes), verdict))
            continue
        result = tester.at(sizes)
        if isinstance(result, Compared):
            if result.difference:
                raise Error("export.differs", f"{candidate.capture}", f"the exported file is not the model at {result}")
            candidate.compared.append(result)


def _prove(model: _anyshape.Model, request: Request) -> Optional[Proof]:
    """Are all sizes from 1 accepted on the wanted axes?"""
    symbols = sorted(request.example())
    if not symbols:
        return None
    quoted = [name if name.replace(".", "_").isidentifier() else f"'{name}'" for name in symbols]
    try:
        return Proof(model.require([", ".join(f"{name} >= 1" for name in quoted)]))
    except Stopped:
        raise
    except Error:
        return None


def judge(capture: str, path: str, options: Mapping[str, Any], request: Request, live: Optional[LiveModel],
          guards: str, declared_ranges: bool) -> Candidate:  # fmt: skip
    """The exported program. `guards`: "auto" lets the live model decide. Raises Error: also export.differs."""
    policy = "record" if guards == "auto" else guards
    model, report = _anyshape.export_program(path, {**options, "guards": policy})
    candidate = Candidate(capture, model, report)
    if live is not None:
        assumed = [Guard(**one) for one in report["assumed"]]
        bare = _anyshape.export_program(path, {**options, "guards": "drop"})[0] if assumed else model
        tester = _Tester(bare, request, live)
        if guards == "auto" and assumed:
            decided = _decide(assumed, tester, declared_ranges)
            candidate.forgotten, candidate.insisted = decided["forget"], decided["insist"]
            candidate.model, candidate.report = _anyshape.export_program(path, {**options, "guards": "embed", **decided})
        if live.values_vary:
            candidate.report["notes"].append("the model gives other values each time: only shapes were compared")
        _compare_all(candidate, [guard for guard in assumed if guard.text not in candidate.forgotten], tester)
    candidate.proved = _prove(candidate.model, request)
    return candidate
