"""What a user asks of an export, in one form: flat inputs with names, and names for axes."""

from __future__ import annotations

import difflib
import fnmatch
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from ._axes import axis_names
from ._errors import usage
from ._expression import Expression, sum_of
from ._integers import integer
from ._structure import flattened, has_objects, mapped, named_tensors


@dataclass(frozen=True)
class Axis:
    """An axis of a flat input that is to be dynamic. `symbol`: its name, or INPUT.AXIS where none was given.

    `size`: what it follows from, where the name is an expression over those of other axes ("past + seq").
    """

    leaf: int
    axis: int
    name: str
    symbol: str
    size: Optional[Expression] = None


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
    structured: bool = False  # plain objects are among the arguments: captures get the tensors alone
    results: list[str] = field(default_factory=list)  # names of the tensors it gives, where objects hold them

    def dynamic(self) -> list[tuple[str, int, str]]:
        """The axes as the exporter takes them."""
        wanted = [(self.names[a.leaf], a.axis, a.name) for a in self.axes]
        known = self.outputs()
        for value, axis, name in self.output_axes:
            wanted += [(known[i], axis, name) for i in _called(known, value)] or [(value, axis, name)]
        return wanted

    def outputs(self) -> list[str]:
        """Names for outputs, as the exporter takes them."""
        given = self.output_names
        return given + [name for name in self.results[len(given) :] if name not in given]

    def example(self) -> dict[str, int]:
        """Symbol -> its size in the example."""
        return {a.symbol: int(self.leaves[a.leaf].shape[a.axis]) for a in self.axes if a.size is None}

    def shapes(self, sizes: Mapping[str, int]) -> dict[str, list[int]]:
        """Input shapes where the symbols have those sizes."""
        known = {**self.example(), **sizes}
        out = {name: list(map(int, leaf.shape)) for name, leaf in zip(self.names, self.leaves)}
        for a in self.axes:
            size = known[a.symbol] if a.size is None else a.size.value(known)
            out[self.names[a.leaf]][a.axis] = max(0, size)
        return out

    def with_tensors(self, tensors: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with other tensors in place of the leaves; what else they hold is copied."""
        place = {id(leaf): tensor for leaf, tensor in zip(self.leaves, tensors)}
        return mapped((self.args, self.kwargs), lambda _path, tensor: place.get(id(tensor), tensor))

    def flat(self) -> Request:
        """The same of a module that takes the tensors one by one."""
        return replace(self, args=tuple(self.leaves), kwargs={}, dynamic_shapes=None)


def _distinct(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, a tensor that occurs twice copied: every tensor is an input of its own."""
    seen: set[int] = set()

    def once(_path: Any, tensor: Any) -> Any:
        known = id(tensor) in seen
        seen.add(id(tensor))
        return tensor.detach().clone() if known else tensor

    return mapped((args, kwargs), once)


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


def _takes(module: Any, args: Sequence[Any], kwargs: Mapping[Any, Any]) -> bool:
    try:
        inspect.signature(getattr(module, "forward", module)).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return False
    return True


def split_arguments(module: Any, args: Any,
                    kwargs: Optional[Mapping[str, Any]]) -> tuple[tuple[Any, ...], dict[str, Any]]:  # fmt: skip
    """torch.onnx.export's habits: one tensor is a tuple of one, a dict at the end holds keyword arguments, unless it can
    only be an argument itself."""
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    if not kwargs and args and isinstance(args[-1], dict):
        if _takes(module, args[:-1], args[-1]) or not _takes(module, args, {}):
            return args[:-1], dict(args[-1])
    return args, dict(kwargs or {})


def flat_tensors(bound: Mapping[str, Any]) -> tuple[list[Any], list[str]]:
    """The tensors among the arguments, and names for them: that of the parameter, with the way to a nested one."""
    found = [pair for parameter, value in bound.items() for pair in named_tensors(parameter, value)]
    return [tensor for _, tensor in found], [name for name, _ in found]


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

    def relate(self) -> None:
        """Finds the axes whose names are expressions over others."""
        request = self.request
        names = request.example()
        for i, made in enumerate(request.axes):
            size = sum_of(made.symbol, names)
            if size is None:
                continue
            given = int(request.leaves[made.leaf].shape[made.axis])
            if size.value(names) != given:
                raise usage("dynamic.tied", f'"{made.name}" is {size.value(names)} in the example, the axis has {given}',
                            place=f'input "{request.names[made.leaf]}"')  # fmt: skip
            request.axes[i] = replace(made, size=size)


def _called(names: Sequence[str], value: str) -> list[int]:
    """That value; else those the pattern matches ("past_key_values.*.key"), or all that are parts of it."""
    if value in names:
        return [names.index(value)]
    pattern = value if "*" in value else f"{value}.*"
    return [i for i, name in enumerate(names) if fnmatch.fnmatchcase(name, pattern)]


def _add_dynamic_axes(request: Request, dynamic_axes: Mapping[str, Any]) -> None:
    axes = _Axes(request)
    for value, wanted in dynamic_axes.items():
        leaves = _called(request.names, value)
        for leaf in leaves:
            for axis, name in axis_names(wanted, "dynamic_axes"):
                axes.add(leaf, axis, name)
        if leaves:
            continue
        if request.output_names and value not in request.output_names:
            near = difflib.get_close_matches(value, request.names + request.output_names, 1)
            raise usage("dynamic.value", f'there is no input or output "{value}"', hint=near[0] if near else "")
        else:
            request.output_axes += [(value, axis, name) for axis, name in axis_names(wanted, "dynamic_axes")]
    axes.relate()


def _dim_name(spec: Any) -> Optional[str]:
    """The name an entry of dynamic_shapes gives its axis: "" for a nameless one, None for a static one."""
    if spec is None or isinstance(spec, int):
        return None
    if isinstance(spec, str):
        return str(spec)
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
    axes.relate()


def make_request(module: Any, args: Any, kwargs: Optional[Mapping[str, Any]], input_names: Optional[Sequence[str]],
                 output_names: Optional[Sequence[str]], dynamic_axes: Optional[Mapping[str, Any]],
                 dynamic_shapes: Any) -> Request:  # fmt: skip
    """Raises Error: names.*, dynamic.*, export.args."""
    args, kwargs = _distinct(*split_arguments(module, args, kwargs))
    bound = bound_arguments(module, args, kwargs)
    leaves, defaults = flat_tensors(bound)
    request = Request(args, kwargs, leaves, _final_names(input_names, defaults), output_names=list(output_names or []))
    request.structured = has_objects(bound)
    if dynamic_axes:
        _add_dynamic_axes(request, dynamic_axes)
    if dynamic_shapes and request.structured:
        raise usage("dynamic.shapes", "an argument is an object, whose tensors dynamic_shapes cannot name",
                    hint=f"dynamic_axes with names of {', '.join(request.names[:4])}")  # fmt: skip
    if dynamic_shapes:
        _add_dynamic_shapes(request, bound, dynamic_shapes)
    return request


@contextmanager
def as_captured(module: Any, request: Request) -> Iterator[Request]:
    """What captures get: where objects are in their way, the module takes and gives tensors alone."""
    if not request.structured and not request.results:
        yield request
        return
    with flattened(module, request.names, request.results, request.with_tensors if request.structured else None):
        yield request.flat() if request.structured else request
