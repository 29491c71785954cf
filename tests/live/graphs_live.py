#!/usr/bin/env python3
"""graphs_live.py: differential fuzzing. Random graphs (graph_draw.py, graph_ops.py) run by the optimised plan, by the
reference-only plan and by ONNX Runtime; the three agree.

Graphs are written as ONNX test folders with ONNX Runtime's answers, and `anyshape test` runs a batch of them at once,
with and without --reference. A model with symbolic axes is run at a second size, too, where ONNX Runtime takes it.
A failure is shrunk and printed; its folder stays in build/graphs. At most a third may be refused by ONNX Runtime.
Environment: ANYSHAPE (the program), ANYSHAPE_SEED, ANYSHAPE_FULL=1 for 20,000 graphs, ANYSHAPE_GRAPHS for any number.
"""

import dataclasses
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent))

from graph_draw import F16, F32, F64, Drawer  # noqa: E402
import graph_ops_more  # noqa: E402, F401: adds its own
import graph_ops_movement  # noqa: E402, F401: adds its own
from graph_ops import OPERATORS  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CLI = os.environ["ANYSHAPE"]
KEPT = ROOT / "build" / "graphs"
BATCH, SECONDS, SHRUNK = 100, 110, 8
SAMPLE, FULL = 4000, 20000
# Entries of float32 and float16 go through up to 12 operators, and ONNX Runtime keeps float16 as float32 in between.
RELATIVE = {F16: 3e-2, F32: 1e-3}
ABSOLUTE = {F16: 1e-2, F32: 2e-5}
# ONNX Runtime gives other shapes than the operator's text, or memory as it finds it, when these have no entries.
WRONG_IF_EMPTY = re.compile("Reduce|Arg|MatMul|Gemm|LSTM|GRU|RNN")
# A window of MaxPool that sees only padding gives the lowest float32, far beyond the bounds that values are drawn with.
LARGEST = 1e18


def tolerance(case, wants):
    """(relative, absolute): by the coarsest float of the graph, absolute by the largest entry of an output."""
    dtypes = {dtype for dtype, _ in case.types.values()}
    coarse = next((t for t in (F16, F32) if t in dtypes), None)
    if coarse is None:
        return 1e-6, 1e-9
    entries = [np.abs(w[np.isfinite(w)]).max(initial=0) for want in wants for w in want if w.dtype.kind == "f"]
    return RELATIVE[coarse], ABSOLUTE[coarse] * max(1.0, *map(float, entries), 0.0)


class Doubtful(Exception):
    """ONNX Runtime's answers are no measure here."""


class Peer:
    """ONNX Runtime on one model; raises what it raises."""

    def __init__(self, model):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        # Its own rewrites of float16 and of reductions change values; the answers are those of the graph as written.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options)

    def run(self, inputs, outputs=None):
        return self.session.run(outputs, inputs)


def resized(case, rng):
    """The inputs with every axis of one symbol at another size, or None."""
    sizes = sorted({case.inputs[name].shape[axis] for name, axes in case.symbolic.items() if name in case.inputs
                    for axis in axes})
    if not sizes:
        return None
    old, new = rng.choice(sizes), rng.choice([0, 1, 2, 3, 4, 6, 9, 19])
    generator, out = np.random.default_rng(rng.getrandbits(64)), {}
    for name, array in case.inputs.items():
        shape = [new if axis in case.symbolic[name] and d == old else d for axis, d in enumerate(array.shape)]
        entries = generator.integers(0 if array.dtype.kind == "u" else -12, 13, shape)
        if name.startswith("n"):  # a trip count
            entries = np.abs(entries) % 4 + 1
        out[name] = np.asarray(entries / 4 if array.dtype.kind == "f" else entries, array.dtype)
    return out


def every_value(case):
    """The case with every tensor it makes as an output."""
    return dataclasses.replace(case, outputs=[o for n in case.nodes for o in n.output if o in case.types])


def of_nothing(case, arrays):
    """Whether an operator that ONNX Runtime gets wrong then has an input without entries; arrays: by name."""
    return any(WRONG_IF_EMPTY.match(node.op_type) and any(n in arrays and not arrays[n].size for n in node.input)
               for node in case.nodes)


def overflows(arrays):
    """Whether an entry is too large for its square; what is computed from it overflows in an order of its own."""
    floats = [a[np.isfinite(a)].astype(F64) for a in arrays if a.dtype.kind == "f"]
    return any((np.abs(a) > LARGEST).any() for a in floats)


def write_folder(folder, model, sets):
    """ONNX's test layout; sets: (inputs, outputs) of arrays."""
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    for index, (inputs, outputs) in enumerate(sets):
        data = folder / f"test_data_set_{index}"
        data.mkdir()
        for stem, infos, arrays in (("input", model.graph.input, inputs), ("output", model.graph.output, outputs)):
            for i, (info, array) in enumerate(zip(infos, arrays, strict=True)):
                (data / f"{stem}_{i}.pb").write_bytes(numpy_helper.from_array(array, info.name).SerializeToString())


