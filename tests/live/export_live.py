#!/usr/bin/env python3
"""export_live.py: PyTorch models made here and now, through `anyshape export`, against eager and PyTorch's own exporters.

usage: export_live.py [--anyshape BIN] [--only NAME]... [--full] [--no-peers] [--keep DIR] [--json FILE] [--list] [-v]

Each model (zoo_vision, zoo_sequence, zoo_hf) is captured by torch.export (.pt2) and torch.jit.trace (.pt), exported by the
program, and run at four or more sizes on ONNX Runtime and on our engine. It passes when both engines are right wherever
the archive itself is, and when nothing is wrong without a word except where a trace has lost a size for good. Models that
do not are listed with their reason in export_known.txt. The same model through torch.onnx.export(dynamo=True) and
(dynamo=False) gives the table: files made, sizes right, wrong without a word, refused, seconds, nodes, and nodes that serve
shapes (tests/export/shape_nodes.py says what counts).

Environment: ANYSHAPE (the program), ANYSHAPE_SEED (draws the models), ANYSHAPE_FULL=1 (all of them).
"""

import argparse
import contextlib
import importlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tools" / "fixtures"), str(HERE.parent / "export")]
ZOOS = {"nn": ("zoo_vision", "zoo_sequence"), "hf": ("zoo_hf",)}
SAMPLE = {"nn": 14, "hf": 12}
# A hang, not a slow capture: torch.export alone takes two minutes for some models.
SECONDS = 900
ROUTES = {"pt2": "anyshape, .pt2", "traced": "anyshape, .pt", "dynamo": "torch.onnx dynamo=True",
          "legacy": "torch.onnx dynamo=False"}
OURS = ("pt2", "traced")


def names_of(zoo):
    """The cases of a zoo by their text: listing them needs no import of transformers."""
    import re
    if zoo == "hf":
        text = (HERE / "zoo_hf.py").read_text()
        return ["hf_" + name.removeprefix("hf_")
                for name in re.findall(r'^(?:text|causal|seq2seq|vision|sound|case)\("([a-z0-9_]+)"', text, re.M)]
    return [name for file in ZOOS[zoo] for name in re.findall(r'^case\("([a-z0-9_]+)"', (HERE / f"{file}.py").read_text(), re.M)]


