#!/usr/bin/env python3
"""conformance_test.py CLI DATA SCHEMA: over every model of onnx's backend test data `check` prints a report that fits
the schema, and `infer` changes nothing but types and leaves a model that passes onnx.checker with strict inference."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx

from infer_test import without_types
from schema_test import problems


def passes_checker(model):
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception:
        return False
    return True


def check_model(cli, schema, path, out):
    """What is wrong with the answers about one model, or None."""
    done = subprocess.run([cli, "check", path, "--format", "json"], capture_output=True, timeout=120)
    if done.returncode != 0:
        return f"check: exit {done.returncode}: {done.stderr.decode()}"
    wrong = problems(json.loads(done.stdout), schema, schema)
    if wrong:
        return f"schema: {wrong[0]}"
    done = subprocess.run([cli, "infer", path, "-o", out], capture_output=True, timeout=120)
    if done.returncode != 0:
        return f"infer: exit {done.returncode}: {done.stderr.decode()}"
    before, after = onnx.load(path), onnx.load(out)
    if without_types(before) != without_types(after):
        return "infer: more than types changed"
    if passes_checker(before) and not passes_checker(after):
        return "infer: the result does not pass onnx.checker"
    return None


def main():
    cli, data, schema_file = sys.argv[1:]
    schema = json.loads(Path(schema_file).read_text(encoding="utf-8"))
    files = sorted(Path(data).rglob("model.onnx"))
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            wrong = check_model(cli, schema, path, Path(folder) / "out.onnx")
            if wrong:
                failures += 1
                print(f"{path.parent.name}: {wrong}")
    print(f"{len(files) - failures} of {len(files)} models")
    return 1 if failures or not files else 0


if __name__ == "__main__":
    sys.exit(main())
