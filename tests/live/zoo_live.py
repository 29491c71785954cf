#!/usr/bin/env python3
"""zoo_live.py: anyshape.export on live models of every kind, each file run at several sizes beside the model itself.

usage: zoo_live.py [--anyshape BIN] [--only NAME]... [--part I/N] [--jobs N] [--keep DIR] [--json FILE] [--list] [-v]

A model is right when the file gives what the model gives at every size of its case, on our engine and on ONNX Runtime.
It is narrow when the file refuses some of them, refused when no file is made, slow when that takes more than SECONDS of
processor time, and wrong when a value differs: nothing may be wrong. The models that are not right are listed in zoo_known.txt with what they
are and why; one that is something else than the list says fails the test, so that the list stays true.

Environment: ANYSHAPE (the program; the package is beside it in the build tree), ANYSHAPE_SEED (draws the models),
ANYSHAPE_FULL=1 (all of them), ANYSHAPE_PART=I/N (every Nth of them, for several sessions or machines).
"""

import argparse
import collections
import importlib
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tools" / "fixtures"), str(HERE)]
ZOOS = ("zoo_vision", "zoo_sequence", "zoo_layers", "zoo_graph", "zoo_quantized", "zoo_hf", "zoo_hf_text", "zoo_hf_more",
        "zoo_packages", "zoo_control")
SAMPLE = 24
# Of the processor, for one export with its captures. A busy machine may take PATIENCE times as long for it.
SECONDS, PATIENCE = 240, 10
KINDS = ("right", "narrow", "refused", "slow", "wrong")


def load(options):
    sys.path.insert(0, str(Path(options.anyshape).resolve().parent.parent / "python"))
    import onnxruntime  # noqa: F401 - here once, not in every process
    import torch
    from anyshape import capture
    from make_torch_case import CASES
    capture.load_torch()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    for zoo in ZOOS:
        importlib.import_module(zoo)
    return CASES


def first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    code = getattr(error, "code", "")
    return f"{type(error).__name__}{f' {code}' if code else ''}: {lines[0] if lines else ''}"[:300]


def on_ort(model):
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), settings, providers=["CPUExecutionProvider"])
    wanted = {value.name for value in session.get_inputs()}
    return lambda feed: session.run(None, {name: value for name, value in feed.items() if name in wanted})


def differs(item, ours, golden):
    """What differs, or nothing."""
    import numpy as np
    if len(ours) != len(golden):
        return f"{len(ours)} outputs instead of {len(golden)}"
    for i, (a, b) in enumerate(zip(ours, golden)):
        b = b.resolve_conj().numpy()
        if a.shape != b.shape:
            return f"output {i} has shape {list(a.shape)} instead of {list(b.shape)}"
        # What is rounded are sums of entries like the largest one.
        scale = max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0))) if b.dtype.kind == "f" else 1.0
        if not np.allclose(a, b, rtol=item.rtol, atol=item.atol * scale, equal_nan=True):
            return f"output {i} differs by {np.abs(np.float64(a) - np.float64(b)).max():.3g}"
    return ""


def at_sizes(item, engines, result):
    from make_torch_capture import answer, draw, leaves, size_name
    for size in item.sizes:
        inputs = draw(item, size)
        golden = answer(item, inputs)
        feed = {name: value.numpy() for name, value in leaves(inputs).items()}
        for engine, run in engines.items():
            place = f"{engine} at {size_name(size)}"
            try:
                ours = run(feed)
            except Exception as error:
                if result["kind"] != "wrong":
                    result.update(kind="narrow", why=f"{place}: {first_line(error)}")
                continue
            found = differs(item, ours, golden)
            if found:
                result.update(kind="wrong", why=f"{place}: {found}")


def processor_time():
    """(of the captures, which are processes that have ended, of this one)"""
    return tuple(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))


def examine(item, folder):
    """{kind, why, capture, seconds, captures, ours}: seconds of the processor, for the captures and for the rest."""
    start = processor_time()
    result = made_and_run(item, folder)
    captures, ours = (now - then for now, then in zip(result.pop("time"), start))
    if captures + ours > SECONDS and result["kind"] != "wrong":
        result.update(kind="slow", why=f"more than {SECONDS} s")
    return {**result, "seconds": captures + ours, "captures": captures, "ours": ours}


