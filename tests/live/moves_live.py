#!/usr/bin/env python3
"""moves_live.py: ATen operators against PyTorch. Each row is a function of tensors (an expression, or statements with a
return) and the types of its inputs. It is captured by torch.export and torch.jit.trace with its named axes dynamic,
exported by anyshape at several opsets, and ONNX Runtime and our engine give what PyTorch gives at several sizes.

A row: `x.roll(3, 1) | x=f32[b,s,4] | s>=3`. Inputs: f32, f16, f64, i64, i32, i16, i8, u8, bool; `i64[b]<s` holds
0..s-1, `i64[b]<-s..s` holds -s..s-1. Third column, separated by blanks: `s>=3` smallest size, `opset>=16` (refused
below), `from:13` (not tried below), `refuse:CODE`, `notrace`, `nopt2`, `one` (only the captured size), `shapes:N` (at most N Shape nodes at opset 17).

Usage: moves_live.py [FAMILY...] (moves_FAMILY.py holds the rows; none: all). Environment: ANYSHAPE (the program),
ANYSHAPE_OPSETS, ANYSHAPE_ROWS (a substring), ANYSHAPE_SEED.
"""

import importlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper

warnings.filterwarnings("ignore")
sys.path.insert(0, str(Path(__file__).resolve().parent))

CLI = os.environ["ANYSHAPE"]
OPSETS = [int(v) for v in os.environ.get("ANYSHAPE_OPSETS", "11,17,23").split(",")]
SEED = int(os.environ.get("ANYSHAPE_SEED", "7"))
TYPES = {
    "f32": torch.float32, "f16": torch.float16, "f64": torch.float64, "i64": torch.int64,
    "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
}
EXAMPLE = {"b": 3, "s": 7, "t": 5, "h": 8, "w": 6, "n": 11}
OTHERS = [{"b": 1, "s": 1, "t": 1, "h": 4, "w": 2, "n": 1}, {"b": 2, "s": 6, "t": 9, "h": 12, "w": 10, "n": 2},
          {"b": 5, "s": 2, "t": 2, "h": 16, "w": 4, "n": 11}]


class Row:
    def __init__(self, text):
        columns = [c.strip() for c in text.split(" | ")]
        self.text = columns[0]
        self.inputs = []
        for name, dtype, dims, bound in re.findall(r"(\w+)=(\w+)\[([^\]]*)\](?:<(\S+))?", columns[1]):
            dims = [d.strip() for d in dims.split(",") if d.strip()]
            self.inputs.append((name, dtype, dims, bound))
        self.options = columns[2].split() if len(columns) > 2 else []

    def option(self, prefix):
        return next((o[len(prefix):] for o in self.options if o.startswith(prefix)), None)

    def module(self):
        body = self.text if "return" in self.text else "return " + self.text
        lines = [part.strip() for part in body.split(";")]
        names = ", ".join(name for name, *_ in self.inputs)
        source = f"def forward(self, {names}):\n" + "".join(f"    {line}\n" for line in lines)
        scope = {"torch": torch, "F": torch.nn.functional, "np": np}
        exec(source, scope)
        return type("Module", (torch.nn.Module,), {"forward": scope["forward"]})().eval()

    def symbols(self):
        return {d for _, _, dims, _ in self.inputs for d in dims if d in EXAMPLE}

    def sizes(self):
        out = [EXAMPLE]
        for sizes in OTHERS if "one" not in self.options else []:
            least = {s: int(self.option(s + ">=") or 1) for s in EXAMPLE}
            out.append({s: max(v, least[s]) for s, v in sizes.items()})
        return out

    def tensors(self, sizes, generator):
        out = []
        for _, dtype, dims, bound in self.inputs:
            shape = [sizes[d] if d in sizes else int(eval(d, {}, sizes)) for d in dims]
            kind = TYPES[dtype]
            if bound:
                low, high = bound.split("..") if ".." in bound else ("0", bound)
                value = torch.randint(eval(low, {}, sizes), eval(high, {}, sizes), shape, generator=generator).to(kind)
            elif kind == torch.bool:
                value = torch.rand(shape, generator=generator) > 0.5
            elif kind.is_floating_point:
                value = (torch.rand(shape, generator=generator, dtype=torch.float64) * 4 - 2).to(kind)
            else:
                value = torch.randint(0 if dtype == "u8" else -9, 10, shape, generator=generator).to(kind)
            out.append(value)
        return out


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [x for item in result for x in flat(item)]
    return [torch.as_tensor(result)]


