"""Inputs at other sizes that are as legal as those of the example."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

from ._errors import usage
from ._request import Request

# sampler(sizes): {"x": tensor} for the inputs it gives; sizes by the name of the axis.
Given = Callable[[dict[str, int]], Mapping[str, Any]]


class Sampler:
    """Draws inputs. What holds of an input of the example holds of those drawn: entries that are sorted, begin with 0,
    count up to a size or stay below it, rows of a mask that have an entry.

    """

    def __init__(self, request: Request, given: Optional[Given] = None):
        self._request = request
        self._given = given
        self._example = {name: size for name, size in request.example().items() if size > 0}
        # Ways to draw, the likeliest first; the later ones are for models that refuse what the earlier ones give.
        floats = all(leaf.is_floating_point() or leaf.is_complex() for leaf in request.leaves)
        self.manners = 1 if floats else 3

    def draw(self, sizes: Mapping[str, int], seed: int, manner: int = 0) -> list[Any]:
        """Tensors in the order of the inputs; the example itself for seed 0 at its sizes."""
        import torch

        request = self._request
        shapes = request.shapes(sizes)
        generator = torch.Generator().manual_seed(seed)
        own = self._own(sizes, seed)
        out = []
        for name, leaf in zip(request.names, request.leaves):
            leaf, shape = leaf.detach(), shapes[name]
            if name in own:
                out.append(_checked(own[name], leaf, shape, name))
            elif list(leaf.shape) == shape and seed == 0:
                out.append(leaf.clone())
            elif leaf.numel() == 0:
                out.append(leaf.new_zeros(shape))
            elif leaf.is_floating_point() or leaf.is_complex():
                out.append(_numbers(leaf, shape, generator))
            else:
                drawn = _Integers(leaf, self._limits(leaf, sizes, manner), generator).draw(shape)
                out.append(drawn.to(leaf.device, leaf.dtype))
        return out

    def _own(self, sizes: Mapping[str, int], seed: int) -> Mapping[str, Any]:
        if self._given is None or seed == 0 and dict(sizes) == self._request.example():
            return {}
        own = self._given({**self._request.example(), **sizes})
        unknown = [name for name in own if name not in self._request.names]
        if unknown:
            raise usage("sampler.input", f'the sampler gives "{unknown[0]}", which is no input',
                        hint=", ".join(self._request.names))  # fmt: skip
        return own

    def _limits(self, leaf: Any, sizes: Mapping[str, int], manner: int) -> tuple[Optional[int], int]:
        """(the largest entry if it is a size or the last index of an axis, the largest entry allowed)."""
        least, most = int(leaf.min()), int(leaf.max())
        if manner == 2:
            return None, least if most > 1 else most
        if manner == 0 and most <= 1:
            return None, most
        follows = manner == 0 and (leaf.dim() < 2 or _direction(_rows(leaf)))
        cap = most
        for name, size in self._example.items():
            last = sizes[name] - (size - most)
            if follows and most in (size, size - 1) and last >= min(least, 0):
                return last, last
            below = sizes[name] if most == size else sizes[name] - 1
            if most <= size and (below >= least or manner == 1 and below >= 0):
                cap = min(cap, below)
        return None, cap


def without_ones(request: Request, given: Optional[Given]) -> Optional[Request]:
    """The request with an example in which every dynamic axis has two entries at least, since PyTorch takes a size of 1 or
    0 for the model's own; None where that is so already."""
    example = request.example()
    taken = {int(size) for leaf in request.leaves for size in leaf.shape}
    sizes = {}
    for name in (name for name, size in example.items() if size < 2):
        sizes[name] = next(size for size in itertools.count(2) if size not in taken)
        taken.add(sizes[name])
    if not sizes:
        return None
    leaves = Sampler(request, given).draw({**example, **sizes}, 1)
    args, kwargs = request.with_tensors(leaves)
    return dataclasses.replace(request, args=args, kwargs=kwargs, leaves=leaves)


def _checked(tensor: Any, leaf: Any, shape: Sequence[int], name: str) -> Any:
    import torch

    tensor = torch.as_tensor(tensor)
    if list(tensor.shape) != list(shape) or tensor.dtype != leaf.dtype:
        raise usage("sampler.input", f"the sampler gives {tensor.dtype}{list(tensor.shape)}, not {leaf.dtype}{list(shape)}",
                    place=f'input "{name}"')  # fmt: skip
    return tensor


def _rows(tensor: Any) -> Any:
    return tensor.reshape(-1, tensor.shape[-1]) if tensor.dim() else tensor.reshape(1, 1)


