#!/usr/bin/env python3
"""instructions.py [--record] [SPEED_TABLE]: counts the instructions of a run, or of a load, of each model of
instructions.txt and fails where one takes more than 5 % above what is written there; --record writes what was
counted."""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST = HERE / "instructions.txt"
ALLOWED, RUNS = 1.05, 10
# Valgrind knows no AVX-512, so a program that asks for the best vectors takes these.
TARGET = "AVX2"


def entries():
    lines = (line for line in LIST.read_text().splitlines() if line and not line.startswith("#"))
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def count(program, model, inputs):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=anyshape_counted_*",
               program, "--count", str(HERE / "models" / f"{model}.onnx"), inputs]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"{model}: {done.stderr}")
    if done.stdout.strip() != TARGET:
        print(f"skipped: this machine runs {done.stdout.strip()}, not {TARGET}")
        sys.exit(0)
    return int(found[1]) // RUNS


def record(rows):
    comments = [line for line in LIST.read_text().splitlines() if line.startswith("#")]
    lines = [f"{model:14} | {inputs:9} | {counted}" for model, inputs, _, counted in rows]
    LIST.write_text("\n".join(comments + lines) + "\n")


def main():
    words = sys.argv[1:]
    program = next((word for word in words if word != "--record"), str(HERE.parent / "build/release/bin/speed_table"))
    rows = [(model, inputs, int(known), count(program, model, inputs)) for model, inputs, known in entries()]
    if "--record" in words:
        record(rows)
        return 0
    for model, inputs, known, counted in rows:
        change = counted / max(known, 1)
        print(f"{model:14} {inputs:9} {counted:10} of {known:10}  {change:.3f}{'  FAILED' if change > ALLOWED else ''}")
    return any(counted > ALLOWED * known for _, _, known, counted in rows)


if __name__ == "__main__":
    sys.exit(main())
