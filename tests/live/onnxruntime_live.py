#!/usr/bin/env python3
"""onnxruntime_live.py: programs of packages from PyPI, once with onnxruntime and once with anyshape in its place: the same
results; and the table of docs/onnxruntime.md names everything onnxruntime has.

Environment: ANYSHAPE (the program; the package is beside it in the build tree).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from onnxruntime_programs import PROGRAMS  # noqa: E402

PACKAGE = Path(os.environ["ANYSHAPE"]).resolve().parent.parent / "python"
TABLE = HERE.parents[1] / "tools" / "generate" / "onnxruntime_table.py"
# Of scores and coordinates; they have passed image resizing and thresholds after the model.
TOLERANCE = 1e-3


def run(*command):
    """(standard output, what went wrong)"""
    environment = os.environ | {"PYTHONPATH": str(PACKAGE), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, env=environment)
    return done.stdout, "" if done.returncode == 0 else done.stderr.strip().split("\n")[-1]


def difference(got, want, where="result"):
    """Empty where they are the same; else where they differ."""
    if isinstance(want, list) and isinstance(got, list) and len(got) == len(want):
        told = (difference(one, other, f"{where}[{i}]") for i, (one, other) in enumerate(zip(got, want)))
    elif isinstance(want, dict) and isinstance(got, dict) and got.keys() == want.keys():
        told = (difference(got[key], want[key], f"{where}[{key!r}]") for key in want)
    elif isinstance(want, float) and isinstance(got, float) and abs(got - want) <= TOLERANCE * max(1, abs(want)):
        return ""
    else:
        return "" if got == want else f"{where}: {got!r:.200} for {want!r:.200}"
    return next(filter(None, told), "")


def compare(name):
    results = []
    for engine in ([], ["anyshape"]):
        out, failure = run(HERE / "onnxruntime_programs.py", name, *engine)
        if failure:
            return f"with {'anyshape' if engine else 'onnxruntime'}: {failure}"
        results.append(json.loads(out.strip().split("\n")[-1]))
    want, got = results
    return difference(got, want)


def main():
    failed = 0
    out, failure = run(TABLE, "--check")
    print(f"table: {failure or out.strip()}")
    failed += bool(failure)
    for name in PROGRAMS:
        told = compare(name)
        failed += bool(told)
        print(f"{name}: {told or 'same'}", flush=True)
    print(f"{len(PROGRAMS)} programs and the table of names: {failed} differ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
