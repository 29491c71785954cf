"""The exported file in ONNX Runtime, where it is installed: is it the model there as well, and who is right?"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Optional, Union

import numpy as np

from . import _anyshape
from ._check import Answer
from ._compare import Compared, difference, to_words

# So many of the points compared are run there as well, each of so many bytes at most.
_POINTS, _BYTES = 4, 64 << 20

Feed = Mapping[str, np.ndarray]
Arrays = Sequence[np.ndarray]


def installed() -> bool:
    """The real one, not anyshape.onnxruntime in its place."""
    known = sys.modules.get("onnxruntime")
    if known is not None:
        return not known.__name__.startswith("anyshape.")
    return find_spec("onnxruntime") is not None


class Runtime:
    """A model in ONNX Runtime, at its default optimisation level or without its optimizer."""

    def __init__(self, model: _anyshape.Model):
        self._model = model

    @cached_property
    def _optimized(self) -> Any:
        return self._load(True)

    @cached_property
    def _plain(self) -> Any:
        return self._load(False)

    def run(self, feed: Feed, optimized: bool = True) -> Union[Arrays, Exception]:
        """The outputs, or the exception."""
        session = self._optimized if optimized else self._plain
        if isinstance(session, Exception):
            return session
        try:
            known = {one.name for one in session.get_inputs()}
            return session.run(None, {name: value for name, value in feed.items() if name in known})
        except Exception as failure:  # noqa: BLE001 - whatever it says
            return failure

    def _load(self, optimized: bool) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        if not optimized:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        with tempfile.TemporaryDirectory(prefix="anyshape-") as folder:
            path = os.path.join(folder, "model.onnx")
            try:
                self._model.save(path)
                return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            except Exception as failure:  # noqa: BLE001 - also files it cannot read
                return failure


def arbitrated(compared: Compared, model: _anyshape.Model, feed: Feed, wanted: Arrays) -> Compared:
    """This engine and PyTorch differ: the file is right where ONNX Runtime agrees with PyTorch."""
    if not installed():
        return compared
    runtime = Runtime(model)
    for optimized in (True, False):
        got = runtime.run(feed, optimized)
        if isinstance(got, Exception):
            continue
        error, sentence = difference(got, wanted)
        if not sentence:
            words = "" if optimized else " without its optimizer"
            return Compared(compared.shapes, error, "", f" in onnxruntime{words}; in this engine {compared.difference}")
    return compared


@dataclass
class Sample:
    """A point at which the model was run."""

    shapes: Mapping[str, Sequence[int]]
    feed: Feed
    wanted: Arrays

    def is_small(self) -> bool:
        return sum(one.nbytes for one in [*self.feed.values(), *self.wanted]) <= _BYTES


@dataclass
class Samples:
    """The points to be run in ONNX Runtime once the file is made."""

    points: list[Sample] = field(default_factory=list)

    def add(self, sample: Sample) -> None:
        if len(self.points) < _POINTS and sample.is_small():
            self.points.append(sample)

    def report(self, model: _anyshape.Model, only_sizes: bool) -> Optional[tuple[bool, str]]:
        """Whether the file is the model there, and a sentence. None: not installed, or nothing to try."""
        points = [point for point in self.points if Answer(model.accepts(point.shapes))] if installed() else []
        if not points:
            return None
        runtime, largest = Runtime(model), 0.0
        for point in points:
            got = runtime.run(point.feed)
            if isinstance(got, Exception):
                return False, f"onnxruntime does not run the file at {to_words(point.shapes)}: {_first_line(got)}"
            wanted = point.wanted
            if only_sizes:
                got, wanted = [one * 0 for one in got], [one * 0 for one in wanted]
            error, sentence = difference(got, wanted)
            if sentence:
                return False, self._blame(runtime, point, sentence)
            largest = max(largest, error)
        return True, f"equal in onnxruntime at {len(points)} shapes, error {largest:.1e}"

    def _blame(self, runtime: Runtime, point: Sample, sentence: str) -> str:
        plain = runtime.run(point.feed, optimized=False)
        fault = not isinstance(plain, Exception) and not difference(plain, point.wanted)[1]
        why = ("its optimizer changes the values: set sess_options.graph_optimization_level to ORT_DISABLE_ALL there"
               if fault else "its kernels give other values than PyTorch and this engine")  # fmt: skip
        return f"onnxruntime gives something else than the model at {to_words(point.shapes)}: {sentence}; {why}"


def _first_line(failure: Exception) -> str:
    return (str(failure).splitlines() or [type(failure).__name__])[0]
