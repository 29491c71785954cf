"""Every public call refuses an argument of a wrong type with anyshape.Error."""

import contextlib
import inspect
import io
import os
import tempfile
import unittest
import warnings
from pathlib import Path

import anyshape
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests/fixtures/export/dynamic_reshape/dynamic_reshape.pt2"
MODEL = ROOT / "examples/lstm_baked.onnx"

# Of export(): for each argument a value that it cannot be.
EXPORT = {"f": 3, "input_names": 3, "output_names": [3], "opset_version": "17", "dynamic_axes": 3, "guards": 3,
          "compare": "yes", "static": "yes", "strict_axes": 1, "freeze": 3, "batch_only": 1, "allow": 3,
          "ir_version": 8.5, "custom": 3, "custom_shapes": {"a::b": 3}, "inputs": 3, "target": 3,
          "capture_timeout": "long", "input_shapes": 3, "kwargs": 3, "sampler": 3, "training": 3, "external_data": 3,
          "custom_ops": 3, "custom_opsets": 3}  # fmt: skip
CHECK = {"batch_only": "no", "allow": 3, "ignore": [3], "ignore_assumed": 1, "target": 3, "strict": "no"}
SESSION = {"sess_options": 3, "providers": 3}
RUN = {"output_names": 3, "input_feed": 3, "run_options": 3}
SHAPES = ({"x": {1: 2}}, {"x": {1, 2}}, {"x": "12"}, {"x": 3}, {3: (1, 2)}, 3)

# What no argument should stumble over, whatever it is to be.
ODD = (3, -1, 2**70, 1.5, float("nan"), True, None, "text", "", "\ud800", "\0", b"bytes", object(), [], [3], [None], {},
       {"x": 3}, {"x": ["a"]}, {1: 2}, (1, 2), {1}, int, len, np.zeros(3), np.float32(2), iter([1]), 1j, io.StringIO())
# Answers to a wrong call are not waited for.
SECONDS = ("seconds",)
FEED = np.zeros((1, 120, 1), np.float32)


def options(**given):
    return anyshape.InferenceSession(MODEL, anyshape.SessionOptions(**given))