def as_numpy(tensor):
    tensor = tensor.detach().contiguous().resolve_conj()
    return tensor.numpy()


def capture(row, module, args, folder):
    """The archives that can be made: (kind, path)."""
    out = []
    symbols = row.symbols()
    if "nopt2" not in row.options:
        auto = tuple({i: torch.export.Dim.AUTO for i, d in enumerate(dims) if d in symbols} for _, _, dims, _ in row.inputs)
        with torch.no_grad():
            program = torch.export.export(module, tuple(a.clone() for a in args), dynamic_shapes=auto, strict=False)
        torch.export.save(program, folder / "model.pt2")
        out.append(("pt2", folder / "model.pt2"))
    if "notrace" not in row.options and os.environ.get("ANYSHAPE_TRACE", "1") == "1":
        with torch.no_grad():
            traced = torch.jit.trace(module, tuple(a.clone() for a in args), check_trace=False)
        traced.save(str(folder / "model.pt"))
        out.append(("pt", folder / "model.pt"))
    return out


def export(row, archive, target, opset):
    command = [CLI, "export", str(archive), "-o", str(target), "--opset", str(opset), "--guards", "drop"]
    for name, _, dims, _ in row.inputs:
        named = [f"{i}={d}" for i, d in enumerate(dims) if d in EXAMPLE]
        if named:
            command += ["--dynamic", f"{name}:{','.join(named)}"]
    if archive.suffix == ".pt":
        command += ["--input-names", ",".join(name for name, *_ in row.inputs)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, (done.stderr + done.stdout).strip()


def difference(ours, theirs):
    theirs = as_numpy(theirs)
    if list(ours.shape) != list(theirs.shape):
        return f"shape {list(ours.shape)}, PyTorch has {list(theirs.shape)}"
    if ours.dtype != theirs.dtype:
        return f"type {ours.dtype}, PyTorch has {theirs.dtype}"
    if ours.dtype.kind == "f":
        loose = {"float64": 1e-9, "float32": 1e-5, "float16": 4e-3}[str(ours.dtype)]
        same = np.allclose(ours.astype(np.float64), theirs.astype(np.float64), rtol=loose, atol=loose, equal_nan=True)
    else:
        same = np.array_equal(ours, theirs)
    return None if same else f"values differ: {ours.ravel()[:6]} against {theirs.ravel()[:6]}"


def write_case(folder, index, row, args, results):
    data = folder / f"test_data_set_{index}"
    data.mkdir()
    for i, ((name, *_), value) in enumerate(zip(row.inputs, args)):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(as_numpy(value), name).SerializeToString())
    for i, value in enumerate(results):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(as_numpy(value), f"o{i}").SerializeToString())


def check(row, path, cases):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    given = {i.name for i in session.get_inputs()}
    for args, results in cases:
        feed = {name: as_numpy(v) for (name, *_), v in zip(row.inputs, args) if name in given}
        sizes = [list(a.shape) for a in args]
        try:
            outputs = session.run(None, feed)
        except Exception as error:
            return f"at {sizes}: {str(error)[:200]}", model
        if len(outputs) != len(results):
            return f"{len(outputs)} outputs, PyTorch has {len(results)}", model
        for i, (ours, theirs) in enumerate(zip(outputs, results)):
            if why := difference(ours, theirs):
                return f"output {i} at {sizes}: {why}", model
    return None, model


