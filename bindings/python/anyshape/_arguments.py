"""Arguments that are no numbers: what is of another type is refused with an Error, wherever a call takes it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ._errors import usage


def refuse(value: Any, what: str, wanted: str) -> Any:
    """Raises Error argument.type."""
    raise usage("argument.type", f"{type(value).__name__} is not {wanted}", place=what)


def text(value: Any, what: str) -> str:
    return str(value) if isinstance(value, str) else refuse(value, what, "a text")


def text_or_empty(value: Any, what: str) -> str:
    """None is an empty one."""
    return "" if value is None else text(value, what)


def one_of(value: Any, what: str, known: Iterable[str], code: str) -> str:
    """One of these texts. Raises Error `code`."""
    if not isinstance(value, str) or value not in known:
        raise usage(code, f"{value!r} is none of those known", place=what, hint=", ".join(map(repr, known)))
    return str(value)


def texts(values: Any, what: str) -> list[str]:
    """One text is a list of one."""
    if isinstance(values, str):
        return [str(values)]
    if not isinstance(values, Iterable) or isinstance(values, (bytes, Mapping)):
        refuse(values, what, "a list of texts")
    return [text(value, what) for value in values]


def flag(value: Any, what: str) -> bool:
    return bool(value) if type(value).__name__ in ("bool", "bool_") else refuse(value, what, "True or False")


def mapping(value: Any, what: str) -> dict[str, Any]:
    """None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        refuse(value, what, "a dict")
    return {text(name, what): one for name, one in value.items()}


def texts_by_name(value: Any, what: str) -> dict[str, str]:
    return {name: text(one, f'{what} "{name}"') for name, one in mapping(value, what).items()}


def package(name: str, whole: str, what: str) -> Any:
    """That module, of what pip knows as `whole`. Raises Error package.missing where `what` cannot have it."""
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise usage("package.missing", f"{what} needs {whole}: {missing}", hint=f"pip install {whole}") from None


def path(value: Any, what: str) -> str:
    """The name of a file, which no system would have with a zero in it."""
    if not isinstance(value, (str, os.PathLike)):
        refuse(value, what, "a path")
    name = os.fsdecode(value)
    try:
        plain = b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        plain = False
    if not plain:
        raise usage("argument.path", "this cannot be the name of a file", place=f"{what} {name!r}")
    return name


def options(value: Any, what: str, known: type, mark: str) -> Any:
    """An object of ours, one of onnxruntime's that has `mark`, or None."""
    if value is not None and (isinstance(value, type) or not (isinstance(value, known) or hasattr(value, mark))):
        refuse(value, what, f"an anyshape.{known.__name__}")
    return value


def positive(value: Any, what: str) -> float:
    """A number that is not less than 0."""
    try:
        number = float("nan") if isinstance(value, (bool, str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    return number if 0 <= number < float("inf") else refuse(value, what, "a number from 0")
