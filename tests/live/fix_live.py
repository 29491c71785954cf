#!/usr/bin/env python3
"""fix_live.py [NAME...]: `anyshape fix` on what torch.onnx.export makes of the models of zoo_vision and zoo_sequence.

A file exported for one size is made dynamic (--dynamic, all axes of the case). Where fix does not refuse, the result must
give PyTorch's answers on ONNX Runtime at every size it takes there. A file exported with dynamic axes is simplified: at
every size, the result must give the answers it gave before. So must the models of models_from_wheels, at the shapes that
`anyshape verify --engine onnxruntime` finds.

Environment: ANYSHAPE (the program), ANYSHAPE_SEED (draws the models), ANYSHAPE_FULL=1 (all of them).
"""

import collections
import contextlib
import importlib
import io
import logging
import os
import random
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import torch

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tools" / "fixtures")]

from make_torch_capture import answer, draw, dynamic_shapes, fresh, leaves, size_name  # noqa: E402
from make_torch_case import CASES, parse_dynamic  # noqa: E402
from models_from_wheels import MODELS, fetch  # noqa: E402

# More is a hang.
SECONDS = 60
SAMPLED, SAMPLED_REAL = 14, 6


def exported(item, path, dynamo, dynamic):
    """Writes the file; False where PyTorch's exporter fails."""
    inputs = draw(item, item.sizes[0])
    names = list(leaves(inputs))
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            if dynamo:
                shapes = dynamic_shapes(item, inputs, torch.export.Dim.DYNAMIC) if dynamic else None
                torch.onnx.export(fresh(item), tuple(inputs.values()), path, dynamo=True, external_data=False, verbose=False,
                                  input_names=names, dynamic_shapes=shapes)
            else:
                torch.onnx.export(fresh(item), tuple(inputs.values()), path, dynamo=False, opset_version=17,
                                  input_names=names, dynamic_axes=parse_dynamic(item.dynamic) if dynamic else None)
    except Exception:
        return False
    return True


def session_of(path):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])


def run(session, inputs):
    """The outputs; None where ONNX Runtime refuses."""
    wanted = {value.name for value in session.get_inputs()}
    feed = {name: value.numpy() for name, value in leaves(inputs).items() if name in wanted}
    try:
        return session.run(None, feed)
    except Exception:
        return None


def same(got, want, item):
    return len(got) == len(want) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=item.rtol, atol=item.atol, equal_nan=True) for a, b in zip(got, want))


def fixed(cli, path, out, *arguments):
    """None, or the error."""
    done = subprocess.run([cli, "fix", str(path), "-o", str(out), "--quiet", *arguments], capture_output=True, text=True, timeout=SECONDS)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"fix {path.name}: exit {done.returncode}: {done.stderr}")
    return done.stderr.strip() if done.returncode else None


def make_dynamic(cli, item, path, out, tally):
    """Complaints about a file of one size made dynamic."""
    arguments = [word for option in item.dynamic.split() for word in ("--dynamic", option)]
    refused = fixed(cli, path, out, *arguments)
    if refused:
        tally["refused " + refused.partition("]")[0].removeprefix("error[")] += 1
        return []
    tally["made dynamic"] += 1
    session, wrong = session_of(out), []
    for size in item.sizes:
        inputs = draw(item, size)
        got = run(session, inputs)
        if got is None:
            tally["sizes refused by the result"] += 1
        elif same(got, [value.resolve_conj().numpy() for value in answer(item, inputs)], item):
            tally["sizes right"] += 1
        else:
            wrong.append(f"dynamic: wrong at {size_name(size)}")
    return wrong


def simplify(cli, item, path, out, tally):
    """Complaints about a dynamic file simplified."""
    refused = fixed(cli, path, out, "--simplify")
    if refused:
        return [f"simplify: {refused}"]
    before, after, wrong = session_of(path), session_of(out), []
    for size in item.sizes:
        inputs = draw(item, size)
        want = run(before, inputs)
        got = run(after, inputs)
        if want is None:
            continue
        if got is None or not same(got, want, item):
            wrong.append(f"simplify: {'refused' if got is None else 'wrong'} at {size_name(size)}")
        else:
            tally["sizes the same, simplified"] += 1
    return wrong


def simplify_real(cli, path, out, tally):
    """Complaints about a real model simplified."""
    refused = fixed(cli, path, out, "--simplify")
    if refused:
        return [f"simplify: {refused}"]
    library = Path(onnxruntime.__file__).parent / "capi"
    done = subprocess.run([cli, "verify", str(path), str(out), "--quiet", "--engine", "onnxruntime", "--ort-lib", str(library)],
                          capture_output=True, text=True, timeout=SECONDS)
    tally["real models the same, simplified"] += done.returncode == 0
    return [done.stderr.strip()] if done.returncode else []


def main():
    cli, seed = os.environ["ANYSHAPE"], int(os.environ.get("ANYSHAPE_SEED", "1"))
    print(f"seed {seed}")
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    onnxruntime.set_default_logger_severity(4)
    torch.set_num_threads(1)
    for zoo in ("zoo_vision", "zoo_sequence"):
        importlib.import_module(zoo)
    names = sys.argv[1:] or list(CASES)
    real = [] if sys.argv[1:] else [path for package in MODELS for path in fetch(package)]
    if not sys.argv[1:] and os.environ.get("ANYSHAPE_FULL") != "1":
        rng = random.Random(seed)
        names, real = rng.sample(names, SAMPLED), rng.sample(real, SAMPLED_REAL)
    failed, tally = 0, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for path in real:
            for complaint in simplify_real(cli, path, Path(folder) / "real.onnx", tally):
                failed += 1
                print(f"FAIL {path.name} {complaint}")
        for name in names:
            item = CASES[name]
            for dynamo in (False, True):
                for dynamic, check in ((False, make_dynamic), (True, simplify)):
                    path, out = Path(folder) / f"{name}.onnx", Path(folder) / f"{name}.fixed.onnx"
                    if not exported(item, path, dynamo, dynamic):
                        tally["not exported by PyTorch"] += 1
                        continue
                    for complaint in check(cli, item, path, out, tally):
                        failed += 1
                        print(f"FAIL {name} (dynamo={dynamo}) {complaint}")
    print("; ".join(f"{count} {what}" for what, count in sorted(tally.items())), f"; {failed} failed", sep="")
    return 1 if failed or not tally["sizes the same, simplified"] else 0


if __name__ == "__main__":
    sys.exit(main())
