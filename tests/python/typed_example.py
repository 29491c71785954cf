"""Every public call as a typed program uses it; checked by `mypy --strict` (tests/live/typing_live.py) and run by
typed_test.py."""

from pathlib import Path
from typing import Any

import anyshape
import numpy as np


def questions(model: Path) -> list[str]:
    report: anyshape.CheckReport = anyshape.check(model, ignore=["pinned-axis"])
    answer: anyshape.Answer = report.accepts(x=(1, 120, 1))
    proof: anyshape.Proof = report.require(anyshape.Dim("batch") >= 1, "seq == 120")
    rules: list[anyshape.Rule] = anyshape.rules()
    said: list[str] = [answer.why, proof.kind, rules[0].name, anyshape.explain(model, "y:0"), anyshape.plan(model)]
    return said + report.conditions


def changes(model: Path) -> anyshape.Model:
    seq: anyshape.Dim = 2 * anyshape.Dim("seq") + 1
    made: anyshape.Model = anyshape.fix(model, dynamic={"x": {1: "seq"}}, rename={"y": "out"})
    smaller: anyshape.Model = anyshape.simplify(made.bytes)
    typed: anyshape.Model = anyshape.infer_shapes(smaller, dims="expressions")
    verified: anyshape.Verified = anyshape.verify(made, typed, {"x": (1, 120, 1)})
    first: anyshape.ComparedShape = verified.compared[0]
    assert verified and first.error < 1 and str(seq)
    return typed


def runs(model: Path) -> dict[str, Any]:
    session = anyshape.InferenceSession(model, anyshape.SessionOptions(exact=True))
    argument: anyshape.NodeArg = session.get_inputs()[0]
    options = anyshape.RunOptions(timeout=60, seed=3)
    timing: anyshape.Timing = anyshape.bench(model, {argument.name: (2, 120, 1)}, seconds=0)
    assert timing.best <= timing.median
    with anyshape.limits(timeout=60):
        return anyshape.run(model, {"x": np.zeros((2, 120, 1), np.float32)}, run_options=options)


def refused(model: Path) -> str:
    try:
        anyshape.fix(model, freeze={"nobody": 3})
    except anyshape.Stopped:
        raise
    except anyshape.Error as error:
        return error.code
    return ""


def exported(program: Path) -> anyshape.Exported:
    made: anyshape.Exported = anyshape.export(program, input_shapes={"x": ["batch", None]})
    narrowed: list[str] = [str(one) for one in made.narrowed]
    assert not narrowed
    return made
