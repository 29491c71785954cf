"""What of export needs no PyTorch: saved programs, guards and where to try them, comparing."""

import io
import tempfile
import unittest
from pathlib import Path

import anyshape
import numpy as np
from anyshape import _compare, _decide, _expression, _guards
from anyshape._check import Answer

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

    def test_the_opset_follows_the_program(self):
        program = PROGRAMS.parent / "export" / "deformed" / "deformed.traced.pt"
        made = anyshape.export(program)
        self.assertEqual((made.opset, made.check().data["opset"]), (19, 19))
        self.assertIn("opset 19", " ".join(made.notes))
        self.assertEqual(anyshape.export(PROGRAMS / "linear.pt2").opset, 17)
        with self.assertRaises(anyshape.Error) as caught:
            anyshape.export(program, opset_version=17)
        self.assertEqual(caught.exception.code, "export.opset")
        self.assertIn("deform_conv2d needs opset 19", caught.exception.message)

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
    return _guards.Guard(text, symbols, "")


class GuardsTest(unittest.TestCase):
    def test_conditions(self):
        rows = [
            (guard("seq >= 9", seq="x:1"), {"seq": 9}, True),
            (guard("seq >= 9", seq="x:1"), {"seq": 8}, False),
            (guard("h % 4 == 0 or h == 2", h="x:2"), {"h": 6}, False),
            (guard("(h + 1)//2 != 3", h="x:2"), {"h": 4}, True),
            (guard("min(a, b) >= 2", a="x:0", b="y:0"), {"a": 5, "b": 1}, False),
            (_guards.Guard("x.0 == 'y:z'", {"x.0": "x:0", "y:z": "y:0"}, ""), {"x.0": 3, "y:z": 3}, True),
            (guard("broadcast(a, 2) == 2", a="x:0"), {"a": 2}, None),
            (guard("seq >= 9", seq="x:1"), {}, None),
            (guard("().__class__ == 1", a="x:0"), {"a": 1}, None),
        ]
        for one, sizes, holds in rows:
            self.assertIs(one.holds(sizes), holds, one.text)

    def test_both_sides(self):
        for text, example in ("seq >= 9", 12), ("seq <= 100", 12), ("seq % 8 == 0", 16), ("seq != 25", 7), ("seq != 997", 7):
            one = guard(text, seq="x:1")
            outside, border = _guards.both_sides(one, {"seq": example, "batch": 2})
            self.assertTrue(outside and border, text)
            self.assertTrue(all(one.holds(sizes) is False for sizes in outside), text)
            self.assertTrue(all(one.holds(sizes) is True for sizes in border), text)
        found = _guards.both_sides(guard("seq >= 9", seq="x:1"), {"seq": 12})
        self.assertEqual((found[0][:2], found[1][0]), ([{"seq": 1}, {"seq": 8}], {"seq": 9}))

    def test_far_sides_are_solved(self):
        rows = [
            ("(h//8)*(w//8) != 16", {"h": 64, "w": 96}, {"h": 32, "w": 32}),
            ("(h//14)*(w//14) != 256", {"h": 336, "w": 448}, {"h": 224, "w": 224}),
            ("h*w != 289", {"h": 20, "w": 30}, {"h": 17, "w": 17}),
            ("h <= 1500", {"h": 100, "w": 3}, {"h": 1501, "w": 3}),
            ("(h + 1)//2 - (w + 1)//2 != 7", {"h": 9, "w": 9}, {"h": 15, "w": 1}),
            ("a + b + c != 40", {"a": 2, "b": 3, "c": 4}, {"a": 33, "b": 3, "c": 4}),
        ]
        for text, example, want in rows:
            one = _guards.Guard(text, {name: "x:0" for name in example if name in text}, "")
            outside = _guards.both_sides(one, example)[0]
            self.assertTrue(all(one.holds(sizes) is False for sizes in outside), text)
            self.assertIn(want, outside, text)

    def test_free_sizes_are_varied(self):
        one = guard("seq != 25", seq="x:1")
        example = {"seq": 7, "batch": 2}
        points = _guards.varied(_guards.both_sides(one, example)[0], one, example)
        self.assertEqual(points, [{"seq": 25, "batch": 2}, {"seq": 25, "batch": 1}, {"seq": 25, "batch": 3}])


