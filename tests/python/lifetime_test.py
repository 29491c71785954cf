"""Models, sessions, outputs and processes in any order of ending; the child of a fork."""

import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import anyshape
import numpy as np
from models import PRODUCT, SPIN, model

X = np.random.default_rng(0).standard_normal((300, 256)).astype(np.float32)


def in_child(work):
    """The exit code of a forked process that does the work: 0 if it is true. A process that hangs is ended."""
    child = os.fork()
    if child == 0:
        code = 9
        try:
            signal.alarm(60)
            code = 0 if work() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class OrderTest(unittest.TestCase):
    def test_any_order(self):
        data = model(PRODUCT)
        for order in itertools.permutations(("report", "session", "outputs", "error")):
            held = {"report": anyshape.check(data)}
            held["session"] = anyshape.InferenceSession._of(held["report"]._model)
            held["outputs"] = held["session"].run(None, {"x": X[:5]})
            try:
                held["session"].run(None, {"x": X[:, :3]})
            except anyshape.Error as error:
                held["error"] = error
            want = X[:5] @ X[:5].T
            for name in order:
                del held[name]
                gc.collect()
                if "outputs" in held:
                    np.testing.assert_allclose(held["outputs"][0], want, rtol=1e-3, atol=1e-3)

    def test_outputs_are_nobody_elses(self):
        texts = {
            "sequence": "m (float[n] x) => (seq(float) y, seq(float) z) { y = SequenceConstruct (w, w, x)  z = Identity (y) }",
            "branch": """m (bool c, float[n] x) => (float[m] y, float[m] z) {
                y = If (c) <then_branch = t () => (float[k] a) { a = Identity (w) },
                            else_branch = e () => (float[k] b) { b = Identity (x) }>
                z = Identity (y)
            }""",
        }
        weight = np.arange(5000, dtype=np.float32)
        for name, text in texts.items():
            session = anyshape.InferenceSession(model(text, w=weight))
            for condition in True, False:
                feed = {"x": weight[:5000] + 1}
                feed |= {"c": np.array(condition)} if name == "branch" else {}

                def arrays(session=session, feed=feed):
                    made = session.run(None, feed)
                    return [array for one in made for array in (one if isinstance(one, list) else [one])]

                with self.subTest(name, condition=condition):
                    first, second = arrays(), arrays()
                    copies = [array.copy() for array in second]
                    for i, array in enumerate(first):
                        array[:] = -1 - i
                    self.assertEqual([float(array[0]) for array in first], [-1.0 - i for i in range(len(first))])
                    for made in second, arrays():
                        for array, copy in zip(made, copies):
                            np.testing.assert_array_equal(array, copy)

    def test_destroyed_by_other_threads(self):
        def work():
            for _ in range(20):
                session = anyshape.InferenceSession(model(PRODUCT))
                made.append((session, session.run(None, {"x": X[:50]})))

        made = []
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(made), 60)
        while made:
            session, outputs = made.pop()
            del session
            np.testing.assert_allclose(outputs[0], X[:50] @ X[:50].T, rtol=1e-3, atol=1e-3)

    def test_feed_that_changes_itself(self):
        class Array:
            def __init__(self, feed):
                self.feed = feed

            def __array__(self, dtype=None, copy=None):
                self.feed.clear()
                gc.collect()
                return np.ones((2, 256), np.float32)

        session = anyshape.InferenceSession(model(PRODUCT))
        feed = {}
        feed["x"] = Array(feed)
        np.testing.assert_array_equal(session.run(None, feed)[0], np.full((2, 2), 256))

    def test_model_asked_from_its_own_kernel(self):
        codes = []

        def ask(node, x):
            try:
                report[0].accepts(x=(2,))
                codes.append("answered")
            except anyshape.Error as error:
                codes.append(error.code)
            return x

        anyshape.register_op("test", "Ask", "y = [x0]", ask)
        # The second kernel has a constant to work on, so it is called while the session is made.
        for text, wanted in (
            ("a (float[n] x) => (float[n] y) { y = test.Ask (x) }", "answered"),
            ("a (float[n] x) => (float[n] y) { c = test.Ask (w)  y = Add (x, c) }", "model.busy"),
        ):
            report = [anyshape.check(model(text, w=np.ones(1, np.float32)))]
            session = anyshape.InferenceSession._of(report[0]._model)
            session.run(None, {"x": np.ones(2, np.float32)})
            self.assertEqual(codes.pop(), wanted)
            self.assertTrue(report[0].accepts(x=(2,)))

    def test_end_of_the_process(self):
        script = """
import anyshape, atexit, numpy as np, sys
from models import PRODUCT, model
anyshape.register_op("test", "Kept", "y = [x0]", lambda node, x: kept.append((node, x)) or x)
kept = []
session = anyshape.InferenceSession(model(PRODUCT))
custom = anyshape.InferenceSession(model("c (float[n] x) => (float[n] y) { y = test.Kept (x) }"))
custom.run(None, {"x": np.ones(3, np.float32)})
outputs = session.run(None, {"x": np.ones((200, 256), np.float32)})
report = anyshape.check(model(PRODUCT))
class Last:
    def __del__(self, run=session.run, x=np.ones((2, 256), np.float32)):
        run(None, {"x": x})
last = Last()
last.cycle = last
atexit.register(lambda: session.run(None, {"x": np.ones((200, 256), np.float32)}))
sys.modules["kept"] = [session, outputs, report, custom, kept, last]
"""
        ended = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent, capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))


