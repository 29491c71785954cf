#!/usr/bin/env python3
"""typing_live.py: a typed program that makes every public call of the Python package passes `mypy --strict`, and one that
gives wrong types does not.

Environment: ANYSHAPE (the program; the package is beside it in the build tree).
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "tests" / "python" / "typed_example.py"
# A line of the example, and one in its place that is wrong.
WRONG = [
    ("timing.best <= timing.median", "timing.best <= timing.nobody"),
    ('dynamic={"x": {1: "seq"}}', 'dynamic={"x": {"one": "seq"}}'),
    ("timeout=60, seed=3", 'timeout="60", seed=3'),
    ("anyshape.simplify(made.bytes)", "anyshape.simplify(3)"),
]


def told(path, cache):
    environment = os.environ | {"MYPYPATH": str(ROOT / "bindings" / "python")}
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", cache, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout + done.stderr


def main():
    text = EXAMPLE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        cache = str(Path(folder, "cache"))
        code, said = told(EXAMPLE, cache)
        assert code == 0, said
        for right, wrong in WRONG:
            assert text.count(right) == 1, right
            path = Path(folder, "wrong.py")
            path.write_text(text.replace(right, wrong))
            code, said = told(path, cache)
            assert code == 1 and "1 error" in said, f"{wrong}: {said}"
    print(f"typing: mypy --strict has nothing to say, and finds {len(WRONG)} wrong types")


if __name__ == "__main__":
    main()
