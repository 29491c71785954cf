"""Values of any structure as tensors with names, and back: containers, types PyTorch has registered, and plain objects
that hold tensors, such as the caches of language models."""

from __future__ import annotations

import copy
import enum
import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Optional, Union

Path = tuple[Union[str, int], ...]
Visit = Callable[[Path, Any], Any]

_PLAIN = (int, float, complex, str, bytes, type(None))
# Counters of an object that say how long its tensors are.
_LENGTHS = ("cumulative_length", "_seen_tokens", "seen_tokens")
# What parts of caches are called; names leave out that they are in "layers". Some stand after the number of the layer.
_ENTRIES = {"keys": "key", "values": "value"}
_LATE = {"self_attention_cache": "decoder", "cross_attention_cache": "encoder", "key_cache": "key", "value_cache": "value"}
_PAST = ("past_key_values", "past_key_value", "past")


def _is_state(value: Any) -> bool:
    """An object of a class written in Python, whose attributes are all there is to it."""
    import torch

    closed = (type, torch.Tensor, torch.nn.Module, enum.Enum, types.ModuleType, types.FunctionType, types.MethodType)
    return isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, closed) and not callable(value)


def _word(key: Any) -> Union[str, int]:
    for attribute in ("key", "idx", "name"):
        if hasattr(key, attribute):
            word = getattr(key, attribute)
            return word if isinstance(word, int) else str(word)
    return str(key)


def _words_of(value: Any, count: int) -> list[Union[str, int]]:
    """What a container calls its parts. Types that were registered without that: the keys of a mapping, or numbers."""
    from torch.utils import _pytree as pytree

    try:
        parts, _ = pytree.tree_flatten_with_path(value, is_leaf=lambda one: one is not value)
        return [_word(keys[0]) for keys, _ in parts]
    except ValueError:
        named = isinstance(value, Mapping) and len(value) == count
        return [str(key) for key in value] if named else list(range(count))


