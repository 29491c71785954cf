#!/usr/bin/env python3
"""aten_live.py: single operators of PyTorch through `anyshape export`, against eager.

usage: aten_live.py [--anyshape BIN] [--rows FILE]... [--opsets 11,17] [--only TEXT] [--how pt2|pt] [-v]

The rows are data: tests/live/aten_*.py hold ROWS, pairs of input specifications and expressions over them, e.g.
("x:f32[b,s] y:i64+[s]", ["x + y"]). b, s and h are dynamic axes; `+` draws positive numbers, `~` numbers between 0 and
1, `!` puts NaN, infinities and zeros among them. Statements may stand before the last expression, separated by `;`. Many
expressions share one capture; where something fails they are halved until the one at fault is found. Every model must
pass onnx.checker, load in ONNX Runtime, and give eager's types, shapes and values at every size on ONNX Runtime, and at
one of them on our engine.

Environment: ANYSHAPE (the program), ANYSHAPE_SEED (draws a share of the rows and an opset), ANYSHAPE_FULL=1 (everything).
"""

import argparse
import collections
import ctypes
import importlib.util
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

import numpy as np
import onnx
import onnxruntime as ort
import torch

HERE = Path(__file__).resolve().parent
TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
         "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool}
SIZES = [{"b": 2, "s": 3, "h": 4}, {"b": 1, "s": 1, "h": 2}, {"b": 5, "s": 7, "h": 6}, {"b": 3, "s": 2, "h": 8}]
ENGINE_AT = 2
TOLERANCE = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float64: 1e-9}
OPSETS = (11, 13, 17, 18, 20, 23)
TOGETHER = 64


def parsed(spec):
    for part in spec.split():
        name, dtype, kind, dims = re.fullmatch(r"(\w+):([a-z]+\d*)([+~!]?)\[(.*)\]", part).groups()
        yield name, dtype, kind, [d for d in dims.split(",") if d]


def drawn(dtype, kind, shape, generator):
    wanted = TYPES[dtype]
    if dtype == "bool":
        return torch.rand(shape, generator=generator) > 0.5
    if not wanted.is_floating_point:
        low = 1 if kind == "+" else 0 if dtype == "u8" else -6
        return torch.randint(low, 7, shape, generator=generator).to(wanted)
    if kind in ("~", "+"):
        share = torch.rand(shape, generator=generator, dtype=torch.float64) * 0.96 + 0.02
        return (share * 4 + 0.1 if kind == "+" else share).to(wanted)
    values = torch.randn(shape, generator=generator, dtype=torch.float64) * 2
    if kind == "!":
        flat = values.flatten()
        for i, special in enumerate([float("nan"), float("inf"), float("-inf"), 0.0, -0.0]):
            if i < flat.numel():
                flat[(i * 3) % flat.numel()] = special
        values = flat.reshape(shape)
    return values.to(wanted)


def inputs(spec, sizes, seed):
    generator = torch.Generator().manual_seed(seed)
    return [drawn(dtype, kind, [sizes[d] if d in sizes else int(d) for d in dims], generator)
            for _, dtype, kind, dims in parsed(spec)]


def function(names, text):
    scope = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn, "inf": float("inf"), "nan": float("nan"),
             "aten": torch.ops.aten}
    *before, last = [line.strip() for line in text.split(";")]
    exec("\n    ".join([f"def function({names}):", *before, f"return {last}"]), scope)
    return scope["function"]


class Expressions(torch.nn.Module):
    def __init__(self, spec, texts):
        super().__init__()
        names = ", ".join(name for name, *_ in parsed(spec))
        self.functions = [function(names, text) for text in texts]

    def results(self, args):
        for one in self.functions:
            result = one(*args)
            yield tuple(result) if isinstance(result, (tuple, list)) else (result,)

    def forward(self, *args):
        return tuple(value for results in self.results(args) for value in results)


def as_numpy(tensor):
    tensor = torch.as_tensor(tensor)
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).detach().numpy()


