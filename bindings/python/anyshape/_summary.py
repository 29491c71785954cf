"""What there is to say of an export, in a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._errors import shown

if TYPE_CHECKING:
    from ._export import Exported

_LINES = 12
_LISTED = 4
_WIDTH = 200


def _listed(words: Sequence[str], none: str) -> str:
    more = f" (and {len(words) - _LISTED} more)" if len(words) > _LISTED else ""
    return (", ".join(words[:_LISTED]) or none) + more


def _cut(line: str) -> str:
    line = shown(line)
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..."


def _types(values: dict[str, str]) -> str:
    return _listed([f"{name}: {kind}" for name, kind in values.items()], "nothing")


def _remarks(made: Exported) -> list[str]:
    """The most important first."""
    out = [f"narrowed: {one}" for one in made.narrowed]
    if made.refused:
        out.append(f"refuses {len(made.refused)} of the shapes tried that the model takes: made.refused")
    out += [f"rerolled: {one}" for one in made.rerolled]
    out += [f"holds only where {text}" for text in made.assumed]
    out += [made.onnxruntime] if made.onnxruntime else []
    out += [f"note: {note}" for note in made.notes]
    out += [f"not taken: {name}: {why.splitlines()[0] if why else ''}" for name, why in made.tried]
    return out


def summary(made: Exported) -> str:
    """At most twelve lines."""
    report = made.check()
    conditions = report.conditions
    if made.proved is None or not conditions:
        accepts = _listed(conditions, "every shape of these types")
    else:
        accepts = f"every size: {made.proved}" if made.proved else _listed(conditions, "")
    lines = [
        f"{made.path or 'not saved: made.save(PATH)'}: opset {made.opset}, {made.nodes} node{'' if made.nodes == 1 else 's'}, "
        f"{made.shape_nodes} of them compute sizes at run time",
        f"takes {_types(report.inputs)}",
        f"gives {_types(report.outputs)}",
        f"accepts {accepts}" + ("" if report.exact else "; it may refuse more"),
        f"captured by {made.capture}, compared with the model at {len(made.compared)} shape"
        f"{'' if len(made.compared) == 1 else 's'}",
    ]
    remarks = _remarks(made)
    room = _LINES - len(lines)
    if len(remarks) > room:
        remarks = [*remarks[: room - 1], f"and {len(remarks) - room + 1} more: made.details()"]
    return "\n".join(map(_cut, [*lines, *remarks]))
