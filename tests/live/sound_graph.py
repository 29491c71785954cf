"""sound_graph.py: one drawn graph on its way through the program: check, fix, run; what is wrong with it is `found`."""

import random
import re
import tempfile
from pathlib import Path

import numpy as np
from onnx import load_from_string

from sound_case import replay, session_of
from sound_fix import fixes
from sound_judge import (SCRATCH, Died, Folder, Found, asked, code_of, engine_problems, proof_problems, run_problems,
                         set_problems, shape_problems, tolerance)
from sound_lax import misinferred

PLANS = ("run", "reference")


def symbols(inputs, shapes):
    """The symbols at these shapes, as check calls them; None where one name has two sizes, or a number is another."""
    sizes = {}
    for name, labels in inputs.items():
        for axis, (label, size) in enumerate(zip(labels, shapes[name])):
            fits = size == label if isinstance(label, int) else sizes.setdefault(label or f"{name}.{axis}", size) == size
            if not fits:
                return None
    return sizes


def requirement(rng, inputs, bindings):
    """A region with some of the bindings in it; without rng, the last one."""
    points = [point for point in (symbols(inputs, shapes) for shapes in bindings) if point]
    if not points:
        return ""
    chosen = rng.sample(points, min(len(points), rng.randint(1, 3))) if rng else points[-1:]
    return ", ".join(f"{n} in {min(p[n] for p in chosen)}..{max(p[n] for p in chosen)}" for n in points[0])


class Graph:
    def __init__(self, name, case, root):
        self.name, self.case, self.root = name, case, root
        self.model = case.model()
        self.data = self.model.SerializeToString(deterministic=True)
        self.path = root / f"{name}.onnx"
        self.path.write_bytes(self.data)
        self.bindings = [run.shapes() for run in case.runs]
        self.found, self.fixes, self.report = [], [], None

    def check(self, rng):
        require = requirement(rng, self.case.inputs, self.bindings)
        try:
            report = asked(self.path, self.bindings, require)
        except Died as wrong:
            self.found.append(Found("check dies", str(wrong)))
            return
        if len(report.verdicts) != len(self.bindings):
            self.found.append(Found("check gives no verdicts", str(report.json.get("error"))))
            return
        self.report = report
        self.found += [*set_problems(report, self.bindings), *proof_problems(report, require, self.bindings),
                       *shape_problems(report, self.case), *engine_problems(report, self.case)]

    def fix(self, rng, both):
        if self.report:
            self.fixes = fixes(rng, self, both)

    def accepted(self, report=None):
        """The bindings that are taken and whose values are known."""
        verdicts = (report or self.report).verdicts
        return [b for b, run in enumerate(self.case.runs) if run.judged and verdicts[b]["answer"] == "accept"]

    def add_runs(self, folder):
        if not self.report:
            return
        for b, run in enumerate(self.case.runs):
            folder.add(f"{self.name}_{b}", self.data, self.model, self.case, [b], run.judged)
        turn = self.accepted()
        if turn:
            folder.add(f"{self.name}_turn", self.data, self.model, self.case, [*turn, turn[0]])
        for fix in self.fixes:
            data = fix.path.read_bytes()
            model = load_from_string(data)
            for b in sorted(set(self.accepted(fix.report)) & set(turn)):
                folder.add(f"{self.name}_{fix.how}_{b}", data, model, self.case, [b])

    def take(self, results, how):
        """results: what a run of the folder said, by name."""
        if not self.report:
            return
        texts = [results[f"{self.name}_{b}"] for b in range(len(self.bindings))]
        self.found += run_problems(self.report, self.case, texts, how)
        turn = results.get(f"{self.name}_turn", "")
        if turn and not any(texts[b] for b in self.accepted()):
            self.found.append(Found(f"{how}: one after the other", turn))
        for fix in self.fixes:
            for b in self.accepted():
                text = results.get(f"{self.name}_{fix.how}_{b}", "")
                if text and not texts[b]:
                    self.found.append(Found(f"{how}: {fix.how} gives another answer", f"{fix.arguments}: {text}", b))

    def settle(self):
        """Takes back what is found of values that differ no more than their last bits make them."""
        self.found = [f for f in self.found if not (code_of(f.text) == "test.output" and f.binding >= 0 and
                                                    self.shaky(f))]

    def shaky(self, found):
        told = re.search(r'\("(.*?)"\): entry (\d+) is (\S+) instead of (\S+)$', found.text)
        if not told or told[1] not in self.case.outputs:
            return False
        off, base = abs(float(told[3]) - float(told[4])), self.case.runs[found.binding].outputs[told[1]]
        for seed in range(4):
            arrays, _ = replay(self.case, np.random.default_rng(seed))
            other = arrays[told[1]][found.binding]
            if other is None or other.shape != base.shape:
                return True
            if float(np.abs(other.astype("f8") - base.astype("f8")).max(initial=0)) * 20 >= off:
                return True
        return False


def same(got, want, limits):
    def near(a, b):
        return a.shape == b.shape and a.dtype == b.dtype and np.allclose(a.astype("f8"), b.astype("f8"), *limits, True)

    return len(got) == len(want) and all(map(near, got, want))


def loaded(model):
    """(session, why there is none)."""
    try:
        return session_of(model), ""
    except Exception as wrong:  # noqa: BLE001: inference at load time refuses it
        return None, str(wrong)[:300]


def wrong_buffer(text, case, binding):
    """ONNX Runtime ended at a buffer of another size, which it chose by an inference that is known to be wrong."""
    told = re.search(r"Name:'(.*?)'.*attempting to re-use buffer", text, re.DOTALL)
    nodes = [node for node in case.nodes if told and node.name == told[1]]
    arrays = replay(case)[0] if nodes else {}
    return any(misinferred(node, {name: arrays[name][binding] for name in node.input if name}) for node in nodes)


def peer_problems(data, case, bindings):
    """A simplified file in ONNX Runtime, where that ran the model node by node. Some whole models it does not load, since
    its inference loses track of sizes."""
    session, wrong = loaded(load_from_string(data))
    if not session:
        if loaded(case.model())[0]:
            yield Found("simplified is not loaded by ONNX Runtime", wrong)
        return
    names = [o.name for o in session.get_outputs()]
    for b in bindings:
        run = case.runs[b]
        try:
            got = session.run(None, {i.name: run.inputs[i.name] for i in session.get_inputs()})
        except Exception as wrong:  # noqa: BLE001
            if not wrong_buffer(str(wrong), case, b):
                yield Found("simplified is refused by ONNX Runtime", str(wrong)[:300], b)
            continue
        if not same(got, [run.outputs[n] for n in names], tolerance(case, run)):
            yield Found("simplified gives another answer in ONNX Runtime", "", b)


def judge(case, plans=PLANS, fix=True):
    """All that is wrong with one case."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as temporary:
        root, rng = Path(temporary), random.Random(1)
        graph = Graph("case", case, root)
        graph.check(None)
        if fix:
            graph.fix(rng, True)
        if graph.report and plans:
            folder = Folder(root / "runs")
            graph.add_runs(folder)
            for how in plans:
                graph.take(folder.run(reference=how == "reference"), how)
        graph.settle()
        return graph.found
