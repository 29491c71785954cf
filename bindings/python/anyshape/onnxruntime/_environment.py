"""What onnxruntime tells of itself, and its switches for the whole process."""

from __future__ import annotations

from typing import Any

from .._anyshape import version as _version
from ._errors import not_here
from ._session import PROVIDERS

# The interface that is spoken here; programs compare it.
VERSION = "1.31.1"
package_name = "onnxruntime"
cuda_version = ""


def get_available_providers() -> list[str]:
    return list(PROVIDERS)


def get_all_providers() -> list[str]:
    return list(PROVIDERS)


def get_device() -> str:
    return "CPU"


def get_version_string() -> str:
    return VERSION


def get_build_info() -> str:
    return f"anyshape {_version()}, with the interface of onnxruntime {VERSION}"


def has_collective_ops() -> bool:
    return False


def set_default_logger_severity(severity: int) -> None:
    """Nothing is logged."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Nothing is logged."""


def disable_telemetry_events() -> None:
    """There are none."""


def enable_telemetry_events() -> None:
    """There are none, and none begin."""


def set_global_thread_pool_sizes(intra_op_num_threads: int, inter_op_num_threads: int = 0) -> None:
    """Threads are shared by all sessions anyway; SessionOptions.intra_op_num_threads says how many of them one uses."""


def set_seed(seed: int) -> None:
    """Random operators take that of RunOptions(seed=...)."""


def preload_dlls(*args: Any, **kwargs: Any) -> None:
    """There are none to load."""


def print_debug_info() -> None:
    print(get_build_info())


def get_ep_devices() -> list[Any]:
    return []


def register_execution_provider_library(name: str, path: str) -> None:
    raise not_here("register_execution_provider_library", "anyshape runs on the processor")


def unregister_execution_provider_library(name: str) -> None:
    raise not_here("unregister_execution_provider_library", "anyshape runs on the processor")


def create_and_register_allocator(*args: Any) -> None:
    """Memory is the session's."""


def create_and_register_allocator_v2(*args: Any) -> None:
    """Memory is the session's."""
