"""Axes that the caller froze: numbers in the example, not sizes to try."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._request import Request
from ._sample import Sampler


def frozen(request: Request, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without what the request now says by itself: its example has the frozen sizes, its axes are the
    others. Names of sizes that are no axis of an input stay options."""
    sizes = {name: size for name, size in options["freeze"] if name in request.example()}
    if not sizes:
        return dict(options)
    _resize(request, sizes)
    kept = {axis.name for axis in request.axes if axis.symbol in sizes} | set(sizes)
    request.axes = [axis for axis in request.axes if axis.symbol not in sizes]
    request.output_axes = [axis for axis in request.output_axes if axis[2] not in kept]
    request.dynamic_shapes = None
    return {**options, "freeze": [(name, size) for name, size in options["freeze"] if name not in sizes]}


def _resize(request: Request, sizes: Mapping[str, int]) -> None:
    """Brings the example to these sizes."""
    leaves = Sampler(request).draw({**request.example(), **sizes}, 0)
    request.args, request.kwargs = request.with_tensors(leaves)
    request.leaves = leaves
