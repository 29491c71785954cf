"""sound_judge.py: what the program says of a drawn graph, and what may not be said together (sound_live.py lists it)."""

import dataclasses
import json
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import numpy_helper

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cases" / "check"))

from sound_data import Seen  # noqa: E402
from grid import ConditionError, compile_condition, compile_size  # noqa: E402

CLI = os.environ["ANYSHAPE"]
SECONDS = 100  # of the processor; more is a hang
# Thousands of small files: in memory where that is a folder.
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
ENVIRONMENT = os.environ | {"ASAN_OPTIONS": "halt_on_error=1:exitcode=99:allocator_may_return_null=1",
                            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99"}
RELATIVE, ABSOLUTE = {"f2": 3e-2, "f4": 1e-3}, {"f2": 1e-2, "f4": 2e-5}
# What ONNX Runtime refuses, and the operator's text does not: Scan over an axis of no entries, ranks of Resize.
OWN_LIMITS = re.compile("ort_value_tensor_slicer|ScalesValidation|NOT_IMPLEMENTED")
# What it runs, and the text forbids: parts of scan outputs, and items, that have as many entries, in another shape.
REGROUPED = ("concatfromsequence.shape", "join.shape", "loop.scan", "scan.scan")
# No output has this shape: a run that gives any output is told from one that is refused.
NO_OUTPUT = numpy_helper.from_array(np.zeros((1, 1, 1, 1, 1, 1, 1, 0), np.float32), "none").SerializeToString()


class Died(Exception):
    """The program ended as it never should."""


@dataclasses.dataclass(frozen=True)
class Found:
    kind: str  # what is wrong, in a few words
    text: str
    binding: int = -1


def call(*arguments, processor=SECONDS):
    """Runs the program, for so many seconds of the processor at most: other processes may slow it down."""
    command = ["prlimit", f"--cpu={processor}", CLI, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=ENVIRONMENT, check=False)
    if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
        raise Died(f"{arguments[0]} does not end in {processor} s")
    if done.returncode not in (0, 3):
        raise Died(f"{arguments[0]} ends with {done.returncode}: {told(done.stderr)}")
    return done


def told(text):
    """The line that says most."""
    lines = [line for line in text.splitlines() if line.strip()]
    best = [line for line in lines if re.search(r"Sanitizer|runtime error|error\[", line)]
    return (best or lines or [""])[0][:300]


def code_of(text):
    found = re.search(r"error\[([\w.-]+)\]", text)
    return found[1] if found else ""


# check.

def asked(model, shapes, require=""):
    """The report on every binding, and on the region `require`."""
    lines = model.with_suffix(".jsonl")
    lines.write_text("".join(json.dumps(s) + "\n" for s in shapes))
    more = ["--require", require] if require else []
    done = call("check", model, "--shapes-file", lines, "--format", "json", "--fail-on", "never", *more)
    try:
        return Report(json.loads(done.stdout))
    except ValueError:
        raise Died(f"check prints no report, exit {done.returncode}: {told(done.stderr)}") from None


class Report:
    """What `check --format json` says."""

    def __init__(self, parsed):
        self.json, accepted = parsed, parsed["accepted"]
        self.exact, self.never = accepted["exact"], accepted["never"]
        self.conditions = [c["text"] for c in accepted["conditions"]]
        self.verdicts = [a["verdict"] for a in parsed.get("answers", [])]
        self.symbols = [label for value in parsed["inputs"] for label in value["dims"] if isinstance(label, str)]
        self.on_data = [reason for c in accepted["on_data"] for reason in c["because"]]
        self.proof = parsed.get("require")

    def sizes(self, shapes):
        """The symbols at these shapes; None where one name has two sizes, or a number is another."""
        env = {}
        for value in self.json["inputs"]:
            for label, size in zip(value["dims"], shapes[value["name"]]):
                if isinstance(label, int):
                    if label != size:
                        return None
                elif env.setdefault(label, size) != size:
                    return None
        return env


def holds(report, env):
    """Whether the printed set has this point."""
    return not report.never and all(compile_condition(text)(env) for text in report.conditions)


def unreadable(report):
    """Conditions of the printed set that are no formulas of its symbols."""
    for text in report.conditions:
        try:
            compile_condition(text)(dict.fromkeys(report.symbols, 1))
        except ConditionError as wrong:
            yield Found("a condition cannot be read", str(wrong))


def set_problems(report, bindings):
    """The printed set against the walk."""
    wrong = list(unreadable(report))
    yield from wrong
    if wrong:
        return
    for b, shapes in enumerate(bindings):
        env, verdict = report.sizes(shapes), report.verdicts[b]
        if env is None:
            if verdict["answer"] == "accept":
                yield Found("declared sizes are not held", f"{shapes}", b)
            continue
        if verdict["answer"] == "unknown":
            continue
        inside, accepts = holds(report, env), verdict["answer"] == "accept"
        if accepts and not inside:
            yield Found("outside the set, accepted", f"{env}: {report.conditions}", b)
        elif report.exact and inside and not accepts:
            yield Found("inside the exact set, refused",
                        f"{env}: {report.conditions}: {verdict['code']} {verdict['place']} {verdict['sentence']}", b)


def proof_problems(report, require, bindings):
    """A region that is proved has no point that the walk refuses."""
    proof = report.proof
    if not proof:
        return
    if proof["answer"] == "refuted" and proof["verdict"]["answer"] == "accept":
        yield Found("refuted by a shape that is accepted", f"{require}: {proof}")
    inside = compile_condition(require.replace(",", " and "))
    for b, shapes in enumerate(bindings):
        env = report.sizes(shapes)
        if proof["answer"] == "proved" and env and inside(env) and report.verdicts[b]["answer"] == "refuse":
            yield Found("proved, refused", f"{require}: {env}: {report.verdicts[b]['code']}", b)


def dims_at(dims, env):
    """Sizes as numbers, None where they hold more than symbols of axes."""
    def size(dim):
        if isinstance(dim, int):
            return dim
        try:
            return compile_size(dim)(env)
        except ConditionError:
            return None

    return [size(dim) for dim in dims]


def is_lenient(code, sentence):
    """Whether ONNX Runtime may run what is refused."""
    shapes = [[n.strip() for n in shape.split(",") if n.strip()] for shape in re.findall(r"\[([^\]]*)\]", sentence)[:2]]
    sizes = [math.prod(map(int, shape)) for shape in shapes if all(n.isdigit() for n in shape)]
    regrouped = len(shapes) == 2 and (len(sizes) < 2 or sizes[0] == sizes[1])  # a size that data gives may be any
    return code.startswith("lenient.") or (code in REGROUPED and regrouped)


def may_be_lenient(reasons):
    """Whether ONNX Runtime may run what data does not fit."""
    return any(reason["code"].startswith("lenient.") or reason["code"] in REGROUPED for reason in reasons)


def shape_problems(report, case):
    """Shapes of outputs: the formulas and the walk against what ONNX Runtime gives."""
    for b, run in enumerate(case.runs):
        env, verdict = report.sizes(run.shapes()), report.verdicts[b]
        if not run.judged or env is None or verdict["answer"] != "accept":
            continue
        if may_be_lenient([*verdict["data_conditions"], *report.on_data]):
            continue
        for source, values in (("formula", report.json["outputs"]), ("walk", verdict["outputs"])):
            for value in values:
                real = run.outputs[value["name"]].shape
                if "dims" not in value:
                    continue
                said = dims_at(value["dims"], env)
                if len(said) != len(real) or any(s not in (None, r) for s, r in zip(said, real)):
                    yield Found(f"shape by {source} is wrong", f"{value['name']}: {value['dims']} = {said} at {env}, "
                                f"really {list(real)}", b)


# run.

def tolerance(case, run):
    """(relative, absolute): by the coarsest float of the graph, absolute by the largest entry of an output."""
    dtypes = {np.dtype(t).str[1:] for t, _ in case.types.values()}
    coarse = next((t for t in ("f2", "f4") if t in dtypes), None)
    if coarse is None:
        return 1e-6, 1e-9
    entries = [float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in (run.outputs or {}).values() if a.dtype.kind == "f"]
    return RELATIVE[coarse], ABSOLUTE[coarse] * max([1.0, *entries])


def write_set(folder, model, run, judged):
    folder.mkdir(parents=True)
    for i, info in enumerate(model.graph.input):
        if info.name not in run.inputs:  # it has a default
            continue
        (folder / f"input_{i}.pb").write_bytes(numpy_helper.from_array(run.inputs[info.name], info.name).SerializeToString())
    if not judged:
        (folder / "output_0.pb").write_bytes(NO_OUTPUT)
        return
    for i, info in enumerate(model.graph.output):
        array = run.outputs[info.name]
        (folder / f"output_{i}.pb").write_bytes(numpy_helper.from_array(array, info.name).SerializeToString())


class Folder:
    """Tests for one call of `anyshape test`: models with one or more runs each."""

    def __init__(self, root):
        self.root, self.lines, self.names = root, [], {}

    def add(self, name, data, model, case, bindings, judged=True):
        """judged: the outputs are those that ONNX Runtime gave."""
        folder = self.root / "graphs" / name
        folder.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(data)
        for i, b in enumerate(bindings):
            write_set(folder / f"test_data_set_{i}", model, case.runs[b], judged)
        relative, absolute = max(tolerance(case, case.runs[b]) for b in bindings)
        self.lines.append(f"graphs\t{name}\t{relative!r}\t{absolute!r}\t1\n")
        self.names[name] = judged

    def run(self, reference=False):
        """Name -> "" (as it should), "ran", the error text, or "died: ..."."""
        (self.root / "manifest.tsv").write_text("".join(self.lines))
        told_of = self.tell(self.root, list(self.names), reference)
        out = {}
        for name, judged in self.names.items():
            text = told_of.get(name, "")
            out[name] = "ran" if not judged and code_of(text) == "test.output" else text
        return out

    def tell(self, place, names, reference):
        command = ["test", place, "--quiet", "--threads", "1"] + (["--reference"] if reference else [])
        try:
            done = call(*command, processor=SECONDS + len(names))
        except Died as wrong:
            if place != self.root:
                return {names[0]: f"died: {wrong}"}
            out = {}
            for name in names:
                out |= self.tell(self.root / "graphs" / name, [name], reference)
            return out
        found = re.findall(r"^FAIL (.*)\n +(.*)", done.stdout, re.MULTILINE)
        return {Path(path).name: text for path, text in found}


def refused_by_data(seen, text):
    """Whether a node that an error names sees more than shapes."""
    return "a fault of anyshape" not in text and seen.data(re.findall(r'node "(.*?)"', text))


def run_problems(report, case, results, how):
    """results: what a run said at each binding, "" or "ran" where it did. Where data is refused, too, that may come first;
    a model that takes no shape at all is refused before it is asked."""
    seen = Seen(case)
    for b, (run, text) in enumerate(zip(case.runs, results)):
        verdict = report.verdicts[b]
        answer, code, ran = verdict["answer"], verdict.get("code", ""), text in ("", "ran")
        said = f"{code} {verdict.get('place')}: {verdict.get('sentence')}"
        if text.startswith("died"):
            yield Found(f"{how}: dies", text, b)
        elif code_of(text) == "test.output":
            yield Found(f"{how}: wrong value", text, b)
        elif answer == "refuse" and ran:
            yield Found(f"{how}: check refuses, run runs", said, b)
        elif answer == "refuse" and code_of(text) != code and not report.never and not refused_by_data(seen, text):
            yield Found(f"{how}: another code", f"check: {said}; run: {text}", b)
        elif answer == "accept" and not ran and not refused_by_data(seen, text):
            yield Found(f"{how}: check accepts, run refuses", text, b)
        elif answer != "refuse" and not ran and run.judged and not is_lenient(code_of(text), text):
            yield Found(f"{how}: ONNX Runtime runs, run refuses", text, b)


def engine_problems(report, case):
    """Verdicts against ONNX Runtime's."""
    seen = Seen(case)
    for b, run in enumerate(case.runs):
        verdict = report.verdicts[b]
        if verdict["answer"] == "refuse" and run.judged and not is_lenient(verdict["code"], verdict["sentence"]):
            yield Found("refused, ONNX Runtime runs", f"{verdict['code']} {verdict['place']}: {verdict['sentence']}", b)
        elif verdict["answer"] == "accept" and run.error and not run.doubt and not OWN_LIMITS.search(run.error) and (
                not seen.data(re.findall(r"\b[A-Z]\w*_\d+\b", run.error))):
            yield Found("accepted, ONNX Runtime refuses", run.error, b)