def calls():
    """Name -> a call and arguments that it takes. Every public function and class, and their methods."""
    report, made, session = anyshape.check(MODEL), anyshape.simplify(MODEL), anyshape.InferenceSession(MODEL)
    exported, n, one = anyshape.export(PROGRAM), anyshape.Dim("n"), {"x": (1, 120, 1)}
    of_program = {name: None if given.default is inspect.Parameter.empty else given.default
                  for name, given in inspect.signature(anyshape.export).parameters.items()
                  if name not in ("model", "args", "verbose", "dynamic_shapes", "ignored")}  # fmt: skip
    return {
        "check": (lambda model, **more: anyshape.check(model, **more),
                  {"model": MODEL, "batch_only": False, "allow": (), "ignore": (), "ignore_assumed": False,
                   "target": None, "strict": False}),
        "fix": (anyshape.fix, {"model": MODEL, "dynamic": {"x": {1: "seq"}}, "freeze": {"batch": 1}, "rename": {"y": "z"},
                               "simplify": True, "batch_only": False, "allow": (), "target": None, "dims": "names",
                               "output": None}),
        "simplify": (anyshape.simplify, {"model": MODEL, "output": None}),
        "infer_shapes": (anyshape.infer_shapes, {"model": MODEL, "dims": "names", "output": None}),
        "verify": (anyshape.verify, {"a": MODEL, "b": MODEL, "shapes": one, "rtol": 1, "atol": 1, "seed": 0,
                                     "engine": "anyshape", "threads": 1}),
        "explain": (anyshape.explain, {"model": MODEL, "value": "y:0"}),
        "plan": (anyshape.plan, {"model": MODEL, "shapes": None}),
        "run": (anyshape.run, {"model": MODEL, "feed": FEED, "options": None, "run_options": None}),
        "bench": (anyshape.bench, {"model": MODEL, "shapes": one, "seconds": 0, "threads": 1, "seed": 0,
                                   "engine": "anyshape", "ort_library": ""}),
        "export": (anyshape.export, {"model": PROGRAM} | of_program),
        "InferenceSession": (anyshape.InferenceSession, {"path_or_bytes": MODEL, "sess_options": None, "providers": None,
                                                         "provider_options": None}),
        "InferenceSession.run": (session.run, {"output_names": None, "input_feed": {"x": FEED}, "run_options": None}),
        "InferenceSession.plan": (session.plan, {"shapes": None}),
        "SessionOptions": (options, {"intra_op_num_threads": 0, "optimize": True, "exact": False, "strict": False,
                                     "engine": "anyshape", "ort_library": ""}),
        "RunOptions": (anyshape.RunOptions, {"timeout": None, "max_bytes": None, "seed": 0}),
        "limits": (anyshape.limits, {"timeout": None, "budget": None, "max_bytes": None}),
        "Batches": (anyshape.Batches, {"model": MODEL, "inputs": None, "outputs": None, "axis": None, "error": "error",
                                       "max_rows": 2, "max_bytes": None, "threads": 0}),
        "Batches.__call__": (anyshape.Batches(MODEL), {"rows": {"x": FEED}}),
        "ray.predictor": (lambda **given: anyshape.ray.predictor(**given)(),
                          {"model": MODEL, "inputs": None, "outputs": None, "error": "error", "max_rows": 2,
                           "max_bytes": None, "threads": None}),
        "register_op": (anyshape.register_op, {"domain": "odd", "name": "Op", "rule": "(x) -> y = [x0]", "kernel": None}),
        "register_shape_rule": (anyshape.register_shape_rule, {"text": "odd::of_text: y = [x0]"}),
        "Dim": (anyshape.Dim, {"name": "n"}),
        "Dim.equals": (n.equals, {"other": 1}),
        "Dim.__add__": (lambda other: (n + other, other + n, n - other, other - n), {"other": 1}),
        "Dim.__mul__": (lambda other: (n * other, other * n, n // other, n % other), {"other": 1}),
        "Dim.__lt__": (lambda other: (n < other, n <= other, n > other, n >= other), {"other": 1}),
        "CheckReport.accepts": (report.accepts, {"x": (1, 120, 1)}),
        "CheckReport.smallest": (report.smallest, {"x": (1, 120, 1)}),
        "CheckReport.require": (lambda wanted: report.require(wanted), {"wanted": "batch >= 2"}),
        "CheckReport.explain": (report.explain, {"value": "y:0"}),
        "CheckReport.against": (report.against, {"old": MODEL}),
        "CheckReport.save_html": (report.save_html, {"path": "page.html"}),
        "Model.save": (made.save, {"path": "model.onnx", "external_data": False}),
        "Model.session": (made.session, {"options": None}),
        "Exported.save": (exported.save, {"f": "model.onnx", "external_data": False}),
        "Exported.session": (exported.session, {"options": None}),
    }  # fmt: skip


# Made by calls, errors, modules, and what needs packages that are not in every environment.
NOT_CALLED = {"Answer", "Cancelled", "ComparedShape", "Condition", "Error", "NodeArg", "Proof", "Rule", "Stopped", "Timeout",
              "Timing", "Verified", "capture", "from_keras", "from_sklearn", "ray", "rules"}  # fmt: skip


@contextlib.contextmanager
def folder():
    """Whatever is taken for the name of a file is in a folder that goes away."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as made:
        os.chdir(made)
        try:
            yield
        finally:
            os.chdir(before)


class ArgumentsTest(unittest.TestCase):
    def refused(self, call, name, value):
        with self.subTest(name), self.assertRaises(anyshape.Error) as caught:
            call(**{name: value})
        self.assertEqual(caught.exception.kind, "usage")

    def test_export(self):
        for name, value in EXPORT.items():
            self.refused(lambda **given: anyshape.export(PROGRAM, **given), name, value)

    def test_check(self):
        for name, value in CHECK.items():
            self.refused(lambda **given: anyshape.check(MODEL, **given), name, value)

    def test_session(self):
        session = anyshape.InferenceSession(MODEL)
        for name, value in SESSION.items():
            self.refused(lambda **given: anyshape.InferenceSession(MODEL, **given), name, value)
        for name, value in RUN.items():
            self.refused(lambda **given: session.run(**{"output_names": None, "input_feed": {"x": FEED}} | given), name,
                         value)  # fmt: skip

    def test_report(self):
        report = anyshape.check(MODEL)
        self.refused(lambda value: report.require(value), "value", 3)
        self.refused(lambda value: report.explain(value), "value", 3)
        self.refused(lambda value: report.against(value), "value", 3)
        for shapes in SHAPES:
            self.refused(lambda value: report.accepts(value), "value", shapes)
            self.refused(lambda value: anyshape.plan(MODEL, value), "value", shapes)

    def test_files(self):
        report, missing = anyshape.check(MODEL), "no such folder/file"
        for call in report.save_html, anyshape.simplify(MODEL).save, anyshape.export(PROGRAM).save:
            with self.assertRaises(anyshape.Error) as caught:
                call(missing)
            self.assertEqual((caught.exception.code, caught.exception.kind), ("file.write", "usage"))

    def test_a_captured_program_is_not_captured_again(self):
        with self.assertWarnsRegex(UserWarning, "dynamic_shapes .* dynamic_axes"):
            anyshape.export(PROGRAM, dynamic_shapes={"x": {0: "batch"}})

    def test_anything_for_anything(self):
        """No value of any argument raises what is no anyshape.Error."""
        with folder(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, (call, right) in calls().items():
                call(**right)
                for argument in right:
                    for value in ODD:
                        if argument in SECONDS and isinstance(value, (int, float)):
                            continue
                        with self.subTest(f"{name}({argument}={value!r})"), contextlib.suppress(anyshape.Error):
                            call(**right | {argument: value})

    def test_every_call_is_tried(self):
        tried = calls()
        self.assertEqual({name.split(".")[0] for name in tried} | NOT_CALLED, set(anyshape.__all__))
        for name, (_, right) in tried.items():
            function = getattr(anyshape, name, None)
            if inspect.isfunction(function) and name not in ("check", "export"):
                self.assertEqual(list(right), list(inspect.signature(function).parameters), name)


if __name__ == "__main__":
    unittest.main()
