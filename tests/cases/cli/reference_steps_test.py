#!/usr/bin/env python3
"""reference_steps_test.py [--update] CLI ROOT: no model of the tree has an operator run by a reference kernel that
reference_steps.txt does not list for it. --update writes the list anew."""
import pathlib
import re
import subprocess
import sys

LIST = pathlib.Path(__file__).with_name("reference_steps.txt")
PATTERNS = ["bench/models/*.onnx", "examples/**/*.onnx", "tests/fixtures/sklearn/**/*.onnx",
            "tests/fixtures/tf2onnx/**/*.onnx", "tests/fixtures/mql5/lstm120.onnx", "tests/fixtures/run/cnn.onnx",
            "tests/fixtures/run/mlp.onnx"]
HEAD = """# The operators that run by reference kernels, for each model of the tree that is a network; see reference_steps_test.py.
"""


def operators(cli, model):
    """Those that the last line of the plan names."""
    done = subprocess.run([cli, "plan", str(model)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{model}: {done.stderr}")
    last = done.stdout.splitlines()[-1]
    if last == "no step runs by a reference kernel":
        return set()
    named = re.fullmatch(r"\d+ steps? runs? by (?:a )?reference kernels?: (.+)", last)
    if not named:
        sys.exit(f"{model}: the plan does not end with the steps that run by reference kernels: {last}")
    return set(named[1].split(", "))


def read_list():
    rows = [line.split(": ") for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {model: set(names.split(", ")) - {"none"} for model, names in rows}


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    cli, root = arguments[0], pathlib.Path(arguments[1])
    models = sorted({model for pattern in PATTERNS for model in root.glob(pattern)})
    found = {str(model.relative_to(root)): operators(cli, model) for model in models}
    if "--update" in sys.argv:
        lines = [f"{model}: {', '.join(sorted(names)) or 'none'}\n" for model, names in found.items()]
        LIST.write_text(HEAD + "".join(lines), encoding="utf-8")
        return 0
    listed = read_list()
    failures = 0
    for model, names in found.items():
        for name in sorted(names - listed.get(model, set())):
            failures += 1
            print(f"{model}: {name} runs by a reference kernel (`anyshape plan` says why). Give it a planned kernel in "
                  f"src/run/cpu, or let one there take it; if it is to stay slow, list it in {LIST.name} with --update.")
    print(f"{len(found)} models, {failures} operators that are not listed")
    return 1 if failures or not found else 0


if __name__ == "__main__":
    sys.exit(main())
