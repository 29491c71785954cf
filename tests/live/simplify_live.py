#!/usr/bin/env python3
"""simplify_live.py: random graphs that read shapes (graph_draw.py, graph_ops.py, and the readers below), simplified by
`anyshape fix --simplify`, give on ONNX Runtime what they gave, at every shape ONNX Runtime runs them at: also where axes of
one name differ, where it is laxer than the operator's text, and where there are no entries.

Environment: ANYSHAPE (the program), ANYSHAPE_SEED, ANYSHAPE_FULL=1 for 3,000 graphs, ANYSHAPE_GRAPHS for any number.
"""

import math
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(Path(__file__).resolve().parent))

from graph_draw import BOOL, I64, Drawer, Refused  # noqa: E402
import graph_ops_more  # noqa: E402, F401: adds its own
import graph_ops_movement  # noqa: E402, F401: adds its own
from graph_ops import OPERATORS  # noqa: E402
from graphs_live import WRONG_IF_EMPTY, every_value  # noqa: E402

CLI = os.environ["ANYSHAPE"]
SAMPLE, FULL, SECONDS, SHAPES, TIMEOUT = 250, 3000, 100, 12, 60
SIZES = (0, 1, 1, 2, 3, 4, 6)
ARITHMETIC = {"Sub": lambda a, b: a - b, "Add": lambda a, b: a + b, "Mul": lambda a, b: a * b, "Min": min, "Max": max}
NONDETERMINISTIC = ("Random", "Bernoulli", "Multinomial")


def shape_of(d, value):
    return d.emit("Shape", [value], [(I64, (value.rank,), 40.0, 0)])[0]


def size_of(d, value, axis):
    return d.emit("Gather", [shape_of(d, value), d.ints(axis)], [(I64, (1,), 40.0, 0)])[0]


def ranked(d, where=lambda value: True):
    return d.pick(ranks=range(1, 6), where=where)


def reshape_like(d):
    data = ranked(d)
    other = ranked(d, lambda v: math.prod(v.shape) == math.prod(data.shape))
    return d.emit("Reshape", [data, shape_of(d, other)], [(data.dtype, other.shape, data.bound, data.grain)])


def expand_like(d):
    data = ranked(d)
    other = ranked(d, lambda v: v.rank == data.rank and all(a in (1, b) for a, b in zip(data.shape, v.shape)))
    return d.emit("Expand", [data, shape_of(d, other)], [(data.dtype, other.shape, data.bound, data.grain)])


def slice_to(d):
    data, other = ranked(d), ranked(d)
    axis, k = d.rng.randrange(data.rank), d.rng.randrange(other.rank)
    shape = [*data.shape]
    shape[axis] = min(shape[axis], other.shape[k])
    return d.emit("Slice", [data, d.ints(0), size_of(d, other, k), d.ints(axis)], [(data.dtype, shape, data.bound, data.grain)])


def compare_sizes(d):
    a, b = ranked(d), ranked(d)
    sizes = [size_of(d, v, d.rng.randrange(v.rank)) for v in (a, b)]
    return d.emit(d.rng.choice(["Equal", "Less"]), sizes, [(BOOL, (1,), 1.0, 0)])