def cases_of(row, module):
    generator = torch.Generator().manual_seed(SEED)
    out = []
    for n, sizes in enumerate(row.sizes()):
        args = row.tensors(sizes, generator)
        try:
            with torch.no_grad():
                results = flat(module(*[a.clone() for a in args]))
        except Exception:
            if n == 0:
                raise
            continue
        out.append((args, results))
    return out


def run_row(row, root, folders, tally):
    folder = Path(tempfile.mkdtemp(dir=root))
    module = row.module()
    cases = cases_of(row, module)
    refusal = row.option("refuse:")
    least = int(row.option("opset>=") or 11)
    for kind, archive in capture(row, module, cases[0][0], folder):
        for opset in OPSETS:
            if opset < int(row.option("from:") or 0):
                continue
            target = folder / f"{kind}_{opset}.onnx"
            code, text = export(row, archive, target, opset)
            tally["exports"] += 1
            if refusal or opset < least:
                if code != 3 or (refusal and refusal not in text):
                    yield f"{kind} opset {opset}: should be refused, exit {code}: {text[-300:]}"
                continue
            if code != 0:
                yield f"{kind} opset {opset}: exit {code}: {text[-300:]}"
                break
            why, model = None, None
            try:
                why, model = check(row, target, cases)
            except Exception as error:
                why = f"{type(error).__name__}: {str(error)[:250]}"
            if why:
                yield f"{kind} opset {opset}: {why}"
            if model is None:
                continue
            tally["runs"] += len(cases)
            shapes = sum(n.op_type == "Shape" for n in model.graph.node)
            if opset == 17:
                tally["nodes"] += len(model.graph.node)
                tally["shapes"] += shapes
                if os.environ.get("ANYSHAPE_SHOW"):
                    print("   ", kind, [n.op_type for n in model.graph.node])
                if (most := row.option("shapes:")) is not None and shapes > int(most):
                    yield f"{kind}: {shapes} Shape nodes"
            if opset in (17, OPSETS[-1]):
                case = folder / f"case_{kind}_{opset}"
                case.mkdir()
                shutil.copy(target, case / "model.onnx")
                for i, (args, results) in enumerate(cases):
                    write_case(case, i, row, args, results)
                folders[str(case)] = row.text


def main():
    chosen = os.environ.get("ANYSHAPE_ROWS", "")
    failed = []
    folders, tally = {}, {"exports": 0, "runs": 0, "nodes": 0, "shapes": 0}
    root = tempfile.mkdtemp(prefix="moves_live")
    rows = []
    here = Path(__file__).resolve().parent
    families = sys.argv[1:] or sorted(p.stem[6:] for p in here.glob("moves_*.py") if p.stem != "moves_live")
    for family in families:
        text = importlib.import_module(f"moves_{family}").ROWS
        rows += [Row(t) for t in text.splitlines() if t.strip() and not t.startswith("#") and chosen in t]
    for row in rows:
        try:
            problems = list(run_row(row, root, folders, tally))
        except Exception as error:
            problems = [f"not captured: {type(error).__name__}: {str(error)[:300]}"]
        if problems:
            failed.append(row.text)
            print(f"FAIL {row.text}  {row.options}")
            for problem in problems[:4]:
                print("     ", problem)
    if folders:
        for batch in itertools.batched(folders, 100) if hasattr(itertools, "batched") else [list(folders)]:
            done = subprocess.run([CLI, "test", *batch], capture_output=True, text=True)
            for line in (done.stdout + done.stderr).splitlines():
                if "fail" in line.lower() or "error" in line.lower():
                    known = next((t for f, t in folders.items() if f in line), "")
                    print("ENGINE", known, line[-300:])
                    if known:
                        failed.append(known)
    shutil.rmtree(root, ignore_errors=True)
    print(f"{len(rows)} rows, {len(set(failed))} failed; {tally['exports']} exports, {tally['runs']} sizes run by ONNX "
          f"Runtime, {len(folders)} models by our engine; at opset 17: {tally['nodes']} nodes, {tally['shapes']} Shape")
    sys.exit(1 if failed or not rows else 0)


if __name__ == "__main__":
    main()
