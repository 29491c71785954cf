"""Is the exported file the model? Which sizes to try, inputs for them, and comparing what comes out."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ._request import Request

Sizes = dict[str, int]

# Relative to the largest entry; half and bfloat16 accumulate in other orders.
_TOLERANCE = {"float64": 1e-6, "complex128": 1e-6, "float16": 2e-2, "bfloat16": 8e-2}
_LARGEST_POINT = 4096


@dataclass(frozen=True)
class Compared:
    """One comparison with the live model. `error`: largest difference relative to the largest entry."""

    shapes: dict[str, list[int]]
    error: float = 0.0
    difference: str = ""  # empty: equal

    def __str__(self) -> str:
        shapes = " ".join(f"{name}={'x'.join(map(str, sizes)) or 'scalar'}" for name, sizes in self.shapes.items())
        return f"{shapes}: {self.difference or f'equal, error {self.error:.1e}'}"


class LiveModel:
    """The PyTorch module, run for its values; buffers are as before after each run."""

    def __init__(self, module: Any, request: Request):
        self._module = module
        self._request = request
        self.values_vary = False
        first, second = (self.run(self.inputs(request.example(), 0)) for _ in range(2))
        if not isinstance(first, Exception) and not isinstance(second, Exception):
            self.values_vary = bool(difference(first, second)[1])
        self.failure = first if isinstance(first, Exception) else None

    def inputs(self, sizes: Mapping[str, int], seed: int) -> list[Any]:
        """Tensors like those of the example, at other sizes; the example itself for seed 0 at its sizes."""
        import torch

        shapes = self._request.shapes(sizes)
        generator = torch.Generator().manual_seed(seed)
        out = []
        for name, leaf in zip(self._request.names, self._request.leaves):
            same = list(leaf.shape) == shapes[name]
            leaf = leaf.detach()
            out.append(leaf.clone() if same and seed == 0 else _drawn(leaf, shapes[name], generator))
        return out

    def run(self, tensors: Sequence[Any]) -> Any:
        """Arrays of the flat outputs, or the exception."""
        import torch
        from torch.utils import _pytree as pytree

        args, kwargs = self._request.with_tensors([tensor.clone() for tensor in tensors])
        buffers = [(buffer, buffer.clone()) for buffer in getattr(self._module, "buffers", list)()]
        try:
            with torch.no_grad():
                made = pytree.tree_leaves(self._module(*args, **kwargs))
            return [array(torch.as_tensor(value)) for value in made if value is not None]
        except Exception as failure:  # noqa: BLE001 - whatever the model says about this shape
            return failure
        finally:
            for buffer, before in buffers:
                buffer.data.copy_(before)


def _drawn(example: Any, shape: list[int], generator: Any) -> Any:
    """A tensor of that shape with entries of the example's kind: integers are some of its own."""
    import torch

    count = int(np.prod(shape, dtype=np.int64))
    flat = example.reshape(-1)
    if flat.numel() == 0:
        return example.new_zeros(shape)
    picked = flat[torch.randint(flat.numel(), (count,), generator=generator).to(flat.device)]
    if example.is_floating_point() or example.is_complex():
        spread = flat.float().std(unbiased=False) if example.is_floating_point() else flat.abs().float().std()
        spread = float(spread) if flat.numel() > 1 and float(spread) > 0 else 1.0
        noise = torch.randn(count, generator=generator).to(flat.device) * 0.5 * spread
        picked = picked + noise.to(picked.dtype)
        if example.is_floating_point() and float(flat.min()) >= 0:
            picked = picked.abs()
    return picked.reshape(shape).to(example.dtype)


def array(tensor: Any) -> np.ndarray:
    """The NumPy array of a tensor, also of types NumPy lacks."""
    import torch

    tensor = tensor.detach().cpu().contiguous().resolve_conj().resolve_neg()
    try:
        return tensor.numpy()
    except TypeError:
        import ml_dtypes

        name = str(tensor.dtype).removeprefix("torch.")
        bits = torch.uint8 if tensor.element_size() == 1 else torch.uint16
        return tensor.view(bits).numpy().view(getattr(ml_dtypes, name))


def _one_difference(got: np.ndarray, want: np.ndarray) -> tuple[float, str]:
    if got.dtype != want.dtype:
        return 0.0, f"is {got.dtype}, not {want.dtype}"
    if got.shape != want.shape:
        return 0.0, f"has the shape {list(got.shape)}, not {list(want.shape)}"
    if got.size == 0 or got.dtype.kind in "biuO":
        wrong = int(np.count_nonzero(got != want))
        return 0.0, f"differs in {wrong} of {got.size} entries" if wrong else ""
    tolerance = _TOLERANCE.get(got.dtype.name, 1e-3)
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    a, b = got.astype(wide), want.astype(wide)
    unlike = (np.isfinite(a) != np.isfinite(b)) | (np.isnan(a) != np.isnan(b))
    infinite = ~np.isfinite(b) & ~np.isnan(b)
    unlike |= infinite & (a != b)
    if unlike.any():
        return float("inf"), f"has {int(unlike.sum())} entries that are infinite or NaN in one of the two only"
    finite = np.isfinite(b)
    scale = max(float(np.abs(b[finite]).max(initial=0.0)), 1e-6)
    error = float(np.abs(a[finite] - b[finite]).max(initial=0.0)) / scale
    return error, f"differs by {error:.3g} of its largest entry" if error > tolerance else ""


