#!/usr/bin/env python3
"""docs.py: writes docs/benchmarks.md and the speed row of README.md from build/bench/result.json, which `make bench` left."""

import datetime
import json
import math
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = 40

HEAD = """# Benchmarks

What `make bench` printed last; `make bench-docs` writes this page. Both engines are in one process and take turns; their
outputs are compared before anything is timed (1e-4 of the largest entry of an output; 5e-2 for quantised models, where
one rounding is worth a step). A ratio over 1 means that anyshape is faster; `<` marks rows that it loses. Inputs and
outputs of both stay in the same memory from call to call.

The models are built by `bench/models` from fixed seeds, those of networks by PyTorch and `anyshape export`, with batch,
sequence, height and width dynamic. One row: `build/release/bin/speed_table --quick "mlp 4x256"`.

- **Steady**: the least time of a call, in groups of calls where one is too short for the clock, with the better of one
  and two threads for each side. Items per second are those of the mean call. The roofline is the time that
  the multiply-adds take at the measured peak, or that weights, inputs and outputs take to be read once at the measured
  bandwidth, whichever is longer.
- **Calls**: the distribution of single calls, as many as fit two seconds; *new shape*: every call has a batch never seen
  before; *dynamic/frozen*: the time of the model as it is, over that of the same model after `anyshape fix --freeze
  --simplify`, for each engine alone; *4 threads*: calls per second of four threads that share one session of one thread.
- **Start**: in a process with this engine alone, after another model was loaded; the least of three processes.
"""


def table(entry):
    head, *rows = entry["cells"]
    lines = [head, ["---"] * 2 + ["--:"] * (len(head) - 2), *rows]
    text = "\n".join("| " + " | ".join(cell.strip() for cell in row) + " |" for row in lines)
    return f"## {entry['title']}\n\n{text}\n\n{entry['note']}\n" if entry["note"] else f"## {entry['title']}\n\n{text}\n"


def mean_ratio(result):
    ratios = [row["numbers"]["steady_ratio"] for row in result["rows"]
              if row["section"] == "rows" and "steady_ratio" in row["numbers"]]  # fmt: skip
    under = sum(ratio < 1 for ratio in ratios)
    return math.exp(sum(map(math.log, ratios)) / len(ratios)), under, len(ratios)


def write_readme(mean, under, count, peer):
    path = ROOT / "README.md"
    row = (f"| speed of a run, geometric mean over the {count} rows of [docs/benchmarks.md](docs/benchmarks.md) "
           f"(`make bench`) | {mean:.2f} times {peer}; slower in {under} rows | 1 |")  # fmt: skip
    path.write_text(re.sub(r"^\| (one run, best of 1 and 2 threads|speed of a run, geometric mean).*$", row,
                           path.read_text(), flags=re.M))  # fmt: skip


def main():
    result = json.loads((ROOT / "build/bench/result.json").read_text())
    mean, under, count = mean_ratio(result)
    if count != ROWS:
        sys.exit(f"the last run measured {count} rows of {ROWS}")
    machine = "\n".join(f"| {name} | {value:.1f} |" for name, value in result["machine"].items())
    parts = [
        HEAD,
        f"Last run: {datetime.date.today()}, {', '.join(result['facts'])}. Command: `build/release/bin/speed_table`, the last part of\n`make bench`.\n",
        f"**geomean vs onnxruntime: {mean:.2f}x** ({under} of {count} rows under 1)\n",
        *map(table, result["tables"]),
        f"## The machine, measured\n\n| | |\n|---|--:|\n{machine}\n",
    ]
    (ROOT / "docs/benchmarks.md").write_text("\n".join(parts))
    write_readme(mean, under, count, result["facts"][-1])


if __name__ == "__main__":
    main()
