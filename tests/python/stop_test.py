"""Work that would take for ever is ended: by Ctrl-C, by a timeout, by cancel(), by memory."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import anyshape
import numpy as np
from models import SPIN, model

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROUNDS = {"rounds": np.array(10**15), "x": np.ones(3, np.float32)}
FEW = {**ROUNDS, "rounds": np.array(4)}


def setUpModule():
    """Shells start what runs in the background deaf to Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Caught(Exception):
    pass


def later(action, seconds=0.2):
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer


class SpinTest(unittest.TestCase):
    def setUp(self):
        self.session = anyshape.InferenceSession(model(SPIN))

    def still_works(self):
        np.testing.assert_array_equal(self.session.run(None, FEW)[0], FEW["x"])


class SignalTest(SpinTest):
    def ends(self, kind, call, number=signal.SIGINT):
        """Called, and ended by the exception that the signal raises. Whenever it comes, it is caught here."""
        with self.assertRaises(kind):
            later(lambda: os.kill(os.getpid(), number))
            call()

    def handled_by(self, number, handler):
        before = signal.signal(number, handler)
        self.addCleanup(signal.signal, number, before)

    def test_keyboard_interrupt(self):
        for _ in range(3):
            self.ends(KeyboardInterrupt, lambda: self.session.run(None, ROUNDS))
            self.still_works()

    def test_handlers_of_the_program(self):
        seen = []

        def second_time(number, frame):
            seen.append(number)
            if len(seen) == 2:
                raise Caught
            later(lambda: os.kill(os.getpid(), number))

        self.handled_by(signal.SIGUSR1, second_time)
        self.ends(Caught, lambda: self.session.run(None, ROUNDS), signal.SIGUSR1)
        self.assertEqual(len(seen), 2)
        self.still_works()

    def test_alarm(self):
        def ring(number, frame):
            raise Caught

        self.handled_by(signal.SIGALRM, ring)
        with self.assertRaises(Caught):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            self.session.run(None, ROUNDS)

    def test_ignored(self):
        self.handled_by(signal.SIGINT, signal.SIG_IGN)
        sent = later(lambda: os.kill(os.getpid(), signal.SIGINT), 0.1)
        with self.assertRaises(anyshape.Timeout):
            self.session.run(None, ROUNDS, anyshape.RunOptions(timeout=0.4))
        sent.join()

    def test_in_a_kernel(self):
        def sleep(node, x):
            time.sleep(1000)
            return x

        anyshape.register_op("test", "Sleep", "y = [x0]", sleep)
        sleeping = anyshape.InferenceSession(model("s (float[n] x) => (float[n] y) { y = test.Sleep (x) }"))
        self.ends(KeyboardInterrupt, lambda: sleeping.run(None, {"x": ROUNDS["x"]}))

    def test_run_inside_of_a_kernel(self):
        anyshape.register_op("test", "Spin", "y = [x0]", lambda node, x: self.session.run(None, ROUNDS)[0])
        outer = anyshape.InferenceSession(model("s (float[n] x) => (float[n] y) { y = test.Spin (x) }"))
        self.ends(KeyboardInterrupt, lambda: outer.run(None, {"x": ROUNDS["x"]}))
        self.still_works()

    def test_while_another_thread_runs(self):
        options = anyshape.RunOptions()
        done = threading.Event()

        def run():
            try:
                self.session.run(None, ROUNDS, options)
            except anyshape.Cancelled:
                done.set()

        threading.Thread(target=run, daemon=True).start()
        self.ends(KeyboardInterrupt, done.wait)
        self.assertFalse(done.wait(0.3))
        options.cancel()
        done.wait()


