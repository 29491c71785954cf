"""The interface of onnxruntime over anyshape's engine.

    import anyshape.onnxruntime as ort                          in place of: import onnxruntime as ort
    anyshape.onnxruntime.install()                              for programs that one cannot change
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder

from .._errors import usage
from .._session import NodeArg
from . import capi
from ._binding import IOBinding
from ._environment import (VERSION, create_and_register_allocator, create_and_register_allocator_v2, cuda_version,
                           disable_telemetry_events, enable_telemetry_events, get_all_providers,
                           get_available_providers, get_build_info, get_device, get_ep_devices, get_version_string,
                           has_collective_ops, package_name, preload_dlls, print_debug_info,
                           register_execution_provider_library, set_default_logger_severity,
                           set_default_logger_verbosity, set_global_thread_pool_sizes, set_seed,
                           unregister_execution_provider_library)  # fmt: skip
from ._options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from ._session import InferenceSession, ModelMetadata
from ._values import OrtDevice, OrtValue

SessionIOBinding = IOBinding
version = VERSION
__version__ = VERSION

_MODULES = ("", ".capi", ".capi.onnxruntime_pybind11_state", ".capi._pybind_state",
            ".capi.onnxruntime_inference_collection")  # fmt: skip

__all__ = ["ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "IOBinding", "InferenceSession",
           "ModelMetadata", "NodeArg", "OrtDevice", "OrtValue", "RunOptions", "SessionIOBinding", "SessionOptions",
           "capi", "create_and_register_allocator", "create_and_register_allocator_v2", "cuda_version",
           "disable_telemetry_events", "enable_telemetry_events", "get_all_providers", "get_available_providers",
           "get_build_info", "get_device", "get_ep_devices", "get_version_string", "has_collective_ops", "install",
           "package_name", "preload_dlls", "print_debug_info", "register_execution_provider_library",
           "set_default_logger_severity", "set_default_logger_verbosity", "set_global_thread_pool_sizes", "set_seed",
           "unregister_execution_provider_library", "version"]  # fmt: skip


def _folders_of_the_real_one() -> list[str]:
    found = PathFinder.find_spec("onnxruntime")
    return list(found.submodule_search_locations or []) if found else []


def install() -> None:
    """From now on `import onnxruntime` gives this module, in the whole process.

    What onnxruntime has in Python only (onnxruntime.quantization, .transformers, .tools) comes from its own folder where
    it is installed, and uses this module.

    Raises anyshape.Error where the real one has been imported already: what holds it would keep it.
    """
    there = sys.modules.get("onnxruntime")
    if there is not None and there is not sys.modules[__name__]:
        raise usage("onnxruntime.imported", "onnxruntime has been imported already, and who holds it keeps it",
                    hint="call anyshape.onnxruntime.install() before anything imports onnxruntime")  # fmt: skip
    for name in _MODULES:
        sys.modules["onnxruntime" + name] = import_module(__name__ + name)
    __path__.extend(folder for folder in _folders_of_the_real_one() if folder not in __path__)
