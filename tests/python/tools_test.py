"""fix, simplify, infer_shapes, verify, explain, plan, run and bench as functions."""

import os
import tempfile
import unittest
from pathlib import Path

import anyshape
import numpy as np
import onnx
from models import model

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BAKED, BATCH = EXAMPLES / "lstm_baked.onnx", EXAMPLES / "lstm_batch.onnx"
TWICE = model("twice (float[n] x, float[n] y) => (float[n] z) { z = Add (x, y) }")


class Written:
    """A ModelProto by its only method that counts."""

    def SerializeToString(self):
        return TWICE


class ToolsTest(unittest.TestCase):
    def refused(self, code, call):
        with self.assertRaises(anyshape.Error) as caught:
            call()
        self.assertTrue(caught.exception.code.startswith(code), caught.exception)
        self.assertNotIn("--", caught.exception.hint)
        return caught.exception

    def test_every_kind_of_source(self):
        proto = onnx.load(str(BAKED))
        sources = BAKED, str(BAKED), BAKED.read_bytes(), memoryview(BAKED.read_bytes()), proto
        made = anyshape.simplify(BAKED)
        for source in (*sources, made, made.bytes, made.check(), made.session()):
            with self.subTest(type(source).__name__):
                if isinstance(source, anyshape.InferenceSession):
                    self.refused("argument.type", lambda given=source: anyshape.check(given))
                    continue
                self.assertEqual(anyshape.check(source).conditions, ["batch >= 1", "seq == 120"])
        self.assertEqual(anyshape.check(Written()).inputs, {"x": "f32[n]", "y": "f32[n]"})
        for wrong in None, 3, [BAKED], onnx.ModelProto, {"x": 1}:
            for call in (anyshape.check, anyshape.simplify, anyshape.infer_shapes, anyshape.plan, anyshape.bench,
                         anyshape.InferenceSession, lambda one: anyshape.explain(one, "y"),
                         lambda one: anyshape.run(one, {}), lambda one: anyshape.verify(one, BAKED),
                         lambda one: anyshape.verify(BAKED, one)):  # fmt: skip
                self.refused("argument.type", lambda given=wrong, call=call: call(given))

    def test_fix(self):
        made = anyshape.fix(BAKED, dynamic={"x": {1: "time"}})
        self.assertEqual(made.inputs, {"x": "f32[batch, time, 1]"})
        self.assertTrue(made.changes)
        self.assertTrue(made.check().accepts(x=(3, 7, 1)))
        self.assertEqual(made.session().run(None, {"x": np.zeros((3, 7, 1), np.float32)})[0].shape, (3, 1))
        self.assertEqual(made.bytes, anyshape.fix(BAKED.read_bytes(), dynamic={"x": {-2: "time"}}).bytes)
        frozen = anyshape.fix(made, freeze={"time": np.int64(60)}, rename={"batch": "rows", "y": "out"})
        self.assertEqual((frozen.inputs, frozen.outputs), ({"x": "f32[rows, 60, 1]"}, {"out": "f32[rows, 1]"}))
        self.assertEqual(anyshape.fix(BAKED, dynamic={"x": [1]}).inputs, {"x": "f32[batch, x.1, 1]"})

    def test_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "made.onnx")
            made = anyshape.fix(BAKED, dynamic={"x": {1: "time"}}, output=path)
            self.assertEqual(made.path, os.fspath(path))
            self.assertEqual(path.read_bytes(), made.bytes)
            made.save(path, external_data=True)
            self.assertTrue(Path(folder, "made.onnx.data").exists())
            self.assertTrue(anyshape.verify(BATCH, BATCH.read_bytes()))

    def test_fix_refused(self):
        self.refused("fix.nothing", lambda: anyshape.fix(BAKED))
        self.refused("freeze.", lambda: anyshape.fix(BAKED, freeze={"nobody": 3}))
        self.refused("dynamic.", lambda: anyshape.fix(BAKED, dynamic={"nobody": {0: "n"}}))
        self.refused("rename.", lambda: anyshape.fix(BAKED, rename={"nobody": "n"}))
        self.refused("target.unknown", lambda: anyshape.fix(BAKED, target="mql4"))
        for wrong in ({"freeze": {"seq": "120"}}, {"freeze": {"seq": 1.5}}, {"dynamic": {"x": {"1": "seq"}}}):
            self.refused("argument.integer", lambda given=wrong: anyshape.fix(BAKED, **given))
        for wrong in ({"freeze": ["seq"]}, {"dynamic": {"x": "seq"}}, {"dynamic": {"x": {1: 2}}}, {"dynamic": {1: {}}},
                      {"rename": {"x": 3}}, {"simplify": "yes"}, {"allow": 3, "batch_only": True}, {"target": 3}):  # fmt: skip
            self.refused("argument.type", lambda given=wrong: anyshape.fix(BAKED, **given))
        self.refused("argument.dims", lambda: anyshape.infer_shapes(BAKED, dims="all"))

    def test_infer_shapes(self):
        half = model("half (float[n] x) => (z) { y = Concat <axis = 0> (x, x) z = Concat <axis = 0> (y, x) }")
        proto = onnx.load_from_string(anyshape.infer_shapes(half, dims="expressions").bytes)
        self.assertEqual(proto.graph.value_info[0].type.tensor_type.shape.dim[0].dim_param, "2*n")

    def test_verify(self):
        negative = model("twice (float[n] x, float[n] y) => (float[n] z) { z = Sub (x, y) }")
        self.assertTrue(anyshape.verify(TWICE, Written()))
        found = anyshape.verify(TWICE, negative, {"x": (3,), "y": (3,)})
        self.assertFalse(found)
        self.assertEqual([one.shapes for one in found.differences], [{"x": (3,), "y": (3,)}])
        self.assertIn("differs", str(found))
        self.assertEqual(len(anyshape.verify(TWICE, TWICE, [{"x": (n,), "y": (n,)} for n in (1, 4)]).compared), 2)
        self.refused("argument.type", lambda: anyshape.verify(TWICE, TWICE, 3))
        self.refused("argument.type", lambda: anyshape.verify(TWICE, TWICE, rtol="1"))
        self.refused("input.unknown", lambda: anyshape.verify(TWICE, TWICE, {"z": (3,)}))

    def test_run(self):
        x = np.arange(3, dtype=np.float32)
        self.assertEqual(anyshape.run(TWICE, {"x": x, "y": x})["z"].tolist(), [0, 2, 4])
        self.refused("input.missing", lambda: anyshape.run(TWICE, x))
        self.refused("input.unknown", lambda: anyshape.run(TWICE, {"x": x, "y": x, "z": x}))

    def test_bench(self):
        timing = anyshape.bench(TWICE, {"x": (5,)}, seconds=0)
        self.assertEqual((timing.shapes, len(timing.times)), ({"x": (5,), "y": (5,)}, 1))
        self.refused("input.unknown", lambda: anyshape.bench(TWICE, {"xx": (5,)}))
        self.refused("argument.integer", lambda: anyshape.bench(TWICE, {"x": (5.0,)}))
        self.refused("argument.type", lambda: anyshape.bench(TWICE, seconds=-1))
        self.refused("engine.unknown", lambda: anyshape.bench(TWICE, engine="none"))

    def test_questions(self):
        self.assertIn("120", anyshape.explain(BAKED, "/r1/Reshape_output_0:1"))
        self.refused("explain.value", lambda: anyshape.explain(BAKED, "nobody"))
        self.refused("argument.type", lambda: anyshape.explain(BAKED, 3))
        self.assertIn("x", anyshape.plan(TWICE, {"x": (5,), "y": (5,)}))
        self.assertTrue(anyshape.check(BAKED).against(BAKED))


if __name__ == "__main__":
    unittest.main()
