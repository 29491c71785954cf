#!/usr/bin/env python3
"""build.py [--committed]: writes the models of the speed table into build/bench/models, where they are not
there yet.

The small ones are committed beside this file; --committed makes these anew. ANYSHAPE names the program."""

import contextlib
import io
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "build" / "bench" / "models"
CLI = os.environ.get("ANYSHAPE", str(HERE.parents[1] / "build/release/bin/anyshape"))
COMMITTED = ("linear_10_5", "mlp_32_128", "rnn_10_20", "lstm_1_64", "tcn", "transformer_64", "shape_heavy",
             "trees_100", "logistic")  # fmt: skip


def export(name, path):
    import nets
    import torch

    make, draw, dynamic = nets.NETS[name]
    torch.manual_seed(0)
    inputs = draw()
    with tempfile.TemporaryDirectory() as place, torch.no_grad():
        program = Path(place) / "net.pt"
        torch.jit.trace(nets.warm(make()).eval(), tuple(inputs.values()), check_trace=False).save(str(program))
        options = [word for part in dynamic.split() for word in ("--dynamic", part)]
        subprocess.run([CLI, "export", str(program), "-o", str(path), "--quiet", "--input-names", ",".join(inputs), *options],
                       check=True)  # fmt: skip


def write(name, path):
    import graphs

    if name not in graphs.GRAPHS:
        export(name, path)
        return
    import onnx

    with contextlib.redirect_stdout(io.StringIO()):
        made = graphs.GRAPHS[name](model)
    onnx.save(made, path)


def fresh(path):
    """Whether the file is there and younger than what says how to make it."""
    return path.is_file() and path.stat().st_mtime > max(source.stat().st_mtime for source in HERE.glob("*.py"))


def model(name):
    """The file of the model, made if it is not there."""
    path, ready = FOLDER / f"{name}.onnx", HERE / f"{name}.onnx"
    if name in COMMITTED and ready.is_file():
        return ready
    if not fresh(path):
        FOLDER.mkdir(parents=True, exist_ok=True)
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        part = path.with_suffix(".part")
        write(name, part)
        part.replace(path)
    return path


def main():
    if sys.argv[1:] == ["--committed"]:
        for name in COMMITTED:
            (HERE / f"{name}.onnx").unlink(missing_ok=True)
            (FOLDER / f"{name}.onnx").unlink(missing_ok=True)
            shutil.move(model(name), HERE / f"{name}.onnx")
    import graphs
    import nets

    for name in [*nets.NETS, *graphs.GRAPHS]:
        print(model(name))


if __name__ == "__main__":
    main()