def reshape_to_sum(d):
    """A Reshape to an entry computed of two sizes, and a number; it may be -1, too."""
    data, a, b = ranked(d), ranked(d), ranked(d)
    i, j, op = d.rng.randrange(a.rank), d.rng.randrange(b.rank), d.rng.choice(list(ARITHMETIC))
    entry, count = ARITHMETIC[op](a.shape[i], b.shape[j]), math.prod(data.shape)
    if count == 0 or entry == 0 or entry < -1 or count % entry:
        raise Refused
    rows = count if entry == -1 else entry
    made = d.emit(op, [size_of(d, a, i), size_of(d, b, j)], [(I64, (1,), 2000.0, 0)])[0]
    target = d.emit("Concat", [made, d.ints(count // rows)], [(I64, (2,), 2000.0, 0)], axis=0)[0]
    return d.emit("Reshape", [data, target], [(data.dtype, (rows, count // rows), data.bound, data.grain)])


def shape_out(d):
    return [shape_of(d, ranked(d))]


READERS = [reshape_like, expand_like, slice_to, compare_sizes, reshape_to_sum, shape_out]
LAX = [op for op in OPERATORS if any(name in op.__name__ for name in ("concat", "pool", "einsum", "prelu"))]
DRAWN = [*OPERATORS, *READERS * max(1, len(OPERATORS) // 14), *LAX * 3]


def session_of(data):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def answers(session, inputs):
    """The outputs; None where ONNX Runtime refuses."""
    try:
        return session.run(None, inputs)
    except Exception:  # noqa: BLE001
        return None


def fed(case, rng):
    """Entries at other sizes: some axes of one name together, others each for itself."""
    generator, named, together, out = np.random.default_rng(rng.getrandbits(64)), {}, rng.random(), {}
    for name, array in case.inputs.items():
        shape = [*array.shape]
        for axis in case.symbolic[name]:
            if rng.random() < 0.6:
                size = rng.choice(SIZES)
                shape[axis] = named.setdefault(array.shape[axis], size) if rng.random() < together else size
        entries = generator.integers(0 if array.dtype.kind == "u" else -12, 13, shape)
        if name.startswith("n"):  # a trip count
            entries = np.abs(entries) % 4 + 1
        out[name] = np.asarray(entries / 4 if array.dtype.kind == "f" else entries, array.dtype)
    return out


def same(got, want):
    close = [np.allclose(a, b, rtol=1e-3, atol=1e-3, equal_nan=True) if a.dtype.kind == "f" else np.array_equal(a, b)
             for a, b in zip(got, want) if a.shape == b.shape and a.dtype == b.dtype]
    return len(close) == len(want) and all(close)


def doubtful(case, inputs):
    """Whether an operator has an input without entries for which ONNX Runtime gives memory as it finds it, or another
    shape than the operator's text."""
    full = every_value(case)
    made = answers(session_of(full.model().SerializeToString()), inputs)
    if made is None:
        return True
    arrays = inputs | case.constants | dict(zip(full.outputs, made, strict=True))
    return any((node.op_type == "Concat" or WRONG_IF_EMPTY.match(node.op_type)) and
               any(name in arrays and not arrays[name].size for name in node.input) for node in case.nodes)


def simplified(data, folder):
    """The simplified model; None where it is refused."""
    before, after = Path(folder) / "before.onnx", Path(folder) / "after.onnx"
    before.write_bytes(data)
    done = subprocess.run([CLI, "fix", str(before), "-o", str(after), "--simplify", "--quiet"], capture_output=True,
                          text=True, timeout=TIMEOUT)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"exit {done.returncode}: {done.stderr}")
    return None if done.returncode else after.read_bytes()


def check(seed, index, folder):
    """(runs compared, nodes that are gone, what is wrong)."""
    rng = random.Random(f"{seed} {index}")
    case = Drawer(rng).draw(DRAWN)
    if any(node.op_type.startswith(NONDETERMINISTIC) for node in case.nodes):
        return 0, 0, ""
    model = case.model()
    try:
        onnx.checker.check_model(model)
        before = session_of(model.SerializeToString())
    except Exception:  # noqa: BLE001
        return 0, 0, ""
    data = simplified(model.SerializeToString(), folder)
    if data is None:
        return 0, 0, ""
    gone = len(model.graph.node) - len(onnx.load_model_from_string(data).graph.node)
    after, runs = session_of(data), 0
    for inputs in [case.inputs, *(fed(case, rng) for _ in range(SHAPES))]:
        want = answers(before, inputs)
        if want is None:
            continue
        got, runs = answers(after, inputs), runs + 1
        if (got is None or not same(got, want)) and not doubtful(case, inputs):
            shapes = {name: array.shape for name, array in inputs.items()}
            return runs, gone, f"{'refused' if got is None else 'another answer'} at {shapes}\n{onnx.printer.to_text(model)}"
    return runs, gone, ""


class Worker:
    """ONNX Runtime in another process, since it may die."""

    def __init__(self):
        self.start()

    def start(self):
        self.pool = ProcessPoolExecutor(1, get_context("spawn"))

    def check(self, *arguments):
        """As check; None when the process died."""
        try:
            return self.pool.submit(check, *arguments).result()
        except BrokenProcessPool:
            self.start()
            return None


def main():
    seed, full = int(os.environ.get("ANYSHAPE_SEED", "1")), os.environ.get("ANYSHAPE_FULL") == "1"
    wanted = int(os.environ.get("ANYSHAPE_GRAPHS", FULL if full else SAMPLE))
    print(f"seed {seed}")
    start, worker = time.monotonic(), Worker()
    graphs = died = runs = gone = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for index in range(wanted):
            if not full and "ANYSHAPE_GRAPHS" not in os.environ and time.monotonic() > start + SECONDS:
                print(f"stopped after {index} graphs: {SECONDS} s are over")
                break
            told = worker.check(seed, index, folder)
            if told is None:
                died += 1
                continue
            graphs += told[0] > 0
            runs, gone, failed = runs + told[0], gone + told[1], failed + bool(told[2])
            if told[2]:
                print(f"FAIL graph {index}: {told[2]}", flush=True)
    print(f"{graphs} graphs, {gone} nodes gone, ONNX Runtime died {died} times, {runs} runs compared, {failed} failed")
    return 1 if failed or not gone or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
