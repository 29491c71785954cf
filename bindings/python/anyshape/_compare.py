"""Is the exported file the model? Which sizes to try, inputs for them, and comparing what comes out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ._guards import Sizes
from ._request import Request
from ._sample import Given, Sampler
from ._state import State
from ._structure import has_objects, named_results

# Relative to the largest entry; half and bfloat16 accumulate in other orders.
_TOLERANCE = {"float64": 1e-6, "complex128": 1e-6, "float16": 2e-2, "bfloat16": 8e-2}


@dataclass(frozen=True)
class Compared:
    """One comparison with the live model. `error`: largest difference relative to the largest entry."""

    shapes: dict[str, list[int]]
    error: float = 0.0
    difference: str = ""  # empty: equal
    note: str = ""  # who says so, where it is not this engine

    def __str__(self) -> str:
        return f"{to_words(self.shapes)}: {self.difference or f'equal, error {self.error:.1e}'}{self.note}"


def to_words(shapes: Mapping[str, Sequence[int]]) -> str:
    """As the program takes them: "x=1x120x1 y=scalar"."""
    return " ".join(f"{name}={'x'.join(map(str, sizes)) or 'scalar'}" for name, sizes in shapes.items())


class LiveModel:
    """The PyTorch module, run for its values; after each run it is as its `state` says."""

    def __init__(self, module: Any, request: Request, sampler: Optional[Given] = None, state: Optional[State] = None):
        self._module = module
        self._state = state or State(module)
        self._request = request
        self._sampler = Sampler(request, sampler)
        self.given = sampler is not None  # the caller says which values are inputs
        self.values_vary = False
        self.telling: list[Sizes] = []  # sizes beyond conditions of some capture, which another may get wrong
        self.results: list[str] = []  # names of the tensors it gives, where objects hold them
        first, second = (self.at(request.example(), 0)[1] for _ in range(2))
        if not isinstance(first, Exception) and not isinstance(second, Exception):
            self.values_vary = bool(difference(first, second)[1])
        self.failure = first if isinstance(first, Exception) else None

    def at(self, sizes: Mapping[str, int], seed: int) -> tuple[list[Any], Any]:
        """Tensors at those sizes, the example itself for seed 0 at its own, and what run() gives for them."""
        for manner in range(self._sampler.manners):
            tensors = self._sampler.draw(sizes, seed, manner)
            result = self.run(tensors)
            if not isinstance(result, Exception):
                break
        return tensors, result

    def calls(self, sizes: Mapping[str, int]) -> int:
        """How many operators of PyTorch a run at those sizes calls; 0 where the model refuses them."""
        from torch.utils._python_dispatch import TorchDispatchMode

        class Counting(TorchDispatchMode):
            count = 0

            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                self.count += 1
                return func(*args, **(kwargs or {}))

        tensors, result = self.at(sizes, 1)
        if isinstance(result, Exception):
            return 0
        with Counting() as counting:
            self.run(tensors)
        return counting.count

    def run(self, tensors: Sequence[Any]) -> Any:
        """Arrays of the flat outputs, or the exception."""
        import torch
        from torch.utils import _pytree as pytree

        args, kwargs = self._request.with_tensors([tensor.clone() for tensor in tensors])
        try:
            with torch.no_grad():
                made = self._module(*args, **kwargs)
            if has_objects(made):
                named = named_results(made, self._request.names)
                self.results = [name for name, _ in named]
                return [array(tensor) for _, tensor in named]
            return [array(torch.as_tensor(value)) for value in pytree.tree_leaves(made) if value is not None]
        except Exception as failure:  # noqa: BLE001 - whatever the model says about this shape
            return failure
        finally:
            self._state.restore()


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
    """Boundary sizes, the example first: 1, 2, the smallest accepted, larger and odd ones, together, one by one, in pairs."""
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
    tied = []
    for name, size in example.items():
        for one in (1, 2):
            if new(sizes := {**example, name: one}):
                yield sizes
        larger = [{**example, name: n} for n in (2 * size + 1, size + 1, size + 2, 2 * size, 3 * size)]
        taken = list(itertools.islice(filter(accepts, larger), 2))
        yield from filter(new, taken)
        if not taken:
            tied.append(name)
    # An axis that takes no other size alone may take one with another axis: what holds the product of two may be the
    # number of one arrangement of theirs.
    for one, other in itertools.permutations(tied, 2):
        a, b = example[one], example[other]
        pairs = [(b, a), (2 * a, b // 2), (4 * a, b // 4)]
        together = [{**example, one: x, other: y} for x, y in pairs if y > 0]
        yield from filter(new, filter(accepts, together))
