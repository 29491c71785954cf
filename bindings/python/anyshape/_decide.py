"""Which of the conditions a program was captured under matter: the live model decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Protocol

import numpy as np

from ._check import Answer
from ._guards import Guard, Sizes, both_sides, grid, in_turn, varied

# At how many points beyond a binding guard the file must agree for it to be dropped, and at how many a guard is tried
# where there are more; how many the model is run at to find them, and how many are looked at in all.
_AGREE, _ENOUGH, _RUNS, _LOOKED_AT = 2, 6, 16, 120
# What is found of one guard says where to look for the others: guards are decided again so often at most.
_ROUNDS = 5


class Tester(Protocol):
    """The program without any guard, beside the live model."""

    def takes(self, sizes: Sizes) -> bool:
        """Whether the program does not refuse these sizes."""

    def at(self, sizes: Sizes) -> Any:
        """Compared where both run; an Answer where the file refuses; None where the live model does."""


@dataclass
class Relevance:
    """Whether a guard matters, as the live model shows; None where too little could be tried, for the reason `why`."""

    matters: Optional[bool] = None
    why: str = ""
    ran: list[Sizes] = field(default_factory=list)  # sizes beyond the guard at which the live model runs
    failed: int = 0  # at how many it does not
    agreed: int = 0  # at how many the file is the model
    differs: list[int] = field(default_factory=list)  # where it is not: a guard that is broken there matters
    sure: bool = False  # it matters, whatever becomes of other guards


class _Trial:
    """The guards, sizes beyond each of them, and which of the others do not hold there."""

    def __init__(self, guards: Sequence[Guard], kept: Sequence[bool], example: Sizes, tester: Tester):
        self._guards, self._tester = guards, tester
        self.verdicts = [Relevance(True if one else None, sure=one) for one in kept]
        place: dict[tuple[int, ...], int] = {}

        def places(points: Iterable[Sizes]) -> list[int]:
            return [place.setdefault(tuple(one[name] for name in example), len(place)) for one in points]

        shared = np.array(places(grid(example, tester.takes)), np.int64)
        own = [places(varied(both_sides(guard, example)[0], guard, example)) for guard in guards]
        self._points = [dict(zip(example, point)) for point in place]
        columns = {name: np.array([point[name] for point in self._points]) for name in example}
        self._broken = np.array([guard.truth(columns) == 0 for guard in guards])
        self._beyond = [in_turn(some, shared[broken[shared]].tolist()) for some, broken in zip(own, self._broken)]

    def _those(self, which: Callable[[Relevance], bool]) -> np.ndarray:
        return np.array([which(verdict) for verdict in self.verdicts])

    def round(self) -> None:
        """Hears the live model on every guard that is still open."""
        for i, verdict in enumerate(self.verdicts):
            if verdict.matters is not False and not verdict.sure:
                self.verdicts[i] = self._heard(i)

    def state(self) -> list[Any]:
        return [(verdict.matters, verdict.sure) for verdict in self.verdicts]

    def hear_kept(self, kept: Sequence[bool]) -> None:
        """What becomes of a guard that the caller wants depends on whether the model is another one beyond it."""
        heard = [self._heard(i, _AGREE) if one else self.verdicts[i] for i, one in enumerate(kept)]
        self.verdicts = heard

    def _heard(self, i: int, enough: int = _ENOUGH) -> Relevance:
        """Where a guard that surely matters is broken as well, nothing is said of this one."""
        others = self._those(lambda one: one.matters is not False)
        others[i] = False
        own = np.array(self._beyond[i], np.int64)
        blamed = self._broken[others & self._those(lambda one: one.sure)][:, own].any(0)
        alone = self._broken[others][:, own].sum(0)
        out = Relevance(None, "no sizes were found at which it does not hold")
        if blamed.any():
            out.why = "at the sizes beyond it that were tried other conditions that matter do not hold either"
        for k in np.argsort(alone, kind="stable")[: _LOOKED_AT + int(blamed.sum())]:
            if not blamed[k]:
                self._hear(out, int(own[k]), alone[k] == 0)
            if out.sure or out.agreed == enough or len(out.ran) + out.failed == _RUNS:
                break
        return _weighed(out, self._guards[i].binding)

    def _hear(self, out: Relevance, point: int, alone: bool) -> None:
        result = self._tester.at(self._points[point])
        if isinstance(result, Answer):
            out.why = f"the file refuses the sizes beyond it that were tried: {result.why}"
            return
        if result is None:
            out.failed += 1
            return
        out.ran.append(self._points[point])
        out.why = "the model runs at one size beyond it only"
        if not result.difference:
            out.agreed += 1
        else:
            out.differs.append(point)
            out.sure = out.sure or bool(alone)

    def cover(self) -> None:
        """Of the guards at each point where the file is not the model one matters: that which refuses least else."""
        for point in sorted({point for verdict in self.verdicts for point in verdict.differs}):
            broken = np.flatnonzero(self._broken[:, point])
            if not any(self.verdicts[i].matters is not False for i in broken):
                blamed = min(broken, key=lambda i: self.verdicts[i].agreed)
                self.verdicts[blamed].matters = True


def _weighed(verdict: Relevance, binding: bool) -> Relevance:
    """A guard that is not binding, which may follow from memory layout alone, goes unless it was seen to matter."""
    few = verdict.agreed < _AGREE
    if verdict.sure or few and verdict.differs or not verdict.ran and verdict.failed:
        verdict.matters = True
    elif not few or not binding:
        verdict.matters = False
    return verdict


def decide(guards: Sequence[Guard], kept: Sequence[bool], example: Sizes, tester: Tester) -> list[Relevance]:
    """What is known of each guard. `kept`: those that stay because the caller says so: no sizes beyond them are looked at
    for others."""
    trial = _Trial(guards, kept, example, tester)
    for _ in range(_ROUNDS):
        before = trial.state()
        trial.round()
        if trial.state() == before:
            break
    trial.cover()
    trial.hear_kept(kept)
    return trial.verdicts
