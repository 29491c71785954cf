#!/usr/bin/env python3
"""engines_live.py: `anyshape run` and `bench` with ONNX Runtime's library: the program runs the shipped models through
both engines at drawn shapes, and their outputs are equal within 1e-4 (relative to the largest entry).

Environment: ANYSHAPE (the program), ANYSHAPE_SEED.
"""

import os
import random
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

ROOT = Path(__file__).resolve().parents[2]
CLI = os.environ["ANYSHAPE"]
LIBRARY = str(Path(onnxruntime.__file__).parent / "capi")
TOLERANCE = 1e-4


def shapes(rng):
    batch = rng.randint(1, 5)
    side = 8 * rng.randint(1, 8)
    return {"lstm_baked": f"x={batch}x120x1", "lstm_batch": f"x={batch}x120x1", "unet": f"x={batch}x3x{side}x{side}"}


def outputs(folder, engine, *arguments):
    subprocess.run([CLI, "run", *arguments, "--engine", engine, "--ort-lib", LIBRARY, "-o", folder], check=True,
                   stdout=subprocess.DEVNULL)
    return [np.load(path) for path in sorted(Path(folder).glob("output_*.npy"))]


def compare(name, shape, seed):
    arguments = [str(ROOT / "examples" / f"{name}.onnx"), "--random", shape, "--seed", str(seed)]
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        pairs = list(zip(outputs(ours, "anyshape", *arguments), outputs(theirs, "onnxruntime", *arguments), strict=True))
    assert pairs
    worst = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)
    assert worst <= TOLERANCE, f"{name} at {shape}: {worst}"
    return worst


def check_bench():
    done = subprocess.run([CLI, "bench", str(ROOT / "examples" / "lstm_batch.onnx"), "--shape", "x=1x120x1", "--peer",
                           "onnxruntime", "--ort-lib", LIBRARY, "--threads", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    title, head, row = done.stdout.splitlines()
    assert head.split() == ["shape", "anyshape", "onnxruntime", onnxruntime.__version__, "ratio", "in", "reference", "kernels"], head
    assert row.split()[0] == "x=1x120x1", row


def main():
    seed = int(os.environ["ANYSHAPE_SEED"])
    rng = random.Random(seed)
    worst, count = 0.0, 0
    for _ in range(5):
        for name, shape in shapes(rng).items():
            worst = max(worst, compare(name, shape, rng.randint(0, 2**31)))
            count += 1
    check_bench()
    print(f"{count} runs equal in both engines, largest relative error {worst:.1e}")


if __name__ == "__main__":
    main()
