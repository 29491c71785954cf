"""Running models, with the calls people know from onnxruntime."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from . import _anyshape
from ._arguments import flag, mapping, refuse, text, texts
from ._arguments import options as options_of
from ._errors import shown, usage
from ._integers import integer, sizes
from ._limits import run_arguments
from ._origin import Origin, restored
from ._source import Source, load
from ._values import ort_name

_PROVIDERS = ("CPUExecutionProvider",)


@dataclass
class SessionOptions:
    """Of what onnxruntime.SessionOptions has, what matters here; an object of theirs is taken as well.

    intra_op_num_threads: how many threads work on one run; 0: all cores.
    optimize: False runs the reference kernels only.
    exact: True allows no transforms that round otherwise: convolutions add up the plain products, f16 is rounded after
        every node.
    strict: refuse what ONNX Runtime runs although no operator's text promises it (lenient.*).
    engine: "anyshape", or "onnxruntime" to run the model there, for comparison; `ort_library` is its C library.

    >>> options = anyshape.SessionOptions(intra_op_num_threads=1)
    >>> anyshape.InferenceSession("lstm_batch.onnx", options).engine
    'anyshape'
    """

    intra_op_num_threads: int = 0
    optimize: bool = True
    exact: bool = False
    strict: bool = False
    engine: str = "anyshape"
    ort_library: str = ""


@dataclass(frozen=True)
class NodeArg:
    """An input or output: `type` as in onnxruntime, "tensor(float)"; `shape` of numbers and names or expressions.

    >>> anyshape.InferenceSession("lstm_batch.onnx").get_inputs()
    [NodeArg(name='x', type='tensor(float)', shape=['batch', 120, 1])]
    """

    name: str
    type: str
    shape: list[Union[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class ModelMetadata:
    producer_name: str
    graph_name: str
    version: int
    custom_metadata_map: dict[str, str]


def _options(given: Any) -> Any:
    return SessionOptions() if options_of(given, "sess_options", SessionOptions, "intra_op_num_threads") is None else given


def _provider_names(providers: Any) -> list[str]:
    """None and an empty list: what there is."""
    if isinstance(providers, (str, Mapping)) or not isinstance(providers, (Iterable, type(None))):
        refuse(providers, "providers", "a list of texts")
    given = [one[0] if isinstance(one, tuple) and one else one for one in ([] if providers is None else providers)]
    return texts(given, "providers") or list(_PROVIDERS)


def _node_arg(io: tuple[str, str, int], dims: Optional[list[Union[int, str]]]) -> NodeArg:
    name, kind, code = io
    text = f"tensor({ort_name(code)})"
    if kind == "sequence":
        text = f"seq({text})"
    elif kind in ("optional", "map"):
        text = f"{kind}({text})"
    return NodeArg(name, text, list(dims or []))


class InferenceSession:
    """A model ready to run at every shape it takes. Any number of threads may call run() at once.

    >>> session = anyshape.InferenceSession("lstm_batch.onnx")
    >>> [output.shape for output in session.run(None, {"x": numpy.zeros((2, 120, 1), "float32")})]
    [(2, 1)]
    """

    def __init__(self, path_or_bytes: Source, sess_options: Any = None, providers: Optional[Sequence[Any]] = None,
                 provider_options: Any = None, **kwargs: Any):  # fmt: skip
        """path_or_bytes: an ONNX file, or its bytes.

        providers: for compatibility; anyshape runs on the processor, so a list without CPUExecutionProvider is refused.
        """
        names = _provider_names(providers)
        if not set(names) & set(_PROVIDERS):
            raise usage("session.provider", f"none of {', '.join(names)} is here; anyshape runs on the processor",
                        hint="providers=['CPUExecutionProvider']")  # fmt: skip
        options = _options(sess_options)
        self._start(load(path_or_bytes, flag(getattr(options, "strict", False), "strict")), options)
        self._origin = Origin.of(path_or_bytes, options)

    @classmethod
    def _of(cls, model: _anyshape.Model, options: Optional[SessionOptions] = None) -> InferenceSession:
        self = cls.__new__(cls)
        self._start(model, _options(options))
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """By its path or bytes and its options. A process that unpickles it loads the model once, whatever comes
        out of it later is the same session."""
        if self._origin is None:
            raise usage("session.pickle", "only a session made of a path or of bytes can be pickled")
        return restored, (type(self), self._origin)

    def _start(self, model: _anyshape.Model, options: Any) -> None:
        self._origin: Optional[Origin] = None
        self._loaded = model
        self._session = _anyshape.Session(model, optimize=flag(getattr(options, "optimize", True), "optimize"),
                                          exact=flag(getattr(options, "exact", False), "exact"),
                                          threads=integer(getattr(options, "intra_op_num_threads", 0),
                                                          "intra_op_num_threads", 0, 2**16),
                                          engine=text(getattr(options, "engine", "anyshape"), "engine"),
                                          ort_library=text(getattr(options, "ort_library", ""), "ort_library"),
                                          profile=bool(getattr(options, "enable_profiling", False)))  # fmt: skip
        self._inputs = self._node_args(self._session.inputs(), model.inputs())
        self._optional = self._node_args(self._session.optional_inputs(), model.optional_inputs())
        self._outputs = self._node_args(self._session.outputs(), model.outputs())
        self._output_index = {output.name: i for i, output in enumerate(self._outputs)}
        self._info = model.info()

    @staticmethod
    def _node_args(ios: list[tuple[str, str, int]], types: list[dict[str, Any]]) -> list[NodeArg]:
        dims = {value["name"]: value["dims"] for value in types}
        return [_node_arg(io, dims.get(io[0])) for io in ios]

    def run(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
            run_options: Any = None) -> list[Any]:  # fmt: skip
        """The outputs of those names, or all of them, as a list of NumPy arrays.

        input_feed: name -> array; lists of arrays for sequences, arrays of str (or lists) for strings. Arrays that
        are dense and of the model's type are read where they are. Sequences come out as lists, optionals as the value
        or None, maps as dicts. The interpreter's lock is not held while the model runs.

        run_options: a RunOptions, for time, memory and a way to end the run.

        >>> session = anyshape.InferenceSession("lstm_batch.onnx")
        >>> session.run(["y"], {"x": numpy.zeros((3, 120, 1), "float32")})[0].shape
        (3, 1)
        """
        if not isinstance(input_feed, dict):
            input_feed = mapping(input_feed, "input_feed") if input_feed is not None else refuse(None, "input_feed", "a dict")
        names = [] if output_names is None else texts(output_names, "output_names")
        outputs = self._session.run(input_feed, **run_arguments(run_options))
        if not names:
            return outputs
        unknown = [name for name in names if name not in self._output_index]
        if unknown:
            raise usage("output.unknown", f"the model has no output \"{unknown[0]}\"",
                        hint=", ".join(self._output_index))  # fmt: skip
        return [outputs[self._output_index[name]] for name in names]

    def get_inputs(self) -> list[NodeArg]:
        return list(self._inputs)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Inputs with a default value: run() takes them, too."""
        return list(self._optional)

    def get_outputs(self) -> list[NodeArg]:
        return list(self._outputs)

    def get_providers(self) -> list[str]:
        return list(_PROVIDERS)

    def get_modelmeta(self) -> ModelMetadata:
        info = self._info
        return ModelMetadata(info["producer"], info["graph"], info["model_version"], dict(info["metadata"]))

    @property
    def engine(self) -> str:
        """ "anyshape", or "onnxruntime 1.31.1"."""
        return self._session.engine()

    def plan(self, shapes: Optional[Mapping[str, Sequence[int]]] = None) -> str:
        """Steps with their kernels, buffers and the peak memory as formulas; at `shapes` also as numbers.

        >>> "peak" in anyshape.InferenceSession("lstm_batch.onnx").plan({"x": (2, 120, 1)})
        True
        """
        return self._session.plan_text(sizes(shapes))

    def __repr__(self) -> str:
        takes = ", ".join(f"{shown(arg.name)}: {re.sub(r'^tensor', '', arg.type)}{arg.shape}" for arg in self._inputs)
        return f"<InferenceSession of ({takes})>"
