"""Questions to one model, and one run of it, without an object to keep."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from . import _anyshape
from ._arguments import mapping, positive, text
from ._errors import shown, usage
from ._integers import integer, sizes
from ._session import InferenceSession, SessionOptions
from ._source import Source, load

Shapes = Mapping[str, Sequence[int]]


def explain(model: Source, value: str) -> str:
    """Why the axes of a value, or one of them ("VALUE:AXIS"), are what they are, node by node back to the input.

    >>> print(anyshape.explain("lstm_batch.onnx", "y:0").splitlines()[-1])
    dynamic: batch is axis 0 of input "x"
    """
    return "\n".join(load(model).explain(text(value, "value")))


def plan(model: Source, shapes: Optional[Shapes] = None) -> str:
    """The steps of a run with their kernels and why, buffers and the peak as formulas; at `shapes` also as numbers.

    >>> "peak" in anyshape.plan("lstm_batch.onnx", {"x": (4, 120, 1)})
    True
    """
    return InferenceSession._of(load(model)).plan(sizes(shapes))


def run(model: Source, feed: Any, *, options: Optional[SessionOptions] = None,
        run_options: Any = None) -> dict[str, Any]:  # fmt: skip
    """The outputs by name, as NumPy arrays. For more than one run make an InferenceSession.

    feed: {"x": array}; of a model with one input the array alone will do.

    >>> anyshape.run("lstm_batch.onnx", numpy.zeros((2, 120, 1), "float32"))["y"].shape
    (2, 1)
    """
    session = InferenceSession._of(load(model), options)
    if not isinstance(feed, Mapping):
        names = [arg.name for arg in session.get_inputs()]
        if len(names) != 1:
            raise usage("input.missing", f"the model has {len(names)} inputs: give a dict of arrays by name",
                        hint=", ".join(names))  # fmt: skip
        feed = {names[0]: feed}
    made = session.run(None, mapping(feed, "feed"), run_options)
    return {arg.name: value for arg, value in zip(session.get_outputs(), made)}


@dataclass(frozen=True)
class Timing:
    """What bench() measured: `times` are the seconds of each run, the first one left out.

    best, median: of them, in seconds.

    >>> timing = anyshape.bench("lstm_batch.onnx", seconds=0)
    >>> timing.best <= timing.median
    True
    """

    engine: str
    shapes: dict[str, tuple[int, ...]]
    times: list[float]

    @property
    def best(self) -> float:
        return min(self.times)

    @property
    def median(self) -> float:
        return sorted(self.times)[len(self.times) // 2]

    def __str__(self) -> str:
        shapes = shown(", ".join(f"{name}={shape}" for name, shape in self.shapes.items()))
        return (f"{self.engine} at {shapes}: best {self.best * 1e3:.4f} ms, median {self.median * 1e3:.4f} ms, "
                f"{len(self.times)} runs")  # fmt: skip


def _random_feed(model: _anyshape.Model, session: _anyshape.Session, shapes: Optional[Shapes],
                 seed: int) -> dict[str, Any]:  # fmt: skip
    given = sizes(shapes)
    known = [name for name, _, _ in session.inputs()]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise usage("input.unknown", "the model has no such input", f'input "{name}"', near[0] if near else "")
    return session.random_feed(model.smallest_shapes(given), seed)


def bench(model: Source, shapes: Optional[Shapes] = None, *, seconds: float = 0.5, threads: int = 0, seed: int = 0,
          engine: str = "anyshape", ort_library: str = "") -> Timing:  # fmt: skip
    """How long a run takes, on random numbers.

    shapes: {"x": (8, 120, 1)}; inputs left out get the smallest sizes that go with it.
    seconds: how long to go on; at least one run beside the first is timed.
    threads: 0 for all cores.
    engine: "anyshape" or "onnxruntime", to compare with.

    >>> anyshape.bench("lstm_batch.onnx", {"x": (2, 120, 1)}, seconds=0).best > 0
    True
    """
    loaded = load(model)
    session = _anyshape.Session(loaded, threads=integer(threads, "threads", 0, 2**16), engine=text(engine, "engine"),
                                ort_library=text(ort_library, "ort_library"))  # fmt: skip
    feed = _random_feed(loaded, session, shapes, integer(seed, "seed", 0, 2**63 - 1))
    times = session.time(feed, positive(seconds, "seconds"))
    return Timing(session.engine(), {name: tuple(array.shape) for name, array in feed.items()}, times)