@unittest.skipUnless(hasattr(os, "fork"), "no fork")
class ForkTest(unittest.TestCase):
    def setUp(self):
        self.options = anyshape.SessionOptions(intra_op_num_threads=4)
        self.session = anyshape.InferenceSession(model(PRODUCT), self.options)
        (self.want,) = self.session.run(None, {"x": X})

    def right(self, session=None):
        (made,) = (session or self.session).run(None, {"x": X})
        return np.array_equal(made, self.want)

    def test_session_of_the_parent(self):
        def work():
            right = self.right() and self.right()
            self.session = None
            gc.collect()
            return right

        self.assertEqual(in_child(work), 0)
        self.assertTrue(self.right())

    def test_destroyed_unused(self):
        def work():
            self.session = None
            gc.collect()
            return True

        self.assertEqual(in_child(work), 0)

    def test_grandchild(self):
        self.assertEqual(in_child(lambda: self.right() and in_child(self.right) == 0), 0)

    def test_new_session(self):
        self.assertEqual(in_child(lambda: self.right(anyshape.InferenceSession(model(PRODUCT), self.options))), 0)

    def test_while_other_threads_run(self):
        stop = threading.Event()

        def run():
            while not stop.is_set():
                self.session.run(None, {"x": X})
                anyshape.check(model(PRODUCT))

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(8):
                self.assertEqual(in_child(self.right), 0)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_model_of_another_thread(self):
        report = anyshape.check(model(SPIN))
        started, go_on = threading.Event(), threading.Event()

        def wait(node, x):
            started.set()
            go_on.wait()
            return x

        anyshape.register_op("test", "Wait", "y = [x0]", wait)
        waiting = anyshape.InferenceSession(model("w (float[n] x) => (float[n] y) { y = test.Wait (x) }"))
        thread = threading.Thread(target=waiting.run, args=(None, {"x": np.ones(2, np.float32)}))
        thread.start()
        started.wait()

        def work():
            go_on.set()
            np.testing.assert_array_equal(waiting.run(None, {"x": np.ones(2, np.float32)})[0], np.ones(2))
            return bool(report.accepts(x=(3,), rounds=()))

        try:
            self.assertEqual(in_child(work), 0)
        finally:
            go_on.set()
            thread.join()

    def test_model_that_another_thread_is_at(self):
        started, go_on = threading.Event(), threading.Event()

        def wait(node, x):
            started.set()
            go_on.wait()
            return x

        anyshape.register_op("test", "Held", "y = [x0]", wait)
        text = "h (float[n] x) => (float[n] y) { c = test.Held (w)  y = Add (x, c) }"
        report = [anyshape.check(model(text, w=np.ones(1, np.float32)))]
        made = []
        thread = threading.Thread(target=lambda: made.append(anyshape.InferenceSession._of(report[0]._model)))
        thread.start()
        started.wait()

        def work():
            try:
                report[0].accepts(x=(2,))
            except anyshape.Error as error:
                report.clear()
                gc.collect()
                return error.code == "model.forked"

        try:
            self.assertEqual(in_child(work), 0)
        finally:
            go_on.set()
            thread.join()
        self.assertTrue(report[0].accepts(x=(2,)))
        self.assertEqual(len(made), 1)

    def test_fork_in_a_kernel(self):
        codes = []

        def fork(node, x):
            codes.append(in_child(lambda: self.right()))
            return x

        anyshape.register_op("test", "Fork", "y = [x0]", fork)
        session = anyshape.InferenceSession(model("f (float[n] x) => (float[n] y) { y = test.Fork (x) }"))
        session.run(None, {"x": np.ones(2, np.float32)})
        self.assertEqual(codes, [0])

    def test_child_that_ends_as_usual(self):
        script = """
import anyshape, numpy as np, os, sys
from models import PRODUCT, model
session = anyshape.InferenceSession(model(PRODUCT), anyshape.SessionOptions(intra_op_num_threads=4))
x = np.ones((300, 256), np.float32)
session.run(None, {"x": x})
child = os.fork()
session.run(None, {"x": x})
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
        ended = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent, capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