def difference(got: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> tuple[float, str]:
    """(largest error, a sentence that is empty where they are equal). Further outputs of the file are its state."""
    if len(got) < len(want):
        return 0.0, f"the file has {len(got)} outputs, the model {len(want)}"
    largest = 0.0
    for i, (one, other) in enumerate(zip(got, want)):
        error, sentence = _one_difference(np.asarray(one), other)
        largest = max(largest, error)
        if sentence:
            return largest, f"output {i} {sentence}"
    return largest, ""


def points(request: Request, accepts: Callable[[Sizes], bool], smallest: Sizes) -> Iterator[Sizes]:
    """Boundary sizes, the example first: 1, 2, the smallest accepted, larger and odd ones, together and one by one."""
    example = request.example()
    yield dict(example)
    if not example:
        return
    seen = {tuple(example.values())}

    def new(sizes: Sizes) -> bool:
        key = tuple(sizes[name] for name in example)
        known = key in seen
        seen.add(key)
        return not known

    together = [dict.fromkeys(example, 1), dict.fromkeys(example, 2), {**example, **smallest}]
    together += [dict.fromkeys(example, 3), {name: size + 1 + i for i, (name, size) in enumerate(example.items())}]
    together += [{name: 2 * size for name, size in example.items()}]
    together += [{name: 2 * size + 1 for name, size in example.items()}]
    yield from filter(new, together)
    for name, size in example.items():
        for one in (1, 2):
            if new(sizes := {**example, name: one}):
                yield sizes
        larger = [{**example, name: n} for n in (2 * size + 1, size + 1, size + 2, 2 * size, 3 * size)]
        for sizes in itertools.islice(filter(accepts, larger), 2):
            if new(sizes):
                yield sizes


_OPERATORS = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub,
              ast.Mult, ast.FloorDiv, ast.Mod, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
              ast.Constant, ast.Name, ast.Load, ast.Call)  # fmt: skip


@dataclass
class Guard:
    """A condition the program was captured under."""

    text: str
    symbols: dict[str, str]  # name in the text -> "input:axis"
    origin: str
    binding: bool = True  # what the command line enforces; the live model decides here
    _code: Any = None

    def __post_init__(self) -> None:
        text, self._names = self.text, {}
        for i, name in enumerate(sorted(self.symbols, key=len, reverse=True)):
            self._names[f"_{i}_"] = name
            text = re.sub(rf"'{re.escape(name)}'|(?<![\w.]){re.escape(name)}(?![\w.])", f"_{i}_", text)
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError:
            return
        known = {*self._names, "min", "max"}
        if all(isinstance(node, _OPERATORS) and (not isinstance(node, ast.Name) or node.id in known)
               for node in ast.walk(tree)):  # fmt: skip
            self._code = compile(tree, "<guard>", "eval")

    def holds(self, sizes: Mapping[str, int]) -> Optional[bool]:
        """None where it cannot be told."""
        if self._code is None or any(name not in sizes for name in self._names.values()):
            return None
        names = {key: sizes[name] for key, name in self._names.items()}
        try:
            return bool(eval(self._code, {"__builtins__": {}, "min": min, "max": max}, names))
        except ZeroDivisionError:
            return None

    def numbers(self) -> list[int]:
        return [int(number) for number in re.findall(r"(?<![\w.])\d+(?![\w.])", self.text)]


def _candidates(example: int, numbers: Sequence[int], several: bool) -> list[int]:
    values = {1, 2, 3, example - 1, example, example + 1, 2 * example, 2 * example + 1}
    for number in numbers:
        values |= {number - 1, number, number + 1}
    if not several:
        values |= set(range(1, 18)) | {3 * example}
        for number in numbers:
            values |= {2 * number, 2 * number + 1, number // 2}
    return sorted(value for value in values if 1 <= value <= _LARGEST_POINT)


def both_sides(guard: Guard, example: Sizes) -> tuple[list[Sizes], list[Sizes]]:
    """Points near the example where the guard does not hold, and near its border where it does."""
    names = [name for name in guard.symbols if name in example]
    values = [_candidates(example[name], guard.numbers(), len(names) > 1) for name in names]
    if len(names) > 2:
        values = [[v for v in some if v <= 3 or abs(v - example[n]) <= 1] for n, some in zip(names, values)]
    outside, inside = [], []
    for choice in itertools.islice(itertools.product(*values), 4000):
        sizes = {**example, **dict(zip(names, choice))}
        holds = guard.holds(sizes)
        if holds is not None:
            (inside if holds else outside).append(sizes)

    def distance(sizes: Sizes) -> int:
        return sum(abs(sizes[name] - example[name]) for name in names)

    outside.sort(key=distance)
    border = sorted(inside, key=lambda sizes: min((sum(abs(sizes[n] - o[n]) for n in names) for o in outside[:20]),
                                                  default=0))  # fmt: skip
    return outside, border[:2]
