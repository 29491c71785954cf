#!/usr/bin/env python3
"""nn_live.py: neural-network operators of PyTorch through `anyshape export`, against eager.

usage: nn_live.py [--only TEXT] [--opsets 11,17,23] [--how pt2,pt] [-v]

A row (nn_rows*.py): `F | torch.matmul(x, y) | x=f32[b,m,4] y=f32[4,n] | b=2,m=3,n=5; b=1,m=1,n=2 | opset>=12`.
F: an expression over the inputs, after ` where ` buffers `self.NAME` separated by ` ; `. M: a module, called with the
inputs. `i64[b]%0:9` draws from 0..8. The first sizes are captured, with every named axis dynamic; ONNX Runtime runs the
exported model at all of them and our engine at the last. Options: `opset>=N` (refused below), `nopt2` (torch.export
itself fixes an axis), `rounded` (f64 that ONNX Runtime computes in f32).

Environment: ANYSHAPE (the program), ANYSHAPE_SEED (draws a share of the rows), ANYSHAPE_FULL=1 (all, at all opsets).
"""

import argparse
import contextlib
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from torch import nn
from torch.nn import functional as F

warnings.filterwarnings("ignore")
sys.path.insert(0, str(Path(__file__).resolve().parent))
import nn_rows  # noqa: E402
import nn_rows_more  # noqa: E402

CLI = os.environ["ANYSHAPE"]
SHARE = 60
TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "i64": torch.int64, "i32": torch.int32,
         "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool, "c64": torch.complex64}
SCOPE = {"torch": torch, "nn": nn, "F": F}


class Row:
    def __init__(self, line):
        columns = line.split(" | ")
        self.line = line
        self.kind, self.text, inputs, sizes = (c.strip() for c in columns[:4])
        self.options = columns[4].split() if len(columns) > 4 else []
        self.inputs = []
        for item in inputs.split():
            name, dtype, dims, low, high = re.fullmatch(
                r"(\w+)=(\w+)\[([^\]]*)\](?:%(-?[\d.]+):(-?[\d.]+))?", item).groups()
            self.inputs.append((name, dtype, [d for d in dims.split(",") if d], low, high))
        self.sizes = [eval(f"dict({s})") for s in sizes.split(";")]

    def least_opset(self):
        return next((int(o[7:]) for o in self.options if o.startswith("opset>=")), 11)

    def module(self):
        torch.manual_seed(0)
        if self.kind == "M":
            return settled(eval(self.text, dict(SCOPE)))
        body, _, setup = self.text.partition(" where ")
        names = ", ".join(name for name, *_ in self.inputs)
        scope = dict(SCOPE)
        exec(f"def forward(self, {names}):\n    return {body}\n", scope)
        module = type("Row", (nn.Module,), {"forward": scope["forward"]})()
        for part in filter(None, setup.split(" ; ")):
            name, _, value = part.partition("=")
            module.register_buffer(name.strip(), eval(value, dict(SCOPE)))
        return module.eval()

    def tensors(self, sizes, seed):
        g = torch.Generator().manual_seed(seed)
        return [drawn(dtype, [int(eval(d, {}, sizes)) for d in dims], low, high, g)
                for _, dtype, dims, low, high in self.inputs]


def drawn(dtype, shape, low, high, g):
    kind = TYPES[dtype]
    if kind == torch.bool:
        return torch.rand(shape, generator=g) > 0.4
    if kind.is_complex:
        return torch.complex(torch.randn(shape, generator=g), torch.randn(shape, generator=g))
    if not kind.is_floating_point:
        least = 0 if dtype == "u8" else -5
        return torch.randint(int(low or least), int(high or 6), shape, generator=g).to(kind)
    if low is None:
        return torch.randn(shape, generator=g).to(kind)
    return (torch.rand(shape, generator=g) * (float(high) - float(low)) + float(low)).to(kind)