def prepare(case, rng, folder):
    """Writes the case with ONNX Runtime's answers; gives its tolerance. Raises what ONNX Runtime raises."""
    model, full = case.model(), every_value(case)
    onnx.checker.check_model(model)
    peer, sets = Peer(full.model()), []

    def add(inputs):
        arrays = inputs | case.constants | dict(zip(full.outputs, peer.run(inputs), strict=True))
        if overflows(arrays.values()):
            raise Doubtful("an entry's square overflows")
        if inputs is not case.inputs and of_nothing(case, arrays):
            raise Doubtful("an operator of no entries")
        sets.append((list(inputs.values()), [arrays[name] for name in case.outputs]))

    add(case.inputs)
    other = resized(case, rng) if rng else None
    if other:
        try:
            add(other)
        except Exception:  # noqa: BLE001: the graph does not take this size
            pass
    write_folder(folder, model, sets)
    return tolerance(case, [outputs for _, outputs in sets])


def run_tests(root, reference):
    """Folder name -> error text of the tests that fail below `root`; None when the program dies."""
    command = [CLI, "test", str(root), "--quiet", "--threads", "2"] + (["--reference"] if reference else [])
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 3):
        return None
    found = re.findall(r"^FAIL (.*)\n +(.*)", done.stdout, re.MULTILINE)
    return {Path(path).name: text for path, text in found}


def failures(root, names):
    """Folder name -> what is wrong with it."""
    wrong = {}
    for reference in (False, True):
        told = run_tests(root, reference)
        if told is None:
            told = {name: "the program died" for name in names if run_tests(root / "graphs" / name, reference) is None}
        for name, text in told.items():
            wrong.setdefault(name, f"{'reference' if reference else 'optimised'} plan: {text}")
    return {name: text for name, text in wrong.items() if not only_lax(root / "graphs" / name, text)}


def only_lax(folder, text):
    """Sizes only ONNX Runtime's laxness lets through. A graph that takes no size at all because of it may be refused by a
    later node: what is said of the sizes themselves decides."""
    if "error[lenient." in text or "error[" not in text:
        return "error[lenient." in text
    shapes = []
    for i, value in enumerate(onnx.load(folder / "model.onnx").graph.input):
        data = folder / "test_data_set_0" / f"input_{i}.pb"
        if value.type.HasField("tensor_type") and data.is_file():
            sizes = onnx.load_tensor(data).dims
            shapes += ["--shape", f"{value.name}={'x'.join(map(str, sizes)) if sizes else 'scalar'}"]
    told = subprocess.run([CLI, "check", str(folder / "model.onnx"), "--quiet", *shapes], capture_output=True, text=True)
    return "error[lenient." in told.stderr


def write_manifest(root, tolerances):
    lines = [f"graphs\t{name}\t{relative!r}\t{absolute!r}\t1\n" for name, (relative, absolute) in tolerances.items()]
    (root / "manifest.tsv").write_text("".join(lines))


def fails(case, inputs=None):
    """What is wrong with the case, or an empty text; what ONNX Runtime refuses is right."""
    case = dataclasses.replace(case, inputs=inputs) if inputs else case
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        try:
            limits = prepare(case, None, root / "graphs" / "case")
        except Exception:  # noqa: BLE001
            return ""
        write_manifest(root, {"case": limits})
        return failures(root, ["case"]).get("case", "")


def cut_at(case, name, array):
    """The case with a value as an input in place of the node that makes it."""
    return dataclasses.replace(case, nodes=[n for n in case.nodes if name not in n.output],
                               outputs=[o for o in case.outputs if o != name],
                               inputs=case.inputs | {name: array}, symbolic=case.symbolic | {name: set()}).pruned()


def values_of(case):
    full = every_value(case)
    return dict(zip(full.outputs, Peer(full.model()).run(case.inputs), strict=True))


def simpler(case):
    """Cases with less in them, the most drastic first."""
    made = every_value(case).outputs
    for name in made:
        if [name] != case.outputs:
            yield dataclasses.replace(case, outputs=[name]).pruned()
    for name in case.outputs:
        if len(case.outputs) > 1:
            yield dataclasses.replace(case, outputs=[o for o in case.outputs if o != name]).pruned()
    arrays = values_of(case)
    for name in reversed(made):
        if name not in case.outputs or len(case.outputs) > 1:
            yield cut_at(case, name, arrays[name])
    for name, axes in case.symbolic.items():
        for axis in axes if name in case.inputs else ():
            yield dataclasses.replace(case, symbolic=case.symbolic | {name: axes - {axis}})


