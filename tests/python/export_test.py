"""What of export needs no PyTorch: saved programs, guards and where to try them, comparing."""

import io
import tempfile
import unittest
from pathlib import Path

import anyshape
import numpy as np
from anyshape import _compare

PROGRAMS = Path(__file__).resolve().parents[1] / "fixtures" / "pt2_reader"


class SavedProgramTest(unittest.TestCase):
    def test_linear(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "linear.onnx"
            made = anyshape.export(PROGRAMS / "linear.pt2", (), path, input_names=["a"], output_names=["b"],
                                   dynamic_axes={"a": {0: "batch"}})  # fmt: skip
            self.assertEqual(made.path, str(path))
            report = anyshape.check(path)
            self.assertEqual(report.inputs, {"a": "f32[batch, 3]"})
            self.assertEqual(report.outputs, {"b": "f32[batch, 2]"})
            self.assertTrue(report.require("batch >= 1"))
            x = np.ones((4, 3), np.float32)
            from_file = anyshape.InferenceSession(path).run(None, {"a": x})[0]
            np.testing.assert_array_equal(made.session().run(None, {"a": x})[0], from_file)
            buffer = io.BytesIO()
            made.save(buffer)
            self.assertEqual(buffer.getvalue(), path.read_bytes())

    def test_list_form_and_opset(self):
        made = anyshape.export(PROGRAMS / "linear.pt2", dynamic_axes={"x": [0]}, opset_version=13)
        self.assertEqual(made.check().inputs, {"x": "f32[x.0, 3]"})
        self.assertEqual(made.check().data["opset"], 13)

    def test_static(self):
        made = anyshape.export(PROGRAMS / "linear.pt2", static=True)
        self.assertEqual(made.check().inputs, {"x": "f32[2, 3]"})

    def test_target(self):
        made = anyshape.export(PROGRAMS / "linear.pt2", dynamic_axes={"x": {0: "batch"}}, opset_version=21, target="mql5")
        self.assertEqual(made.check().data["opset"], 18)

    def test_refusals(self):
        rows = [
            ({"target": "mql4"}, "target.unknown"),
            ({"target": "mql5", "external_data": True}, "target.external-data"),
            ({"target": "mql5", "dynamic_axes": {"x": {0: "batch", 1: "features"}}}, "export."),
            ({"dynamic_axes": {"y": {0: "batch"}}}, "dynamic."),
            ({"dynamic_axes": {"x": {7: "batch"}}}, "dynamic."),
            ({"input_names": ["a", "b"]}, "names.inputs"),
            ({"opset_version": 3}, "export.opset"),
            ({"guards": "perhaps"}, "export.guards"),
            ({"opset_version": 17.0}, "argument.integer"),
            ({"ir_version": "8"}, "argument.integer"),
            ({"dynamic_axes": {"x": {0.5: "batch"}}}, "argument.integer"),
            ({"dynamic_axes": {"x": [True]}}, "argument.integer"),
            ({"dynamic_axes": {"x": {0: "batch"}}, "freeze": {"batch": 2.5}}, "argument.integer"),
        ]
        for options, code in rows:
            with self.subTest(options), self.assertRaises(anyshape.Error) as caught:
                anyshape.export(PROGRAMS / "linear.pt2", **options)
            self.assertTrue(caught.exception.code.startswith(code), caught.exception.code)
        with self.assertRaises(anyshape.Error) as caught:
            anyshape.export("nowhere.pt2")
        self.assertEqual(caught.exception.code, "file.open")

    def test_arguments_of_torch(self):
        anyshape.export(PROGRAMS / "linear.pt2", dynamo=False, do_constant_folding=True, export_params=True)
        with self.assertWarns(UserWarning):
            anyshape.export(PROGRAMS / "linear.pt2", keep_initializers_as_inputs=True)
        with self.assertRaises(TypeError):
            anyshape.export(PROGRAMS / "linear.pt2", dynamic_axis={})


def guard(text, **symbols):
    return _compare.Guard(text, symbols, "")


class GuardsTest(unittest.TestCase):
    def test_conditions(self):
        rows = [
            (guard("seq >= 9", seq="x:1"), {"seq": 9}, True),
            (guard("seq >= 9", seq="x:1"), {"seq": 8}, False),
            (guard("h % 4 == 0 or h == 2", h="x:2"), {"h": 6}, False),
            (guard("(h + 1)//2 != 3", h="x:2"), {"h": 4}, True),
            (guard("min(a, b) >= 2", a="x:0", b="y:0"), {"a": 5, "b": 1}, False),
            (_compare.Guard("x.0 == 'y:z'", {"x.0": "x:0", "y:z": "y:0"}, ""), {"x.0": 3, "y:z": 3}, True),
            (guard("broadcast(a, 2) == 2", a="x:0"), {"a": 2}, None),
            (guard("seq >= 9", seq="x:1"), {}, None),
            (guard("().__class__ == 1", a="x:0"), {"a": 1}, None),
        ]
        for one, sizes, holds in rows:
            self.assertIs(one.holds(sizes), holds, one.text)

    def test_both_sides(self):
        for text, example in ("seq >= 9", 12), ("seq <= 100", 12), ("seq % 8 == 0", 16), ("seq != 25", 7):
            one = guard(text, seq="x:1")
            outside, border = _compare.both_sides(one, {"seq": example, "batch": 2})
            self.assertTrue(outside and border, text)
            self.assertTrue(all(one.holds(sizes) is False for sizes in outside), text)
            self.assertTrue(all(one.holds(sizes) is True for sizes in border), text)
        nearest = _compare.both_sides(guard("seq >= 9", seq="x:1"), {"seq": 12})
        self.assertEqual((nearest[0][0], nearest[1][0]), ({"seq": 8}, {"seq": 9}))


class DifferenceTest(unittest.TestCase):
    def test_rows(self):
        one = np.array([1.0, 2.0], np.float32)
        rows = [
            ([one], [one + np.float32(1e-5)], True),
            ([one], [one + np.float32(0.1)], False),
            ([one], [one.astype(np.float64)], False),
            ([one], [one[:1]], False),
            ([one], [np.array([1, np.nan], np.float32)], False),
            ([np.array([np.nan, np.inf], np.float32)], [np.array([np.nan, np.inf], np.float32)], True),
            ([np.array([np.inf], np.float32)], [np.array([-np.inf], np.float32)], False),
            ([np.array([1, 2])], [np.array([1, 3])], False),
            ([one, one], [one], True),
            ([one], [one, one], False),
            ([one[:0]], [one[:0]], True),
        ]
        for got, want, equal in rows:
            self.assertEqual(_compare.difference(got, want)[1] == "", equal, (got, want))


if __name__ == "__main__":
    unittest.main()
