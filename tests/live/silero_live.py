#!/usr/bin/env python3
"""silero_live.py: silero_vad.jit, a scripted model as its authors publish it, through `anyshape export`: equal to PyTorch at
drawn batch sizes, on ONNX Runtime and on our engine.

The model keeps its state in attributes: exported is the first call on a chunk of sound. Environment: ANYSHAPE (the
program), ANYSHAPE_SEED, ANYSHAPE_MODELS.
"""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

from models_from_wheels import fetch_files  # noqa: E402

CLI = os.environ["ANYSHAPE"]
RATES = {16000: 512, 8000: 256}
TOLERANCE = 1e-4


def export(archive, rate, samples, out):
    done = subprocess.run([CLI, "export", str(archive), "-o", out, "--input", f"x=f32[batch,{samples}]", "--input",
                           f"sr={rate}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def compare(model, out, rate, x):
    model.reset_states()
    with torch.no_grad():
        want = model(torch.from_numpy(x), rate).numpy()
    feed = {"x": x}
    theirs = onnxruntime.InferenceSession(out, providers=["CPUExecutionProvider"]).run(None, feed)[0]
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", x)
        subprocess.run([CLI, "run", out, "--input", f"x={folder}/x.npy", "-o", folder], check=True,
                       stdout=subprocess.DEVNULL)
        ours = np.load(f"{folder}/output_0.npy")
    worst = max(float(np.abs(theirs - want).max()), float(np.abs(ours - want).max()))
    assert worst <= TOLERANCE, f"{rate} Hz, batch {len(x)}: differs by {worst}"
    return worst


def main():
    rng = random.Random(int(os.environ["ANYSHAPE_SEED"]))
    (archive,) = fetch_files("silero-vad", ".jit")
    model = torch.jit.load(str(archive))
    worst, count = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        for rate, samples in RATES.items():
            out = f"{folder}/silero_{rate}.onnx"
            export(archive, rate, samples, out)
            for batch in [1, 2, rng.randint(3, 9), rng.randint(10, 40)]:
                draw = np.random.default_rng(rng.randint(0, 2**31))
                x = (0.3 * draw.standard_normal((batch, samples))).astype(np.float32)
                worst = max(worst, compare(model, out, rate, x))
                count += 1
    print(f"{count} runs of silero_vad.jit equal to PyTorch, worst difference {worst:.1e}")


if __name__ == "__main__":
    main()