def shrunk(case):
    text = fails(case)
    if not text:
        return case, ""
    while True:
        for smaller in simpler(case):
            wrong = fails(smaller)
            if wrong:
                case, text = smaller, wrong
                break
        else:
            return case, text


def show(name, case, text):
    print(f"FAIL {name}: {text}")
    model = re.sub(r"(?s)^<.*?>\s*", "", onnx.printer.to_text(case.model())).strip()
    print(re.sub(r"\{[-\d.,]{200,}\}", "{...}", model))
    for key, array in case.inputs.items():
        print(f"  {key} = {np.array2string(array, threshold=40, edgeitems=2).replace(chr(10), ' ')}", flush=True)


def keep(name, case, text, root):
    """Shrinks a failure and leaves it in build/graphs."""
    folder = KEPT / name
    shutil.rmtree(folder, ignore_errors=True)
    small, still = shrunk(case)
    if still:
        prepare(small, None, folder)
        show(name, small, still)
    else:
        # Only the second size fails: the folder as it is.
        shutil.copytree(root / "graphs" / name, folder)
        show(f"{name} (at its second size)", case, text)


class Tally:
    def __init__(self):
        self.drawn = self.refused = self.sets = self.failed = 0
        self.operators, self.reasons = Counter(), Counter()

    def refuse(self, reason):
        self.refused += 1
        self.reasons[re.sub(r"[\d'\"]+|v\d+", "#", reason)[:110]] += 1


def draw_and_prepare(seed, index, root):
    """(case, its tolerance, why ONNX Runtime refuses it)."""
    rng = random.Random(f"{seed} {index}")
    case = Drawer(rng).draw(OPERATORS)
    if not case.nodes:
        return None, None, ""
    try:
        return case, prepare(case, rng, root / "graphs" / f"g{seed}_{index}"), ""
    except Exception as wrong:  # noqa: BLE001
        return case, None, str(wrong)


class Drawers:
    """ONNX Runtime in another process, since it may die."""

    def __init__(self):
        self.start()

    def start(self):
        self.pool = ProcessPoolExecutor(1, get_context("spawn"))

    def draw(self, seed, index, root):
        """As draw_and_prepare; None when the process died."""
        try:
            return self.pool.submit(draw_and_prepare, seed, index, root).result()
        except BrokenProcessPool:
            self.start()
            return None


def prepared(drawers, seed, indices, root, tally):
    """Name -> (case, tolerance) of the graphs ONNX Runtime runs."""
    out = {}
    for index in indices:
        drawn = drawers.draw(seed, index, root)
        if drawn is None:
            shutil.rmtree(root / "graphs" / f"g{seed}_{index}", ignore_errors=True)
            tally.drawn += 1
            tally.refuse(f"it dies of graph {index}")
            continue
        case, limits, reason = drawn
        tally.drawn += case is not None
        if limits:
            out[f"g{seed}_{index}"] = case, limits
        elif case:
            tally.refuse(reason)
    return out


def batch(drawers, seed, indices, tally):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        ready = prepared(drawers, seed, indices, root, tally)
        for name, (case, _) in ready.items():
            tally.operators.update(node.op_type for node in case.nodes)
            tally.sets += len(list((root / "graphs" / name).glob("test_data_set_*")))
        write_manifest(root, {name: limits for name, (_, limits) in ready.items()})
        for name, text in failures(root, ready).items():
            tally.failed += 1
            if tally.failed <= SHRUNK:
                keep(name, ready[name][0], text, root)
            else:
                print(f"FAIL {name}: {text}", flush=True)


def main():
    seed = int(os.environ.get("ANYSHAPE_SEED", "1"))
    full = os.environ.get("ANYSHAPE_FULL") == "1"
    wanted = int(os.environ.get("ANYSHAPE_GRAPHS", FULL if full else SAMPLE))
    print(f"seed {seed}")
    start, tally, drawers = time.monotonic(), Tally(), Drawers()
    for first in range(0, wanted, BATCH):
        if not full and "ANYSHAPE_GRAPHS" not in os.environ and time.monotonic() > start + SECONDS:
            print(f"stopped after {tally.drawn} graphs: {SECONDS} s are over")
            break
        batch(drawers, seed, range(first, min(first + BATCH, wanted)), tally)
    print("operators: " + ", ".join(f"{op} {n}" for op, n in sorted(tally.operators.items())))
    for reason, count in tally.reasons.most_common(10):
        print(f"refused by ONNX Runtime {count} times: {reason}")
    ran = tally.drawn - tally.refused
    few = tally.refused * 3 > tally.drawn
    print(f"{tally.drawn} graphs drawn, {tally.refused} refused by ONNX Runtime{' (too many)' if few else ''}, "
          f"{tally.sets} runs three ways: {ran - tally.failed} passed, {tally.failed} failed")
    return 1 if tally.failed or few or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
