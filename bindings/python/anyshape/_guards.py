"""Conditions a program was captured under: sizes on both sides of them, found by solving."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ._expression import Expression

Sizes = dict[str, int]
Point = tuple[int, ...]

_LARGEST = 4096
# How many values of each size are searched together, by the number of sizes a condition speaks of.
_BOX = {1: _LARGEST, 2: 64, 3: 16}
# Of the points found on its far side so many are given.
_GIVEN = 400
# How many sizes of each axis are put together, by the number of axes.
_GRID = {1: 40, 2: 12, 3: 6, 4: 3, 5: 2}


@dataclass
class Guard:
    """A condition the program was captured under."""

    text: str
    symbols: dict[str, str]  # name in the text -> "input:axis"
    origin: str
    binding: bool = True  # what the command line enforces; the live model decides here
    _expression: Any = None

    def __post_init__(self) -> None:
        self._expression = Expression(self.text, self.symbols)

    def holds(self, sizes: Mapping[str, int]) -> Optional[bool]:
        """None where it cannot be told."""
        value = self._expression.value(sizes)
        return None if value is None else bool(value)

    def truth(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Of many sizes at once: 0 where it does not hold, NaN where it cannot be told."""
        return self._expression.values(columns)

    def numbers(self) -> list[int]:
        return [int(number) for number in re.findall(r"(?<![\w.])\d+(?![\w.])", self.text)]


def _lines(example: Point, numbers: Sequence[int]) -> Iterable[np.ndarray]:
    """Points on the lines through the example, on the one through all that are equal, and on that to the example."""
    count, start = len(example), np.array(example)
    along = np.arange(1, min(_LARGEST, 2 * max([*example, *numbers, 64]) + 2))[:, None]
    for i in range(count):
        yield np.where(np.arange(count) == i, along, start)
    yield np.repeat(along, count, 1)
    parts = np.arange(1, 2 * max(example))[:, None]
    yield np.maximum(1, start * parts // max(example))


def _products(values: Sequence[Iterable[int]], most: int) -> np.ndarray:
    """The first points of the product of these values."""
    points = list(itertools.islice(itertools.product(*values), most))
    return np.array(points, np.int64).reshape(-1, len(values))


def _points(guard: Guard, example: Point) -> np.ndarray:
    """Sizes to look at, each once: a box at the origin, lines, and what is near the numbers of the condition."""
    box, numbers = _BOX.get(len(example), 0), guard.numbers()
    near = [sorted({max(1, value + d) for value in (1, 2, size, *numbers) for d in (-1, 0, 1) if value <= _LARGEST})
            for size in example]  # fmt: skip
    filled = _products([range(1, box + 1)] * len(example), _LARGEST) if box else _products([[]] * len(example), 0)
    rows = np.concatenate([filled, *_lines(example, numbers), _products(near, 8000)])
    first = np.unique(rows, axis=0, return_index=True)[1]
    return rows[np.sort(first)]


def in_turn(*orders: Iterable[Any]) -> list[Any]:
    """The first of each, the second of each, ..., each point once."""
    return list(dict.fromkeys(one for ones in itertools.zip_longest(*orders) for one in ones if one is not None))


def _first(rows: np.ndarray, keys: np.ndarray) -> list[Point]:
    """Those with the lowest keys."""
    return list(map(tuple, rows[np.argsort(keys, kind="stable")[:_GIVEN]].tolist()))


def _distances(rows: np.ndarray, other: Any) -> np.ndarray:
    return np.abs(rows - np.array(other)).sum(1)


def both_sides(guard: Guard, example: Sizes) -> tuple[list[Sizes], list[Sizes]]:
    """Points where the guard does not hold, the smallest, the nearest to the example and those of equal sizes in turn,
    and points near its border where it does."""
    names = [name for name in guard.symbols if name in example]
    if not names:
        return [], []
    start = tuple(example[name] for name in names)
    rows = _points(guard, start)
    others = {name: np.full(len(rows), size) for name, size in example.items()}
    truth = guard.truth({**others, **dict(zip(names, rows.T))})
    outside, inside = rows[truth == 0], rows[(truth != 0) & ~np.isnan(truth)]
    square = outside[(outside == outside[:, :1]).all(1)] if len(names) > 1 else outside[:0]
    found = in_turn(_first(outside, outside.sum(1)), _first(outside, _distances(outside, start)),
                    _first(square, square.sum(1)))[:_GIVEN]  # fmt: skip
    apart = [_distances(inside, other) for other in found[:20]]
    border = _first(inside, np.min(apart, 0) if apart else np.zeros(len(inside)))[:2]
    return tuple([{**example, **dict(zip(names, point))} for point in side] for side in (found, border))  # type: ignore


def _sizes_of(name: str, example: Sizes, takes: Callable[[Sizes], bool]) -> list[int]:
    """Sizes of one axis that are taken where the others are those of the example: small ones, near ones, and parts and
    multiples of its own."""
    size = example[name]
    near = [size + d for d in (-2, -1, 1, 2)]
    tried = sorted({n for n in [*range(1, 33), *(size * part // 8 for part in range(1, 25)), *near] if 0 < n != size})
    taken = [n for n in tried if takes({**example, name: n})]
    nearest = sorted(taken, key=lambda n: abs(n - size))
    return [size, *in_turn(taken, nearest, taken[::-1])[: _GRID[min(len(example), max(_GRID))]]]


def grid(example: Sizes, takes: Callable[[Sizes], bool]) -> list[Sizes]:
    """Points of which each size by itself is taken."""
    if not example:
        return []
    points = itertools.product(*(_sizes_of(name, example, takes) for name in example))
    return [dict(zip(example, point)) for point in itertools.islice(points, 1, _GIVEN)]


def varied(points: Sequence[Sizes], guard: Guard, example: Sizes) -> list[Sizes]:
    """These points, and where the guard leaves sizes free, the first of them again with others."""
    free = [name for name in example if name not in guard.symbols]
    more = [{**point, name: size} for point in points[:4] for name in free
            for size in (1, example[name] + 1) if size != point[name]]  # fmt: skip
    return [*points[:4], *more, *points[4:]]