def made_and_run(item, folder):
    import anyshape
    from make_torch_capture import draw, fresh, leaves
    from make_torch_case import parse_dynamic
    inputs, path = draw(item, item.sizes[0]), Path(folder) / f"{item.name}.onnx"
    try:
        made = anyshape.export(fresh(item), tuple(inputs.values()), path, input_names=list(leaves(inputs)),
                               dynamic_axes=parse_dynamic(item.dynamic), opset_version=item.opset or None)
    except Exception as error:
        tried = [f"{name}: {why.strip().splitlines()[0]}" for name, why in getattr(error, "attempts", [])]
        return {"kind": "refused", "why": first_line(error), "tried": tried, "time": processor_time()}
    result = {"kind": "right", "why": "", "capture": made.capture, "nodes": made.nodes, "time": processor_time()}
    session = made.session()
    names = [value.name for value in session.get_inputs()]
    at_sizes(item, {"ours": lambda feed: session.run(None, {name: feed[name] for name in names}), "ort": on_ort(path)}, result)
    return result


def child(item, folder, file):
    """Output of PyTorch's own goes to a file beside the result."""
    log = os.open(f"{file}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        result = examine(item, folder)
    except Exception as error:
        traceback.print_exc()
        result = {"kind": "refused", "why": first_line(error), "seconds": 0}
    Path(file).write_text(json.dumps(result))


def finish(item, process, file, start):
    if process.is_alive():
        process.kill()
        process.join()
        return {"name": item.name, "kind": "slow", "why": "it did not come to an end", "seconds": time.monotonic() - start}
    if not file.exists():
        return {"name": item.name, "kind": "wrong", "why": f"the process ended with {process.exitcode}", "seconds": 0}
    return {"name": item.name, **json.loads(file.read_text())}


def examine_all(items, folder, jobs):
    """A process for each model: a fork, so that PyTorch and transformers are imported once."""
    context, waiting, running = multiprocessing.get_context("fork"), collections.deque(items), []
    while waiting or running:
        while waiting and len(running) < jobs:
            item = waiting.popleft()
            file = Path(folder) / f"{item.name}.json"
            file.unlink(missing_ok=True)
            process = context.Process(target=child, args=(item, folder, file))
            process.start()
            running.append((item, process, file, time.monotonic()))
        done = [one for one in running if not one[1].is_alive() or time.monotonic() - one[3] > PATIENCE * SECONDS]
        running = [one for one in running if one not in done]
        yield from (finish(*one) for one in done)
        time.sleep(0.05)


def read_known():
    """name -> (kind, reason)"""
    rows = [line.split(None, 2) for line in (HERE / "zoo_known.txt").read_text().splitlines()
            if line.strip() and line[0] != "#"]
    assert all(len(row) == 3 and row[1] in KINDS[1:-1] for row in rows), "every known failure needs what it is and why"
    return {name: (kind, reason) for name, kind, reason in rows}


def choose(options, names):
    if options.only:
        return options.only
    if os.environ.get("ANYSHAPE_FULL") == "1" or options.part:
        index, _, count = (options.part or "1/1").partition("/")
        return names[int(index) - 1::int(count)]
    rng = random.Random(int(os.environ.get("ANYSHAPE_SEED", "0")))
    return sorted(rng.sample(names, SAMPLE))


def report(results, options):
    known = read_known()
    failures = 0
    for result in results:
        expected = known.get(result["name"], ("right",))[0]
        if result["kind"] != expected:
            failures += 1
            print(f"FAILED {result['name']} is {result['kind']} and was {expected}: {result['why']}")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    counts = collections.Counter(result["kind"] for result in results)
    ours, captures = (sum(result.get(part, 0) for result in results) for part in ("ours", "captures"))
    print(f"{ours + captures:.0f} s of the processor, {100 * ours / max(ours + captures, 1e-9):.0f} % of them not in captures")
    print(f"{len(results)} models: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS) + f"; {failures} not as listed")
    return not failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--anyshape", default=os.environ.get("ANYSHAPE", ""))
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--part", default=os.environ.get("ANYSHAPE_PART", ""))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep")
    parser.add_argument("--json")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    cases = load(options)
    names = choose(options, sorted(cases))
    if options.list:
        print("\n".join(names))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        results = []
        for result in examine_all([cases[name] for name in names], folder, options.jobs):
            results.append(result)
            tried = "".join(f"\n    {one[:300]}" for one in result.get("tried", ())) if options.v else ""
            print(f"{result['name']:24} {result['kind']:8} {result['seconds']:6.1f} s  {result['why']}{tried}", flush=True)
    sys.exit(0 if report(results, options) else 1)


if __name__ == "__main__":
    main()