def settled(module):
    """Statistics and weights that are not 0 and 1, in eval mode."""
    with torch.no_grad():
        for part in module.modules():
            if getattr(part, "running_mean", None) is not None:
                part.running_mean.normal_()
                part.running_var.uniform_(0.5, 2)
            if isinstance(part, (nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, nn.modules.batchnorm._NormBase)):
                for value in part.parameters(recurse=False):
                    value.uniform_(0.5, 1.5)
    return module.eval()


def recurrent_sizes(x, params, biases, layers, both):
    directions, each = (2 if both else 1), (4 if biases else 2)
    projected = len(params) == layers * directions * (each + 1)
    hidden = params[each].shape[0] if projected else params[1].shape[1]
    return x.new_empty(*x.shape[:-1], hidden * directions)


@contextlib.contextmanager
def whole_layers():
    """torch.export keeps recurrent layers as one operator with a dynamic time axis."""
    def lstm(x, hx, params, biases, layers, dropout, train, both, batch_first):
        return recurrent_sizes(x, params, biases, layers, both), torch.empty_like(hx[0]), torch.empty_like(hx[1])

    def other(x, hx, params, biases, layers, dropout, train, both, batch_first):
        return recurrent_sizes(x, params, biases, layers, both), torch.empty_like(hx)

    aten, key = torch.ops.aten, torch._C.DispatchKey
    rules = {aten.lstm.input: lstm, aten.gru.input: other, aten.rnn_tanh.input: other, aten.rnn_relu.input: other}
    keys = (key.CompositeImplicitAutograd, key.Autograd)
    old = {(op, k): op.py_kernels.get(k) for op in rules for k in keys}
    try:
        for op, rule in rules.items():
            op.py_kernels.update({k: rule for k in keys})
            op._dispatch_cache.clear()
        yield
    finally:
        for (op, k), kernel in old.items():
            op.py_kernels.pop(k, None) if kernel is None else op.py_kernels.__setitem__(k, kernel)
            op._dispatch_cache.clear()


def capture(row, module, how, folder):
    args = tuple(row.tensors(row.sizes[0], 1))
    path = folder / ("model.pt2" if how == "pt2" else "model.pt")
    with torch.no_grad():
        if how == "pt":
            torch.jit.trace(module, args, check_trace=False).save(str(path))
            return path
        auto = tuple({i: torch.export.Dim.AUTO for i, d in enumerate(dims) if not d.isdigit()}
                     for _, _, dims, *_ in row.inputs)
        with whole_layers():
            program = torch.export.export(module, args, dynamic_shapes=auto)
        torch.export.save(program, path)
    return path


def export(row, archive, target, opset):
    command = [CLI, "export", str(archive), "-o", str(target), "--opset", str(opset)]
    if archive.suffix == ".pt":
        command += ["--input-names", ",".join(name for name, *_ in row.inputs)]
        for name, _, dims, *_ in row.inputs:
            named = ",".join(f"{i}={d}" for i, d in enumerate(dims) if not d.isdigit())
            command += ["--dynamic", f"{name}:{named}"] if named else []
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    return [x for item in result for x in flat(item)] if isinstance(result, (list, tuple)) else []


def as_numpy(tensor):
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.detach().contiguous().numpy()


def difference(ours, theirs, rounded):
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype}{list(ours.shape)}, PyTorch has {theirs.dtype}{list(theirs.shape)}"
    if ours.dtype.kind != "f":
        return None if np.array_equal(ours, theirs) else f"{ours.ravel()[:5]} against {theirs.ravel()[:5]}"
    loose = {"float64": 1e-5 if rounded else 1e-9, "float32": 3e-5, "float16": 5e-3}[str(ours.dtype)]
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    size = np.abs(b[np.isfinite(b)]).max(initial=0)
    if np.allclose(a, b, rtol=loose, atol=loose * (1 + 0.2 * size), equal_nan=True):
        return None
    return f"{a.ravel()[:5]} against {b.ravel()[:5]}"


