#!/usr/bin/env python3
"""onnxruntime_table.py [--check] [FILE]: the table of docs/onnxruntime.md: each public name of onnxruntime, and what
anyshape.onnxruntime has for it.

Run with the pinned onnxruntime and the package on PYTHONPATH. A name that is neither there nor explained is an error;
so is an explanation of what is there, or of what onnxruntime does not have. --check: the table in FILE must be this one.
"""

import importlib
import inspect
import sys
from enum import Enum
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs" / "onnxruntime.md"
BEGIN, END = "<!-- table: tools/generate/onnxruntime_table.py -->\n", "<!-- end of table -->\n"

CLASSES = ("InferenceSession", "SessionOptions", "RunOptions", "OrtValue", "IOBinding", "ModelMetadata", "NodeArg")
INSIDE = "capi.onnxruntime_pybind11_state"
# Part of Python or of the binding, no part of the interface.
PLUMBING = {"contextlib", "onnxruntime_validation", "import_capi_exception", "_pybind11_conduit_v1_"}

DEVICES = "there is the processor only"
SPARSE = "dense tensors only"
TOOLS = "a tool to make models for ONNX Runtime, not to run them"
# What the door lacks: an AttributeError.
ABSENT = {
    "AdapterFormat": "no adapters beside a model",
    "LoraAdapter": "no adapters beside a model",
    "ModelCompiler": "a model needs no compiling",
    "OrtAllocatorType": DEVICES,
    "OrtArenaCfg": DEVICES,
    "OrtCompileApiFlags": "a model needs no compiling",
    "OrtDeviceMemoryType": DEVICES,
    "OrtDeviceVendorId": DEVICES,
    "OrtEpAssignedNode": DEVICES,
    "OrtEpAssignedSubgraph": DEVICES,
    "OrtEpContextData": DEVICES,
    "OrtEpContextDataBuffer": DEVICES,
    "OrtEpDevice": DEVICES,
    "OrtExecutionProviderDevicePolicy": DEVICES,
    "OrtExternalInitializerInfo": "weights come from the file and its data files",
    "OrtHardwareDevice": DEVICES,
    "OrtHardwareDeviceType": DEVICES,
    "OrtMemType": DEVICES,
    "OrtMemoryInfo": DEVICES,
    "OrtMemoryInfoDeviceType": DEVICES,
    "OrtSparseFormat": SPARSE,
    "OrtSyncStream": DEVICES,
    "SparseTensor": SPARSE,
    "copy_tensors": DEVICES,
    "InferenceSession.get_input_epdevices": DEVICES,
    "InferenceSession.get_input_memory_infos": DEVICES,
    "InferenceSession.get_output_memory_infos": DEVICES,
}
COMPILED = "a model needs no compiling"
MEMORY = "memory is the session's"
OWN = "the binding's own"
# What its module of the binding has and ours lacks.
ABSENT_INSIDE = {
    "ArenaExtendStrategy": MEMORY,
    "kNextPowerOfTwo": MEMORY,
    "kSameAsRequested": MEMORY,
    "OrtCompiledModelCompatibility": COMPILED,
    "get_compatibility_info_from_model": COMPILED,
    "get_compatibility_info_from_model_bytes": COMPILED,
    "get_model_compatibility_for_ep_devices": COMPILED,
    "OrtDeviceEpIncompatibilityReason": DEVICES,
    "get_hardware_device_ep_incompatibility_details": DEVICES,
    "get_hardware_devices": DEVICES,
    "SessionObjectInitializer": OWN,
    "get_session_initializer": OWN,
    "get_default_session_options": OWN,
    "is_dlpack_uint8_tensor": OWN,
    "SparseBlockSparseView": SPARSE,
    "SparseCooView": SPARSE,
    "SparseCsrView": SPARSE,
    **dict.fromkeys(("get_all_operator_schema", "get_all_opkernel_def", "get_registered_ep_kernel_defs", "opkernel",
                     "pack_fp4_weights_for_cuda_moe_gemm", "quantize_matmul_2bits", "quantize_matmul_4bits",
                     "quantize_matmul_8bits", "quantize_matmul_bnb4", "quantize_qdq_matmul_2bits",
                     "quantize_qdq_matmul_4bits", "schemadef"), TOOLS),
}  # fmt: skip
REMEMBERED = "remembered, changes nothing"
FIELDS = {
    "SessionOptions": ("enable_cpu_mem_arena", "enable_mem_pattern", "enable_mem_reuse", "execution_mode",
                       "execution_order", "graph_optimization_level", "inter_op_num_threads", "log_severity_level",
                       "log_verbosity_level", "logid", "optimized_model_filepath", "use_deterministic_compute",
                       "use_per_session_threads", "add_session_config_entry", "add_provider",
                       "add_free_dimension_override_by_denotation"),
    "RunOptions": ("log_severity_level", "log_verbosity_level", "logid", "only_execute_path_to_fetches",
                   "add_run_config_entry"),
}  # fmt: skip
REMEMBERED_FIELDS = {f"{owner}.{name}" for owner, names in FIELDS.items() for name in names}
REFUSED = "refused with a sentence"
REFUSING = {"SessionOptions.add_initializer", "SessionOptions.add_external_initializers",
            "SessionOptions.add_external_initializers_from_files_in_memory", "SessionOptions.register_custom_ops_library",
            "RunOptions.add_active_adapter", "OrtValue.as_sparse_tensor", "OrtValue.ort_value_from_sparse_tensor",
            "register_execution_provider_library", "unregister_execution_provider_library"}  # fmt: skip


