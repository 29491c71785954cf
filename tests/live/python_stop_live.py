#!/usr/bin/env python3
"""python_stop_live.py: Ctrl-C ends loading, checking, exporting and runs of both engines; forked workers go on.

Environment: ANYSHAPE (the program; the package is beside it in the build tree).
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["ANYSHAPE"]).resolve().parent.parent / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import anyshape  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
from models import PRODUCT, SPIN, model  # noqa: E402

ROUNDS = {"rounds": np.array(10**15), "x": np.ones(3, np.float32)}
THEIRS = anyshape.SessionOptions(engine="onnxruntime", ort_library=str(Path(onnxruntime.__file__).parent / "capi"))
X = np.ones((300, 256), np.float32)


def chain(count):
    """A model of that many nodes."""
    names = [f"v{i}" for i in range(count + 1)]
    nodes = [onnx.helper.make_node("Neg", [a], [b]) for a, b in zip(names, names[1:])]
    ends = [onnx.helper.make_tensor_value_info(name, 1, ["n", "m"]) for name in (names[0], names[-1])]
    graph = onnx.helper.make_graph(nodes, "chain", ends[:1], ends[1:])
    return onnx.helper.make_model(graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", 17)]).SerializeToString()


class Steps(torch.nn.Module):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def forward(self, x):
        for i in range(self.count):
            x = x * 0.5 + float(i)
        return x


class Interrupted(unittest.TestCase):
    def ends(self, make, call, size):
        """call(make(size)) is ended by Ctrl-C. One that is done before the signal says nothing: a larger one follows."""
        for _ in range(8):
            prepared = make(size)
            timer, done = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)), False
            try:
                timer.start()
                call(prepared)
                done = True
                timer.cancel()
                timer.join()
                time.sleep(0.1)  # a signal that was sent is here
            except KeyboardInterrupt:
                if not done:
                    return
            size *= 2
        self.fail(f"nothing of up to {size} was interrupted")

    def test_load(self):
        self.ends(chain, anyshape._anyshape.Model.from_bytes, 100000)

    def test_check(self):
        self.ends(lambda size: anyshape._anyshape.Model.from_bytes(chain(size)), lambda made: made.check(), 50000)

    def test_session(self):
        self.ends(lambda size: anyshape._anyshape.Model.from_bytes(chain(size)), anyshape._anyshape.Session, 20000)

    def test_export(self):
        with tempfile.TemporaryDirectory() as folder:

            def traced(size):
                path = os.path.join(folder, "steps.pt")
                torch.jit.save(torch.jit.trace(Steps(size), torch.ones(2, 3), check_trace=False), path)
                return path

            target = Path(folder, "steps.onnx")

            def export(path):
                target.unlink(missing_ok=True)
                anyshape.export(path, (), target)

            self.ends(traced, export, 2000)
            # The signal may come when the file is written already: then it is whole.
            whole = ["steps.onnx"] if target.exists() else []
            self.assertEqual(sorted(os.listdir(folder)), [*whole, "steps.pt"])
            if whole:
                onnx.checker.check_model(target)

    def test_runs(self):
        for options in None, THEIRS:
            session = anyshape.InferenceSession(model(SPIN), options)
            self.ends(lambda _: session, lambda made: made.run(None, ROUNDS), 1)
            with self.assertRaises(anyshape.Timeout):
                session.run(None, ROUNDS, anyshape.RunOptions(timeout=0.3))
            stop = anyshape.RunOptions()
            threading.Timer(0.3, stop.cancel).start()
            with self.assertRaises(anyshape.Cancelled):
                session.run(None, ROUNDS, stop)
            (y,) = session.run(None, {**ROUNDS, "rounds": np.array(4)})
            np.testing.assert_array_equal(y, ROUNDS["x"])


SESSION = anyshape.InferenceSession(model(PRODUCT), anyshape.SessionOptions(intra_op_num_threads=4))


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, i):
        return torch.from_numpy(SESSION.run(None, {"x": X * i})[0][0])


def first_entry(i):
    return float(SESSION.run(None, {"x": X * i})[0][0, 0])


class Forked(unittest.TestCase):
    def setUp(self):
        SESSION.run(None, {"x": X})

    def test_data_loader(self):
        rows = torch.utils.data.DataLoader(Rows(), batch_size=4, num_workers=2, multiprocessing_context="fork")
        for _ in range(2):
            got = torch.cat(list(rows))
            torch.testing.assert_close(got[:, 0], 256.0 * torch.arange(24) ** 2)

    def test_pool(self):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(first_entry, range(20)), [256.0 * i * i for i in range(20)])

    def test_other_engine(self):
        session = anyshape.InferenceSession(model(PRODUCT), THEIRS)
        (want,) = session.run(None, {"x": X})
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            code = 1
            try:
                session.run(None, {"x": X})
            except anyshape.Error as error:
                code = 0 if error.code == "ort.forked" else 2
            del session
            os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        np.testing.assert_array_equal(session.run(None, {"x": X})[0], want)


if __name__ == "__main__":
    # Shells start what runs in the background deaf to it, and children are as deaf.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun} tests of stopping and forking, {failed} failed, torch {torch.__version__}")
    sys.exit(1 if failed else 0)
