"""Axes that were asked to be dynamic and do not take every size: which, why, and what to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from ._compare import LiveModel
from ._request import Axis, Request
from ._sample import Sampler


@dataclass(frozen=True)
class Narrowed:
    """`text` says which axis takes what only, and what demands it; `advice` what to write instead."""

    name: str
    condition: str
    text: str
    advice: str

    def __str__(self) -> str:
        return f"{self.text}; {self.advice}"


def _with_axes(request: Request, symbol: str, places: Sequence[tuple[int, int]]) -> Request:
    return replace(request, axes=[*request.axes, *(Axis(leaf, axis, symbol, symbol) for leaf, axis in places)])


def _runs(request: Request, live: LiveModel, symbol: str, size: int) -> bool:
    sizes = {**request.example(), symbol: size}
    return not isinstance(live.run(Sampler(request).draw(sizes, 1)), Exception)


def _pinning(request: Request, live: LiveModel, symbol: str) -> list[tuple[int, int]]:
    """Axes of inputs that must change with the symbol for the model to run."""
    size = request.example()[symbol]
    asked = {(axis.leaf, axis.axis) for axis in request.axes}
    places = [(i, k) for i, leaf in enumerate(request.leaves) for k, one in enumerate(leaf.shape)
              if int(one) == size and (i, k) not in asked]  # fmt: skip
    if not places or _runs(request, live, symbol, size + 1):
        return []
    own = {axis.axis for axis in request.axes if axis.symbol == symbol}
    alike = [place for place in places if place[1] in own]  # the likelier ones where many axes have that size
    some = (some for some in (alike, places) if _runs(_with_axes(request, symbol, some), live, symbol, size + 1))
    places = next(some, [])
    for place in list(places):
        fewer = [one for one in places if one != place]
        if _runs(_with_axes(request, symbol, fewer), live, symbol, size + 1):
            places = fewer
    return places


def forgotten(request: Request, live: Optional[LiveModel], symbols: Sequence[str]) -> dict[str, str]:
    """Of the symbols that an input without dynamic axes pins: what to add to the request."""
    out: dict[str, str] = {}
    for symbol in symbols if live is not None else ():
        if symbol not in request.example():
            continue
        size = request.example()[symbol]
        told = [f'axis {axis} of "{request.names[leaf]}" is {size} and pins {symbol}: '
                f'add "{request.names[leaf]}": {{{axis}: "{symbol}"}}' for leaf, axis in _pinning(request, live, symbol)]  # fmt: skip
        if told:
            out[symbol] = "; ".join(told)
    return out


def narrowed(told: Sequence[Mapping[str, Any]], request: Request, live: Optional[LiveModel],
             declared_ranges: bool) -> list[Narrowed]:  # fmt: skip
    """What the exporter tells, less what the request says itself: ranges, axes that follow from others."""
    follow = {axis.name for axis in request.axes if axis.size is not None}
    out = []
    for one in told:
        embedded = one["node"].startswith("/guard/")
        if any(name in follow for name in one["symbols"]) or embedded and declared_ranges:
            continue
        text, advice = one["text"], one["advice"]
        if embedded:
            text = f'axis {one["axis"]} of "{one["input"]}" ({one["name"]}) takes only {one["condition"]}'
            advice = "PyTorch captured the model under this condition, and beyond it the model does something else"
        out.append(Narrowed(one["name"], one["condition"], text, advice))
    missing = forgotten(request, live, list(dict.fromkeys(one.name for one in out)))
    return [replace(one, advice=missing.get(one.name, one.advice)) for one in out]
