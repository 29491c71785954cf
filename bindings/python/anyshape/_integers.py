"""Whole numbers as arguments: what only looks like one is refused, not cut off."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Set
from typing import Any, Optional

from ._arguments import mapping
from ._errors import usage

_LARGEST = 2**63 - 1


def integer(value: Any, what: str, least: int = -_LARGEST - 1, most: int = _LARGEST) -> int:
    """`value` if it is a whole number, NumPy's included. Raises Error argument.integer: floats, bools, texts, others."""
    refused = type(value).__name__ in ("bool", "bool_")
    if not refused:
        try:
            value = operator.index(value)
        except TypeError:
            refused = True
    if refused:
        raise usage("argument.integer", f"{value!r} is no integer", place=what)
    if not least <= value <= most:
        raise usage("argument.integer", f"{value} is not between {least} and {most}", place=what)
    return value


def integers(values: Any, what: str) -> list[int]:
    """A list of them. Raises Error argument.integer."""
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Mapping, Set)):
        raise usage("argument.integer", f"{values!r} is no list of sizes", place=what)
    return [integer(value, f"{what} axis {axis}") for axis, value in enumerate(values)]


def sizes(shapes: Optional[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Input name -> its sizes. What is out of range for a size is the model's to refuse."""
    return {name: integers(given, f'input "{name}"') for name, given in mapping(shapes, "shapes").items()}