class Worker:
    """One model in a process of its own; what is known is written after every step."""

    def __init__(self, name, options):
        import torch
        from make_torch_case import CASES
        warnings.filterwarnings("ignore")
        torch.set_num_threads(1)
        for zoo in ZOOS["hf" if name.startswith("hf_") else "nn"]:
            importlib.import_module(zoo)
        self.item, self.options = CASES[name], options
        self.folder = Path(options.keep)
        self.result = {"name": name, "routes": {}}

    def write(self):
        Path(self.options.worker_json).write_text(json.dumps(self.result))

    def golden(self):
        from make_torch_capture import answer, draw, size_name
        self.golden_values = {}
        for size in self.item.sizes:
            inputs = draw(self.item, size)
            self.golden_values[size_name(size)] = (inputs, answer(self.item, inputs))
        self.result["sizes"] = list(self.golden_values)
        self.write()

    def same(self, ours, golden):
        import numpy as np
        if len(ours) != len(golden):
            return False
        for a, b in zip(ours, golden):
            b = b.resolve_conj().numpy()
            if a.shape != b.shape or not np.allclose(a, b, rtol=self.item.rtol, atol=self.item.atol, equal_nan=True):
                return False
        return True

    def at_sizes(self, run):
        """right, wrong or the reason of the refusal, per size."""
        from make_torch_capture import leaves
        verdicts = {}
        for name, (inputs, golden) in self.golden_values.items():
            try:
                feed = {key: value.numpy() for key, value in leaves(inputs).items()}
                verdicts[name] = "right" if self.same(run(name, inputs, feed), golden) else "wrong"
            except Exception as error:
                verdicts[name] = "refused: " + last_line(error)
        return verdicts

    def on_ort(self, path):
        import onnxruntime
        onnxruntime.set_default_logger_severity(4)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
        wanted = {value.name for value in session.get_inputs()}
        return self.at_sizes(lambda name, inputs, feed: session.run(None, {k: v for k, v in feed.items() if k in wanted}))

    def on_anyshape(self, path):
        import numpy as np

        def run(name, inputs, feed):
            with tempfile.TemporaryDirectory() as folder:
                arguments = []
                for key, value in feed.items():
                    np.save(f"{folder}/{key}.npy", value)
                    arguments += ["--input", f"{key}={folder}/{key}.npy"]
                call([self.options.anyshape, "run", str(path), *arguments, "--threads", "1", "-o", f"{folder}/out"])
                count = len(list(Path(folder, "out").glob("output_*.npy")))
                return [np.load(f"{folder}/out/output_{i}.npy") for i in range(count)]

        return self.at_sizes(run)

    def record(self, route, make, path):
        """Makes the file of a route and runs it."""
        import onnx
        from shape_nodes import all_nodes, shape_nodes
        row = self.result["routes"][route] = {}
        start = time.monotonic()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                make(path)
        except Exception as error:
            row["error"] = last_line(error)
            self.write()
            return
        row["seconds"] = time.monotonic() - start
        try:
            model = onnx.load(path)
            row["nodes"], row["shape_nodes"] = all_nodes(model), shape_nodes(model)
            row["ort"] = self.on_ort(path)
        except Exception as error:
            row["error"] = "ONNX Runtime: " + last_line(error)
        if route in OURS:
            row["anyshape"] = self.on_anyshape(path)
        self.write()

    def capture(self, kind):
        import torch
        from make_torch_capture import capture_program, capture_trace, draw, fresh, run_archive
        path = self.folder / f"{self.item.name}.{'pt2' if kind == 'pt2' else 'traced.pt'}"
        inputs, row = draw(self.item, self.item.sizes[0]), self.result.setdefault("archives", {}).setdefault(kind, {})
        start = time.monotonic()
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                if kind == "pt2":
                    program, row["capture"] = capture_program(self.item, fresh(self.item), inputs)
                    torch.export.save(program, path)
                else:
                    torch.jit.save(capture_trace(fresh(self.item), inputs), str(path))
        except Exception as error:
            row["error"] = last_line(error)
            self.write()
            return None
        row["seconds"] = time.monotonic() - start
        row["sizes"] = self.at_sizes(lambda name, inputs, feed: [t.resolve_conj().numpy() for t in
                                                                run_archive(kind, path, inputs)])
        self.write()
        return path

    def ours(self, kind):
        archive = self.capture(kind)
        if archive is None:
            return
        arguments = [self.options.anyshape, "export", str(archive)]
        for option in self.item.dynamic.split():
            arguments += ["--dynamic", option]
        if self.item.opset:
            arguments += ["--opset", str(self.item.opset)]
        self.record(kind, lambda path: call([*arguments, *self.item.flags, "-o", str(path)]),
                    self.folder / f"{self.item.name}.{kind}.onnx")

    def peers(self):
        import torch
        from make_torch_capture import draw, dynamic_shapes, fresh, leaves
        from make_torch_case import parse_dynamic
        inputs = draw(self.item, self.item.sizes[0])
        values = tuple(inputs.values())

        def dynamo(path):
            for kind in (torch.export.Dim.DYNAMIC, torch.export.Dim.AUTO):
                try:
                    torch.onnx.export(fresh(self.item), values, path, dynamo=True, external_data=False, verbose=False,
                                      dynamic_shapes=dynamic_shapes(self.item, inputs, kind))
                    return
                except Exception:
                    if kind is torch.export.Dim.AUTO:
                        raise

        def legacy(path):
            torch.onnx.export(fresh(self.item), values, path, dynamo=False, opset_version=17,
                              input_names=list(leaves(inputs)), dynamic_axes=parse_dynamic(self.item.dynamic))

        self.record("dynamo", dynamo, self.folder / f"{self.item.name}.dynamo.onnx")
        self.record("legacy", legacy, self.folder / f"{self.item.name}.legacy.onnx")

    def run(self):
        self.golden()
        for kind in OURS:
            self.ours(kind)
        if not self.options.no_peers:
            self.peers()


def last_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    chosen = next((line for line in lines if line.startswith("error[")), lines[0] if lines else "")
    return f"{type(error).__name__}: {chosen}"[:200] if not chosen.startswith("error") else chosen[:200]


def call(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise RuntimeError(done.stderr or done.stdout or f"exit {done.returncode}")


def start_worker(name, options, folder):
    file = Path(folder) / f"{name}.json"
    arguments = [sys.executable, __file__, "--worker", name, "--worker-json", str(file), "--keep", str(folder), "--anyshape",
                 options.anyshape] + (["--no-peers"] if options.no_peers else [])
    problem = None
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode != 0:
            problem = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:200]
    except subprocess.TimeoutExpired:
        problem = f"more than {SECONDS} s"
    result = json.loads(file.read_text()) if file.exists() else {"name": name, "routes": {}}
    if problem:
        result["problem"] = problem
    return result


def complaints(result):
    """kind -> what is wrong with what we made of the archive."""
    found = {}
    if "problem" in result:
        found["model"] = result["problem"]
    for kind, archive in result.get("archives", {}).items():
        if "error" in archive:
            continue
        row = result["routes"].get(kind, {})
        if "error" in row or not row:
            found[kind] = row.get("error", "no file")
            continue
        for engine in ("ort", "anyshape"):
            for size, verdict in row[engine].items():
                carried = archive["sizes"][size]
                if carried == "right" and verdict != "right" or verdict == "wrong" and kind == "pt2":
                    found.setdefault(kind, f"{engine} at {size}: {verdict}")
    return found


