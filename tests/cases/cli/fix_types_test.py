#!/usr/bin/env python3
"""fix_types_test.py CLI: of which inner values `fix --simplify` and `infer` write the sizes. Where ONNX Runtime is
installed it loads what it loaded before."""

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


def joined_scan(empty, row):
    """The scan output of a loop that never runs, joined with an empty constant. The body wants its input in rows of `row`
    entries: where not every shape suits it, what it gives has no known rank."""
    flag = TensorProto.BOOL
    scan = helper.make_tensor_value_info("kept", TensorProto.FLOAT, None)
    body = helper.make_graph([node("Identity", ["v"], ["next"], "/next"), node("Identity", ["v"], ["kept"], "/kept"), node("Identity", ["more"], ["go_on"], "/more"),
                              node("Reshape", ["v", "target"], ["rows"])], "body",
                             [info("i", [], TensorProto.INT64), info("more", [], flag), info("v", None)],
                             [info("go_on", [], flag), info("next", None), scan, info("rows", None)])
    return model([node("Loop", ["rounds", "always", "x"], ["last", "scan", "all_rows"], body=body), node("Concat", ["empty", "scan"], ["joined"], axis=0),
                  node("Relu", ["joined"], ["y"])],
                 [info("x", ["h", "m", 4])], [info("last", None), info("y", None), info("all_rows", None)],
                 [numpy_helper.from_array(np.array(0, np.int64), "rounds"), numpy_helper.from_array(np.array(True), "always"), ints("target", [-1, row]),
                  numpy_helper.from_array(np.zeros(empty, np.float32), "empty")])


def resized(sizes):
    """A Resize of what a loop carries, which ONNX Runtime knows no rank of, by as many sizes as it cannot count: `given`
    are an input, `joined` have an axis put in by `places`, which somebody may feed."""
    flag = TensorProto.BOOL
    body = helper.make_graph([node("Identity", ["v"], ["next"], "/next"), node("Identity", ["more"], ["go_on"], "/more")], "body",
                             [info("i", [], TensorProto.INT64), info("more", [], flag), info("v", None)],
                             [info("go_on", [], flag), info("next", None)])
    inputs = {"joined": info("places", [1], TensorProto.INT64), "given": info("sizes", [None], TensorProto.INT64)}
    joined = [node("Unsqueeze", ["size", "places"], ["last_size"]), node("Concat", ["first_size", "last_size"], ["sizes"], axis=0)]
    return model([node("Loop", ["rounds", "always", "x"], ["carried"], body=body), *(joined if sizes == "joined" else []),
                  node("Resize", ["carried", "", "", "sizes"], ["y"])],
                 [info("x", ["h", "w"]), inputs[sizes]], [info("y", None)],
                 [numpy_helper.from_array(np.array(1, np.int64), "rounds"), numpy_helper.from_array(np.array(True), "always"),
                  *([ints("first_size", [6]), ints("size", 8), ints("places", [0])] if sizes == "joined" else [])])


def loads(path):
    if onnxruntime:
        onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def typed_by(cli, folder, source, *command):
    before, after = folder / "before.onnx", folder / "after.onnx"
    onnx.save(source, before)
    loads(before)
    subprocess.run([cli, command[0], before, *command[1:], "-o", after], check=True, timeout=120, stdout=subprocess.DEVNULL)
    loads(after)
    return {value.name for value in onnx.load(after).graph.value_info if value.type.tensor_type.HasField("shape")}


def main():
    with tempfile.TemporaryDirectory() as name:
        # Concat skips inputs without entries when it runs, but not when ONNX Runtime knows that their sizes are not equal.
        for empty, row, typed in (((0, 0, 0, 0), 8, False), ((0, 2, 3, 4), 8, False), ((0, 2, 3, 4), 4, True)):
            made = typed_by(sys.argv[1], Path(name), joined_scan(empty, row), "fix", "--simplify")
            assert ("scan" in made) == typed, (empty, row, made)
        for sizes, typed in (("joined", {"carried", "last_size", "sizes"}), ("given", set())):
            for command in (("fix", "--simplify"), ("infer",)):
                made = typed_by(sys.argv[1], Path(name), resized(sizes), *command)
                assert made <= typed and ("sizes" in made) == ("sizes" in typed), (sizes, command, made)
    print("types of inner values: 5 models")


if __name__ == "__main__":
    main()
