#!/usr/bin/env python3
"""grid_test.py ANYSHAPE FIXTURES [NAME...]: check against the recorded behaviour of ONNX Runtime.

No point may be accepted that failed to run, none refused that ran (but for the leniencies its model lists), none left
unknown (but where data decides); and the printed accepted set must say the same as the answers.
"""

import json
import sys
from pathlib import Path

from grid import Grid, compare, compile_condition, report

# condition, binding, whether it holds
CONDITION_ROWS = [
    ("always", {}, True),
    ("never", {}, False),
    ("seq == 120", {"seq": 120}, True),
    ("s >= 16 or s == 1", {"s": 2}, False),
    ("s >= 16 or s == 1", {"s": 1}, True),
    ("h % 32 in {0, 29, 30, 31}", {"h": 61}, True),
    ("h % 32 in {0, 29, 30, 31}", {"h": 60}, False),
    ("batch*seq % 30 == 0", {"batch": 2, "seq": 15}, True),
    ("x.0 in 1..4 and 'input:0.1' != 3", {"x.0": 4, "input:0.1": 2}, True),
    ("x.0 in 1..4", {"x.0": 5}, False),
    ("1 <= min(a, 2*b) <= 3", {"a": 9, "b": 1}, True),
    ("(h//4)*(w//4) == 16", {"h": 8, "w": 35}, True),
    ("'it\\'s \\x09' == 2", {"it's \t": 2}, True),
    ("broadcast(a, b) == 3", {"a": 1, "b": 3}, True),
    ("select(a >= 2, a, b) == 1", {"a": 1, "b": 1}, True),
    ("select(a >= 2, 4//(a - 1), b) == 1", {"a": 1, "b": 1}, True),
    ("broadcast(a, b, 1, a) == 3", {"a": 1, "b": 3}, True),
    ("broadcast(a, b) == 3", {"a": 2, "b": 3}, False),
    ("range//2 + 2 == 4", {"range": 4}, True),
    ("a % b == 0", {"a": 1, "b": 0}, False),
]


def condition_problems():
    return [t for t, binding, holds in CONDITION_ROWS if compile_condition(t)(binding) != holds]


def load(folder, name, entry):
    lines = [json.loads(line) for line in (folder / f"{name}.grid.jsonl").read_text(encoding="utf-8").splitlines()]
    return Grid(
        name=name,
        model=str(folder / f"{name}.onnx"),
        points=[line["shapes"] for line in lines],
        verdicts=lines,
        lenient=tuple(entry["lenient"]),
        data_dependent=entry.get("data_dependent", False),
        inputs=entry["inputs"],
    )


def main():
    cli, folder, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    results = {"(the reader of conditions)": (condition_problems(), True)}
    for name in names or index:
        results[name] = compare(cli, load(folder, name, index[name]))
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
