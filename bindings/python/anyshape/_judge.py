"""One captured program: exported, its guards decided, and compared with the live model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from . import _anyshape
from ._check import Answer, Proof
from ._compare import Compared, LiveModel, array, difference, points, to_words
from ._custom import exported, explained
from ._decide import Relevance, decide
from ._errors import Error, Stopped
from ._guards import Guard, Sizes, both_sides
from ._limits import limits
from ._narrowed import Narrowed
from ._ort import Sample, Samples, arbitrated
from ._request import Request
from ._told import stage

# The capture that has no branches.
_TRACE = "torch.jit.trace"
# What its floats are multiplied with for other values: not with 0, since sorting and maxima of equal entries are anybody's.
_FACTORS = (-1, 0.01, -0.01)
# Seconds for the proof that all sizes are accepted; beyond them it is unknown.
_PROOF = 0.5


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
    narrowed: list[Narrowed] = field(default_factory=list)
    onnxruntime: Optional[tuple[bool, str]] = None  # whether the file is the model there, a sentence
    takes_example: bool = True

    @property
    def complete(self) -> bool:
        """Nothing that was tried works in the live model only."""
        return not self.refused

    def rank(self) -> tuple[int, int, int, int]:
        """The higher the better: takes the example, accepts more, is proved to, is smaller."""
        return int(self.takes_example), -len(self.refused), int(bool(self.proved)), -int(self.report["nodes"])


class _Tester:
    """The program without any guard, beside the live model."""

    def __init__(self, model: _anyshape.Model, request: Request, live: LiveModel):
        self.model, self.request, self.live = model, request, live
        self.samples = Samples()
        self._session = _anyshape.Session(model)
        self._known: dict[tuple[int, ...], Any] = {}

    def at(self, sizes: Sizes) -> Any:
        """Compared; an Answer where the file refuses; None where the live model does."""
        key = tuple(sizes[name] for name in self.request.example())
        if key not in self._known:
            self._known[key] = self._compare(sizes)
        return self._known[key]

    def takes(self, sizes: Sizes) -> bool:
        """Whether the program does not refuse these sizes."""
        return Answer(self.model.accepts(self.request.shapes(sizes))).kind != "refuse"

    def runs_live(self, sizes: Sizes) -> bool:
        return not isinstance(self.live.at(sizes, 1)[1], Exception)

    def _compare(self, sizes: Sizes) -> Any:
        shapes = self.request.shapes(sizes)
        stage(f"comparing file and model at {to_words(shapes)}")
        answer = Answer(self.model.accepts(shapes))
        if answer.kind == "refuse":
            return answer
        tensors, wanted = self.live.at(sizes, 0 if sizes == self.request.example() else 1)
        if isinstance(wanted, Exception):
            return None
        feed = {name: array(tensor) for name, tensor in zip(self.request.names, tensors)}
        try:
            got = self._session.run(feed)
        except Stopped:
            raise
        except Error as refusal:
            failed = Compared(shapes, float("inf"), f"the file fails where the model runs: {refusal}")
            return arbitrated(failed, self.model, feed, wanted)
        self.samples.add(Sample(shapes, feed, wanted))
        if self.live.values_vary:
            got, wanted = [one * 0 for one in got], [one * 0 for one in wanted]
        compared = Compared(shapes, *difference(got, wanted))
        return arbitrated(compared, self.model, feed, wanted) if compared.difference else compared


def _keeps(guard: Guard, declared: bool) -> bool:
    """A range the user gave is part of the request."""
    return declared and guard.origin.endswith("range")


def _verdicts(guards: list[Guard], tester: _Tester, ranges: list[Guard]) -> dict[str, Relevance]:
    """What is known of each guard, by its text."""
    kept = [guard in ranges for guard in guards]
    return dict(zip([guard.text for guard in guards], decide(guards, kept, tester.request.example(), tester)))


def _compare_all(candidate: Candidate, more: list[Sizes], tester: _Tester, ranges: list[Guard]) -> None:
    """Fills compared and refused, at boundary sizes and `more`; what lies beyond `ranges` is not asked for. Raises Error
    export.differs."""
    request, model = tester.request, candidate.model

    def answer(sizes: Sizes) -> Answer:
        return Answer(model.accepts(request.shapes(sizes)))

    smallest = model.smallest_shapes({})
    least = {a.symbol: smallest[request.names[a.leaf]][a.axis] for a in request.axes
             if len(smallest.get(request.names[a.leaf], ())) > a.axis}  # fmt: skip
    tried = list(points(request, lambda sizes: bool(answer(sizes)), least))
    candidate.takes_example = answer(tried[0]).kind != "refuse"
    for sizes in tried + [one for one in more if one not in tried]:
        verdict = answer(sizes)
        if verdict.kind == "refuse":
            if all(one.holds(sizes) is not False for one in ranges) and tester.runs_live(sizes):
                candidate.refused.append((request.shapes(sizes), verdict))
            continue
        result = tester.at(sizes)
        if isinstance(result, Compared):
            if result.difference:
                raise Error("export.differs", f"{candidate.capture}", f"the exported file is not the model at {result}")
            candidate.compared.append(result)


def _compare_values(candidate: Candidate, tester: _Tester) -> None:
    """A trace has gone one way wherever the model asks a value: does it go that way for other values, too? Raises Error
    export.differs."""
    live, request = tester.live, tester.request
    shapes = request.shapes(request.example())
    if live.values_vary or not Answer(candidate.model.accepts(shapes)):
        return
    tensors = live.at(request.example(), 0)[0]
    session = _anyshape.Session(candidate.model)
    for factor in _FACTORS:
        changed = [tensor * factor if tensor.is_floating_point() else tensor for tensor in tensors]
        wanted = live.run(changed)
        # What is neither a number nor refused says nothing: the values may be none for this model.
        if isinstance(wanted, Exception) or not all(np.isfinite(one).all() for one in wanted if one.dtype.kind in "fc"):
            continue
        feed = {name: array(tensor) for name, tensor in zip(request.names, changed)}
        compared = Compared(shapes, *difference(session.run(feed), wanted))
        if compared.difference and arbitrated(compared, candidate.model, feed, wanted).difference:
            raise Error("export.differs", candidate.capture, "the model asks a value and goes another way for others: with "
                        f"the example times {factor} the exported file is not the model at {compared}")  # fmt: skip


def _prove(model: _anyshape.Model, request: Request) -> Optional[Proof]:
    """Are all sizes from 1 accepted on the wanted axes?"""
    symbols = sorted(request.example())
    if not symbols:
        return None
    quoted = [name if name.replace(".", "_").isidentifier() else f"'{name}'" for name in symbols]
    try:
        with limits(budget=_PROOF):
            return Proof(model.require([", ".join(f"{name} >= 1" for name in quoted)]))
    except Stopped:
        raise
    except Error:
        return None


def _apply(verdicts: Mapping[str, Relevance], guards: list[Guard], ranges: list[Guard], candidate: Candidate, path: Any,
           options: Mapping[str, Any]) -> None:  # fmt: skip
    """Exports again: without the guards that do not matter, the others in the graph. A range the user gave stands in
    the metadata only, unless the model was seen to be another one beyond it."""
    asked = {guard.text for guard in ranges}
    candidate.forgotten = [text for text, verdict in verdicts.items() if verdict.matters is False and text not in asked]
    candidate.insisted = [text for text, verdict in verdicts.items() if verdict.matters]
    recorded = [text for text in asked if not verdicts[text].matters]
    decided = {"forget": candidate.forgotten, "insist": candidate.insisted, "record": recorded}
    candidate.model, candidate.report = exported(path, {**options, "guards": "embed", **decided})
    for guard in guards:
        verdict = verdicts[guard.text]
        if verdict.matters is None and guard.text not in asked:
            candidate.report["notes"].append(f"{guard.text} is kept as PyTorch captured it, untried: {verdict.why}")


def judge(capture: str, path: Any, options: Mapping[str, Any], request: Request, live: Optional[LiveModel],
          guards: str, declared_ranges: bool) -> Candidate:  # fmt: skip
    """The exported program: a path, or Captures. `guards`: "auto" lets the live model decide. Raises export.differs, too."""
    policy = "record" if guards == "auto" else guards
    stage(f"reading what {capture} gave")
    model, report = exported(path, {**options, "guards": policy})
    candidate = Candidate(capture, model, report)
    if live is not None:
        assumed = [Guard(**one) for one in report["assumed"]]
        ranges = [guard for guard in assumed if _keeps(guard, declared_ranges)]
        bare = exported(path, {**options, "guards": "drop"})[0] if assumed else model
        try:
            tester = _Tester(bare, request, live)
        except Error as refusal:
            raise explained(refusal, report["custom"]) from None
        more: list[Sizes] = []
        if guards == "auto" and assumed:
            verdicts = _verdicts(assumed, tester, ranges)
            _apply(verdicts, assumed, ranges, candidate, path, options)
            live.telling += [sizes for guard in assumed if guard not in ranges for sizes in verdicts[guard.text].ran]
        for guard in assumed:
            if guard.text not in candidate.forgotten:
                more += both_sides(guard, request.example())[1]
        if live.values_vary:
            candidate.report["notes"].append("the model gives other values each time: only shapes were compared")
        _compare_all(candidate, more + live.telling, tester, ranges)
        if capture == _TRACE and not live.given:
            _compare_values(candidate, tester)
        if not report["custom"]:
            stage("running the file in onnxruntime")
            candidate.onnxruntime = tester.samples.report(candidate.model, live.values_vary)
    candidate.proved = _prove(candidate.model, request)
    return candidate
