#!/usr/bin/env python3
"""export_cases.py: every archive of tests/fixtures/export through `anyshape export`, and the result at every golden size.

usage: export_cases.py ANYSHAPE FIXTURES [--expected FILE] [--only NAME]... [--file pt2|traced|scripted]... [--opset N]
                       [--keep DIR] [--ort] [--write FILE] [-v]

An archive passes when
  - the export succeeds (or is refused with the code the case names) and the file passes onnx.checker;
  - at opset 18 and below the IR version is 8 or lower;
  - inputs have the names and dims that were asked for, declared output dims hold at every golden size;
  - `anyshape check` accepts the sizes at which the archive is right, and refuses those at which the model itself fails
    and those at which a .pt2 is wrong without its guards;
  - `anyshape run` gives the golden values: floats within the tolerance of the case, integers and bools exactly.
The test passes when the archives that fail are those of --expected, no more and no fewer. --ort runs the files on ONNX
Runtime as well; --write writes the list of what fails now.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
from shape_nodes import all_nodes, shape_nodes

DEFAULT_OPSET = 17
KINDS = ("pt2", "traced", "scripted")


class Failed(Exception):
    pass


def need(condition, sentence):
    if not condition:
        raise Failed(sentence)


def first_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("error")), lines[0] if lines else "no message")


def call(*arguments, timeout=60, folder=None):
    try:
        return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=timeout, cwd=folder)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{arguments[1]}: more than {timeout} s") from late


class Trial:
    """One archive of one case."""

    def __init__(self, cli, folder, kind, options, work):
        self.cli, self.folder, self.kind, self.work = os.path.abspath(cli), folder, kind, Path(work).absolute()
        self.case = json.loads((folder / "case.json").read_text())
        self.row = self.case["files"][kind]
        self.opset = max(options.opset or DEFAULT_OPSET, self.case.get("opset", 0))
        self.ort = options.ort
        self.out = self.work / f"{folder.name}.{kind}.onnx"
        self.counts = None

    @property
    def key(self):
        return f"{self.folder.name}/{self.kind}"

    def dims(self, size):
        """The input shapes at a size, from texts such as f32[batch,3,h]."""
        shapes = {}
        for name, text in self.case["inputs"].items():
            words = [word for word in re.search(r"\[(.*)\]", text)[1].split(",") if word]
            shapes[name] = [int(word) if word.isdigit() else size[word] for word in words]
        return shapes

    def export(self):
        arguments = [self.cli, "export", self.row["file"], "-o", self.out, "--opset", str(self.opset)]
        for option in self.case["dynamic"]:
            arguments += ["--dynamic", option]
        if self.kind == "scripted":
            for name, text in self.case["inputs"].items():
                arguments += ["--input", f"{name}={text}"]
        done = call(*arguments, *self.case.get("flags", []), *self.row.get("flags", []), folder=self.folder)
        if error := self.row.get("error", self.case.get("error")):
            need(done.returncode == 3, f"export: exit {done.returncode} instead of a refusal with {error}")
            need(f"error[{error}]" in done.stderr, f"export: refused with another code: {first_line(done.stderr)}")
            return False
        need(done.returncode == 0, f"export: exit {done.returncode}: {first_line(done.stderr or done.stdout)}")
        return True

    def load(self):
        model = onnx.load(self.out)
        try:
            onnx.checker.check_model(model)
        except Exception as error:
            raise Failed(f"onnx.checker: {first_line(str(error))}") from error
        opset = next(item.version for item in model.opset_import if item.domain in ("", "ai.onnx"))
        need(opset == self.opset, f"opset {opset} instead of {self.opset}")
        need(opset > 18 or model.ir_version <= 8, f"IR version {model.ir_version} at opset {opset}")
        self.counts = (all_nodes(model), shape_nodes(model))
        return model

    def check_inputs(self, model):
        weights = {tensor.name for tensor in model.graph.initializer}
        found = {value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
                 for value in model.graph.input if value.name not in weights}
        need(set(found) == set(self.case["inputs"]), f"inputs are {', '.join(found)}")
        for name, text in self.case["inputs"].items():
            wanted = [word for word in re.search(r"\[(.*)\]", text)[1].split(",") if word]
            good = len(wanted) == len(found[name]) and all(map(self.same_dim, found[name], wanted))
            need(good, f"input {name} is {found[name]}, not [{','.join(wanted)}]")

    def same_dim(self, found, wanted):
        """Of two names proved equal the first may stand for both."""
        sizes = [self.case["sizes"][name] for name in self.row["right"]]
        return str(found) == wanted or all(found in size and size[found] == size.get(wanted) for size in sizes)

    def check_output_dims(self, model, size, arrays):
        count = sum(key.startswith("out_") for key in arrays)
        found = len(model.graph.output)
        need(found == count or found > count and self.case.get("state"), f"{found} outputs, not {count}")
        for i, value in enumerate(model.graph.output[:count]):
            golden = arrays[f"out_{i}"].shape
            dims = list(value.type.tensor_type.shape.dim)
            need(value.type.tensor_type.HasField("shape"), f"output {value.name} has no shape")
            need(len(dims) == len(golden), f"output {value.name} has rank {len(dims)}, not {len(golden)}")
            for axis, (dim, real) in enumerate(zip(dims, golden)):
                if dim.HasField("dim_value"):
                    need(dim.dim_value == real, f"output {value.name} axis {axis} says {dim.dim_value}, is {real}")
                elif dim.dim_param in size:
                    need(size[dim.dim_param] == real, f"output {value.name} axis {axis} says {dim.dim_param}, is {real}")

    def check_shapes(self):
        """The answers of `anyshape check` to the sizes that must be accepted and refused."""
        sizes = self.case["sizes"]
        wrong = [name for name, why in self.row.get("otherwise", {}).items() if self.kind == "pt2" or why == "fails"]
        refused = self.case.get("refused", []) + wrong
        names = self.row["right"] + refused
        file = self.work / f"{self.folder.name}.{self.kind}.jsonl"
        file.write_text("".join(json.dumps(self.dims(sizes[name])) + "\n" for name in names))
        done = call(self.cli, "check", self.out, "--shapes-file", file, "--fail-on", "never")
        answers = [line for line in done.stdout.splitlines() if line.split(" ")[0] in ("accept", "refuse", "unknown")]
        need(done.returncode in (0, 3) and len(answers) >= len(names),
             f"check: exit {done.returncode}: {first_line(done.stderr or done.stdout)}")
        for name, answer in zip(names, answers[-len(names):]):
            if name in refused:
                need(answer.startswith("refuse"), f"check at {name}: {answer}, but the model fails there")
            else:
                need(answer.startswith("accept"), f"check at {name}: {answer}")

    def compare(self, engine, name, ours, arrays):
        golden = [arrays[f"out_{i}"] for i in range(sum(key.startswith("out_") for key in arrays))]
        for i, (a, b) in enumerate(zip(ours, golden)):
            place = f"{engine} at {name}: output {i}"
            if np.iscomplexobj(b):
                b = np.stack([b.real, b.imag], axis=-1)
            need(a.dtype == b.dtype, f"{place} is {a.dtype}, not {b.dtype}")
            need(a.shape == b.shape, f"{place} is {a.shape}, not {b.shape}")
            if b.dtype.kind not in "fc":
                need(np.array_equal(a, b), f"{place} differs ({int((a != b).sum())} of {b.size})")
            else:
                good = np.isclose(a, b, rtol=self.case["rtol"], atol=self.case["atol"], equal_nan=True)
                with np.errstate(invalid="ignore"):
                    far = np.nanmax(np.abs(a.astype(np.float64) - b.astype(np.float64)), initial=0.0)
                need(good.all(), f"{place} differs ({int((~good).sum())} of {b.size}, by up to {far:.3g})")

    def run_anyshape(self, name, inputs):
        folder = self.work / f"{self.folder.name}.{self.kind}.{name}"
        folder.mkdir(exist_ok=True)
        arguments = []
        for key, array in inputs.items():
            np.save(folder / f"{key}.npy", array)
            arguments += ["--input", f"{key}={folder / key}.npy"]
        done = call(self.cli, "run", self.out, *arguments, "--threads", "1", "-o", folder / "out")
        need(done.returncode == 0, f"run at {name}: exit {done.returncode}: {first_line(done.stderr or done.stdout)}")
        count = len(list((folder / "out").glob("output_*.npy")))
        return [np.load(folder / "out" / f"output_{i}.npy") for i in range(count)]

    def run_goldens(self, model):
        session = None
        if self.ort:
            import onnxruntime
            onnxruntime.set_default_logger_severity(3)
            try:
                session = onnxruntime.InferenceSession(str(self.out), providers=["CPUExecutionProvider"])
            except Exception as error:
                raise Failed(f"onnxruntime: {first_line(str(error))}") from error
        for name in self.row["right"]:
            arrays = dict(np.load(self.folder / f"{name}.npz"))
            self.check_output_dims(model, self.case["sizes"][name], arrays)
            inputs = {key[3:]: array for key, array in arrays.items() if key.startswith("in_")}
            self.compare("run", name, self.run_anyshape(name, inputs), arrays)
            if session:
                try:
                    answer = session.run(None, inputs)
                except Exception as error:
                    raise Failed(f"onnxruntime at {name}: {first_line(str(error))}") from error
                self.compare("onnxruntime", name, answer, arrays)

    def run(self):
        """The first thing that is wrong, or None."""
        try:
            if not self.export():
                return None
            model = self.load()
            self.check_inputs(model)
            self.check_shapes()
            if self.case.get("run", True):
                self.run_goldens(model)
        except Failed as failure:
            return str(failure)
        return None


def read_expected(path):
    rows = [line.split(None, 1) for line in Path(path).read_text().splitlines() if line.strip() and line[0] != "#"]
    assert all(len(row) == 2 for row in rows), "every expected failure needs a reason"
    return {row[0] for row in rows}


def write_expected(path, failures):
    rows = [f"{key:34} {failure[:150]}" for key, failure in failures.items() if failure]
    head = "# Archives whose export is not right yet, each with what is wrong; one that passes has to leave the list."
    Path(path).write_text("\n".join([head, *rows]) + "\n")


def report(trials, failures, expected, verbose):
    unexpected = [t for t in trials if failures[t.key] and t.key not in expected]
    fixed = [t for t in trials if not failures[t.key] and t.key in expected]
    for trial in trials:
        if failures[trial.key] and (verbose or trial in unexpected):
            print(f"{trial.key}: {failures[trial.key]}")
        elif verbose and trial.counts:
            print(f"{trial.key}: passed, {trial.counts[0]} nodes, {trial.counts[1]} of them for shapes")
    for trial in fixed:
        print(f"{trial.key}: passes now; take it off the list of expected failures")
    counts = [t.counts for t in trials if t.counts]
    passed = sum(failure is None for failure in failures.values())
    print(f"{len(trials)} archives: {passed} passed, {len(trials) - passed - len(unexpected)} failed as expected, "
          f"{len(unexpected)} failed; {sum(n for n, _ in counts)} nodes, {sum(s for _, s in counts)} of them for shapes")
    return not unexpected and not fixed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anyshape")
    parser.add_argument("fixtures", type=Path)
    parser.add_argument("--expected")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--file", action="append", default=[], choices=KINDS)
    parser.add_argument("--opset", type=int)
    parser.add_argument("--keep")
    parser.add_argument("--ort", action="store_true")
    parser.add_argument("--write")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    folders = sorted(path.parent for path in options.fixtures.glob("*/case.json"))
    folders = [folder for folder in folders if not options.only or folder.name in options.only]
    assert folders, "no such case"
    with tempfile.TemporaryDirectory() as scratch:
        work = options.keep or scratch
        os.makedirs(work, exist_ok=True)
        trials = [Trial(options.anyshape, folder, kind, options, work) for folder in folders
                  for kind in json.loads((folder / "case.json").read_text())["files"]
                  if not options.file or kind in options.file]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            failures = dict(zip([t.key for t in trials], pool.map(Trial.run, trials)))
    if options.write:
        write_expected(options.write, failures)
    expected = read_expected(options.expected) if options.expected else set()
    good = report(trials, failures, expected, options.v)
    unknown = expected - {f"{f.name}/{k}" for f in folders for k in KINDS} if not options.only else set()
    for key in sorted(unknown):
        print(f"{key}: expected to fail, but there is no such archive")
    sys.exit(0 if good and not unknown else 1)


if __name__ == "__main__":
    main()
