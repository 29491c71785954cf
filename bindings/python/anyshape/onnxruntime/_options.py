"""Options of sessions and runs. What has no meaning for anyshape is remembered, so that it reads back as it was set."""

from __future__ import annotations

from enum import Enum
from typing import Any

from .. import _limits
from .._integers import integer
from ._errors import Fail, not_here


class GraphOptimizationLevel(Enum):
    """Remembered only: every model is optimised, and gives what it gave."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(Enum):
    """Remembered only."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(Enum):
    """Remembered only."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class _Entries:
    """Texts by key."""

    def __init__(self, owner: str):
        self._owner = owner
        self._entries: dict[str, str] = {}

    def add(self, key: str, value: str) -> None:
        self._entries[str(key)] = str(value)

    def get(self, key: str) -> str:
        if key not in self._entries:
            raise RuntimeError(f"{self._owner} does not have configuration with key: {key}")
        return self._entries[key]


class SessionOptions:
    """The fields and methods of onnxruntime's.

    With a meaning: intra_op_num_threads, enable_profiling, profile_file_prefix, add_free_dimension_override_by_name.
    Refused: custom operator libraries and initializers given from outside. All else is remembered.
    """

    __slots__ = ("_config", "_denotations", "_names", "_providers", "_threads", "enable_cpu_mem_arena",
                 "enable_mem_pattern", "enable_mem_reuse", "enable_profiling", "execution_mode", "execution_order",
                 "graph_optimization_level", "inter_op_num_threads", "log_severity_level", "log_verbosity_level",
                 "logid", "optimized_model_filepath", "profile_file_prefix", "use_deterministic_compute",
                 "use_per_session_threads")  # fmt: skip

    def __init__(self) -> None:
        self._config = _Entries("SessionOptions")
        self._denotations: dict[str, int] = {}
        self._names: dict[str, int] = {}
        self._providers: list[str] = []
        self._threads = 0
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_profiling = False
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.inter_op_num_threads = 0
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.optimized_model_filepath = ""
        self.profile_file_prefix = "onnxruntime_profile_"
        self.use_deterministic_compute = False
        self.use_per_session_threads = True

    @property
    def intra_op_num_threads(self) -> int:
        """How many threads work on one run; 0: all cores."""
        return self._threads

    @intra_op_num_threads.setter
    def intra_op_num_threads(self, value: int) -> None:
        self._threads = integer(value, "intra_op_num_threads", 0, 2**16)

    def add_session_config_entry(self, key: str, value: str) -> None:
        self._config.add(key, value)

    def get_session_config_entry(self, key: str) -> str:
        return self._config.get(key)

    def add_free_dimension_override_by_name(self, name: str, value: int) -> None:
        """The axis of that name has this size: it is listed so, and another one is refused."""
        self._names[name] = integer(value, name, 0)

    def add_free_dimension_override_by_denotation(self, denotation: str, value: int) -> None:
        self._denotations[denotation] = integer(value, denotation, 0)

    def add_provider(self, name: str, options: Any = None) -> None:
        self._providers.append(name)

    def add_provider_for_devices(self, devices: Any, options: Any = None) -> None:
        """There is the processor only."""

    def has_providers(self) -> bool:
        return bool(self._providers)

    def set_provider_selection_policy(self, policy: Any) -> None:
        """There is one provider only."""

    def set_provider_selection_policy_delegate(self, delegate: Any) -> None:
        """There is one provider only."""

    def set_load_cancellation_flag(self, cancel: bool) -> None:
        """anyshape.limits() ends a load from outside."""

    def set_ep_context_data_read_func(self, function: Any) -> None:
        """There is the processor only."""

    def clear_ep_context_data_read_func(self) -> None:
        """There is the processor only."""

    def add_initializer(self, name: str, value: Any) -> None:
        raise not_here("SessionOptions.add_initializer", "a model with these weights")

    def add_external_initializers(self, names: Any, values: Any) -> None:
        raise not_here("SessionOptions.add_external_initializers", "load the model from its file, beside its data files")

    def add_external_initializers_from_files_in_memory(self, names: Any, buffers: Any, sizes: Any) -> None:
        raise not_here("SessionOptions.add_external_initializers_from_files_in_memory",
                       "load the model from its file, beside its data files")  # fmt: skip

    def register_custom_ops_library(self, library: str) -> None:
        raise Fail("onnxruntime.library", str(library), "libraries of operators for ONNX Runtime cannot be loaded",
                   "anyshape.register_op(domain, name, rule, kernel) makes an operator known", "usage")  # fmt: skip


class RunOptions(_limits.RunOptions):
    """anyshape.RunOptions with the fields of onnxruntime's; of these `terminate` ends runs, the others are remembered."""

    def __init__(self, **own: Any) -> None:
        super().__init__(**own)
        self._config = _Entries("RunOptions")
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False

    def add_run_config_entry(self, key: str, value: str) -> None:
        self._config.add(key, value)

    def get_run_config_entry(self, key: str) -> str:
        return self._config.get(key)

    def add_active_adapter(self, adapter: Any) -> None:
        raise not_here("RunOptions.add_active_adapter", "a model with the adapter merged into its weights")
