"""Operators with a kernel in Python: what a kernel is handed stays as it is, what it gives is checked."""

import gc
import threading
import unittest

import anyshape
import numpy as np
from models import model

# The kernel's input is in memory that the steps after it use again; its rows are 7 times the input.
CHAIN = """chain (float[n, 4] x) => (float[n, 4] y) {{
    a = Mul (x, seven)
    b = test.{} (a)
    c = Add (b, b)
    d = Sqrt (c)
    e = Mul (d, d)
    y = Exp (e)
}}"""


def chain(name, kernel, rule="y = [x0, x1]"):
    anyshape.register_op("test", name, rule, kernel)
    return anyshape.InferenceSession(model(CHAIN.format(name), seven=np.array(7, np.float32)))


def rows(count, value=1.0):
    return np.full((count, 4), value, np.float32)


class HeldTest(unittest.TestCase):
    """Arrays and nodes that a kernel keeps."""

    def setUp(self):
        self.held = []
        self.nodes = []

        def keep(node, x):
            self.nodes.append(node)
            self.held.append((x, x[1:], memoryview(x), x.copy()))
            return x

        self.session = chain("Keep", keep)

    def check(self):
        for array, part, view, copy in self.held:
            np.testing.assert_array_equal(array, copy)
            np.testing.assert_array_equal(part, copy[1:])
            self.assertEqual(bytes(view), copy.tobytes())

    def test_arrays_outlive_runs_and_session(self):
        for value in range(1, 6):
            self.session.run(None, {"x": rows(value, value / 100)})
        self.check()
        self.session.run(None, {"x": rows(3, 0.5)})
        self.check()
        del self.session
        gc.collect()
        other = chain("Other", lambda node, x: x)
        for count in range(1, 9):
            other.run(None, {"x": rows(count, 0.1)})
        self.check()
        self.assertEqual([float(array[0, 0]) for array, *_ in self.held[:2]], [np.float32(0.07), np.float32(0.14)])

    def test_arrays_outlive_a_failed_run(self):
        with self.assertRaises(anyshape.Error):
            self.session.run(None, {"x": rows(2)}, anyshape.RunOptions(max_bytes=1))
        self.session.run(None, {"x": rows(2, 0.3)})
        self.check()

    def test_arrays_are_read_only(self):
        self.session.run(None, {"x": rows(2)})
        array = self.held[0][0]
        self.assertFalse(array.flags.writeable)
        with self.assertRaises(ValueError):
            array[0] = 1
        with self.assertRaises(ValueError):
            array.flags.writeable = True

    def test_input_and_output_of_the_caller(self):
        held = []
        anyshape.register_op("test", "Direct", "y = [x0, x1]", lambda node, x: held.append(x) or x)
        session = anyshape.InferenceSession(model("d (float[n, 4] x) => (float[n, 4] y) { y = test.Direct (x) }"))
        x = rows(2)
        (y,) = session.run(None, {"x": x})
        x[:], y[:] = 5, 6
        np.testing.assert_array_equal(held[0], rows(2))

    def test_constants(self):
        held = []
        anyshape.register_op("test", "Weigh", "(x, w) -> y = [x0, x1]", lambda node, x, w: held.append(w) or x * w)
        text = "w (float[n, 4] x) => (float[n, 4] y) { y = test.Weigh (x, weight) }"
        session = anyshape.InferenceSession(model(text, weight=np.arange(4, dtype=np.float32)))
        for _ in range(2):
            np.testing.assert_array_equal(session.run(None, {"x": rows(2)})[0][0], range(4))
            with self.assertRaises(ValueError):
                held[-1][:] = 9
        del session
        gc.collect()
        np.testing.assert_array_equal(held[0], range(4))

    def test_nodes_end_with_the_call(self):
        self.session.run(None, {"x": rows(2)})
        for question in (lambda node: node.name(), lambda node: node.integer("k"), lambda node: node.numbers("k")):
            with self.assertRaises(anyshape.Error) as caught:
                question(self.nodes[0])
            self.assertEqual(caught.exception.code, "custom.node")
        failing = chain("Failing", lambda node, x: self.nodes.append(node) or 1 / 0)
        with self.assertRaises(anyshape.Error):
            failing.run(None, {"x": rows(2)})
        with self.assertRaises(anyshape.Error):
            self.nodes[-1].name()

    def test_several_threads(self):
        def work(seed):
            for count in range(1, 30):
                self.session.run(None, {"x": rows(count, seed / 50)})

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.held), 4 * 29)
        self.check()

    def test_in_a_loop(self):
        text = """many (int64 rounds, float[n] x) => (float[n] y) {
            go = Constant <value = bool {1}> ()
            y = Loop (rounds, go, x) <body = turn (int64 i, bool go_in, float[n] v) => (bool go_out, float[n] w) {
                go_out = Identity (go_in)
                u = test.KeepOne (v)
                w = Add (u, u)
            }>
        }"""
        held = []
        anyshape.register_op("test", "KeepOne", "y = [x0]", lambda node, x: held.append(x) or x)
        session = anyshape.InferenceSession(model(text))
        session.run(None, {"rounds": np.array(6), "x": np.ones(3, np.float32)})
        self.assertEqual([x.tolist() for x in held], [[2.0**k] * 3 for k in range(6)])