def _direction(rows: Any) -> int:
    """1 where all rows ascend, -1 where they descend, 0 otherwise; of entries that differ."""
    if rows.shape[1] < 2 or bool((rows == rows[:1, :1]).all()):
        return 0
    steps = rows[:, 1:] - rows[:, :-1]
    return 1 if bool((steps >= 0).all()) else -1 if bool((steps <= 0).all()) else 0


class _Integers:
    """Integers and truth values like those of an example."""

    def __init__(self, example: Any, limits: tuple[Optional[int], int], generator: Any):
        import torch

        self._rows = _rows(example.detach().cpu().to(torch.int64))
        self._exact, self._cap = limits
        self._generator = generator
        self._least = int(self._rows.min())

    def draw(self, shape: Sequence[int]) -> Any:
        """int64, on the processor."""
        import torch

        width = shape[-1] if shape else 1
        rows = torch.empty((max(1, _product(shape[:-1])), width), dtype=torch.int64)
        if rows.numel() == 0 or 0 in shape:
            return torch.zeros(list(shape), dtype=torch.int64)
        direction = _direction(self._rows)
        strict = direction and bool(((self._rows[:, 1:] - self._rows[:, :-1]) * direction > 0).all())
        for row in rows:
            row.copy_(self._climb(width, direction) if strict else self._plain(width, direction))
        self._touch_ends(rows, direction)
        return rows.reshape(list(shape))

    def _random(self, end: int, count: int) -> Any:
        import torch

        return torch.randint(max(1, end), (count,), generator=self._generator)

    def _top(self) -> int:
        return self._cap if self._exact is None else self._exact

    def _climb(self, width: int, direction: int) -> Any:
        """Different entries in order, as many as there is room for."""
        import torch

        first, top = min(self._least, self._top()), self._top()
        room = top - first + 1
        if width > room:
            return self._plain(width, direction)
        picked = torch.randperm(room, generator=self._generator)[:width].sort().values + first
        pinned = bool((self._rows.min(1).values == self._least).all())
        if pinned:
            picked[0] = first
        if self._exact is not None and width > 1:
            picked[-1] = top
        return picked if direction > 0 else picked.flip(0)

    def _plain(self, width: int, direction: int) -> Any:
        flat = self._rows.reshape(-1)
        picked = flat[self._random(flat.numel(), width)]
        if self._exact is not None and int(flat.max()) > 0:
            picked = -(-picked * self._exact // int(flat.max()))  # keeps 0 and what is above it
        picked = self._fold(picked)
        return picked if direction == 0 else picked.sort(descending=direction < 0).values

    def _fold(self, picked: Any) -> Any:
        """Entries beyond the limit come back from the least one."""
        top, least = self._top(), min(self._least, self._top())
        span = top - least + 1
        return picked.where(picked <= top, least + (picked - least) % span)

    def _touch_ends(self, rows: Any, direction: int) -> None:
        """What every row of the example has: its least entry in front, an entry that is not 0; the largest somewhere."""
        example = self._rows
        ends = 0 if direction >= 0 else -1
        if direction and bool((example[:, ends] == self._least).all()):
            rows[:, ends] = min(self._least, self._top())
        nonzero = example.max(1).values > 0
        if bool(nonzero.all()) and self._least == 0 and self._top() > 0:
            at = -1 if direction > 0 else 0 if direction < 0 or rows.shape[1] == 1 else int(self._random(rows.shape[1], 1))
            empty = rows.max(1).values <= 0
            rows[empty, at] = max(1, min(int(example.max()), self._top()))
        if self._exact is not None and int(rows.max()) < self._exact:
            rows[0, -1 if direction >= 0 else 0] = self._exact


def _product(sizes: Sequence[int]) -> int:
    out = 1
    for size in sizes:
        out *= size
    return out


def _numbers(example: Any, shape: Sequence[int], generator: Any) -> Any:
    """Real or complex numbers like those of the example: their spread, their sign, their bounds and order."""
    import torch

    count = _product(shape)
    flat = example.reshape(-1)
    picked = flat[torch.randint(flat.numel(), (count,), generator=generator).to(flat.device)]
    real = example.is_floating_point()
    spread = flat.float().std(unbiased=False) if real else flat.abs().float().std()
    spread = float(spread) if flat.numel() > 1 and float(spread) > 0 else 1.0
    noise = torch.randn(count, generator=generator).to(flat.device) * 0.5 * spread
    picked = (picked + noise.to(picked.dtype)).reshape(list(shape)).to(example.dtype)
    if not real:
        return picked
    least, most = float(flat.min()), float(flat.max())
    if least >= 0:
        picked = picked.abs()
    if flat.numel() > 8 and -1 <= least and most <= 1:
        picked = picked.clamp(-1 if least < 0 else 0, 1)
    direction = _direction(_rows(example)) if example.dim() and example.shape[-1] > 3 else 0
    return picked.sort(-1, descending=direction < 0).values if direction else picked
