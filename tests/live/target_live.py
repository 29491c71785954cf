#!/usr/bin/env python3
"""target_live.py: ONNX's own node tests through `fix --target mql5`.

Every model is refused with a code of the target, or the result passes onnx's checker, is of opset 18 and IR 8 at most,
gives the expected outputs, every other one on the engine and on ONNX Runtime, if the model did so there. ANYSHAPE_FULL=1: all of them.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import onnx
import onnxruntime

ROOT = Path(__file__).resolve().parents[2]
CLI = os.environ["ANYSHAPE"]
LIBRARY = str(Path(onnxruntime.__file__).parent / "capi")
SAMPLE = 400
# Codes with which a model is rightly refused: by the target, the policy, or a rule that refuses the model itself.
REFUSED = ("error[target.", "error[fix.policy]")


def folders():
    data = Path(CLI).resolve().parents[1] / "onnx-data" / "node"
    return sorted(folder for folder in data.iterdir() if (folder / "model.onnx").exists())


def reads_of(model):
    """The versions of the operator sets, in words, when one of them is above the target's."""
    versions = {one.domain: one.version for one in model.opset_import}
    limits = {"": 18, "ai.onnx.ml": 3}
    over = {domain: version for domain, version in versions.items() if version > limits.get(domain, version)}
    return over or (model.ir_version > 8 and {"IR": model.ir_version})


def run(*arguments):
    return subprocess.run([CLI, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def judge(folder, work, engine):
    """(outcome, what is wrong)."""
    if work.exists():
        shutil.rmtree(work)
    shutil.copytree(folder, work)
    source = work / "model.onnx"
    engines = ["--engine", engine] + (["--ort-lib", LIBRARY] if engine == "onnxruntime" else [])
    before = run("test", work, *engines, "--quiet")
    fixed = run("fix", source, "--target", "mql5", "-o", source, "--quiet")
    if fixed.returncode != 0:
        if fixed.returncode == 3 and fixed.stderr.startswith(REFUSED):
            return fixed.stderr.split("]")[0][6:], None
        original = run("check", source, "--quiet", "--fail-on", "never")
        return "refused by check", None if original.returncode == fixed.returncode else fixed.stderr
    lowered = onnx.load(source)
    if over := reads_of(lowered):
        return "written", f"still of {over}"
    try:
        onnx.checker.check_model(lowered)
    except onnx.checker.ValidationError as error:
        return "written", str(error)
    if before.returncode != 0:
        return f"not run by {engine}", None
    after = run("test", work, *engines, "--quiet")
    return f"same on {engine}", after.stdout + after.stderr if after.returncode != 0 else None


def main():
    seed = int(os.environ.get("ANYSHAPE_SEED", "0"))
    chosen = folders()
    if os.environ.get("ANYSHAPE_FULL") != "1":
        chosen = sorted(random.Random(seed).sample(chosen, min(SAMPLE, len(chosen))))
    outcomes, failures = Counter(), 0
    with tempfile.TemporaryDirectory() as place:
        for i, folder in enumerate(chosen):
            outcome, wrong = judge(folder, Path(place) / folder.name, "onnxruntime" if i % 2 else "anyshape")
            outcomes[outcome] += 1
            if wrong:
                failures += 1
                print(f"{folder.name}: {wrong}")
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"seed {seed}: {len(chosen)} models, {failures} wrong: {told}")
    compared = outcomes["same on anyshape"] and outcomes["same on onnxruntime"]
    return 0 if compared and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