class CancelTest(SpinTest):
    def test_run_options(self):
        options = anyshape.RunOptions(seed=3)
        later(options.cancel)
        with self.assertRaises(anyshape.Cancelled):
            self.session.run(None, ROUNDS, options)
        self.assertTrue(options.terminate)
        with self.assertRaises(anyshape.Cancelled):
            self.session.run(None, FEW, options)
        options.terminate = False
        np.testing.assert_array_equal(self.session.run(None, FEW, options)[0], FEW["x"])

    def test_options_of_others(self):
        class Theirs:
            terminate = True

        with self.assertRaises(anyshape.Cancelled):
            self.session.run(None, ROUNDS, Theirs())

    def test_timeout(self):
        options = anyshape.RunOptions(timeout=0.2)
        for _ in range(2):
            with self.assertRaises(TimeoutError) as caught:
                self.session.run(None, ROUNDS, options)
            self.assertEqual((type(caught.exception), caught.exception.code), (anyshape.Timeout, "work.timeout"))
            self.assertIsInstance(pickle.loads(pickle.dumps(caught.exception)), anyshape.Timeout)
        self.session.run(None, FEW, options)

    def test_max_bytes(self):
        text = "m (float[n] x) => (float[m] y) { a = Concat <axis = 0> (x, x)  b = Exp (a)  y = Concat <axis = 0> (b, a) }"
        session = anyshape.InferenceSession(model(text))
        x = np.ones(1000, np.float32)
        with self.assertRaises(anyshape.Error) as caught:
            session.run(None, {"x": x}, anyshape.RunOptions(max_bytes=1000))
        self.assertEqual(caught.exception.code, "run.memory")
        session.run(None, {"x": x}, anyshape.RunOptions(max_bytes=10**6))

    def test_no_such_limits(self):
        for given in (
            {"timeout": -1}, {"timeout": float("nan")}, {"timeout": "3"}, {"timeout": True}, {"max_bytes": 1.5},
            {"max_bytes": -1}, {"max_bytes": 2**63}, {"max_bytes": True}, {"seed": 1.0}, {"seed": -1}, {"seed": 2**64},
        ):  # fmt: skip
            with self.subTest(given), self.assertRaises(anyshape.Error) as caught:
                anyshape.RunOptions(**given)
            self.assertEqual(caught.exception.kind, "usage")
        anyshape.RunOptions(timeout=np.float32(0.5), max_bytes=np.int32(7), seed=np.uint64(2**64 - 1))


class LimitsTest(SpinTest):
    def test_timeout(self):
        with anyshape.limits(timeout=0.2):
            for _ in range(2):
                with self.assertRaises(anyshape.Timeout):
                    self.session.run(None, ROUNDS)
            for late in (
                lambda: anyshape.InferenceSession(model(SPIN)),
                lambda: anyshape.check(EXAMPLES / "lstm_baked.onnx"),
                lambda: anyshape.export(EXAMPLES / "nowhere.pt2"),
            ):
                with self.assertRaises(anyshape.Timeout):
                    late()
        self.still_works()

    def test_cancel(self):
        with anyshape.limits() as limits:
            later(limits.cancel)
            with self.assertRaises(anyshape.Cancelled):
                self.session.run(None, ROUNDS)
        self.still_works()

    def test_nested(self):
        with anyshape.limits(timeout=0.3) as outer:
            with anyshape.limits(timeout=1000), self.assertRaises(anyshape.Timeout):
                self.session.run(None, ROUNDS)
            with self.assertRaises(anyshape.Error), outer:
                pass
        with anyshape.limits(timeout=1000) as outer:
            later(outer.cancel)
            with anyshape.limits(timeout=2000), self.assertRaises(anyshape.Cancelled):
                self.session.run(None, ROUNDS)
        self.still_works()

    def test_of_one_thread(self):
        done = []
        with anyshape.limits() as limits:
            limits.cancel()
            thread = threading.Thread(target=lambda: done.append(self.session.run(None, FEW)))
            thread.start()
            thread.join()
        self.assertEqual(len(done), 1)

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            report = anyshape.check(model(SPIN))
            with anyshape.limits() as limits:
                limits.cancel()
                with self.assertRaises(anyshape.Cancelled):
                    report._model.save(os.path.join(folder, "model.onnx"))
            self.assertEqual(os.listdir(folder), [])


class EndTest(unittest.TestCase):
    """The interpreter ends while threads are in the middle of a run, or come back for another one."""

    def test_exit(self):
        for rounds, kernel in (10**15, "x"), (3, "x"), (3, "np.array(x.tolist(), x.dtype)"):
            script = f"""
import threading, anyshape, numpy as np
from models import SPIN, model
anyshape.register_op("test", "Copied", "y = [x0]", lambda node, x: {kernel})
sessions = [anyshape.InferenceSession(model(text)) for text in (
    SPIN, "c (int64 rounds, float[n] x) => (float[n] y) {{ y = test.Copied (x)  z = Neg (rounds) }}")]
started = threading.Barrier(9)
def run(session):
    feed = {{"rounds": np.array({rounds}), "x": np.ones(3, np.float32)}}
    started.wait()
    while True:
        try:
            session.run(None, feed)
        except anyshape.Error:
            pass
for session in sessions * 4:
    threading.Thread(target=run, args=(session,), daemon=True).start()
started.wait()
"""
            ended = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent, capture_output=True,
                                   text=True)  # fmt: skip
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
