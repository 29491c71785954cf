"""The ways to capture a model, one after the other, until a file does all that the model does."""

from __future__ import annotations

import copy
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Optional

from . import _anyshape, _child, capture
from ._compare import LiveModel
from ._errors import Error, Stopped, shown, usage
from ._judge import Candidate, judge
from ._narrowed import forgotten, narrowed
from ._request import Request, as_captured
from ._reroll import captures
from ._sample import Given, without_ones
from ._state import State
from ._structure import has_objects, named_results
from ._told import LOG, heard, stage

Way = tuple[str, Callable[[Any, Request, str], None]]
Tried = list[tuple[str, str]]


@dataclass
class Plan:
    """What is wanted of the captures. `seconds`: how long each may take; None: they run in this process."""

    options: dict[str, Any]
    guards: str
    declared_ranges: bool
    seconds: Optional[float]


class Subject:
    """The model as it came: nothing is called before the first capture, and every call is undone."""

    def __init__(self, module: Any, request: Request, compare: bool, sampler: Optional[Given] = None,
                 must_run: bool = True):  # fmt: skip
        self.module, self.request = module, request
        self._compare, self._sampler, self._must_run = compare, sampler, must_run
        self._state = State(module)
        self._live: Optional[LiveModel] = None

    @property
    def made_live(self) -> Optional[LiveModel]:
        """The model to compare with, if it was asked for."""
        return self._live

    def live(self) -> Optional[LiveModel]:
        """The model to compare with. Raises Error export.args where it does not run on the example."""
        if self._compare and self._live is None:
            self._live = LiveModel(self.module, self.request, self._sampler, self._state)
            if self._live.failure is not None and self._must_run:
                raise _fails(str(self._live.failure))
        return self._live

    def of(self, request: Request) -> Subject:
        """The same model with other arguments."""
        out = copy.copy(self)
        out.request = request
        return out

    def results(self, seconds: Optional[float]) -> list[str]:
        """Names of the tensors it gives, where objects hold them. Raises Error export.args where the example fails."""
        with tempfile.TemporaryDirectory(prefix="anyshape-") as folder:
            path = os.path.join(folder, "results.json")
            stage("running the model on the example")
            try:
                self._isolated(lambda: self._tell_results(path), seconds)
            except _child.TimeUp:
                return []
            except _child.Failed as failure:
                if self._compare:
                    raise _fails(str(failure)) from None
                return []
            with open(path, encoding="utf-8") as file:
                return json.load(file)

    def _tell_results(self, path: str) -> None:
        import torch

        args, kwargs = self.request.with_tensors([leaf.detach().clone() for leaf in self.request.leaves])
        with torch.no_grad():
            made = self.module(*args, **kwargs)
        names = [name for name, _ in named_results(made, self.request.names)] if has_objects(made) else []
        with open(path, "w", encoding="utf-8") as file:
            json.dump(names, file)

    def capture(self, way: Way, path: str, seconds: Optional[float]) -> None:
        """Writes the file. Raises _child.Failed."""
        stage(f"capturing by {way[0]}")
        with capture.quiet():
            capture.load_torch()
        try:
            self._isolated(lambda: self._save(way, path), seconds, way[0])
            LOG.info("%s has captured the model", way[0])
        except _child.Failed as failure:
            LOG.info("%s has not captured the model: %s", way[0], shown(f"{failure}".split("\n", 1)[0]))
            raise

    def _save(self, way: Way, path: str) -> None:
        other = without_ones(self.request, self._sampler) if way[0].startswith("torch.export") else None
        if other is not None:
            try:
                self._save_of(other, way, path)
                return
            except Stopped:
                raise
            except Exception:  # noqa: BLE001 - a model for one entry only, or whatever: the example itself will tell
                self._state.restore()
        self._save_of(self.request, way, path)

    def _save_of(self, request: Request, way: Way, path: str) -> None:
        with as_captured(self.module, request) as asked:
            way[1](self.module, asked, path)

    def _isolated(self, work: Callable[[], None], seconds: Optional[float], who: str = "") -> None:
        """In a child process where that is possible, else here, and what it changed is put back. Raises _child.Failed.

        who: a capture, whose words are for the log.
        """
        said = partial(heard, who) if who else None
        if seconds is not None and self._forks():
            _child.call(work, seconds, said)
            return
        try:
            with capture.quiet(said) if said else nullcontext():
                work()
        except Stopped:
            raise
        except Exception as raised:  # noqa: BLE001 - PyTorch raises anything
            raise _child.Failed(f"{type(raised).__name__}: {raised}") from raised
        finally:
            self._state.restore()

    def _forks(self) -> bool:
        held = [tensor for name in ("parameters", "buffers") for tensor in getattr(self.module, name, list)()]
        return _child.possible([*held, *self.request.leaves])


def _fails(why: str) -> Error:
    return usage("export.args", f"the model fails on the example arguments: {why}")


