"""Loops over a dynamic axis, which every capture unrolls: captured at several lengths and put together again."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from . import _anyshape, capture
from ._compare import LiveModel
from ._errors import Error, Stopped
from ._request import Request

# Where the model does not take the first, the example's own length is.
_LENGTH = 8
# The loop is found in the first two captures; the third must be as predicted.
_FURTHER = (0, 1, 3)


@dataclasses.dataclass
class Captures:
    """Captures of one module at several lengths of the axis `symbol`, in the place of one program."""

    symbol: str
    files: list[tuple[str, int]]

    def export(self, options: Mapping[str, Any]) -> tuple[_anyshape.Model, dict[str, Any]]:
        """As _anyshape.export_program. Raises Error: also reroll.*."""
        return _anyshape.export_rerolled(self.files, self.symbol, dict(options))


def export_program(program: Any, options: Mapping[str, Any]) -> tuple[_anyshape.Model, dict[str, Any]]:
    """The model of a file, or of several captures."""
    if isinstance(program, Captures):
        return program.export(options)
    return _anyshape.export_program(program, dict(options))


def _at(request: Request, live: LiveModel, symbol: str, length: int) -> Request:
    """The request where the axis is a number of that size."""
    leaves, _ = live.at({**request.example(), symbol: length}, 1)
    args, kwargs = request.with_tensors(leaves)
    return dataclasses.replace(request, args=args, kwargs=kwargs, leaves=leaves, dynamic_shapes=None,
                               axes=[axis for axis in request.axes if axis.symbol != symbol],
                               output_axes=[axis for axis in request.output_axes if axis[2] != symbol])  # fmt: skip


def _first_length(request: Request, live: LiveModel, symbol: str) -> int:
    """The first of the lengths at which the model is captured, 0 where it does not loop over the axis: a loop calls as
    many operators more at each further length."""
    for length in (_LENGTH, request.example()[symbol]):
        counts = [live.calls({**request.example(), symbol: length + more}) for more in _FURTHER]
        steps = [(count - counts[0]) / more for count, more in zip(counts[1:], _FURTHER[1:])]
        if all(counts):
            return length if 0 < steps[0] == steps[-1] else 0
    return 0


# Writes the file of one capture of the request.
Save = Callable[[Request, Any, str], None]


def captures(request: Request, symbols: Sequence[str], live: LiveModel, options: Mapping[str, Any], folder: str,
             ways: Sequence[Any], save: Save, tried: list[tuple[str, str]]) -> Iterator[tuple[str, Captures]]:  # fmt: skip
    """(name, captures) for each of these axes over which the module loops; of the ways to capture the first that shows it."""
    for symbol in symbols:
        first = _first_length(request, live, symbol)
        for way in ways if first else ():
            if way[0] in ("torch.export as written", "torch.jit.script"):
                continue  # the one wants the axis to be dynamic, the other keeps loops as they are
            name, found = f"{way[0]}, {symbol} re-rolled", Captures(symbol, [])
            try:
                for length in (first + more for more in _FURTHER):
                    _anyshape.check_limits()
                    path = os.path.join(folder, f"length-{length}{capture.file_ending(way[0])}")
                    save(_at(request, live, symbol, length), way, path)
                    found.files.append((path, length))
                found.export({**options, "guards": "drop"})
            except Stopped:
                raise
            except Exception as failure:  # noqa: BLE001 - PyTorch raises anything
                tried.append((name, f"{type(failure).__name__}: {failure}"))
                if isinstance(failure, Error) and failure.code.startswith("reroll."):
                    break
                continue
            yield name, found
            break