def verdict_counts(row, engine="ort"):
    values = list(row.get(engine, {}).values())
    return [values.count("right"), values.count("wrong"), sum(v.startswith("refused") for v in values)]


def print_table(results):
    """Nodes and seconds are sums over the models of which every route made a file: sums over others do not compare."""
    shared = [r for r in results if all("seconds" in r["routes"].get(route, {}) for route in ROUTES)]
    print(f"\nseconds and nodes: of the {len(shared)} models of which every route made a file")
    print(f"{'route':26}{'models':>8}{'files':>7}{'all right':>11}{'right':>8}{'WRONG':>7}{'refused':>9}{'seconds':>9}{'nodes':>8}"
          f"{'for shapes':>12}")
    for route, title in ROUTES.items():
        rows = [r["routes"].get(route, {}) for r in results]
        if not any(rows):
            continue
        made = [row for row in rows if "seconds" in row]
        counts = [verdict_counts(row) for row in made]
        right, wrong, refused = [sum(c[i] for c in counts) for i in range(3)]
        whole = sum(c[0] > 0 and c[1] == c[2] == 0 for c in counts)
        both = [r["routes"][route] for r in shared]
        print(f"{title:26}{len(rows):8}{len(made):7}{whole:11}{right:8}{wrong:7}{refused:9}{sum(r['seconds'] for r in both):9.1f}"
              f"{sum(r.get('nodes', 0) for r in both):8}{sum(r.get('shape_nodes', 0) for r in both):12}")
    for kind in OURS:
        archives = [r.get("archives", {}).get(kind, {}) for r in results]
        made = [a for a in archives if "sizes" in a]
        whole = sum(all(v == "right" for v in a["sizes"].values()) for a in made)
        counts = [verdict_counts({"ort": a["sizes"]}) for a in made]
        right, wrong, refused = [sum(c[i] for c in counts) for i in range(3)]
        title = "archive itself, " + (".pt2" if kind == "pt2" else ".pt")
        print(f"{title:26}{len(archives):8}{len(made):7}{whole:11}{right:8}{wrong:7}{refused:9}")


def print_model(result, verbose):
    words = []
    for route in ROUTES:
        row = result["routes"].get(route)
        if row is None:
            words.append(f"{route} no archive" if route in OURS else "")
        elif "seconds" not in row:
            words.append(f"{route} no file")
        else:
            words.append(f"{route} {'/'.join(map(str, verdict_counts(row)))}")
    print(f"{result['name']:22} {'; '.join(filter(None, words))}", flush=True)
    if verbose:
        for kind, archive in result.get("archives", {}).items():
            bad = {k: v for k, v in archive.get("sizes", {}).items() if v != "right"}
            if "error" in archive or bad:
                print(f"    archive {kind}: {archive.get('error', bad)}")
        for route, row in result["routes"].items():
            for engine in ("error", "ort", "anyshape"):
                bad = row.get(engine) if engine == "error" else {k: v for k, v in row.get(engine, {}).items() if v != "right"}
                if bad:
                    print(f"    {route} {engine}: {bad}")


def read_known():
    rows = [line.split(None, 1) for line in (HERE / "export_known.txt").read_text().splitlines()
            if line.strip() and line[0] != "#"]
    assert all(len(row) == 2 for row in rows), "every known failure needs a reason"
    return dict(rows)


def choose(options):
    every = {zoo: names_of(zoo) for zoo in ZOOS}
    if options.only:
        return options.only
    if options.full or os.environ.get("ANYSHAPE_FULL") == "1":
        return every["nn"] + every["hf"]
    rng = random.Random(int(os.environ.get("ANYSHAPE_SEED", "0")))
    return [name for zoo, names in every.items() for name in sorted(rng.sample(names, min(SAMPLE[zoo], len(names))))]


def report(results, options):
    known = read_known()
    found = {f"{r['name']}/{kind}": text for r in results for kind, text in complaints(r).items()}
    new = {key: text for key, text in found.items() if key not in known}
    tried = {r["name"] for r in results}
    fixed = [key for key in known if key.split("/")[0] in tried and key not in found]
    print_table(results)
    for key, text in new.items():
        print(f"FAILED {key}: {text}")
    for key in fixed:
        print(f"{key} passes now: take it off export_known.txt")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    print(f"{len(results)} models, {len(found) - len(new)} known failures, {len(new)} failures, {len(fixed)} off the list")
    return not new and not fixed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--anyshape", default=os.environ.get("ANYSHAPE", ""))
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--json")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--worker")
    parser.add_argument("--worker-json")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    if options.worker:
        Worker(options.worker, options).run()
        return
    names = choose(options)
    if options.list:
        print("\n".join(names))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        results = []
        with ThreadPoolExecutor(options.jobs) as pool:
            for result in pool.map(lambda name: start_worker(name, options, folder), names):
                results.append(result)
                print_model(result, options.v)
    sys.exit(0 if report(results, options) else 1)


if __name__ == "__main__":
    main()
