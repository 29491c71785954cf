"""What a module holds, to be put back after calls that change it."""

from __future__ import annotations

import collections
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Optional

# Tensors beyond this are not copied and stay as a call leaves them: few calls write into weights.
_COPIED_BYTES = 4 << 30
# Attributes of attributes are followed this far outside of modules.
_DEPTH = 6
_CONTAINERS = (dict, list, set, collections.deque, bytearray)
_ATOMS = (type(None), bool, int, float, complex, str, bytes, type, range)


class _Tensor:
    """The entries of one tensor."""

    def __init__(self, tensor: Any):
        self._tensor = tensor
        self._version = _version(tensor)
        self._copy = tensor.detach().clone()

    def restore(self) -> None:
        import torch

        tensor, copy = self._tensor, self._copy
        same_type = tensor.shape == copy.shape and tensor.dtype == copy.dtype
        if same_type and self._version is not None and self._version == _version(tensor):
            # What is written through `.data` has no new version; nobody writes weights like that.
            if isinstance(tensor, torch.nn.Parameter) or torch.equal(tensor, copy):
                return
        if same_type:
            with torch.inference_mode(tensor.is_inference()), torch.no_grad():
                tensor.detach().copy_(copy)
        else:
            tensor.data = copy.clone()
        self._version = _version(tensor)


def _version(tensor: Any) -> Optional[int]:
    return None if tensor.is_inference() else tensor._version


def _fill(container: Any, copy: Any) -> None:
    if isinstance(container, dict):
        container.clear()
        container.update(copy)
    elif isinstance(container, set):
        container.clear()
        container |= copy
    elif isinstance(container, collections.deque):
        container.clear()
        container.extend(copy)
    else:
        container[:] = copy


def _same(container: Any, copy: Any) -> bool:
    """The same entries, not only equal ones."""
    if len(container) != len(copy):
        return False
    if isinstance(container, dict):
        return all(key in copy and copy[key] is value for key, value in container.items())
    if isinstance(container, (set, bytearray)):
        return container == copy
    return all(one is other for one, other in zip(container, copy))


class State:
    """Parameters, buffers and attributes of a module and its parts, and what these hold."""

    def __init__(self, module: Any):
        self._containers: list[tuple[Any, Any]] = []
        self._tensors: list[_Tensor] = []
        self._seen: dict[int, Any] = {}  # keeps them alive: an id is one object
        self._left = _COPIED_BYTES
        for tensor in [*_all(module, "buffers"), *_all(module, "parameters")]:
            self._keep_tensor(tensor)
        if type(getattr(module, "__dict__", None)) is dict and not hasattr(module, "_c"):  # scripted: held elsewhere
            self._walk(module, 0)

    def restore(self) -> None:
        """Puts back what is no longer as it was."""
        for container, copy in self._containers:
            if not _same(container, copy):
                _fill(container, copy)
        for tensor in self._tensors:
            tensor.restore()

    def _keep_tensor(self, tensor: Any) -> None:
        if id(tensor) in self._seen:
            return
        self._seen[id(tensor)] = tensor
        size = tensor.numel() * tensor.element_size()
        if size <= self._left:
            with suppress(Exception):  # tensors of a kind that cannot be copied
                self._tensors.append(_Tensor(tensor))
                self._left -= size

    def _walk(self, root: Any, depth: int) -> None:
        """All that can be reached from it, without recursion: modules nest as deep as they like."""
        import torch

        waiting = [(root, depth)]
        while waiting:
            value, depth = waiting.pop()
            if isinstance(value, _ATOMS) or id(value) in self._seen or depth > _DEPTH:
                continue
            if isinstance(value, torch.Tensor):
                self._keep_tensor(value)
                continue
            self._seen[id(value)] = value
            inner = self._inner(value)
            depth = 0 if isinstance(value, torch.nn.Module) else depth + 1
            waiting += [(one, depth) for one in inner]

    def _inner(self, value: Any) -> Iterable[Any]:
        """What it holds; a container among them is copied."""
        if isinstance(value, tuple):
            return value
        held = value if isinstance(value, _CONTAINERS) else _attributes(value)
        if held is None:
            return ()
        self._containers.append((held, held[:] if isinstance(held, bytearray) else held.copy()))
        return () if isinstance(held, bytearray) else list(held.values() if isinstance(held, dict) else held)


def _attributes(value: Any) -> Optional[dict[str, Any]]:
    """Those of an object that holds data: not of modules of Python, functions, or what the interpreter is made of."""
    if type(value).__module__.split(".")[0] in ("builtins", "logging", "threading", "_thread", "types", "weakref"):
        return None
    held = getattr(value, "__dict__", None)
    return held if type(held) is dict else None


def _all(module: Any, name: str) -> Iterable[Any]:
    return getattr(module, name, list)()
