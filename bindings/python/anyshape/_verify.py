"""Do two models give the same answers?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Union

from . import _anyshape
from ._arguments import positive, refuse, text
from ._errors import shown
from ._integers import integer, sizes
from ._source import Source, load

Shapes = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class ComparedShape:
    """One shape at which both were run.

    kind: "same", "differs", or "refused" where both refuse it.
    why: how they differ, or why the first refuses.
    error: the largest relative error.

    >>> anyshape.verify("lstm_batch.onnx", "lstm_batch.onnx", {"x": (2, 120, 1)}).compared[0].kind
    'same'
    """

    kind: str
    shapes: dict[str, tuple[int, ...]]
    why: str
    error: float

    def __str__(self) -> str:
        end = f"largest relative error {self.error:.1e}" if self.kind == "same" else shown(self.why)
        return f"{self.kind} at {shown(str(self.shapes))}: {end}"


@dataclass(frozen=True)
class Verified:
    """What verify() found. True in conditions where no shape differs.

    >>> print(anyshape.verify("lstm_batch.onnx", "lstm_batch.onnx", {"x": (2, 120, 1)}))
    the same at 1 of 1 shapes
    """

    compared: list[ComparedShape]

    @property
    def differences(self) -> list[ComparedShape]:
        return [one for one in self.compared if one.kind == "differs"]

    def __bool__(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        same = sum(one.kind == "same" for one in self.compared)
        return "\n".join([f"the same at {same} of {len(self.compared)} shapes", *map(str, self.differences)])


def verify(a: Source, b: Source, shapes: Union[Shapes, Sequence[Shapes], None] = None, *, rtol: float = 1e-3,
           atol: float = 1e-5, seed: int = 0, engine: str = "anyshape", threads: int = 0) -> Verified:  # fmt: skip
    """Runs both models on the same random numbers, shape by shape.

    a, b: paths, bytes, or onnx.ModelProto. Inputs and outputs are matched by name, by order where the names are others.
    shapes: {"x": (2, 120, 1)}, or a list of such; without it the boundary shapes of the first model. A shape that only
        one of them refuses is a difference.

    >>> bool(anyshape.verify("lstm_baked.onnx", anyshape.simplify("lstm_baked.onnx")))
    True
    """
    given = [shapes] if isinstance(shapes, Mapping) else [] if shapes is None else shapes
    if not isinstance(given, (list, tuple)):
        refuse(shapes, "shapes", "a dict of shapes by name, or a list of such")
    rows = _anyshape.verify(load(a), load(b), [sizes(one) for one in given], positive(rtol, "rtol"),
                            positive(atol, "atol"), integer(seed, "seed", 0, 2**64 - 1), text(engine, "engine"),
                            integer(threads, "threads", 0, 2**16))  # fmt: skip
    return Verified([ComparedShape(row["kind"], {name: tuple(one) for name, one in row["shapes"].items()},
                                   row["sentence"], row["error"]) for row in rows])  # fmt: skip
