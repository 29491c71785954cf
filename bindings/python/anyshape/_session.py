"""Running models, with the calls people know from onnxruntime."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from . import _anyshape
from ._check import Source, load
from ._errors import shown, usage
from ._integers import integer, sizes
from ._limits import run_arguments
from ._values import ort_name

_PROVIDERS = ("CPUExecutionProvider",)


@dataclass
class SessionOptions:
    """Of what onnxruntime.SessionOptions has, what matters here; an object of theirs is taken as well.

    intra_op_num_threads: how many threads work on one run; 0: all cores.
    optimize: False runs the reference kernels only.
    exact: True has convolutions add up the plain products: no transforms that round otherwise.
    engine: "anyshape", or "onnxruntime" to run the model there, for comparison; `ort_library` is its C library.
    """

    intra_op_num_threads: int = 0
    optimize: bool = True
    exact: bool = False
    engine: str = "anyshape"
    ort_library: str = ""


@dataclass(frozen=True)
class NodeArg:
    """An input or output: `type` as in onnxruntime, "tensor(float)"; `shape` of numbers and names or expressions."""

    name: str
    type: str
    shape: list[Union[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class ModelMetadata:
    producer_name: str
    graph_name: str
    version: int
    custom_metadata_map: dict[str, str]


def _node_arg(io: tuple[str, str, int], dims: Optional[list[Union[int, str]]]) -> NodeArg:
    name, kind, code = io
    text = f"tensor({ort_name(code)})"
    if kind == "sequence":
        text = f"seq({text})"
    elif kind in ("optional", "map"):
        text = f"{kind}({text})"
    return NodeArg(name, text, list(dims or []))


class InferenceSession:
    """A model ready to run at every shape it takes. Any number of threads may call run() at once."""

    def __init__(self, path_or_bytes: Source, sess_options: Any = None, providers: Optional[Sequence[Any]] = None,
                 provider_options: Any = None, **kwargs: Any):  # fmt: skip
        """path_or_bytes: an ONNX file, or its bytes.

        providers: for compatibility; anyshape runs on the processor, so a list without CPUExecutionProvider is refused.
        """
        names = [provider[0] if isinstance(provider, tuple) else provider for provider in providers or _PROVIDERS]
        if not set(names) & set(_PROVIDERS):
            raise usage("session.provider", f"none of {', '.join(names)} is here; anyshape runs on the processor",
                        hint="providers=['CPUExecutionProvider']")  # fmt: skip
        options = sess_options or SessionOptions()
        self._start(load(path_or_bytes), options)

    @classmethod
    def _of(cls, model: _anyshape.Model, options: Optional[SessionOptions] = None) -> InferenceSession:
        self = cls.__new__(cls)
        self._start(model, options or SessionOptions())
        return self

    def _start(self, model: _anyshape.Model, options: Any) -> None:
        self._session = _anyshape.Session(model, optimize=bool(getattr(options, "optimize", True)),
                                          exact=bool(getattr(options, "exact", False)),
                                          threads=integer(getattr(options, "intra_op_num_threads", 0),
                                                          "intra_op_num_threads", 0, 2**16),
                                          engine=getattr(options, "engine", "anyshape"),
                                          ort_library=str(getattr(options, "ort_library", "")))  # fmt: skip
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
        """
        if not isinstance(input_feed, dict):
            input_feed = dict(input_feed)
        outputs = self._session.run(input_feed, **run_arguments(run_options))
        if output_names is None or len(output_names) == 0:
            return outputs
        unknown = [name for name in output_names if name not in self._output_index]
        if unknown:
            raise usage("output.unknown", f"the model has no output \"{unknown[0]}\"",
                        hint=", ".join(self._output_index))  # fmt: skip
        return [outputs[self._output_index[name]] for name in output_names]

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
        """Steps with their kernels, buffers and the peak memory as formulas; at `shapes` also as numbers."""
        return self._session.plan_text(sizes(shapes))

    def __repr__(self) -> str:
        takes = ", ".join(f"{shown(arg.name)}: {re.sub(r'^tensor', '', arg.type)}{arg.shape}" for arg in self._inputs)
        return f"<InferenceSession of ({takes})>"
