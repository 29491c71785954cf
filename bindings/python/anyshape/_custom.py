"""Operators of extensions in an export: what becomes of them, and PyTorch's own kernels for the comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Optional

import numpy as np

from . import _anyshape
from ._arguments import mapping
from ._compare import array
from ._errors import Error, usage
from ._integers import integer
from ._reroll import export_program

Pairs = list[tuple[str, Any]]

_RULE = "(x) -> y = [x0, x1]"


def options_of(custom_ops: Optional[Mapping[str, Any]], custom_opsets: Optional[Mapping[str, Any]]) -> dict[str, Pairs]:
    """custom_ops={"ns::op": "domain::Name" | rule | kernel | several of them} as options of the exporter."""
    out: dict[str, Pairs] = {"custom": [], "custom_shapes": [], "kernels": [], "custom_opsets": []}
    for name, wanted in mapping(custom_ops, "custom_ops").items():
        for one in wanted if isinstance(wanted, (tuple, list)) else [wanted]:
            if callable(one):
                out["kernels"].append((name, one))
            elif isinstance(one, str) and "=" in one:
                out["custom_shapes"].append((name, one))
            elif isinstance(one, str):
                out["custom"].append((name, one))
            else:
                raise usage("custom.name", f'{one!r} is no name "domain::Name", no rule "{_RULE}" and no kernel',
                            place=f'custom_ops of "{name}"')  # fmt: skip
    for domain, version in mapping(custom_opsets, "custom_opsets").items():
        out["custom_opsets"].append((domain, integer(version, f'custom_opsets of "{domain}"')))
    return out


def exported(path: Any, options: Mapping[str, Any]) -> tuple[_anyshape.Model, dict[str, Any]]:
    """As export_program, of a path or of Captures; what custom operators compute in the model is what they compute in PyTorch."""
    given = {_renamed(name, options["custom"]): kernel for name, kernel in options.get("kernels", [])}
    plain = {**options, "kernels": list(given.items())}
    model, report = export_program(path, plain)
    theirs = {name: _torch_kernel(_original(name, options["custom"])) for name in report["custom"] if name not in given}
    kernels = [(name, kernel) for name, kernel in theirs.items() if kernel is not None]
    if kernels:
        model, report = export_program(path, {**plain, "kernels": [*given.items(), *kernels]})
    return model, report


def explained(refusal: Error, operators: Sequence[str]) -> Error:
    """The error of a model that has no kernel for one of these operators says what to write."""
    if refusal.code != "run.missing" or not operators:
        return refusal
    domain, name = operators[0].rsplit("::", 1)
    return Error("export.custom", refusal.place, f"{refusal.message}, so that the file cannot be compared with the model",
                 f'anyshape.register_op("{domain}", "{name}", "{_RULE}", kernel), or '
                 f'custom_ops={{"{operators[0]}": ("{_RULE}", kernel)}} for this export, or compare=False')  # fmt: skip


def _renamed(name: str, custom: Pairs) -> str:
    space, operator = name.rsplit("::", 1) if "::" in name else (name, "")
    names = dict(custom)
    return names.get(name) or f"{names.get(space, space)}::{operator}"


def _original(name: str, custom: Pairs) -> str:
    back = {new: old for old, new in custom}
    domain, operator = name.rsplit("::", 1)
    return back.get(name) or f"{back.get(domain, domain)}::{operator}"


@cache
def _torch_kernel(name: str) -> Optional[Callable[..., Any]]:
    """What torch.ops.NS.OP computes, as a kernel; None where PyTorch does not know it."""
    import torch

    space, operator = name.rsplit("::", 1)
    packet = getattr(getattr(torch.ops, space, None), operator, None)
    if packet is None:
        return None
    overload = getattr(packet, packet.overloads()[0])
    arguments = overload._schema.arguments

    def kernel(node: Any, *arrays: np.ndarray) -> Any:
        given = _Given(node, arrays, arguments)
        with torch.no_grad():
            made = overload(*(given.value(one) for one in arguments if not one.kwarg_only),
                            **{one.name: given.value(one) for one in arguments if one.kwarg_only})  # fmt: skip
        return tuple(array(one) for one in made) if isinstance(made, (tuple, list)) else array(made)

    return kernel


class _Given:
    """The inputs and attributes of a node as the arguments of PyTorch's operator, asked for in their order."""

    def __init__(self, node: Any, arrays: Sequence[Any], arguments: Sequence[Any]):
        self._node, self._waiting = node, iter(arrays)
        kinds = [str(one.type) for one in arguments]
        needed = kinds.count("Tensor")
        self._optional = len(arrays) - needed  # absent ones are left out
        self._listed = len(arrays) - needed - kinds.count("Optional[Tensor]")
        self._sized = self._listed  # sizes that are not known when the file is written are inputs

    def value(self, argument: Any) -> Any:
        kind = str(argument.type)
        if kind == "Tensor":
            return _tensor(next(self._waiting))
        if kind == "Optional[Tensor]":
            self._optional -= 1
            return _tensor(next(self._waiting)) if self._optional >= 0 else None
        if kind == "List[Tensor]":
            return [_tensor(next(self._waiting)) for _ in range(self._listed)]
        found = self._attribute(argument.name, kind)
        if found is None and self._sized > 0 and kind in ("int", "SymInt"):
            self._sized -= 1
            return int(next(self._waiting))
        return argument.default_value if found is None else found

    def _attribute(self, name: str, kind: str) -> Any:
        node, plain = self._node, kind.removeprefix("Optional[").removesuffix("]")
        if "List[" in kind:
            found = (node.numbers if "float" in kind else node.integers)(name)
            return found or None
        if plain == "float":
            return node.number(name)
        if plain == "str":
            return node.text(name)
        found = node.integer(name)
        return bool(found) if plain == "bool" and found is not None else found


def _tensor(given: np.ndarray) -> Any:
    import torch

    try:
        return torch.from_numpy(np.array(given))
    except TypeError:  # types NumPy lacks
        bits = np.array(given).view(np.uint8 if given.itemsize == 1 else np.uint16)
        return torch.from_numpy(bits).view(getattr(torch, given.dtype.name))
