#!/usr/bin/env python3
"""prepare.py: makes what speed_table reads: build/bench/rows.tsv with the models of bench/models/rows.txt and the real
ones out of wheels, each with its inputs, its frozen twin and the work of one run. ANYSHAPE names the program.

A line: section, row, shape, model, frozen model (or -), inputs (NAME=1x2 ..., or @FILE.npz), items, floating-point
operations, bytes that have to move at least once, what the largest entry of an output is taken for if it is smaller."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OUT = ROOT / "build" / "bench"
CLI = os.environ.get("ANYSHAPE", str(ROOT / "build/release/bin/anyshape"))
sys.path[:0] = [str(HERE / "models"), str(ROOT / "tests" / "live")]

import build  # noqa: E402
import work  # noqa: E402


def listed():
    """(section, row, model, symbols) of each line and shape of rows.txt."""
    section = ""
    for line in (HERE / "models" / "rows.txt").read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, model, *shapes = (part.strip() for part in line.split("|"))
            for shape in shapes:
                yield section, name, model, dict(pair.split("=") for pair in shape.split())


def shapes_of(model, symbols):
    """NAME=1x2x3 of each input."""
    given = {t.name for t in model.graph.initializer}
    words = []
    for value in model.graph.input:
        if value.name not in given:
            dims = value.type.tensor_type.shape.dim
            words.append(f"{value.name}=" + "x".join(symbols.get(d.dim_param) or str(d.dim_value) for d in dims))
    return " ".join(words)


def frozen(path, symbols):
    """The file of the same model at one shape, simplified; made if it is older than the model or the program."""
    out = OUT / "frozen" / f"{path.stem}-{'-'.join(symbols.values())}.onnx"
    newest = max(path.stat().st_mtime, Path(CLI).stat().st_mtime)
    if not out.is_file() or out.stat().st_mtime < newest:
        out.parent.mkdir(parents=True, exist_ok=True)
        pins = [word for pair in symbols.items() for word in ("--freeze", "=".join(pair))]
        subprocess.run([CLI, "fix", str(path), "-o", str(out), *pins, "--simplify", "--quiet"], check=True)
    return out


def synthetic():
    for section, name, model, symbols in listed():
        path = build.model(model)
        fixed = frozen(path, symbols)
        shape = "x".join(symbols.values())
        inputs = shapes_of(onnx.load(path, load_external_data=False), symbols)
        flops, moved = work.of_model(onnx.load(fixed))
        yield section, name, shape, path, fixed, inputs, symbols["batch"], flops, moved, 0


def real():
    import models_live

    paths = {(package, path.stem): path for package in models_live.MODELS for path in models_live.fetch(package)}
    folder = OUT / "inputs"
    folder.mkdir(parents=True, exist_ok=True)
    for index, (key, (draw, *_)) in enumerate(models_live.CASES.items()):
        given = draw(np.random.default_rng([1, index]))
        file = folder / f"{index}.npz"
        np.savez(file, **given)
        section = "further" if key == ("silero-vad", "silero_vad") else "real"
        items = next((v.shape[0] for v in given.values() if v.ndim), 1)
        scale = models_live.SCALE.get(key, 0)
        yield section, "/".join(key), models_live.shape_text(given), paths[key], "-", f"@{file}", items, 0, 0, scale


def main():
    os.environ.setdefault("ANYSHAPE", CLI)
    OUT.mkdir(parents=True, exist_ok=True)
    lines = list(synthetic())
    try:
        lines += real()
    except (subprocess.CalledProcessError, ImportError, OSError) as missing:
        print(f"no table of real models: {missing}")
    lines.sort(key=lambda line: ["rows", "further", "real"].index(line[0]))
    (OUT / "rows.tsv").write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))


if __name__ == "__main__":
    main()
