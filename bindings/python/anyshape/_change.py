"""Changing a model: its axes, its constants, the types of its values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from . import _anyshape
from ._arguments import flag, mapping, one_of, path, text_or_empty, texts, texts_by_name
from ._axes import axis_names
from ._errors import usage
from ._integers import integer
from ._model import Model
from ._source import Source, load

Path = Union[str, "os.PathLike[str]"]
Axes = Union[Mapping[int, Optional[str]], Sequence[int]]


def _expressions(dims: Any) -> bool:
    return one_of(dims, "dims", ("names", "expressions"), "argument.dims") == "expressions"


def _made(model: _anyshape.Model, changes: list[str], output: Optional[Path]) -> Model:
    made = Model(model, changes)
    if output is not None:
        made.save(output)
    return made


def fix(model: Source, *, dynamic: Optional[Mapping[str, Axes]] = None, freeze: Optional[Mapping[str, int]] = None,
        rename: Optional[Mapping[str, str]] = None, simplify: bool = False, batch_only: bool = False,
        allow: Sequence[str] = (), target: Optional[str] = None, dims: str = "names",
        output: Optional[Path] = None) -> Model:  # fmt: skip
    """The model with other axes; it gives the same values wherever both take the shape.

    model: a path, the bytes of a model, or an onnx.ModelProto.
    dynamic: axes of inputs to be made dynamic, with names: {"x": {1: "seq"}}, or {"x": [1]} for names made up.
    freeze: sizes that dynamic axes are pinned to: {"seq": 120}.
    rename: a symbol, an input or an output, and its new name.
    simplify: constants where sizes were computed, and nothing left that does nothing.
    batch_only: refuse a result with dynamic axes other than the batch; `allow` waives some, "NAME:AXIS".
    target: "mql5": one file, in operators, types and a format that target takes.
    dims: how inferred types write a dim that is no name: "names" or "expressions".
    output: a path to save it to; the result has save(path) and `bytes`, too.

    Refused with Error where the axis cannot be changed, with the node that stands against it: fix.baked, fix.mixed,
    fix.suspect and others.

    >>> made = anyshape.fix("lstm_baked.onnx", dynamic={"x": {1: "time"}})
    >>> made.inputs
    {'x': 'f32[batch, time, 1]'}
    >>> bool(made.check().accepts(x=(2, 60, 1)))
    True
    """
    axes = [(name, axis, symbol) for name, given in mapping(dynamic, "dynamic").items()
            for axis, symbol in axis_names(given, f'dynamic "{name}"')]  # fmt: skip
    sizes = [(name, integer(size, f'freeze "{name}"')) for name, size in mapping(freeze, "freeze").items()]
    names = list(texts_by_name(rename, "rename").items())
    target = text_or_empty(target, "target")
    output = None if output is None else path(output, "output")
    simplify, batch_only = flag(simplify, "simplify"), flag(batch_only, "batch_only")
    if not (axes or sizes or names or simplify or batch_only or target):
        raise usage("fix.nothing", "nothing is asked for",
                    hint='dynamic={"x": {1: "seq"}}, freeze={"seq": 120}, or simplify=True')  # fmt: skip
    made, changes = _anyshape.fix(load(model), axes, sizes, names, simplify, batch_only,
                                  texts(allow, "allow"), _expressions(dims), target)  # fmt: skip
    return _made(made, changes, output)


def simplify(model: Source, *, output: Optional[Path] = None) -> Model:
    """The model with constants where sizes were computed, and without what does nothing. It takes the same shapes.

    >>> anyshape.simplify("unet.onnx").check().exact
    True
    """
    return fix(model, simplify=True, output=output)


def infer_shapes(model: Source, *, dims: str = "names", output: Optional[Path] = None) -> Model:
    """The same model with the inferred type of every value written into it.

    dims: "names" makes up a name for a dim that is an expression, "expressions" writes it: "(h + 1)//2".

    >>> anyshape.infer_shapes("lstm_baked.onnx").outputs
    {'y': 'f32[batch, 1]'}
    """
    output = None if output is None else path(output, "output")
    return _made(_anyshape.infer_shapes(load(model), _expressions(dims)), [], output)