class ColumnsTest(unittest.TestCase):
    def test_many_sizes_at_once(self):
        """As one by one; what has to do with a division by 0 or is beyond doubles is not told."""
        texts = ["h % 4 == 0 or h == 2", "h//(w - 3) == 2", "h == 7 and 12//(h - 7) == 1", "h != 7 and 12//(h - 7) == 1",
                 "min(h, w, 5) >= 2", "not h > w", "1 < h <= w", "-h // 4 < -1", "-h % 3 == 1", "h*w != 6 or h//(w - w) == 1",
                 "h*w*9007199254740993 > 0", "lcm(h, w) == 2"]  # fmt: skip
        rows = [(h, w) for h in range(1, 14) for w in range(1, 6)]
        columns = {"h": np.array([h for h, _ in rows]), "w": np.array([w for _, w in rows])}
        for text in texts:
            one = _expression.Expression(text, ["h", "w"])
            values = one.values(columns)
            self.assertEqual(len(values), len(rows), text)
            for (h, w), value in zip(rows, values):
                want = one.value({"h": h, "w": w})
                unknown = want is None or "9007199254740993" in text
                self.assertTrue(np.isnan(value) if unknown else value == want, (text, h, w, value, want))


class Oracle:
    """Stands for a file and its model: the file takes what `takes` says and is the model where `agrees` says so."""

    def __init__(self, takes, agrees):
        self._takes, self._agrees = takes, agrees

    def takes(self, sizes):
        return self._takes(**sizes)

    def at(self, sizes):
        if not self.takes(sizes):
            return Answer({"kind": "refuse", "code": "", "place": "", "sentence": "it does not", "outputs": [], "data_conditions": []})
        return _compare.Compared({}, difference="" if self._agrees(**sizes) else "differs")


class DecisionsTest(unittest.TestCase):
    def decided(self, texts, takes, agrees, example=None, kept=()):
        example = example or {"b": 2, "h": 64, "w": 96}
        guards = [_guards.Guard(text, {name: "x:0" for name in example if name in text}, "", binding)
                  for text, binding in texts]  # fmt: skip
        kept = [text in kept for text, _ in texts]
        return [one.matters for one in _decide.decide(guards, kept, example, Oracle(takes, agrees))]

    def test_another_guard_is_to_blame(self):
        """Beyond "h//4 != 8" the file is right but at 33, 34 and 35, where the first guard does not hold either."""
        texts = [("h % 4 == 0", True), ("h//4 != 8", False), ("(h//4)*(w//4) != 64", False)]
        for some in texts, texts[::-1]:
            found = self.decided(some, lambda b, h, w: True, lambda b, h, w: h % 4 == 0)
            self.assertEqual(dict(zip(some, found)), dict(zip(texts, (True, False, False))))

    def test_the_only_size_beyond(self):
        """The file takes multiples of 32, so that one size is all there is beyond the guard."""
        agrees = takes = lambda b, h, w: h % 32 == 0 and w % 32 == 0  # noqa: E731
        for binding, matters in (False, False), (True, None):
            self.assertEqual(self.decided([("b*(h//32)*(w//32) != 1", binding)], takes, agrees), [matters])

    def test_where_two_are_broken_together(self):
        """Each by itself does not matter, but one of them has to stand where they both do not hold."""
        texts = [("h >= 60", True), ("w >= 90", True)]
        found = self.decided(texts, lambda b, h, w: True, lambda b, h, w: h >= 60 or w >= 90)
        self.assertIn(True, found)
        self.assertEqual(self.decided(texts, lambda b, h, w: True, lambda b, h, w: True), [False, False])

    def test_ranges_of_the_caller(self):
        """What matters is whether the model is another one beyond them; other guards are not tried there."""
        texts = [("h <= 80", True), ("w >= 8", True)]
        for agrees, matters in (lambda b, h, w: True, False), (lambda b, h, w: h <= 80, True):
            found = self.decided(texts, lambda b, h, w: True, agrees, kept=["h <= 80"])
            self.assertEqual(found, [matters, False])
        self.assertEqual(self.decided(texts[:1], lambda b, h, w: h <= 80, lambda b, h, w: True, kept=["h <= 80"]), [None])

    def test_what_cannot_be_tried(self):
        rows = [("h == 64", True, None), ("h != 65", False, False), ("lcm(h, w) == 2", True, None)]
        for text, binding, matters in rows:
            self.assertEqual(self.decided([(text, binding)], lambda b, h, w: h == 64, lambda b, h, w: True), [matters])


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
