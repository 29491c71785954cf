"""Names of axes as users write them: {"x": {0: "batch"}}, {"x": [0]}, and input_shapes of export()."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from ._arguments import mapping, refuse, text
from ._errors import usage
from ._integers import integer


def axis_names(axes: Any, what: str) -> list[tuple[int, str]]:
    """{0: "batch"} or [0] as pairs; a name of "" is one to be made up."""
    if isinstance(axes, Mapping):
        return [(integer(axis, what), "" if name is None else text(name, what)) for axis, name in axes.items()]
    if isinstance(axes, (str, bytes)) or not hasattr(axes, "__iter__"):
        refuse(axes, what, "a dict of axes with their names, or a list of axes")
    return [(integer(axis, what), "") for axis in axes]


class InputShapes:
    """{"x": ["batch", None, 10]}, the axes of an input in one list.

    A text names an axis, None is dynamic under a name made up, a number is what the axis must have.
    """

    def __init__(self, given: Optional[Mapping[str, Any]]):
        self._entries = {name: _entries(entries, name) for name, entries in mapping(given, "input_shapes").items()}

    def __bool__(self) -> bool:
        return bool(self._entries)

    def merged(self, dynamic_axes: Optional[Mapping[str, Any]]) -> dict[str, Any]:
        """dynamic_axes with the axes named here. Raises Error where both name one otherwise."""
        given = mapping(dynamic_axes, "dynamic_axes")
        out: dict[str, Any] = {name: dict(axis_names(axes, "dynamic_axes")) for name, axes in given.items()}
        for name, entries in self._entries.items():
            axes = out.setdefault(name, {})
            for axis, entry in enumerate(entries):
                known = axes.get(axis, axes.get(axis - len(entries)))
                if known is not None and (isinstance(entry, int) or (entry or known) != known):
                    raise usage("dynamic.twice", f'axis {axis} is {entry!r} in input_shapes, "{known}" in dynamic_axes',
                                place=f'input "{name}"')  # fmt: skip
                if known is None and not isinstance(entry, int):
                    axes[axis] = str(entry or "")
        return out

    def check(self, shapes: Mapping[str, Optional[list[Any]]]) -> None:
        """Are the numbers those of the example, or of the program? A size that is no number is not compared."""
        for name, entries in self._entries.items():
            sizes = shapes.get(name)
            if name not in shapes:
                raise usage("dynamic.value", f'there is no input "{name}"', hint=", ".join(shapes))
            if sizes is None:
                continue
            if len(sizes) != len(entries):
                raise usage("dynamic.shape", f"input_shapes has {len(entries)} axes for it, it has {len(sizes)}",
                            place=f'input "{name}"')  # fmt: skip
            for axis, (entry, size) in enumerate(zip(entries, sizes)):
                if isinstance(entry, int) and entry != size:
                    raise usage("dynamic.shape", f"axis {axis} is {size}, and {entry} in input_shapes",
                                place=f'input "{name}"',
                                hint=f'"NAME" or None in place of {entry} for an axis that changes')  # fmt: skip


def _entries(entries: Any, name: str) -> list[Any]:
    what = f'input_shapes "{name}"'
    if isinstance(entries, (str, bytes, Mapping)) or not hasattr(entries, "__iter__"):
        refuse(entries, what, "a list of names, None and numbers")
    return [one if one is None or isinstance(one, str) else integer(one, what, 0) for one in entries]
