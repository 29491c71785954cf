"""What a user asks of an export, in one form: flat inputs with names, and names for axes."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from ._errors import usage
from ._integers import integer


@dataclass(frozen=True)
class Axis:
    """An axis of a flat input that is to be dynamic. `symbol`: its name, or INPUT.AXIS where none was given."""

    leaf: int
    axis: int
    name: str
    symbol: str


@dataclass
class Request:
    """Arguments of a model, flattened, and the axes wanted."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    leaves: list[Any]  # the tensors among them, in the order of the signature
    names: list[str]  # of the leaves, as the file will have them
    axes: list[Axis] = field(default_factory=list)
    output_axes: list[tuple[str, int, str]] = field(default_factory=list)
    output_names: list[str] = field(default_factory=list)
    dynamic_shapes: Any = None  # as the user wrote them, strings replaced; for torch.export

    def dynamic(self) -> list[tuple[str, int, str]]:
        """The axes as the exporter takes them."""
        return [(self.names[a.leaf], a.axis, a.name) for a in self.axes] + self.output_axes

    def example(self) -> dict[str, int]:
        """Symbol -> its size in the example."""
        return {a.symbol: int(self.leaves[a.leaf].shape[a.axis]) for a in self.axes}

    def shapes(self, sizes: Mapping[str, int]) -> dict[str, list[int]]:
        """Input shapes where the symbols have those sizes."""
        out = {name: list(map(int, leaf.shape)) for name, leaf in zip(self.names, self.leaves)}
        for a in self.axes:
            out[self.names[a.leaf]][a.axis] = sizes.get(a.symbol, out[self.names[a.leaf]][a.axis])
        return out

    def with_tensors(self, tensors: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with other tensors in place of the leaves."""
        from torch.utils import _pytree as pytree

        place = {id(leaf): tensor for leaf, tensor in zip(self.leaves, tensors)}
        flat, spec = pytree.tree_flatten((self.args, self.kwargs))
        return pytree.tree_unflatten([place.get(id(value), value) for value in flat], spec)


def _distinct(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, a tensor that occurs twice copied: every tensor is an input of its own."""
    import torch
    from torch.utils import _pytree as pytree

    flat, spec = pytree.tree_flatten((args, kwargs))
    seen: set[int] = set()
    for i, value in enumerate(flat):
        if isinstance(value, torch.Tensor) and id(value) in seen:
            flat[i] = value.detach().clone()
        seen.add(id(value))
    return pytree.tree_unflatten(flat, spec)


def bound_arguments(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Parameter name -> value, in the order of forward()."""
    schema = getattr(getattr(module, "forward", module), "schema", None)  # of scripted and traced modules
    if schema is not None:
        names = [argument.name for argument in schema.arguments if argument.name != "self"]
        return dict(zip(names, args)) | {name: kwargs[name] for name in names if name in kwargs}
    try:
        return dict(inspect.signature(getattr(module, "forward", module)).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError) as failure:
        raise usage("export.args", f"forward() does not take these arguments: {failure}") from None


def split_arguments(args: Any, kwargs: Optional[Mapping[str, Any]]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """torch.onnx.export's habits: one tensor is a tuple of one, a dict at the end holds keyword arguments."""
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    if not kwargs and args and isinstance(args[-1], dict):
        return args[:-1], dict(args[-1])
    return args, dict(kwargs or {})


def _path_name(parameter: str, path: Sequence[Any]) -> str:
    words = [parameter]
    for key in path:
        for attribute in ("key", "idx", "name"):
            if hasattr(key, attribute):
                words.append(str(getattr(key, attribute)))
                break
    return "_".join(words)


def flat_tensors(bound: Mapping[str, Any]) -> tuple[list[Any], list[str]]:
    """The tensors among the arguments, and names for them: that of the parameter, with the way to a nested one."""
    import torch
    from torch.utils import _pytree as pytree

    leaves, names = [], []
    for parameter, value in bound.items():
        for path, leaf in pytree.tree_flatten_with_path(value)[0]:
            if isinstance(leaf, torch.Tensor):
                leaves.append(leaf)
                names.append(_path_name(parameter, path))
    return leaves, names


def _final_names(given: Optional[Sequence[str]], defaults: list[str]) -> list[str]:
    given = list(given or [])
    if len(given) > len(defaults):
        raise usage("names.inputs", f"{len(given)} input names are given, the model has {len(defaults)} tensor inputs")
    out = given + defaults[len(given) :]
    for i, name in enumerate(out):
        while name in out[:i]:
            name += "_"
        out[i] = name
    return out


def axis_names(axes: Any) -> list[tuple[int, str]]:
    if isinstance(axes, Mapping):
        return [(integer(axis, "dynamic_axes"), "" if name is None else str(name)) for axis, name in axes.items()]
    return [(integer(axis, "dynamic_axes"), "") for axis in axes]


def _checked_axis(axis: int, rank: int, value: str) -> int:
    if not -rank <= axis < rank:
        raise usage("dynamic.axis", f"it has {rank} axes, there is no axis {axis}", place=f'input "{value}"')
    return axis % rank


class _Axes:
    """Collects axes; one name on several ties them."""

    def __init__(self, request: Request):
        self.request = request

    def add(self, leaf: int, axis: int, name: str) -> None:
        request = self.request
        value = request.names[leaf]
        axis = _checked_axis(axis, request.leaves[leaf].dim(), value)
        made = Axis(leaf, axis, name, name or f"{value}.{axis}")
        size = int(request.leaves[leaf].shape[axis])
        known = request.example().get(made.symbol)
        if known is not None and known != size:
            raise usage("dynamic.tied", f'"{name}" is {known} and {size} in the example; one name is one size',
                        place=f'input "{value}"')  # fmt: skip
        if not any((a.leaf, a.axis) == (leaf, axis) for a in request.axes):
            request.axes.append(made)


def _add_dynamic_axes(request: Request, dynamic_axes: Mapping[str, Any]) -> None:
    axes = _Axes(request)
    for value, wanted in dynamic_axes.items():
        if value in request.names:
            for axis, name in axis_names(wanted):
                axes.add(request.names.index(value), axis, name)
        elif request.output_names and value not in request.output_names:
            near = difflib.get_close_matches(value, request.names + request.output_names, 1)
            raise usage("dynamic.value", f'there is no input or output "{value}"', hint=near[0] if near else "")
        else:
            request.output_axes += [(value, axis, name) for axis, name in axis_names(wanted)]


def _dim_name(spec: Any) -> Optional[str]:
    """The name an entry of dynamic_shapes gives its axis: "" for a nameless one, None for a static one."""
    if spec is None or isinstance(spec, int):
        return None
    if isinstance(spec, str):
        return spec
    hint = getattr(getattr(spec, "type", None), "name", None)  # Dim.AUTO, Dim.DYNAMIC, Dim.STATIC
    if hint is not None:
        return None if hint == "STATIC" else ""
    return "" if hasattr(spec, "root") else str(getattr(spec, "__name__", ""))


def _walk_shapes(value: Any, spec: Any, found: list[tuple[Any, int, str]], place: str) -> Any:
    """Pairs tensors with their entries; gives the entries back with strings as Dim.DYNAMIC."""
    import torch

    if spec is None:
        return None
    if isinstance(value, torch.Tensor):
        entries = spec.items() if isinstance(spec, Mapping) else enumerate(spec)
        entries = [(integer(axis, place), entry) for axis, entry in entries]
        found += [(value, axis, name) for axis, entry in entries if (name := _dim_name(entry)) is not None]
        plain = {axis: torch.export.Dim.DYNAMIC if isinstance(entry, str) else entry for axis, entry in entries}
        return plain if isinstance(spec, Mapping) else type(spec)(plain.values())
    if isinstance(value, Mapping):
        return {key: _walk_shapes(value[key], spec.get(key), found, f"{place}.{key}") for key in value}
    if isinstance(value, (list, tuple)):
        if len(spec) != len(value):
            raise usage("dynamic.shapes", f"{len(spec)} entries for {len(value)} values", place=place)
        return type(spec)(_walk_shapes(v, s, found, f"{place}[{i}]") for i, (v, s) in enumerate(zip(value, spec)))
    raise usage("dynamic.shapes", f"{type(value).__name__} has no axes; give None for it", place=place)


def _add_dynamic_shapes(request: Request, bound: Mapping[str, Any], dynamic_shapes: Any) -> None:
    found: list[tuple[Any, int, str]] = []
    specs = dynamic_shapes if isinstance(dynamic_shapes, Mapping) else dict(zip(bound, dynamic_shapes))
    unknown = set(specs) - set(bound)
    if unknown:
        raise usage("dynamic.shapes", f'forward() has no argument "{min(unknown)}"', hint=", ".join(bound))
    request.dynamic_shapes = {
        name: _walk_shapes(value, specs.get(name), found, f'dynamic_shapes of "{name}"') for name, value in bound.items()
    }
    axes = _Axes(request)
    for tensor, axis, name in found:
        leaf = next(i for i, one in enumerate(request.leaves) if one is tensor)
        axes.add(leaf, axis, name)


def make_request(module: Any, args: Any, kwargs: Optional[Mapping[str, Any]], input_names: Optional[Sequence[str]],
                 output_names: Optional[Sequence[str]], dynamic_axes: Optional[Mapping[str, Any]],
                 dynamic_shapes: Any) -> Request:  # fmt: skip
    """Raises Error: names.*, dynamic.*, export.args."""
    args, kwargs = _distinct(*split_arguments(args, kwargs))
    bound = bound_arguments(module, args, kwargs)
    leaves, defaults = flat_tensors(bound)
    request = Request(args, kwargs, leaves, _final_names(input_names, defaults), output_names=list(output_names or []))
    if dynamic_axes:
        _add_dynamic_axes(request, dynamic_axes)
    if dynamic_shapes:
        _add_dynamic_shapes(request, bound, dynamic_shapes)
    return request
