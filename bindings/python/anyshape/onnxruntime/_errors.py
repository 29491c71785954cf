"""The exceptions of onnxruntime, each of which is an anyshape.Error as well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .._errors import Error, Stopped


class _Theirs(Error):
    """Reads as onnxruntime's: "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : sentence"."""

    number = 1
    title = "FAIL"

    def __str__(self) -> str:
        return f"[ONNXRuntimeError] : {self.number} : {self.title} : {super().__str__()}"


def _named(name: str, number: int, title: str) -> type[_Theirs]:
    return type(name, (_Theirs,), {"number": number, "title": title, "__doc__": f"Code {number}, {title}.",
                                   "__module__": __name__})  # fmt: skip


Fail = _named("Fail", 1, "FAIL")
InvalidArgument = _named("InvalidArgument", 2, "INVALID_ARGUMENT")
NoSuchFile = _named("NoSuchFile", 3, "NO_SUCHFILE")
NoModel = _named("NoModel", 4, "NO_MODEL")
EngineError = _named("EngineError", 5, "ENGINE_ERROR")
RuntimeException = _named("RuntimeException", 6, "RUNTIME_EXCEPTION")
InvalidProtobuf = _named("InvalidProtobuf", 7, "INVALID_PROTOBUF")
ModelLoaded = _named("ModelLoaded", 8, "MODEL_LOADED")
NotImplemented = _named("NotImplemented", 9, "NOT_IMPLEMENTED")
InvalidGraph = _named("InvalidGraph", 10, "INVALID_GRAPH")
EPFail = _named("EPFail", 11, "EP_FAIL")
ModelLoadCanceled = _named("ModelLoadCanceled", 12, "MODEL_LOAD_CANCELED")
ModelRequiresCompilation = _named("ModelRequiresCompilation", 13, "MODEL_REQUIRES_COMPILATION")
NotFound = _named("NotFound", 14, "NOT_FOUND")
DeviceReset = _named("DeviceReset", 15, "DEVICE_RESET")
ALL = (Fail, InvalidArgument, NoSuchFile, NoModel, EngineError, RuntimeException, InvalidProtobuf, ModelLoaded,
       NotImplemented, InvalidGraph, EPFail, ModelLoadCanceled, ModelRequiresCompilation, NotFound,
       DeviceReset)  # fmt: skip


class MissingInput(InvalidArgument, ValueError):
    """onnxruntime raises a ValueError where a feed lacks an input."""


# The first part of our codes -> the class, of a model that cannot be loaded and of a run that fails.
_LOADING = {"file": NoSuchFile, "onnx": InvalidProtobuf, "run": NotImplemented, "infer": NotImplemented,
            "argument": InvalidArgument, "input": InvalidArgument, "ort": Fail, "library": Fail}  # fmt: skip
_RUNNING = {"custom": RuntimeException, "tensor": RuntimeException, "run": RuntimeException}


def theirs(error: Error, loading: bool) -> Error:
    """The exception onnxruntime would raise: with our code, place, sentence and hint."""
    if isinstance(error, (_Theirs, Stopped)):
        return error
    kind = error.code.split(".")[0]
    if error.code in ("input.missing", "input.unknown") and not loading:
        made = MissingInput if error.code == "input.missing" else InvalidArgument
    elif error.kind == "system":
        made = RuntimeException
    elif loading:
        made = _LOADING.get(kind, InvalidGraph)
    else:
        made = _RUNNING.get(kind, InvalidArgument)
    return made(error.code, error.place, error.message, error.hint, error.kind)


@contextmanager
def translated(loading: bool = False) -> Iterator[None]:
    try:
        yield
    except Error as error:
        told = theirs(error, loading)
        if told is error:
            raise
        raise told from error.__cause__


def not_here(what: str, instead: str = "") -> Error:
    """For what of onnxruntime anyshape does not have."""
    return NotImplemented("onnxruntime.missing", what, "anyshape has no such thing", instead, "usage")
