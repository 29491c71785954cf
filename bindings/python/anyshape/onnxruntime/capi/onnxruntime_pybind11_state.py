"""The exceptions, and the classes of onnxruntime's compiled module."""

from .. import _errors
from .._environment import (get_all_providers, get_available_providers, get_build_info, get_device,
                            get_version_string, set_default_logger_severity, set_default_logger_verbosity,
                            set_seed)  # fmt: skip
from .._errors import (DeviceReset, EngineError, EPFail, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf,
                       ModelLoadCanceled, ModelLoaded, ModelRequiresCompilation, NoModel, NoSuchFile, NotFound,
                       NotImplemented, RuntimeException)  # fmt: skip
from .._options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from .._session import InferenceSession, ModelMetadata
from .._values import OrtDevice, OrtValue, OrtValueVector

__all__ = ["DeviceReset", "EPFail", "EngineError", "ExecutionMode", "ExecutionOrder", "Fail",
           "GraphOptimizationLevel", "InferenceSession", "InvalidArgument", "InvalidGraph", "InvalidProtobuf",
           "ModelLoadCanceled", "ModelLoaded", "ModelMetadata", "ModelRequiresCompilation", "NoModel", "NoSuchFile",
           "NotFound", "NotImplemented", "OrtDevice", "OrtValue", "OrtValueVector", "RunOptions", "RuntimeException",
           "SessionOptions", "get_all_providers", "get_available_providers", "get_build_info", "get_device",
           "get_version_string", "set_default_logger_severity", "set_default_logger_verbosity",
           "set_seed"]  # fmt: skip

# Where programs, and their logs, know the exceptions from.
for _one in _errors.ALL:
    _one.__module__ = "onnxruntime.capi.onnxruntime_pybind11_state"
