"""Names and texts that are no UTF-8, or would mislead a terminal: they come as text, go back, and are shown escaped."""

import os
import pickle
import tempfile
import unittest
from pathlib import Path

import anyshape
import numpy as np
from anyshape._errors import shown
from models import model

# Replaced in the bytes of a model by others of the same length.
RAW = {b"inputname": b"in\xffput\x00\n.", b"outputnam": b"o\xc3\x28\x1b[1m..", b"sizename_": b"d\xfe\nd\xe2\x80\xae.x"}
TEXT = {name: raw.decode("utf-8", "surrogateescape") for name, raw in RAW.items()}
IN, OUT, _ = TEXT.values()


def odd(text, **weights):
    data = model(text, **weights)
    for name, raw in RAW.items():
        data = data.replace(name, raw)
    return data


RELU = odd("m (float[sizename_, 2] inputname) => (float[sizename_, 2] outputnam) { outputnam = Relu (inputname) }")
BAKED = odd("m (float[sizename_, 2] inputname) => (float[3, 4] outputnam) { outputnam = Reshape (inputname, to) }",
            to=np.array([3, 4]))  # fmt: skip


class NamesTest(unittest.TestCase):
    def test_session(self):
        session = anyshape.InferenceSession(RELU)
        (given,), (made,) = session.get_inputs(), session.get_outputs()
        self.assertEqual((given.name, made.name), (IN, OUT))
        self.assertIn("\\xfe", given.shape[0])  # an expression, as it is printed
        x = np.ones((3, 2), np.float32)
        np.testing.assert_array_equal(session.run([OUT], {given.name: x})[0], x)
        self.assertEqual(session.get_inputs()[0].name.encode("utf-8", "surrogateescape"), RAW[b"inputname"])
        str(session.plan({IN: (3, 2)})).encode("utf-8", "surrogateescape")
        repr(session).encode("utf-8")
        for feed in {}, {IN: x, "other": x}, {IN: x, "\ud800": x}, {IN: x, "\udcff\n": x}, {IN: x, 5: x}:
            with self.assertRaises(anyshape.Error) as caught:
                session.run(None, feed)
            str(caught.exception).encode("utf-8")

    def test_check(self):
        report = anyshape.check(RELU)
        self.assertEqual((list(report.inputs), list(report.outputs)), ([IN], [OUT]))
        self.assertTrue(report.accepts({IN: (3, 2)}))
        refused = report.accepts({IN: (3, 4)})
        self.assertEqual(refused.kind, "refuse")
        repr(refused).encode("utf-8")
        self.assertEqual(list(report.smallest()), [IN])
        str(report.explain(f"{OUT}:0"))
        for name in "no such name", "\ud800", "\udcfe":
            with self.assertRaises(anyshape.Error):
                report.accepts({name: (3, 2)})

    def test_refusals(self):
        session = anyshape.InferenceSession(BAKED)
        with self.assertRaises(anyshape.Error) as caught:
            session.run(None, {IN: np.ones((5, 2), np.float32)})
        str(caught.exception).encode("utf-8")
        self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_texts(self):
        session = anyshape.InferenceSession(model("s (string[n] x) => (string[n] y) { y = Identity (x) }"))
        entries = ["häß", "\udcff\udc80", "", "a\0b", "\U0001f600"]
        self.assertEqual(session.run(None, {"x": entries})[0].tolist(), entries)
        self.assertEqual(session.run(None, {"x": np.array([b"\xff"])})[0].tolist(), ["\udcff"])

    def test_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / os.fsdecode(b"mod\xff\xfeel.onnx")
            path.write_bytes(RELU)
            for one in path, str(path):
                self.assertEqual(list(anyshape.check(one).inputs), [IN])
            with self.assertRaises(anyshape.Error) as caught:
                anyshape.check(f"{path}x")
            self.assertIn("mod\\xff\\xfeel.onnx", str(caught.exception))

    def test_custom_nodes(self):
        told = []
        anyshape.register_op("test", "Told", "y = [x0, x1]",
                             lambda node, x: told.append((node.name(), node.text("word"))) or x)  # fmt: skip
        text = 'm (float[n, 2] x) => (float[n, 2] y) { [inputname] y = test.Told <word = "outputnam"> (x) }'
        session = anyshape.InferenceSession(odd(text))
        session.run(None, {"x": np.ones((1, 2), np.float32)})
        self.assertEqual(told, [(IN, OUT)])


class ShownTest(unittest.TestCase):
    def test_rows(self):
        for text, wanted in (
            ("plain ä 漢", "plain ä 漢"),
            ("a\nerror[x] b", "a\\nerror[x] b"),
            ("\x1b[31m", "\\x1b[31m"),
            ("\udcff", "\\xff"),
            ("\u202e", "\\u202e"),
        ):
            self.assertEqual(shown(text), wanted)

    def test_no_forged_line(self):
        error = anyshape.Error("a.b", "node \"x\nerror[c.d]\"", "first\nerror[e.f] g", "try\nthis")
        self.assertEqual([line for line in str(error).splitlines() if line.startswith("error[")],
                         [str(error).splitlines()[0]])  # fmt: skip

    def test_pickled(self):
        for error in (
            anyshape.Error("a.b", "c", "d", "e", "usage"),
            anyshape.Timeout("work.timeout", "", "the time for it is over", "", "system"),
        ):
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), again.args, str(again)), (type(error), error.args, str(error)))


if __name__ == "__main__":
    unittest.main()
