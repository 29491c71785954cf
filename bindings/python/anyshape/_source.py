"""What a call takes for a model."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Protocol, Union

from . import _anyshape
from ._arguments import flag, refuse
from ._arguments import path as path_of
from ._errors import usage


class ModelProto(Protocol):
    """onnx.ModelProto, or what can be written as one."""

    def SerializeToString(self) -> bytes: ...  # noqa: N802 - protobuf's name


class Held(Protocol):
    """Our own objects that hold a model: what export(), fix() and check() give."""

    _model: Any


Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, ModelProto, Held]


def load(source: Source, strict: bool = False) -> _anyshape.Model:
    """The model of a path, of bytes, of a ModelProto, or of one of our own objects. Raises Error argument.type."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _anyshape.Model.from_bytes(source, strict=strict)
    if isinstance(source, (str, os.PathLike)):
        return _anyshape.Model.load(path_of(source, "model"), strict)
    held = getattr(source, "_model", None)
    if isinstance(held, _anyshape.Model):
        return _anyshape.Model.from_bytes(contents(held), strict=True) if strict else held
    if isinstance(source, type) or not hasattr(source, "SerializeToString"):
        refuse(source, "model", "a path, the bytes of a model, or a ModelProto")
    return _anyshape.Model.from_bytes(source.SerializeToString(), strict=strict)


def write(model: _anyshape.Model, path: Union[str, os.PathLike[str]], external_data: Union[bool, str]) -> str:
    """The path; larger weights go beside it where `external_data` is True or the name of their file."""
    file = path_of(path, "path")
    model.save(file, data_name(file, external_data))
    return file


def data_name(path: str, external_data: Union[bool, str]) -> str:
    """The file beside it for larger weights; empty for none."""
    if isinstance(external_data, str):
        return str(external_data)
    return f"{os.path.basename(path)}.data" if flag(external_data, "external_data") else ""


def write_text(text: str, path: Union[str, os.PathLike[str]]) -> None:
    """The text as a file. Raises Error file.write."""
    name = path_of(path, "path")
    try:
        with open(name, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as failure:
        raise usage("file.write", f"the file cannot be written: {failure.strerror}", place=name) from None


def contents(model: _anyshape.Model) -> bytes:
    """What its file would hold."""
    with tempfile.TemporaryDirectory(prefix="anyshape-") as folder:
        path = os.path.join(folder, "model.onnx")
        model.save(path)
        with open(path, "rb") as made:
            return made.read()
