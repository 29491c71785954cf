#!/usr/bin/env python3
"""scaler_test.py CLI: the model of `mql5 --scaler` computes (x - mean) / std and y * std + mean in f32, bit for bit."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from target_models import F32, info, model, node

MEAN, STD = [1.1, -300.25, 1e6], [0.0123, 7.5, 3e5]


def run(cli, folder, *words):
    subprocess.run([cli, *words], cwd=folder, check=True, capture_output=True)


def along(axis, values):
    return np.array(values, np.float32).reshape([3 if i == axis else 1 for i in range(3)])


def check(cli, folder, axis):
    onnx.save(model([node("Neg", ["x"], ["y"])], [info("x", ["batch", 3, 3], F32)], [info("y", None, F32)]),
              folder / "neg.onnx")
    scaler = {"x": {"mean": MEAN, "std": STD, "axis": axis}, "outputs": {"y": {"mean": MEAN, "std": STD, "axis": axis}}}
    (folder / "scaler.json").write_text(json.dumps(scaler))
    run(cli, folder, "mql5", "neg.onnx", "--scaler", "scaler.json", "-o", "Scaled.mqh", "--batch", "5")
    x = np.random.default_rng(3).normal(size=(5, 3, 3)).astype(np.float32) * 100
    np.save(folder / "x.npy", x)
    run(cli, folder, "run", "Scaled.onnx", "--input", "x=x.npy", "--reference", "-o", "out")
    mean, std = along(axis % 3, MEAN), along(axis % 3, STD)
    return np.array_equal(np.load(folder / "out" / "output_0.npy"), -((x - mean) / std) * std + mean)


def main():
    cli = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        wrong = [axis for axis in (1, 2, -1, -2) if not check(cli, Path(folder), axis)]
    print(f"wrong along the axes {wrong}" if wrong else "4 axes, bit for bit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
