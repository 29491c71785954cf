"""The typed example does what it says."""

import unittest
from pathlib import Path

import typed_example

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples/lstm_baked.onnx"


class TypedTest(unittest.TestCase):
    def test_calls(self):
        self.assertIn("seq == 120", typed_example.questions(MODEL))
        self.assertEqual(typed_example.changes(MODEL).outputs, {"out": "f32[batch, 1]"})
        self.assertEqual(typed_example.runs(MODEL)["y"].shape, (2, 1))
        self.assertTrue(typed_example.refused(MODEL).startswith("freeze."))
        program = ROOT / "tests/fixtures/export/dynamic_reshape/dynamic_reshape.pt2"
        self.assertEqual(typed_example.exported(program).check().inputs, {"x": "f32[batch, x.1]"})


if __name__ == "__main__":
    unittest.main()