def on_engine(path, feed, folder):
    np.savez(folder / "in.npz", **feed)
    done = subprocess.run([CLI, "run", str(path), "--npz", str(folder / "in.npz"), "-o", str(folder / "out")],
                          capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(done.stderr[-300:])
    names = sorted((folder / "out").glob("output_*.npy"), key=lambda p: int(p.stem[7:]))
    return [np.load(p) for p in names]


def compare(row, module, path, folder):
    """What is wrong, or None."""
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    for n, sizes in enumerate(row.sizes):
        args = row.tensors(sizes, 7 + n)
        with torch.no_grad():
            wanted = [as_numpy(t) for t in flat(module(*[a.clone() for a in args]))]
        feed = dict(zip(names, (as_numpy(a) for a in args)))
        runs = {"ONNX Runtime": session.run(None, feed)}
        if n + 1 == len(row.sizes):
            runs["our engine"] = on_engine(path, feed, folder)
        for engine, outputs in runs.items():
            if len(outputs) < len(wanted):
                return f"{engine} gives {len(outputs)} outputs, PyTorch {len(wanted)}"
            for i, (ours, theirs) in enumerate(zip(outputs, wanted)):
                if why := difference(ours, theirs, "rounded" in row.options):
                    return f"{engine} at {sizes}, output {i}: {why}"
    return None


def run_row(row, how, opsets, folder):
    module = row.module()
    archive = capture(row, module, how, folder)
    for opset in opsets:
        target = folder / "model.onnx"
        target.unlink(missing_ok=True)
        done = export(row, archive, target, opset)
        if opset < row.least_opset():
            yield None if done.returncode == 3 else f"opset {opset}: should be refused, exit {done.returncode}"
        elif done.returncode:
            yield f"opset {opset}: {done.stderr.strip()[-300:]}"
        else:
            try:
                why = compare(row, module, target, folder)
            except Exception as error:  # noqa: BLE001: whatever an engine says is the row's verdict
                why = f"{type(error).__name__}: {str(error)[:300]}"
            yield f"opset {opset}: {why}" if why else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--opsets", default="")
    parser.add_argument("--how", default="pt2,pt")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    full = os.environ.get("ANYSHAPE_FULL") == "1"
    seed = int(os.environ.get("ANYSHAPE_SEED", "1"))
    chance = random.Random(seed)
    rows = [Row(line) for text in (nn_rows.ROWS, nn_rows_more.ROWS) for line in text.strip().splitlines()]
    rows = [row for row in rows if options.only in row.line]
    if not full and not options.only:
        rows = chance.sample(rows, min(SHARE, len(rows)))
    opsets = [int(o) for o in options.opsets.split(",")] if options.opsets else \
        [11, 13, 17, 18, 20, 23] if full else [17, chance.choice([11, 13, 18, 20, 23])]
    counts = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            for how in options.how.split(","):
                if how == "pt2" and "nopt2" in row.options:
                    continue
                try:
                    verdicts = list(run_row(row, how, opsets, Path(folder)))
                except Exception as error:  # noqa: BLE001
                    verdicts = [f"not captured: {type(error).__name__}: {str(error)[:200]}"]
                counts["exports"] += len(verdicts)
                counts["failed"] += sum(v is not None for v in verdicts)
                for why in filter(None, verdicts):
                    print(f"FAIL {how} {row.line}\n     {why}", flush=True)
                if options.v:
                    print(f"{how} {row.line}: {sum(v is None for v in verdicts)} of {len(verdicts)}", flush=True)
    print(f"{len(rows)} rows, opsets {opsets}, seed {seed}: {counts['exports'] - counts['failed']} exports right, "
          f"{counts['failed']} failed")
    return 1 if counts["failed"] or not counts["exports"] else 0


if __name__ == "__main__":
    sys.exit(main())
