#!/usr/bin/env python3
"""sound_live.py: yes means yes. Random graphs at several bindings of their symbols, and what may not be said of them:

1. what check refuses, run refuses, with the same code; neither ever dies;
2. what run refuses, check refuses or leaves unknown, or the condition is on data;
3. the printed set and the walk agree at every binding where the set is exact; outside the set the walk refuses; no
   region that is proved has a binding in it that is refused;
4. the shapes of outputs, as formulas and by the walk, are the real ones;
5. the values are those of ONNX Runtime without its optimizer, by both plans, one binding after the other, too; it runs
   what is accepted, and refuses what is refused;
6. what `fix --simplify` and `--freeze` write takes the same bindings and gives the same values.

Graphs are drawn by sound_draw.py from the operators of graph_ops*.py and sound_ops*.py. A failure is shrunk, printed and
kept in build/graphs. A sanitiser's report is a failure: ANYSHAPE may be the program of the preset dev.
Environment: ANYSHAPE (the program); ANYSHAPE_FULL=1 for 20,000 graphs, ANYSHAPE_GRAPHS for any number, ANYSHAPE_SECONDS
to draw until the time is over, each from ANYSHAPE_SEED. Without one of these the sample is drawn, the same every time: what
fails in it failed because of a change.
"""

import os
import random
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import onnx

sys.path.insert(0, str(Path(__file__).resolve().parent))

import graph_ops_more  # noqa: E402, F401: adds its own
import graph_ops_movement  # noqa: E402, F401: adds its own
import sound_ops_rare  # noqa: E402, F401: adds its own
from graph_ops import OPERATORS  # noqa: E402
from sound_draw import SoundDrawer  # noqa: E402
from sound_graph import PLANS, Graph, judge, peer_problems  # noqa: E402
from sound_judge import ROOT, SCRATCH, Folder, write_set  # noqa: E402
from sound_ops_body import STEPS  # noqa: E402
from sound_ops_size import SIZED  # noqa: E402
from sound_shrink import shrunk  # noqa: E402
from sound_tally import Tally  # noqa: E402
from sound_teeth import toothless  # noqa: E402

KEPT = ROOT / "build" / "graphs"
BATCH, SHRUNK = 50, 8
SAMPLE, SAMPLE_SEED, SECONDS, FULL = 1200, 20261118, 240, 20000
ALL = OPERATORS + SIZED * 2
STEPS.extend(ALL)


# What ONNX Runtime has a part in is done in another process, since it may die.

def draw(seed, index):
    return SoundDrawer(random.Random(f"{seed} {index}")).draw(ALL)


def peer(data, case, bindings):
    return list(peer_problems(data, case, bindings))


def smaller(case, kind):
    """The case shrunk, and what is found of it."""
    plans = [plan for plan in PLANS if kind.startswith(plan)]
    fix = any(word in kind for word in ("fix", "simplified", "frozen"))
    return shrunk(case, lambda c: next((f for f in judge(c, plans, fix) if f.kind == kind), None))


class Helper:
    def __init__(self):
        self.context = get_context("forkserver")
        self.context.set_forkserver_preload(["sound_live"])
        self.start()

    def start(self):
        self.pool = ProcessPoolExecutor(1, self.context)

    def ask(self, function, *arguments):
        """None when the process dies."""
        try:
            return self.pool.submit(function, *arguments).result()
        except BrokenProcessPool:
            self.start()
            return None

    def draw(self, seed, indices):
        """(index, case) as they come; None when the process died of it."""
        ahead = {i: self.pool.submit(draw, seed, i) for i in indices}
        for place, index in enumerate(indices):
            try:
                yield index, ahead[index].result()
            except BrokenProcessPool:
                self.start()
                yield index, None
                ahead |= {i: self.pool.submit(draw, seed, i) for i in indices[place + 1:]}


def show(name, case, found):
    print(f"FAIL {name}: {found.kind}: {found.text}")
    model = re.sub(r"(?s)^<.*?>\s*", "", onnx.printer.to_text(case.model())).strip()
    print(re.sub(r"\{[-\d.,]{200,}\}", "{...}", model))
    for key, array in case.runs[max(0, found.binding)].inputs.items():
        print(f"  {key} {list(array.shape)} = {np.array2string(array, threshold=40, edgeitems=2).replace(chr(10), ' ')}")
    sys.stdout.flush()


def keep(helper, graph, found):
    """Shrinks a failure and leaves it in build/graphs: the model and the binding."""
    folder = KEPT / graph.name
    shutil.rmtree(folder, ignore_errors=True)
    case, still = helper.ask(smaller, graph.case, found.kind) or (graph.case, None)
    found = still or found
    show(graph.name, case, found)
    model = case.model()
    run = case.runs[max(0, found.binding)]
    write_set(folder / "test_data_set_0", model, run, run.judged)
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))


def drawn(helper, seed, indices, root, tally, both):
    """The graphs, checked and fixed."""
    for index, case in helper.draw(seed, indices):
        tally.draw(case)
        if case is None or not case.outputs:
            continue
        graph, rng = Graph(f"s{seed}_{index}", case, root), random.Random(f"{seed} {index} judged")
        graph.check(rng)
        if both or rng.random() < 0.5:
            graph.fix(rng, both)
        yield graph


def batch(helper, seed, indices, tally, both):
    with tempfile.TemporaryDirectory(dir=SCRATCH) as temporary:
        root = Path(temporary)
        graphs = list(drawn(helper, seed, indices, root, tally, both))
        folder = Folder(root / "runs")
        for graph in graphs:
            graph.add_runs(folder)
        for plan in PLANS:
            results = folder.run(plan == "reference")
            for graph in graphs:
                graph.take(results, plan)
        for graph in graphs:
            for fix in graph.fixes:
                if fix.how == "simplified":
                    graph.found += helper.ask(peer, fix.path.read_bytes(), graph.case, graph.accepted()) or []
            graph.settle()
            tally.add(graph)
            report(helper, graph, tally)


def report(helper, graph, tally):
    if graph.found and tally.failed <= SHRUNK:
        keep(helper, graph, graph.found[0])
    for found in graph.found:
        print(f"FAIL {graph.name}: {found.kind}: {found.text}", flush=True)


def main():
    full = os.environ.get("ANYSHAPE_FULL") == "1"
    sample = not full and not {"ANYSHAPE_GRAPHS", "ANYSHAPE_SECONDS"} & os.environ.keys()
    seed = SAMPLE_SEED if sample else int(os.environ.get("ANYSHAPE_SEED", "1"))
    wanted = int(os.environ.get("ANYSHAPE_GRAPHS", FULL if full else SAMPLE))
    seconds = int(os.environ.get("ANYSHAPE_SECONDS", SECONDS if sample else 0))
    print(f"seed {seed}", flush=True)
    for row in toothless():
        print(f"FAIL the judges themselves: {row}")
        return 1
    start, first, tally, helper = time.monotonic(), 0, Tally(), Helper()
    while first < wanted or "ANYSHAPE_SECONDS" in os.environ:
        if seconds and time.monotonic() > start + seconds:
            print(f"stopped after {first} graphs: {seconds} s are over")
            break
        batch(helper, seed, range(first, first + BATCH), tally, full)
        first += BATCH
    helper.pool.shutdown()
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
