"""Dim, and what export and fix take for names of axes."""

import copy
import io
import os
import pickle
import random
import unittest
from pathlib import Path

import anyshape
from anyshape import Dim
from models import model

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests/fixtures/export/dynamic_reshape/dynamic_reshape.pt2"

ROWS = """
2 * n + 1 | 2*n + 1
1 + n | 1 + n
n * 3 | 3*n
2 * (n + 1) | 2*(n + 1)
n // 2 * 3 | 3*(n//2)
(n + 1) // 2 % 8 | (n + 1)//2 % 8
n - (m - 1) | n - (m - 1)
5 - n - m | 5 - n - m
n + -1 | n - 1
n * m // 4 | n*m//4
-n | -1*n
"past" + n | past + n
Dim("past + seq") * 2 | 2*(past + seq)
(n + 1) % 4 == 0 | (n + 1) % 4 == 0
n <= 64 | n <= 64
n > m | n > m
n != 3 | n != 3
n.equals(m + 1) | n == m + 1
3 <= n | n >= 3
"""


class DimTest(unittest.TestCase):
    def test_rows(self):
        for row in ROWS.strip().splitlines():
            given, wanted = row.split(" | ")
            with self.subTest(given):
                self.assertEqual(str(eval(given, {"n": Dim("n"), "m": Dim("m"), "Dim": Dim})), wanted)

    def test_texts_mean_what_python_computes(self):
        for n in range(1, 30):
            for row in ROWS.strip().splitlines():
                given, wanted = row.split(" | ")
                if "Dim" in given or "equals" in given or '"' in given:
                    continue
                self.assertEqual(eval(given, {"n": n, "m": 3}), eval(wanted, {"n": n, "m": 3}), given)

    def test_is_a_text(self):
        n = Dim("n")
        self.assertTrue(n == "n" and n != "m" and {n: 1}["n"] == 1)
        self.assertEqual(type(str(n)), str)
        for made in copy.deepcopy(n + 1), pickle.loads(pickle.dumps(n + 1)):
            self.assertEqual(str(2 * made), "2*(n + 1)")

    def test_refused(self):
        n = Dim("n")
        for wrong in (lambda: Dim(3), lambda: Dim(""), lambda: n + 1.5, lambda: n * True, lambda: bool(n == 3)):
            with self.assertRaises(anyshape.Error):
                wrong()

    def test_where_names_are_taken(self):
        made = anyshape.fix(ROOT / "examples/lstm_baked.onnx", dynamic={"x": {1: Dim("time")}})
        self.assertEqual(made.inputs, {"x": "f32[batch, time, 1]"})
        report = made.check()
        self.assertTrue(report.require(Dim("time") >= 1))
        self.assertFalse(report.require(Dim("time") % 2 == 0, Dim("batch") >= 0))
        exported = anyshape.export(PROGRAM, dynamic_axes={"x": {0: Dim("batch"), 1: Dim("w")}})
        self.assertEqual(exported.check().inputs, {"x": "f32[batch, w]"})


def drawn(rng, depth):
    """A text for Python, and the same as a Dim."""
    if depth == 0:
        name = rng.choice("nm")
        return name, Dim(name)
    text, dim = drawn(rng, depth - 1)
    number = rng.randint(1, 5)
    other_text, other = drawn(rng, depth - 1)
    rows = [("({})+{}", dim + number), ("({})-{}", dim - number), ("({})*{}", dim * number),
            ("({})//{}", dim // number), ("({})%{}", dim % number)]  # fmt: skip
    forms = [(form.format(text, number), made) for form, made in rows]
    forms += [(f"{number}-({text})", number - dim), (f"({text})+({other_text})", dim + other),
              (f"({text})-({other_text})", dim - other)]  # fmt: skip
    return rng.choice(forms)


class ProvedTest(unittest.TestCase):
    def test_the_prover_reads_what_python_computes(self):
        """Of a model that takes no n below 31: a set is refuted where it has a shape, proved where it has none."""
        text = """fixed (float[n] x, float[m] y) => (float[k] z, float[m] w) {
            s = Constant <value_ints = [31]> () z = Reshape (x, s) w = Neg (y) }"""
        report = anyshape.check(model(text))
        seed = int(os.environ.get("ANYSHAPE_SEED", "0"))
        rng = random.Random(seed)
        for _ in range(150):
            python, dim = drawn(rng, rng.randint(1, 4))
            n, m = rng.randint(1, 30), rng.randint(1, 30)
            value = eval(python, {"n": n, "m": m})
            place = f"n in {n}..{n}", f"m in {m}..{m}"
            with self.subTest(python, dim=str(dim), seed=seed):
                self.assertEqual(report.require(*place, dim == value).kind, "refuted")
                self.assertEqual(report.require(*place, dim != value).kind, "proved")


class InputShapesTest(unittest.TestCase):
    def inputs(self, entries, **options):
        return anyshape.export(PROGRAM, input_shapes={"x": entries}, **options).check().inputs["x"]

    def test_names(self):
        self.assertEqual(self.inputs(["batch", "w"]), "f32[batch, w]")
        self.assertEqual(self.inputs(("batch", None)), "f32[batch, x.1]")
        self.assertEqual(self.inputs([Dim("batch"), None], dynamic_axes={"x": {1: "w"}}), "f32[batch, w]")
        linear = ROOT / "tests/fixtures/pt2_reader/linear.pt2"
        made = anyshape.export(linear, input_shapes={"x": ["batch", 3]})
        self.assertEqual(made.check().inputs, {"x": "f32[batch, 3]"})
        with self.assertRaises(anyshape.Error) as caught:
            anyshape.export(linear, input_shapes={"x": ["batch", 4]})
        self.assertEqual(caught.exception.code, "dynamic.shape")

    def test_refused(self):
        rows = [
            ({"x": ["batch"]}, {}, "dynamic.shape"),
            ({"nobody": ["batch"]}, {}, "dynamic."),
            ({"x": "batch"}, {}, "argument.type"),
            (["batch"], {}, "argument.type"),
            ({"x": [1.5, None]}, {}, "argument.integer"),
            ({"x": ["batch", "w"]}, {"x": {0: "rows"}}, "dynamic.twice"),
            ({"x": [3, "w"]}, {"x": {0: "rows"}}, "dynamic.twice"),
        ]
        for shapes, axes, code in rows:
            with self.subTest(shapes), self.assertRaises(anyshape.Error) as caught:
                anyshape.export(PROGRAM, input_shapes=shapes, dynamic_axes=axes)
            self.assertTrue(caught.exception.code.startswith(code), caught.exception)


class PrintedTest(unittest.TestCase):
    def test_short(self):
        made = anyshape.export(PROGRAM, dynamic_axes={"x": {0: "batch", 1: "w"}})
        self.assertIn("not saved", str(made))
        made.notes = [f"note {i}" for i in range(40)]
        self.assertLessEqual(len(str(made).splitlines()), 12)
        self.assertIn("details()", str(made))
        self.assertIn("note 39", made.details())
        made.notes, made.tried = [], [("torch.export", "ended after 2 s\nand more")]
        self.assertIn("not taken: torch.export: ended after 2 s", str(made).splitlines())
        buffer = io.BytesIO()
        made.save(buffer)
        self.assertEqual(anyshape.check(buffer.getvalue()).inputs, {"x": "f32[batch, w]"})


if __name__ == "__main__":
    unittest.main()
