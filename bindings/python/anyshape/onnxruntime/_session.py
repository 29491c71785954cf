"""InferenceSession as onnxruntime's programs know it."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, cast

import numpy as np

from .. import _session
from .._anyshape import BoundRun
from .._errors import Cancelled
from .._limits import run_arguments
from ._binding import IOBinding
from ._errors import Fail, InvalidArgument, MissingInput, translated
from ._options import SessionOptions
from ._values import OrtValue, OrtValueVector, plain

PROVIDERS = ("CPUExecutionProvider",)


@dataclass(frozen=True)
class ModelMetadata:
    """What a file says of itself."""

    custom_metadata_map: dict[str, str]
    description: str
    domain: str
    graph_description: str
    graph_name: str
    producer_name: str
    version: int


def _options_by_provider(providers: Optional[Sequence[Any]], options: Optional[Sequence[Any]]) -> dict[str, dict[str, str]]:
    """Of the provider there is; a warning for those there are not, as onnxruntime has it."""
    given: dict[str, dict[str, str]] = {}
    for i, provider in enumerate(providers or PROVIDERS):
        name, own = provider if isinstance(provider, tuple) else (provider, (options or [])[i] if options else {})
        given[name] = {str(key): str(value) for key, value in (own or {}).items()}
    for name in given.keys() - set(PROVIDERS):
        warnings.warn(f"Specified provider '{name}' is not in available provider names. "
                      f"Available providers: '{', '.join(PROVIDERS)}'", stacklevel=4)  # fmt: skip
    return {name: given.get(name, {}) for name in PROVIDERS}


class InferenceSession(_session.InferenceSession):
    """anyshape.InferenceSession with all methods of onnxruntime's, and its exceptions."""

    def __init__(self, path_or_bytes: Any, sess_options: Any = None, providers: Optional[Sequence[Any]] = None,
                 provider_options: Optional[Sequence[Any]] = None, **kwargs: Any):  # fmt: skip
        if not isinstance(path_or_bytes, (str, bytes, bytearray, memoryview, os.PathLike)):
            raise TypeError(f"Unable to load from type '{type(path_or_bytes)}'")
        # Programs read it.
        self._model_path = os.fspath(path_or_bytes) if isinstance(path_or_bytes, (str, os.PathLike)) else None
        self._provider_options = _options_by_provider(providers, provider_options)
        self._given_options = SessionOptions() if sess_options is None else sess_options
        self._started_ns = time.perf_counter_ns()
        with translated(loading=True):
            super().__init__(path_or_bytes, self._given_options)
        self._input_names = [arg.name for arg in (*self._inputs, *self._optional)]
        self._sizes = dict(getattr(self._given_options, "_names", {}))
        self._fixed = self._overridden()
        self._inputs = self._declared(self._inputs, "inputs")
        self._outputs = self._declared(self._outputs, "outputs")

    def _overridden(self) -> dict[str, dict[int, int]]:
        """Axes of inputs whose size the options have set."""
        dims = {value["name"]: value["dims"] or [] for value in self._info["inputs"]}
        return {name: {axis: self._sizes[dim] for axis, dim in enumerate(sizes) if dim in self._sizes}
                for name, sizes in dims.items()}  # fmt: skip

    def _declared(self, args: list[_session.NodeArg], which: str) -> list[_session.NodeArg]:
        """With the sizes the file declares: numbers, names, and None where it says nothing."""
        dims = {value["name"]: value["dims"] or [] for value in self._info[which]}

        def shown(name: str, axis: int, dim: Any) -> Any:
            if isinstance(dim, int):
                return dim
            return self._sizes.get(dim, None if dim in ("?", "", f"{name}.{axis}") else dim)

        return [_session.NodeArg(arg.name, arg.type, [shown(arg.name, *dim) for dim in enumerate(dims.get(arg.name, []))])
                for arg in args]  # fmt: skip

    def _check_feed(self, feed: Mapping[str, Any]) -> None:
        missing = [arg.name for arg in self._inputs if arg.name not in feed and not arg.type.startswith("optional")]
        if missing:
            raise MissingInput("input.missing", "", f"Required inputs ({missing}) are missing from input feed "
                               f"({list(feed)})", "", "usage")  # fmt: skip
        for name, axes in self._fixed.items():
            for axis, size in axes.items():
                shape = np.shape(feed[name])
                if len(shape) > axis and shape[axis] != size:
                    raise InvalidArgument("input.overridden", f'input "{name}"', f"axis {axis} is {shape[axis]}, and "
                                          f"add_free_dimension_override_by_name has set it to {size}", "",
                                          "usage")  # fmt: skip

    def _run_into(self, feed: Mapping[str, Any], into: Optional[list[Any]], run_options: Any) -> list[Any]:
        given = {name: plain(value) for name, value in feed.items()}
        self._check_feed(given)
        return cast(list[Any], self._guarded(lambda arguments: self._session.run(given, into, **arguments), run_options))

    def _bound(self, feed: dict[str, Any], into: list[Any]) -> BoundRun:
        self._check_feed(feed)
        with translated():
            return BoundRun(self._session, feed, into)

    def _guarded(self, run: Callable[[dict[str, Any]], Any], run_options: Any) -> Any:
        try:
            with translated():
                return run(run_arguments(run_options))
        except Cancelled as stopped:
            if run_options is None or not run_options.terminate:
                raise
            raise Fail(stopped.code, "", "Exiting due to terminate flag being set to true.") from None

    def _chosen(self, outputs: list[Any], names: Optional[Sequence[str]]) -> list[Any]:
        if not names:
            return outputs
        for name in names:
            if name not in self._output_index:
                raise InvalidArgument("output.unknown", "", f"Invalid output name:{name}", ", ".join(self._output_index),
                                      "usage")  # fmt: skip
        return [outputs[self._output_index[name]] for name in names]

    def run(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
            run_options: Any = None) -> list[Any]:  # fmt: skip
        self._chosen([None] * len(self._outputs), output_names)
        return self._chosen(self._run_into(input_feed, None, run_options), output_names)

    def run_with_ort_values(self, output_names: Optional[Sequence[str]], input_dict_ort_values: Mapping[str, OrtValue],
                            run_options: Any = None) -> list[OrtValue]:  # fmt: skip
        return [OrtValue(value) for value in self.run(output_names, input_dict_ort_values, run_options)]

    def run_with_ortvaluevector(self, run_options: Any, feed_names: Sequence[str], feeds: OrtValueVector,
                                fetch_names: Sequence[str], fetches: OrtValueVector, fetch_devices: Any) -> None:  # fmt: skip
        fetches[:] = self.run_with_ort_values(fetch_names, dict(zip(feed_names, feeds)), run_options)

    def run_async(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
                  callback: Callable[[list[Any], Any, str], Any], user_data: Any,
                  run_options: Any = None) -> None:  # fmt: skip
        """In a thread of its own; callback(outputs, user_data, error text) when it is done."""

        def work() -> None:
            try:
                made, failure = self.run(output_names, input_feed, run_options), ""
            except Exception as error:  # whatever it is, it is the callback's
                made, failure = [], str(error)
            callback(made, user_data, failure)

        threading.Thread(target=work, name="anyshape-run-async").start()

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Any = None) -> None:
        iobinding._run(run_options)

    def create_ortvalue_from_shape_and_type(self, shape: Sequence[int], element_type: Any, device_type: Any = "cpu",
                                            device_id: int = 0) -> OrtValue:  # fmt: skip
        return OrtValue.ortvalue_from_shape_and_type(shape, element_type, device_type, device_id)

    def get_session_options(self) -> Any:
        return self._given_options

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        return {name: dict(options) for name, options in self._provider_options.items()}

    def set_providers(self, providers: Optional[Sequence[Any]] = None,
                      provider_options: Optional[Sequence[Any]] = None) -> None:  # fmt: skip
        self._provider_options = _options_by_provider(providers, provider_options)

    def disable_fallback(self) -> None:
        """There is one provider only."""

    def enable_fallback(self) -> None:
        """There is one provider only."""

    def get_modelmeta(self) -> ModelMetadata:  # type: ignore[override]
        info = self._info
        return ModelMetadata(dict(info["metadata"]), info["description"], info["domain"], info["graph_description"],
                             info["graph"], info["producer"], info["model_version"])  # fmt: skip

    def get_profiling_start_time_ns(self) -> int:
        return self._started_ns if self._given_options.enable_profiling else 0

    def end_profiling(self) -> str:
        """The steps of all runs so far as a Chrome trace; the name of the file, empty without enable_profiling."""
        options = self._given_options
        if not getattr(options, "enable_profiling", False):
            return ""
        name = f"{options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}.json"
        with open(name, "w", encoding="utf-8") as file:
            file.write(self._session.trace())
        return name

    def set_ep_dynamic_options(self, options: Mapping[str, str]) -> None:
        """There is the processor only."""

    def get_tuning_results(self) -> list[Any]:
        return []

    def set_tuning_results(self, results: Sequence[Any], *, error_on_invalid: bool = False) -> None:
        """Nothing is tuned by running."""

    def get_provider_graph_assignment_info(self) -> list[Any]:
        return []

    def release_captured_graph(self, *args: Any) -> None:
        """Nothing is captured."""
