"""anyshape.check on the shipped models."""

import json
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

import anyshape
import numpy as np
import onnx
from models import model

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.baked = anyshape.check(EXAMPLES / "lstm_baked.onnx")

    def test_one_shape(self):
        self.assertTrue(self.baked.accepts(x=(1, 120, 1)))
        self.assertEqual(self.baked.accepts(x=(1, 120, 1)), True)
        self.assertEqual(self.baked.accepts(x=(1, 120, 1)).outputs, {"y": "f32[1, 1]"})
        refused = self.baked.accepts({"x": (1, 60, 1)})
        self.assertFalse(refused)
        self.assertEqual((refused.kind, refused.code), ("refuse", "reshape.count"))
        self.assertIn("120", refused.why)
        self.assertIn("/r1/Reshape", refused.place)

    def test_target(self):
        baked = anyshape.check(EXAMPLES / "lstm_baked.onnx", target="mql5")
        self.assertIn("policy.batch-only", [finding["rule"] for finding in baked.data["findings"]])
        batch = anyshape.check(EXAMPLES / "lstm_batch.onnx", target="mql5")
        self.assertEqual([finding for finding in batch.data["findings"] if finding["severity"] == "error"], [])
        with self.assertRaises(anyshape.Error) as caught:
            anyshape.check(EXAMPLES / "lstm_batch.onnx", target="mql4")
        self.assertEqual((caught.exception.code, caught.exception.kind), ("target.unknown", "usage"))
        self.assertIn("mql5", caught.exception.hint)

    def test_page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.html"
            self.baked.save_html(path)
            page = path.read_text(encoding="utf-8")
        data = page.split('id="data">')[1].split("</script>")[0]
        self.assertEqual(json.loads(data)["report"], self.baked.data)
        self.assertIn("/r1/Reshape", [node[0] for node in json.loads(data)["picture"]["nodes"]])

    def test_unknown_input(self):
        with self.assertRaises(anyshape.Error) as caught:
            self.baked.accepts(y=(1, 2))
        self.assertEqual((caught.exception.code, caught.exception.kind), ("input.unknown", "usage"))
        self.assertTrue(caught.exception.hint)

    def test_sizes_that_are_no_integers(self):
        session = anyshape.InferenceSession(EXAMPLES / "lstm_baked.onnx")
        questions = (lambda sizes: self.baked.accepts(x=sizes), lambda sizes: self.baked.smallest(x=sizes),
                     lambda sizes: session.plan({"x": sizes}))  # fmt: skip
        wrong = (1.5, 120.0, True, np.float64(1), np.float32(1), np.bool_(True), "1", b"1", None, 2**63, -(2**63) - 1, 1j)
        for question in questions:
            for size in wrong:
                with self.subTest(size=size), self.assertRaises(anyshape.Error) as caught:
                    question((size, 120, 1))
                self.assertEqual((caught.exception.code, caught.exception.kind), ("argument.integer", "usage"))
            for sizes in 5, "1x2", None:
                with self.subTest(sizes=sizes), self.assertRaises(anyshape.Error):
                    question(sizes)
            for one in np.int64, np.int8, np.uint16, int:
                question((one(1), 120, one(1)))
            question(np.array([1, 120, 1]))
        self.assertEqual(self.baked.accepts(x=(-1, 120, 1)).kind, "refuse")

    def test_sets(self):
        self.assertTrue(self.baked.require("x=[1..64, 120, 1]"))
        refuted = self.baked.require("batch in 1..64, seq in 1..512")
        self.assertFalse(refuted)
        self.assertEqual(refuted.kind, "refuted")
        self.assertEqual(refuted.shapes, {"x": (1, 1, 1)})
        with self.assertRaises(anyshape.Error):
            self.baked.require("nonsense ===")

    def test_report(self):
        self.assertEqual(self.baked.conditions, ["batch >= 1", "seq == 120"])
        self.assertEqual(self.baked.inputs, {"x": "f32[batch, seq, 1]"})
        self.assertTrue(self.baked.exact)
        self.assertEqual([finding["rule"] for finding in self.baked.findings], ["pinned-axis"])
        self.assertIn("iff", str(self.baked))
        self.assertEqual(self.baked.smallest(), {"x": (1, 120, 1)})
        self.assertIn("120", self.baked.explain("/r1/Reshape_output_0:1"))

    def test_html(self):
        made = self.baked._repr_html_()
        root = xml.etree.ElementTree.fromstring(f"<div>{made}</div>")
        cells = ["".join(cell.itertext()) for cell in root.iter("td")]
        for wanted in "f32[batch, seq, 1]", "seq == 120", "/r1/Reshape", "pinned-axis":
            self.assertIn(wanted, cells)
        hostile = onnx.load_from_string(model("odd (float[n] x) => (float[n] y) { y = Neg (x) }"))
        hostile.graph.input[0].name = hostile.graph.node[0].input[0] = "<script>&\x1b[31m"
        made = anyshape.check(hostile)._repr_html_()
        self.assertNotIn("<script>", made)
        self.assertNotIn("\x1b", made)
        xml.etree.ElementTree.fromstring(f"<div>{made}</div>")

    def test_bytes(self):
        data = (EXAMPLES / "unet.onnx").read_bytes()
        for given in data, bytearray(data), memoryview(data):
            self.assertEqual(anyshape.check(given).conditions, anyshape.check(EXAMPLES / "unet.onnx").conditions)

    def test_files_that_are_none(self):
        for source, code in ("nowhere.onnx", "file.open"), (b"nothing like it", "onnx."):
            with self.assertRaises(anyshape.Error) as caught:
                anyshape.check(source)
            self.assertTrue(caught.exception.code.startswith(code), caught.exception.code)
            self.assertIn(caught.exception.message, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