class _Walk:
    """A copy of a value with what `visit` makes of its tensors. `objects`: how many plain objects it has."""

    def __init__(self, visit: Visit):
        self._visit = visit
        self._made: dict[int, Any] = {}
        self._pairs: list[tuple[Any, Any]] = []
        self.objects = 0

    def at(self, path: Path, value: Any) -> Any:
        import torch
        from torch.utils import _pytree as pytree

        if isinstance(value, _PLAIN + (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return value
        if isinstance(value, torch.Tensor):
            private = any(isinstance(word, str) and word.startswith("_") for word in path)
            if private:
                return value
            self._pairs.append((value, self._visit(path, value)))
            return self._pairs[-1][1]
        leaves, spec = pytree.tree_flatten(value, is_leaf=lambda one: one is not value)
        if not spec.is_leaf():
            words = _words_of(value, len(leaves))
            return pytree.tree_unflatten([self.at((*path, word), one) for word, one in zip(words, leaves)], spec)
        return self._object(path, value) if _is_state(value) else value

    def _object(self, path: Path, value: Any) -> Any:
        if id(value) not in self._made:
            self.objects += 1
            made = self._made[id(value)] = copy.copy(value)
            first = len(self._pairs)
            for name, one in vars(value).items():
                vars(made)[name] = self.at((*path, name), one)
            self._follow_lengths(made, first)
        return self._made[id(value)]

    def _follow_lengths(self, made: Any, first: int) -> None:
        """Counters of an object that were the length of its tensors, whose axis of time is the last but one."""
        states = next((pair for pair in self._pairs[first:] if pair[0].dim() > 2), None)
        for name in _LENGTHS:
            if states and type(length := vars(made).get(name)) is int and states[0].shape[-2] == length:
                vars(made)[name] = states[1].shape[-2]


def mapped(value: Any, visit: Visit) -> Any:
    """A copy with other tensors; containers and plain objects are new ones, too."""
    return _Walk(visit).at((), value)


def tensors_of(value: Any) -> list[tuple[Path, Any]]:
    found: list[tuple[Path, Any]] = []

    def keep(path: Path, tensor: Any) -> Any:
        found.append((path, tensor))
        return tensor

    mapped(value, keep)
    return found


def has_objects(value: Any) -> bool:
    """Does it hold plain objects, which PyTorch's captures do not take?"""
    walk = _Walk(lambda _path, tensor: tensor)
    walk.at((), value)
    return walk.objects > 0


def _cache_words(path: Sequence[Union[str, int]]) -> list[str]:
    """("layers", 0, "keys") as ["0", "key"]."""
    words: list[str] = []
    late: list[str] = []  # what stands after the number of the layer
    for word in path:
        if isinstance(word, int):
            words += [str(word), *late]
            late = []
        elif word in _LATE:
            late.append(_LATE[word])
        elif word != "layers":
            words.append(_ENTRIES.get(word, word))
    return words + late


def _legacy_words(path: Path, count: int) -> list[str]:
    """Of a cache that is a tuple of tuples: keys and values of a decoder, then those of its encoder."""
    sides = ["decoder", "encoder"] if count == 4 else [""]
    names = [[*([side] if side else []), entry] for side in sides for entry in ("key", "value")]
    return [str(path[0]), *names[int(path[1])]]


def _is_legacy(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) > 0 and all(
        isinstance(layer, (tuple, list)) and len(layer) in (2, 4) for layer in value
    )


def named_tensors(root: str, value: Any) -> list[tuple[str, Any]]:
    """(name, tensor): "pair_0" of containers, "past_key_values.0.key" of caches and other objects."""
    found = tensors_of(value)
    if root in _PAST and _is_legacy(value):
        return [(".".join([root, *_legacy_words(path, len(value[path[0]]))]), tensor) for path, tensor in found]
    if has_objects(value):
        return [(".".join([root, *_cache_words(path)]), tensor) for path, tensor in found]
    return [("_".join([root, *map(str, path)]), tensor) for path, tensor in found]


def _roots(made: Any) -> list[tuple[str, Any]]:
    """Results of a call by name."""
    from torch.utils import _pytree as pytree

    if hasattr(made, "items"):
        return [(str(name), value) for name, value in made.items()]
    if _is_state(made) and pytree.tree_structure(made).is_leaf():
        return list(vars(made).items())
    if not isinstance(made, (tuple, list)):
        return [("output", made)]
    names = getattr(made, "_fields", None)  # of named tuples
    return [(names[i] if names else "present" if has_objects(one) else f"output_{i}", one) for i, one in enumerate(made)]


def named_results(made: Any, taken: Sequence[str]) -> list[tuple[str, Any]]:
    """(name, tensor) of what a model gives; `taken`: names of its inputs."""
    out: list[tuple[str, Any]] = []
    for root, value in _roots(made):
        for name, tensor in named_tensors(root, value):
            first, _, rest = name.partition(".")
            if first in _PAST and rest:
                name = f"present.{rest}"
            while name in taken or any(name == other for other, _ in out):
                name = f"next_{name}"
            out.append((name, tensor))
    return out


def _identifiers(names: Sequence[str]) -> list[str]:
    out: list[str] = []
    for name in names:
        word = "".join(letter if letter.isalnum() else "_" for letter in name)
        word = word if word.isidentifier() else f"_{word}"
        while word in out:
            word += "_"
        out.append(word)
    return out


@contextmanager
def flattened(module: Any, names: Sequence[str], results: Sequence[str],
              rebuild: Optional[Callable[[Sequence[Any]], Any]]) -> Iterator[None]:  # fmt: skip
    """Within, the module gives the tensors of `results` as a tuple (all, where it is empty), and where `rebuild` is given,
    takes tensors of these names: it makes (args, kwargs) of them."""
    import torch

    inner = module.forward

    def flat(args: Any, kwargs: Any) -> Any:
        made = named_results(inner(*args, **kwargs), names)
        return tuple(tensor for name, tensor in made if not results or name in results)

    if rebuild is None:

        def forward(*args: Any, **kwargs: Any) -> Any:
            return flat(args, kwargs)

        forward.__signature__ = inspect.signature(inner)  # type: ignore[attr-defined]
    else:

        def forward(*args: Any, **kwargs: Any) -> Any:
            given = [*args, *(kwargs[name] for name in words[len(args) :])]
            return flat(*rebuild(given))

        words = _identifiers(names)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(word, kind, annotation=torch.Tensor) for word in words]
        forward.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    kept = vars(module).get("forward")
    module.forward = forward
    try:
        yield
    finally:
        del module.forward
        if kept is not None:
            module.forward = kept
