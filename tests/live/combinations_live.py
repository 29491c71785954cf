#!/usr/bin/env python3
"""combinations_live.py: the rows of tests/conformance/combinations.py that ONNX's reference evaluator is no judge of,
against ONNX Runtime, with drawn numbers.

Environment: ANYSHAPE (the program), ANYSHAPE_SEED.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))
from combinations import Group, all_groups, unjudged  # noqa: E402

CLI = os.environ["ANYSHAPE"]
LEAST_ROWS = 900


def ort_differs(row):
    """Why ONNX Runtime is no judge either; nothing where it is."""
    a = row.attributes
    if a.get("auto_pad", "").startswith("SAME") and max(a["dilations"]) > 1:
        return "it leaves dilations out of the padding, so that there are fewer outputs than ceil(size / stride)"
    if a.get("keep_aspect_ratio_policy", "stretch") != "stretch" and min(a["axes"]) < 0:
        return "it does not find the axes that are counted from the back"


def ort_answer(group, row):
    """What ONNX Runtime gives; nothing where it refuses."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    model = Group(group.name, group.opset, group.inputs, [row]).model()
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, group.inputs)
    except Exception:  # of a type of its own for each reason
        return None


def our_answers(group, folder):
    onnx.save(group.model(), folder / "model.onnx")
    np.savez(folder / "inputs.npz", **group.inputs)
    subprocess.run([CLI, "run", "model.onnx", "--npz", "inputs.npz", "-o", "out", "--output-format", "npz"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    with np.load(folder / "out" / "outputs.npz") as archive:
        return [archive[output.name] for output in group.model().graph.output]


def compare(group, folder):
    """How many rows were compared."""
    judged = [(row, ort_answer(group, row)) for row in group.rows if unjudged(row, group) and not ort_differs(row)]
    judged = [(row, answer) for row, answer in judged if answer is not None]
    if not judged:
        return 0
    ours = iter(our_answers(Group(group.name, group.opset, group.inputs, [row for row, _ in judged]), folder))
    for row, answer in judged:
        for want in answer:
            got = next(ours)
            assert got.shape == want.shape and got.dtype == want.dtype, f"{group.name}: {row.name()}: {got.shape} {want.shape}"
            assert np.allclose(got, want, 1e-4, 1e-5, equal_nan=True), f"{group.name}: {row.name()}:\n{got}\n{want}"
    return len(judged)


def main():
    seed = int(os.environ["ANYSHAPE_SEED"])
    with tempfile.TemporaryDirectory() as folder:
        rows = sum(compare(group, Path(folder)) for group in all_groups(seed))
    assert rows >= LEAST_ROWS, rows
    print(f"{rows} rows as in ONNX Runtime {onnxruntime.__version__}, seed {seed}")


if __name__ == "__main__":
    main()