def run_ort(session, feed):
    """Like session.run, for bfloat16 too, which NumPy lacks."""
    if not any(value.dtype == torch.bfloat16 for value in feed.values()):
        return session.run(None, {name: as_numpy(value) for name, value in feed.items()})
    binding = session.io_binding()
    for name, value in feed.items():
        if value.dtype == torch.bfloat16:
            raw = value.contiguous().view(torch.int16).numpy().view(np.uint16)
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy_with_onnx_type(raw, 16))
        else:
            binding.bind_cpu_input(name, as_numpy(value))
    for output in session.get_outputs():
        binding.bind_output(output.name)
    session.run_with_iobinding(binding)
    return [widened(value) if "bfloat16" in output.type else value.numpy()
            for output, value in zip(session.get_outputs(), binding.get_outputs())]


def widened(value):
    count = int(np.prod(value.shape()))
    raw = np.array((ctypes.c_uint16 * count).from_address(value.data_ptr()) if count else [], dtype=np.uint32)
    return (raw << 16).view(np.float32).reshape(value.shape())


def difference(want, got):
    """What is wrong with one result; empty where nothing is."""
    want = torch.as_tensor(want)
    expected = as_numpy(want)
    if want.dtype != torch.bfloat16 and expected.dtype != got.dtype:
        return f"type {got.dtype}, eager has {expected.dtype}"
    if expected.shape != got.shape:
        return f"shape {got.shape}, eager has {expected.shape}"
    room = TOLERANCE.get(want.dtype, 2e-5)
    close = np.isclose(got.astype(np.float64), expected.astype(np.float64), rtol=room, atol=room, equal_nan=True)
    if close.all():
        return ""
    place = tuple(np.argwhere(~close)[0])
    return f"{got[place]} at {[int(p) for p in place]}, eager has {expected[place]} ({(~close).sum()} of {close.size} differ)"


class Fault(Exception):
    pass