def failure(tried: Tried, errors: list[Error]) -> Error:
    """The most telling of several: a wrong result, then what the exporter says, then why nothing could be captured."""
    for error in errors:
        if error.code == "export.differs":
            break
    else:
        if errors:
            error = errors[0]
        else:
            reasons = "; ".join(f"{name}: {why.splitlines()[0] if why else ''}" for name, why in tried)
            error = Error("export.capture", "", f"PyTorch could not capture the model ({reasons})")
    error.attempts = tried  # type: ignore[attr-defined]
    return error


class Attempts:
    """Goes through the ways; what is made of each, and why the others were not taken."""

    def __init__(self, subject: Subject, plan: Plan):
        self._subject, self._plan = subject, plan
        self.tried: Tried = []
        self.candidates: list[Candidate] = []
        self.errors: list[Error] = []
        self._hopeless: set[str] = set()  # other captures of the kind have the same operators and the same branches
        self._ended: list[str] = []

    def run(self, ways: Sequence[Way]) -> None:
        """Raises Error where no other capture would help."""
        with tempfile.TemporaryDirectory(prefix="anyshape-") as folder:
            waiting, late = list(ways), []
            while waiting or (late and not self.candidates):
                way = (waiting or late).pop(0)
                if capture.file_ending(way[0]) in self._hopeless:
                    continue
                _anyshape.check_limits()
                ended = len(self._ended)
                if self._one(way, folder):
                    break
                if len(self._ended) > ended:  # its relatives take as long: only if nothing else is left
                    late += [other for other in waiting if _kind(other) == _kind(way)]
                    waiting = [other for other in waiting if _kind(other) != _kind(way)]
            if not any(one.complete for one in self.candidates):
                self._reroll(ways, folder)
        if self._ended and self.candidates:
            self._warn()

    def _reroll(self, ways: Sequence[Way], folder: str) -> None:
        """Captures at several lengths, for axes over which the model loops."""
        subject, plan = self._subject, self._plan
        live = subject.live()
        if live is None:
            return
        pinned = [symbol for symbol in subject.request.example() if not self._varies(symbol)]
        for name, several in captures(subject.request, pinned, live, plan.options, folder, ways,
                                      lambda request, way, path: subject.of(request).capture(way, path, plan.seconds),
                                      self.tried):  # fmt: skip
            self._judged(name, several)

    def _varies(self, symbol: str) -> bool:
        """Whether some file takes several sizes of it."""
        request = self._subject.request
        places = [(request.names[axis.leaf], axis.axis) for axis in request.axes if axis.symbol == symbol and not axis.size]
        return any(len({one.shapes[name][axis] for one in made.compared}) > 1
                   for made in self.candidates for name, axis in places)  # fmt: skip

    def best(self) -> Candidate:
        """Of those that were made; the others are noted as tried. Raises Error where there is none."""
        request, live = self._subject.request, self._subject.made_live
        if not self.candidates:
            error = failure(self.tried, self.errors)
            error.hint = "; ".join(forgotten(request, live, list(request.example())).values()) or error.hint
            raise error
        best = max(self.candidates, key=Candidate.rank)
        best.narrowed = narrowed(best.report["narrowed"], request, live, self._plan.declared_ranges)
        self.tried += [(one.capture, f"refuses {len(one.refused)} shapes tried, has {one.report['nodes']} nodes")
                       for one in self.candidates if one is not best]  # fmt: skip
        return best

    def _one(self, way: Way, folder: str) -> bool:
        """Whether it is all that can be wished for."""
        name = way[0]
        path = os.path.join(folder, f"{type(self._subject.module).__name__}{capture.file_ending(name)}")
        try:
            if self._captured(way, path):
                return self._judged(name, path)
        finally:
            if os.path.exists(path):
                os.unlink(path)
        return False

    def _captured(self, way: Way, path: str) -> bool:
        try:
            self._subject.capture(way, path, self._plan.seconds)
            return True
        except _child.TimeUp as late:
            self._ended.append(way[0])
            self.tried.append((way[0], f"{late}; capture_timeout= gives it longer"))
        except _child.Failed as told:
            self.tried.append((way[0], str(told)))
        return False

    def _judged(self, name: str, path: Any) -> bool:
        wanted = dict(self._plan.options)
        if name == "torch.jit.script":
            wanted["inputs"] = capture.input_types(self._subject.request)
        live = self._subject.live()
        try:
            made = judge(name, path, wanted, self._subject.request, live, self._plan.guards,
                         self._plan.declared_ranges)  # fmt: skip
        except Stopped:
            raise
        except Error as refusal:
            asks_wrong = refusal.kind == "usage" and str(path).endswith(".pt2") and not self.candidates
            if asks_wrong or refusal.code == "export.opset":
                raise
            self.errors.append(refusal)
            self.tried.append((name, str(refusal)))
            if refusal.code in ("aten.missing", "export.custom"):
                self._hopeless.add(capture.file_ending(name))
            return False
        self.candidates.append(made)
        if made.insisted:
            self._hopeless.add(capture.file_ending(name))
        return made.complete

    def _warn(self) -> None:
        warnings.warn(f"{' and '.join(self._ended)} took longer than {self._plan.seconds:g} s and was given up for "
                      f"{self.candidates[0].capture}; capture_timeout= gives it longer", stacklevel=6)  # fmt: skip


def _kind(way: Way) -> str:
    return capture.file_ending(way[0])