class OutputTest(unittest.TestCase):
    def refusal(self, name, kernel, rule="y = [x0, x1]"):
        with self.assertRaises(anyshape.Error) as caught:
            chain(name, kernel, rule).run(None, {"x": rows(2)})
        self.assertEqual(caught.exception.code, "custom.output")
        self.assertIn("node", caught.exception.place)
        return caught.exception.message

    def test_refused(self):
        self.assertIn("f64[2, 4]", self.refusal("Wide", lambda node, x: x.astype(np.float64)))
        self.assertIn("f32[8]", self.refusal("Flat", lambda node, x: x.reshape(-1)))
        self.assertIn("f32[2, 4]", self.refusal("Short", lambda node, x: x[:1]))
        self.assertIn("None", self.refusal("Nothing", lambda node, x: None))
        self.assertIn("gave 2", self.refusal("Two", lambda node, x: (x, x)))
        self.assertIn("gave 0", self.refusal("Empty", lambda node, x: ()))
        self.assertIn("object", self.refusal("Object", lambda node, x: object()))

    def test_strided_and_lists(self):
        for name, kernel in (
            ("Strided", lambda node, x: np.asfortranarray(x)),
            ("Listed", lambda node, x: [x]),
            ("Nested", lambda node, x: (x.tolist(),)),
        ):
            y = chain(name, kernel).run(None, {"x": rows(2, 0)})[0]
            np.testing.assert_array_equal(y, rows(2, 1))

    def test_strings_bools_and_several(self):
        text = """s (string[n] x, bool[n] b) => (string[n] y, bool[n] c, int64[n] k) {
            y, c, k = test.Several (x, b)
        }"""

        def several(node, x, b):
            upper = np.array([entry.upper() for entry in x], dtype=object)
            return upper, (b.view(np.uint8) * 5).view(bool), [len(entry) for entry in x]

        rule = "(x, b) -> y = string[x0]; c = bool[x0]; k = i64[x0]"
        anyshape.register_op("test", "Several", rule, several)
        session = anyshape.InferenceSession(model(text))
        y, c, k = session.run(None, {"x": ["a", "bc"], "b": np.array([True, False])})
        self.assertEqual((y.tolist(), k.tolist()), (["A", "BC"], [1, 2]))
        self.assertEqual(c.view(np.uint8).tolist(), [1, 0])

    def test_kernels_that_are_none(self):
        with self.assertRaises(anyshape.Error) as caught:
            anyshape.register_op("test", "Four", "y = [x0]", 4)
        self.assertEqual(caught.exception.code, "custom.kernel")


class FailureTest(unittest.TestCase):
    def test_cause(self):
        def five(node, x):
            raise ValueError("five rows\nand more")

        with self.assertRaises(anyshape.Error) as caught:
            chain("Five", five).run(None, {"x": rows(2)})
        self.assertEqual(caught.exception.code, "custom.python")
        self.assertIn("ValueError: five rows", caught.exception.message)
        self.assertIsInstance(caught.exception.__cause__, ValueError)

    def test_exception_without_text(self):
        class Mute(Exception):
            def __str__(self):
                raise self

        def mute(node, x):
            raise Mute

        session = chain("Mute", mute)
        for _ in range(2):
            with self.assertRaises(anyshape.Error) as caught:
                session.run(None, {"x": rows(2)})
            self.assertEqual(caught.exception.code, "custom.python")
            self.assertIsInstance(caught.exception.__cause__, Mute)

    def test_what_no_kernel_may_swallow(self):
        for kind in KeyboardInterrupt, SystemExit, GeneratorExit:

            def end(node, x, kind=kind):
                raise kind("now")

            session = chain("End", end)
            with self.assertRaises(kind):
                session.run(None, {"x": rows(2)})
            # Of a constant: while the session is made.
            text = "e (float[n, 4] x) => (float[n, 4] y) { c = test.End (w)  y = Add (x, c) }"
            with self.assertRaises(kind):
                anyshape.InferenceSession(model(text, w=rows(1)))

    def test_run_in_a_kernel(self):
        inner = chain("Inner", lambda node, x: x * 2)
        outer = chain("Outer", lambda node, x: inner.run(None, {"x": x / 100})[0])
        want = inner.run(None, {"x": rows(2, 0.07)})[0]
        (got,) = outer.run(None, {"x": rows(2)})
        np.testing.assert_allclose(got, np.exp(2 * want), rtol=1e-4)

    def test_endless_recursion(self):
        sessions = []
        sessions.append(chain("Again", lambda node, x: sessions[0].run(None, {"x": x})[0]))
        with self.assertRaises(anyshape.Error) as caught:
            sessions[0].run(None, {"x": rows(1, 0)})
        self.assertEqual(caught.exception.code, "custom.python")


if __name__ == "__main__":
    unittest.main()
