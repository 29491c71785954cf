#!/usr/bin/env python3
"""fix_types_test.py CLI: which types of inner values `fix --simplify` writes. Where ONNX Runtime is installed it loads
what it loaded before."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from models import info, ints, model, node

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


def joined_scan(empty):
    """The scan output of a loop that never runs and whose body not every shape suits, so that what it gives has no
    known rank, joined with an empty constant."""
    flag = TensorProto.BOOL
    scan = helper.make_tensor_value_info("kept", TensorProto.FLOAT, None)
    body = helper.make_graph([node("Identity", ["v"], ["next"], "/next"), node("Identity", ["v"], ["kept"], "/kept"), node("Identity", ["more"], ["go_on"], "/more"),
                              node("Reshape", ["v", "target"], ["rows"])], "body",
                             [info("i", [], TensorProto.INT64), info("more", [], flag), info("v", None)],
                             [info("go_on", [], flag), info("next", None), scan, info("rows", None)])
    return model([node("Loop", ["rounds", "always", "x"], ["last", "scan", "all_rows"], body=body), node("Concat", ["empty", "scan"], ["joined"], axis=0),
                  node("Relu", ["joined"], ["y"])],
                 [info("x", ["h", "m", 4])], [info("last", None), info("y", None), info("all_rows", None)],
                 [numpy_helper.from_array(np.array(0, np.int64), "rounds"), numpy_helper.from_array(np.array(True), "always"), ints("target", [-1, 8]),
                  numpy_helper.from_array(np.zeros(empty, np.float32), "empty")])


def loads(path):
    if onnxruntime:
        onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def typed_by_fix(cli, folder, source):
    before, after = folder / "before.onnx", folder / "after.onnx"
    onnx.save(source, before)
    loads(before)
    subprocess.run([cli, "fix", before, "--simplify", "-o", after, "--quiet"], check=True, timeout=120)
    loads(after)
    return {value.name for value in onnx.load(after).graph.value_info}


def main():
    with tempfile.TemporaryDirectory() as name:
        # Concat skips inputs without entries when it runs, but not when ONNX Runtime knows that their sizes are not equal.
        assert "scan" not in typed_by_fix(sys.argv[1], Path(name), joined_scan((0, 0, 0, 0)))
        assert "scan" in typed_by_fix(sys.argv[1], Path(name), joined_scan((0, 2, 3, 4)))
    print("types of inner values: 2 models")


if __name__ == "__main__":
    main()