class Judge:
    def __init__(self, options, work):
        self.options, self.work = options, Path(work)
        self.wrong, self.right, self.captures = collections.OrderedDict(), 0, 0

    def blame(self, spec, text, opset, why):
        self.wrong.setdefault((spec, text), f"opset {opset}: {why}")
        if self.options.verbose:
            print(f"WRONG {text} [{spec}] opset {opset}: {why}", flush=True)

    def captured(self, spec, texts):
        model, args = Expressions(spec, texts), tuple(inputs(spec, SIZES[0], 0))
        self.captures += 1
        path = self.work / f"model_{self.captures}.{self.options.how}"
        with torch.no_grad():
            if self.options.how == "pt":
                torch.jit.trace(model, args, check_trace=False).save(str(path))
                return path
            axes = tuple({i: torch.export.Dim.DYNAMIC for i, d in enumerate(dims) if d in SIZES[0]}
                         for *_, dims in parsed(spec))
            torch.export.save(torch.export.export(model, args, dynamic_shapes=(axes,)), str(path))
        return path

    def exported(self, path, spec, opset):
        out = path.with_suffix(".onnx")
        command = [self.options.anyshape, "export", str(path), "-o", str(out), "--opset", str(opset)]
        if self.options.how == "pt":
            names = [name for name, *_ in parsed(spec)]
            command += ["--input-names", ",".join(names)]
            for name, _, _, dims in parsed(spec):
                axes = ",".join(f"{i}={d}" for i, d in enumerate(dims) if d in SIZES[0])
                command += ["--dynamic", f"{name}:{axes}"] if axes else []
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Fault(" ".join(done.stderr.split())[:300])
        onnx.checker.check_model(str(out), full_check=True)
        return out

    def compared(self, out, spec, texts, opset):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        session = ort.InferenceSession(str(out), options, providers=["CPUExecutionProvider"])
        order = {value.name: i for i, value in enumerate(session.get_inputs())}
        for at, sizes in enumerate(SIZES):
            args = inputs(spec, sizes, 7)
            wanted = list(Expressions(spec, texts).results([a.clone() for a in args]))
            feed = {name: args[i] for name, i in order.items()}
            self.judged("ONNX Runtime", wanted, run_ort(session, feed), spec, texts, opset, sizes)
            if at == ENGINE_AT and not any(a.dtype == torch.bfloat16 for a in args):
                got = self.run_engine(out, feed, [o.name for o in session.get_outputs()])
                self.judged("our engine", wanted, got, spec, texts, opset, sizes)

    def run_engine(self, out, feed, names):
        np.savez(self.work / "in.npz", **{name: as_numpy(value) for name, value in feed.items()})
        done = subprocess.run([self.options.anyshape, "run", str(out), "--npz", str(self.work / "in.npz"), "-o",
                               str(self.work / "results"), "--output-format", "npz"], capture_output=True, text=True)
        if done.returncode != 0:
            raise Fault(" ".join(done.stderr.split())[:300])
        with np.load(next((self.work / "results").glob("*.npz"))) as results:
            return [results[name] for name in names]

    def judged(self, who, wanted, got, spec, texts, opset, sizes):
        got = iter(got)
        for text, results in zip(texts, wanted):
            faults = [difference(want, next(got)) for want in results]
            if any(faults):
                self.blame(spec, text, opset, f"{who} at {sizes}: " + "; ".join(f for f in faults if f))
            else:
                self.right += 1

    def judge(self, spec, texts, opsets):
        try:
            path = self.captured(spec, texts)
        except Exception as error:
            return self.halved(spec, texts, opsets, "PyTorch cannot capture it: " + str(error))
        for opset in opsets:
            if "bf16" in spec and opset < 13:
                continue  # refused: the type came with opset 13
            before = self.right
            try:
                self.compared(self.exported(path, spec, opset), spec, texts, opset)
            except Exception as error:
                self.right = before
                self.halved(spec, texts, [opset], str(error))

    def halved(self, spec, texts, opsets, why):
        if len(texts) == 1:
            self.blame(spec, texts[0], opsets[0], " ".join(why.split())[:300])
            return
        middle = len(texts) // 2
        self.judge(spec, texts[:middle], opsets)
        self.judge(spec, texts[middle:], opsets)


def rows_of(paths, only):
    for path in paths:
        spec = importlib.util.spec_from_file_location(Path(path).stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for given, texts in module.ROWS:
            texts = [text for text in texts if only in text or only in given]
            for i in range(0, len(texts), TOGETHER):
                yield given, texts[i:i + TOGETHER]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--anyshape", default=os.environ.get("ANYSHAPE", "anyshape"))
    parser.add_argument("--rows", action="append")
    parser.add_argument("--opsets", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--only", default="")
    parser.add_argument("--how", choices=("pt2", "pt"), default="pt2")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    full = os.environ.get("ANYSHAPE_FULL") == "1"
    draw = random.Random(int(os.environ.get("ANYSHAPE_SEED", "0")))
    ort.set_default_logger_severity(4)
    torch.set_num_threads(1)
    paths = options.rows or sorted(str(p) for p in HERE.glob("aten_*.py") if p.stem != "aten_live")
    groups = list(rows_of(paths, options.only))
    if not (full or options.rows or options.only):
        groups = draw.sample(groups, (len(groups) + 2) // 3)
    opsets = options.opsets or (list(OPSETS) if full else [17, draw.choice([n for n in OPSETS if n != 17])])
    with tempfile.TemporaryDirectory() as work:
        judge = Judge(options, work)
        for spec, texts in groups:
            judge.judge(spec, texts, opsets)
    for (spec, text), why in judge.wrong.items():
        print(f"WRONG {text} [{spec}]\n      {why}")
    count = sum(len(texts) for _, texts in groups)
    print(f"{count} rows at opsets {opsets}: {count - len(judge.wrong)} right, {len(judge.wrong)} wrong; "
          f"{judge.right} results equal to eager's")
    return 1 if judge.wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