def public(thing):
    """Also what begins with one underscore is listed by dir(); nobody outside of onnxruntime should use it."""
    return [name for name in dir(thing) if not name.startswith("_") and name not in PLUMBING]


def is_empty(function):
    """Does its body hold a docstring only?"""
    if not inspect.isfunction(function):
        return False
    lines = [line for line in inspect.getsource(function).split("\n") if line.strip()]
    return lines[-1].strip().endswith('"""') and function.__doc__ is not None


def row(name, there):
    """(name, what is here, sentence)"""
    if name in REFUSING:
        return name, "no", REFUSED
    if name in REMEMBERED_FIELDS or (isinstance(there, type) and issubclass(there, Enum)):
        return name, "no meaning", REMEMBERED
    if is_empty(there):
        return name, "no meaning", there.__doc__[0].lower() + there.__doc__.split("\n")[0].rstrip(".")[1:]
    return name, "yes", ""


def rows(real, door):
    out, unexplained, stale = [], [], {*ABSENT, *ABSENT_INSIDE}
    scopes = [("", real, door)]
    scopes += [(f"{name}.", getattr(real, name), getattr(door, name)) for name in CLASSES]
    made = {"ModelMetadata": door.ModelMetadata.__dataclass_fields__, "NodeArg": door.NodeArg.__dataclass_fields__}
    for prefix, theirs, ours in scopes:
        # Fields that instances have.
        fields = made.get(prefix[:-1], ())
        for name in public(theirs):
            full = prefix + name
            if hasattr(ours, name) or name in fields or hasattr(instance(door, prefix), name):
                out.append(row(full, getattr(ours, name, None)))
            elif full in ABSENT:
                stale.discard(full)
                out.append((full, "no", ABSENT[full]))
            else:
                unexplained.append(full)
    inside = importlib.import_module(f"onnxruntime.{INSIDE}"), importlib.import_module(f"{door.__name__}.{INSIDE}")
    for name in public(inside[0]):
        if not hasattr(real, name) and name not in dir(door):
            full = f"{INSIDE}.{name}"
            if hasattr(inside[1], name):
                out.append((full, "yes", ""))
            elif name in ABSENT_INSIDE:
                stale.discard(name)
                out.append((full, "no", ABSENT_INSIDE[name]))
            else:
                unexplained.append(full)
    return out, unexplained, sorted(stale)


def instance(door, prefix):
    return getattr(door, prefix[:-1])() if prefix in ("SessionOptions.", "RunOptions.") else None


def table(found):
    head = "| name in onnxruntime | here | |\n|---|---|---|\n"
    return head + "".join(f"| `{name}` | {here} | {why} |\n" for name, here, why in found)


def main():
    import anyshape.onnxruntime as door
    import onnxruntime as real

    found, unexplained, stale = rows(real, door)
    if unexplained or stale:
        sys.exit(f"not there and not explained: {unexplained}; explained in vain: {stale}")
    path = Path(next((argument for argument in sys.argv[1:] if not argument.startswith("--")), DOCS))
    text = path.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    wanted = before + BEGIN + table(found) + END + after
    if "--check" in sys.argv:
        if wanted != text:
            sys.exit(f"{path} is out of date: run {Path(__file__).name}")
    else:
        path.write_text(wanted)
    counts = {here: sum(one[1] == here for one in found) for here in ("yes", "no meaning", "no")}
    print(", ".join(f"{count} {here}" for here, count in counts.items()))


if __name__ == "__main__":
    main()
