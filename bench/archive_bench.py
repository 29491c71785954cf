#!/usr/bin/env python3
"""archive_bench.py [NAME.KIND...]: CPU time of `anyshape export` on archives of tests/fixtures/export, and of reading the
file that was made (`anyshape info`), as milliseconds above those of `anyshape --version`. Without names: the archives
with the most nodes. ANYSHAPE names the program."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ANYSHAPE = os.environ["ANYSHAPE"]
FIXTURES = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "export"
ARCHIVES = ("adaptive_pool.pt2", "decoder_layer.pt2", "decoder_layer.traced", "unfolds.scripted", "lstm_batch.pt2")
RUNS = 25


def cpu(command, folder=None):
    """Milliseconds of CPU a run takes: the least of many."""
    best = float("inf")
    for _ in range(RUNS):
        child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit {child.returncode}")
        best = min(best, 1000 * (used.ru_utime + used.ru_stime))
    return best


def export_command(name, kind, out):
    case = json.loads((FIXTURES / name / "case.json").read_text())
    row = case["files"][kind]
    command = [ANYSHAPE, "export", row["file"], "-o", str(out), "--opset", str(max(17, case.get("opset", 0)))]
    for option in case["dynamic"]:
        command += ["--dynamic", option]
    if kind == "scripted":
        for value, text in case["inputs"].items():
            command += ["--input", f"{value}={text}"]
    return command + case.get("flags", []) + row.get("flags", [])


def main():
    start = cpu([ANYSHAPE, "--version"])
    print(f"start of the program: {start:.1f} ms of CPU")
    with tempfile.TemporaryDirectory() as place:
        for archive in sys.argv[1:] or ARCHIVES:
            name, kind = archive.rsplit(".", 1)
            out = Path(place) / f"{archive}.onnx"
            exported = cpu(export_command(name, kind, out), FIXTURES / name)
            loaded = cpu([ANYSHAPE, "info", str(out)])
            print(f"{archive}: export {exported - start:.1f} ms, load {loaded - start:.1f} ms")


if __name__ == "__main__":
    main()
