#!/usr/bin/env python3
"""python_capture_live.py: how anyshape.export captures live models: fresh, for a limited time, and put back afterwards.

Environment: ANYSHAPE (the program; the package is beside it in the build tree), ANYSHAPE_SEED.
"""

import gc
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

PACKAGE = Path(os.environ["ANYSHAPE"]).resolve().parent.parent / "python"
sys.path.insert(0, str(PACKAGE))

import anyshape  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import torch  # noqa: E402
from anyshape import _anyshape, _ort  # noqa: E402
from anyshape._compare import Compared  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("ANYSHAPE_SEED", "1"))
BATCH_SEQ = {0: "batch", 1: "seq"}


class Rotary(nn.Module):
    """Makes its table in the first call, and a longer one when it needs it."""

    def __init__(self):
        super().__init__()
        self.inv = 1 / 10000 ** (torch.arange(4) / 4)
        self.table = None

    def forward(self, x):
        if self.table is None or self.table.shape[0] < x.shape[1]:
            self.table = torch.outer(torch.arange(x.shape[1]), self.inv)
        return x * self.table[: x.shape[1]].cos()


class Forgetful(nn.Module):
    """Changes all that it has."""

    def __init__(self):
        super().__init__()
        self.inner = nn.BatchNorm1d(3)
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.seen, self.memo, self.cache = [], {"last": None}, type("Cache", (), {})()
        self.cache.length, self.count = 0, 0

    def forward(self, x):
        self.calls.add_(1)
        with torch.no_grad():
            self.weight.mul_(1.5)
        self.inner.momentum = 0.5
        self.inner.running_mean = self.inner.running_mean + 1
        self.seen.append(x.shape[0])
        self.memo["last"] = x.detach()
        self.cache.length += 1
        self.count += 1
        self.new = self.count
        if x.shape[0] == 5:
            raise ValueError("five rows")
        return x * 2


class Slow(nn.Module):
    """torch.export does not come to an end."""

    def __init__(self):
        super().__init__()
        self.lock, self.scale = threading.Lock(), lambda x: x * 2  # what cannot be pickled

    def forward(self, x):
        if torch.compiler.is_exporting():
            if note := os.environ.get("NOTE_PROCESS"):
                Path(note).write_text(str(os.getpid()))
            time.sleep(600)
        with self.lock:
            return self.scale(x)


class Collecting(nn.Module):
    def forward(self, x):
        if torch.compiler.is_exporting():
            gc.collect()
        return x * 2


class Waiting:
    """Cannot be ended but by the process that made it, as what waits for its threads."""

    def __init__(self):
        self.process, self.cycle = os.getpid(), self

    def __del__(self):
        if os.getpid() != self.process:
            time.sleep(600)


class Single(nn.Module):
    """Does something else with one row."""

    def forward(self, x):
        return x * 3 if x.shape[0] == 1 else x * 2


class Scattered(nn.Module):
    def forward(self, x, index):
        return torch.zeros(4, 3).scatter_reduce(0, index, x, "amax", include_self=False)


class Padded(nn.Module):
    """Zeros around what may be negative, then a maximum, as in BiT."""

    def __init__(self, padding=0, ceil=False):
        super().__init__()
        self.conv, self.pad = nn.Conv2d(3, 4, 3), nn.ConstantPad2d(1, 0.0)
        self.pool = nn.MaxPool2d(3, 2, padding, ceil_mode=ceil)

    def forward(self, x):
        return self.pool(self.pad(self.conv(x) - 9))


class Levels(nn.Module):
    """Sizes that go through a list of Python's, as in deformable attention."""

    def forward(self, x):
        if torch.compiler.is_exporting():
            raise RuntimeError("cannot be exported")
        levels = [x, nn.functional.max_pool2d(x, 2)]
        shapes = torch.as_tensor([level.shape[2:] for level in levels])
        return torch.cat([level.mean((2, 3)) / shapes[i].prod() for i, level in enumerate(levels)], 1)


@torch.library.custom_op("captured::blend", mutates_args=())
def blend(x: torch.Tensor, weight: torch.Tensor, factor: float, times: int = 3) -> torch.Tensor:
    return x * factor + weight.sum() * times


@blend.register_fake
def _(x, weight, factor, times=3):
    return torch.empty_like(x)


class Blended(nn.Linear):
    def forward(self, x):
        return blend(super().forward(x), self.weight, 0.5)


class Asking(nn.Module):
    """Goes by a value."""

    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x - 1


class Patches(nn.Module):
    """Goes by a value, so that a trace is left, and computes with sizes as numbers, which the trace holds."""

    def forward(self, x):
        rows, columns = int(x.shape[2]) // 2, int(x.shape[3]) // 2
        if float(x.abs().sum()) < 0:
            return x
        return x.reshape(x.shape[0], x.shape[1], rows, 2, columns, 2).permute(0, 1, 3, 5, 2, 4).flatten(3).cumsum(-1)


class Talking(nn.Linear):
    """What PyTorch cannot capture it dumps."""

    def forward(self, x):
        print("a word of the model")
        return super().forward(x) if float(x.abs().sum()) >= 0 else x


class Captured(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(SEED)

    def equal(self, made, model, *feeds):
        session = made.session()
        names = [arg.name for arg in session.get_inputs()]
        for feed in feeds:
            got = session.run(None, {name: tensor.numpy() for name, tensor in zip(names, feed)})[0]
            np.testing.assert_allclose(got, model(*feed).detach().numpy(), rtol=1e-4, atol=1e-5)

    def test_nothing_runs_before_the_capture(self):
        model = Rotary()
        made = anyshape.export(model, torch.randn(2, 6, 4), dynamic_axes={"x": BATCH_SEQ})
        self.assertIsNone(model.table)
        self.assertTrue(made.proved, made)
        for n in (1, 6, 7, 40):
            self.equal(made, Rotary(), (torch.randn(2, n, 4),))

    def test_everything_is_put_back(self):
        for rows in (2, 5):
            for seconds in (60, None):
                with self.subTest(rows=rows, seconds=seconds):
                    self.check_put_back(rows, seconds)

    def check_put_back(self, rows, seconds):
        model = Forgetful()
        model.train()
        running, weight, last = model.inner.running_mean, model.weight, model.memo
        try:
            anyshape.export(model, torch.randn(rows, 3), dynamic_axes={"x": {0: "rows"}}, capture_timeout=seconds)
        except anyshape.Error as refused:
            self.assertEqual(rows == 5, refused.code == "export.args", refused)
        self.assertEqual((model.count, int(model.calls), model.seen, model.cache.length), (0, 0, [], 0))
        self.assertIs(model.inner.running_mean, running)
        self.assertIs(model.memo, last)
        self.assertEqual(model.memo, {"last": None})
        self.assertIs(model.weight, weight)
        torch.testing.assert_close(weight.detach(), torch.ones(3))
        torch.testing.assert_close(running, torch.zeros(3))
        self.assertEqual(model.inner.momentum, 0.1)
        self.assertFalse(hasattr(model, "new"))
        self.assertTrue(model.training and model.inner.training)

    def test_a_capture_is_ended(self):
        model = Slow()
        with self.assertWarnsRegex(UserWarning, "capture_timeout"):
            made = anyshape.export(model, torch.randn(2, 3), dynamic_axes={"x": {0: "rows"}}, capture_timeout=2)
        self.assertEqual(made.capture, "torch.jit.trace")
        self.assertEqual([name for name, _ in made.tried], ["torch.export"])
        self.assertIn("ended after 2 s", made.details())
        self.equal(made, model, (torch.randn(1, 3),), (torch.randn(7, 3),))

    def test_nothing_of_ours_is_ended_in_a_capture(self):
        gc.disable()
        self.addCleanup(gc.enable)
        Waiting()
        made = anyshape.export(Collecting(), torch.randn(2, 3), dynamic_axes={"x": {0: "rows"}}, capture_timeout=5)
        self.assertEqual((made.capture, made.tried), ("torch.export", []))

    def test_an_example_of_one(self):
        """PyTorch takes 1 for the model's own size."""
        axes = {"x": BATCH_SEQ}
        model = nn.Sequential(nn.Linear(3, 4), nn.Softmax(1))
        made = anyshape.export(model, torch.randn(1, 1, 3), dynamic_axes={"input": BATCH_SEQ})
        self.assertEqual((made.capture, made.tried), ("torch.export", []))
        self.assertTrue(made.proved)
        self.equal(made, model, *((torch.randn(b, s, 3),) for b, s in ((1, 1), (1, 5), (4, 1), (3, 7))))
        made = anyshape.export(Single(), torch.randn(1, 4, 3), dynamic_axes=axes)
        self.equal(made, Single(), (torch.randn(1, 4, 3),), (torch.randn(1, 2, 3),))

    def test_limits_end_a_capture(self):
        with self.assertRaises(anyshape.Timeout), anyshape.limits(timeout=2):
            anyshape.export(Slow(), torch.randn(2, 3))

    def test_interrupt(self):
        said, files, child = self.end_export(signal.SIGINT)
        self.assertIn("KeyboardInterrupt", said)
        self.assertEqual(files, [])
        self.assertFalse(Path(f"/proc/{child}").exists())

    def test_a_process_that_is_killed_leaves_no_child(self):
        child = self.end_export(signal.SIGKILL)[2]
        while Path(f"/proc/{child}/stat").exists() and ") Z " not in Path(f"/proc/{child}/stat").read_text():
            time.sleep(0.05)

    def end_export(self, ending):
        """What a process says that is ended while it captures, the files of ours it leaves, and its child."""
        with tempfile.TemporaryDirectory() as folder:
            note, files = Path(folder) / "process", Path(folder) / "files"
            files.mkdir()
            environment = {**os.environ, "TMPDIR": str(files), "NOTE_PROCESS": str(note)}
            program = (f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import torch;"
                       "import python_capture_live as live; live.anyshape.export(live.Slow(), torch.ones(2, 3))")
            process = subprocess.Popen([sys.executable, "-c", program], env=environment, stderr=subprocess.PIPE)
            while not note.exists() or not note.read_text():
                self.assertIsNone(process.poll())
                time.sleep(0.05)
            process.send_signal(ending)
            return process.communicate()[1].decode(), list(files.glob("anyshape-*")), int(note.read_text())

    def test_arguments_that_do_not_fit(self):
        for seconds in (60, None):
            with self.assertRaises(anyshape.Error) as caught:
                anyshape.export(nn.Linear(3, 3), torch.randn(2, 4), capture_timeout=seconds)
            self.assertEqual(caught.exception.code, "export.args")
        with self.assertRaises(anyshape.Error) as caught:
            anyshape.export(nn.Linear(3, 3), torch.randn(2, 3), capture_timeout=0)
        self.assertEqual(caught.exception.code, "export.timeout")

    def test_the_opset_follows_the_model(self):
        feed = torch.randn(5, 3), torch.randint(4, (5, 3))
        made = anyshape.export(Scattered(), feed, dynamic_axes={"x": {0: "rows"}, "index": {0: "rows"}})
        self.assertEqual(made.opset, 18)
        self.assertIn("opset 18", str(made))
        with warnings.catch_warnings(), self.assertRaises(anyshape.Error) as caught:
            warnings.simplefilter("error")
            anyshape.export(Scattered(), feed, opset_version=17)
        self.assertEqual(caught.exception.code, "export.opset")
        self.assertRegex(str(caught.exception), "scatter_reduce.*opset 18")


    def test_frozen_sizes_are_not_tried(self):
        for seq in (6, 9):  # that of the example, another
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                made = anyshape.export(nn.Linear(4, 4), torch.randn(2, 6, 4), input_names=["x"], output_names=["y"],
                                       dynamic_axes={"x": BATCH_SEQ, "y": {0: "batch", 1: "seq"}}, batch_only=True,
                                       freeze={"seq": seq})  # fmt: skip
            self.assertEqual(made.check().inputs, {"x": f"f32[batch, {seq}, 4]"})
            self.assertEqual({one.shapes["x"][1] for one in made.compared}, {seq})
            self.assertEqual((made.capture, made.tried), ("torch.export", []))
        with self.assertRaises(anyshape.Error) as caught:
            anyshape.export(nn.Linear(4, 4), torch.randn(2, 6, 4), freeze={"seg": 6}, dynamic_axes={"input": BATCH_SEQ})
        self.assertTrue(caught.exception.code.startswith("freeze"))

    def test_custom_operators(self):
        model, feed = Blended(3, 3), torch.randn(2, 3)
        made = anyshape.export(model, feed, dynamic_axes={"x": {0: "rows"}}, custom_opsets={"captured": 2})
        self.assertGreater(len(made.compared), 3)
        self.assertTrue(made.proved)
        self.equal(made, model, (torch.randn(5, 3),))
        with self.assertRaises(anyshape.Error) as caught:  # a kernel that computes something else is compared, too
            anyshape.export(model, feed, custom_ops={"captured::blend": ("my::Blend", lambda node, x, w: x)})
        self.assertEqual(caught.exception.code, "export.differs")
        renamed = anyshape.export(model, feed, custom_ops={"captured::blend": "my.domain::Blend"})
        self.assertGreater(len(renamed.compared), 0)
        with self.assertRaises(anyshape.Error) as caught:
            anyshape.export(model, feed, custom_ops={"captured::blend": 3})
        self.assertEqual(caught.exception.code, "custom.name")

    def test_a_trace_that_went_one_way_is_not_taken(self):
        for sign in (-1, 1):
            made = anyshape.export(Asking(), (sign * torch.ones(2, 3),), dynamic_axes={"x": {0: "batch"}})
            self.assertEqual(made.capture, "torch.jit.script")
            self.assertIn("the model asks a value", dict(made.tried)["torch.jit.trace"])
            self.equal(made, Asking(), (torch.ones(4, 3),), (-torch.ones(1, 3),))

    def test_what_pytorch_says_is_logged(self):
        """Not on the terminal, but in the log, and there with verbose=True, whichever process it is said in."""
        for seconds in 60, None:
            loud, quiet = io.StringIO(), io.StringIO()
            with self.subTest(seconds), redirect_stderr(quiet), redirect_stdout(quiet), self.assertLogs("anyshape", "INFO") as log:
                anyshape.export(Talking(3, 3), (torch.ones(2, 3),), compare=False, capture_timeout=seconds)
            self.assertNotRegex(quiet.getvalue(), "GraphModule|Unsupported|data-dependent|TracerWarning")
            self.assertIn("torch.jit.trace has captured the model", log.output[-1])
            self.assertRegex("\n".join(log.output), "torch.jit.trace said:\n(.*\n)*.*Converting a tensor to a Python")
            self.assertIn("    a word of the model", "\n".join(log.output))
            with redirect_stderr(loud), redirect_stdout(quiet):
                anyshape.export(Talking(3, 3), (torch.ones(2, 3),), compare=False, capture_timeout=seconds, verbose=True)
            self.assertIn("torch.jit.trace has captured the model", loud.getvalue())

    def test_a_trace_that_froze_sizes_is_refused(self):
        with self.assertRaises(anyshape.Error) as caught:
            anyshape.export(Levels(), torch.randn(2, 3, 6, 10), dynamic_axes={"x": {2: "h", 3: "w"}})
        self.assertEqual(caught.exception.code, "export.differs")

    def test_a_trace_that_froze_a_product_is_not_taken(self):
        """It takes sizes of that product, and puts them together in another way than the model."""
        made = anyshape.export(Patches(), torch.randn(2, 3, 6, 10), dynamic_axes={"x": {2: "h", 3: "w"}})
        self.assertIn("is not the model at x=2x3x10x6", dict(made.tried)["torch.jit.trace"])
        self.equal(made, Patches(), (torch.randn(2, 3, 10, 6),))


def pad_and_pool():
    """Zeros padded in front of a MaxPool: the optimizer of onnxruntime gives other values."""
    pads = onnx.numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1]), "pads")
    nodes = [onnx.helper.make_node("Pad", ["x", "pads"], ["padded"]),
             onnx.helper.make_node("MaxPool", ["padded"], ["y"], kernel_shape=[3, 3], strides=[2, 2])]  # fmt: skip
    ends = [onnx.helper.make_tensor_value_info(name, 1, ["b", 2, "h", "w"]) for name in "xy"]
    graph = onnx.helper.make_graph(nodes, "pool", ends[:1], [onnx.helper.make_empty_tensor_value_info("y")], [pads])
    made = onnx.helper.make_model(graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", 17)])
    return _anyshape.Model.from_bytes(made.SerializeToString())


class InOnnxRuntime(unittest.TestCase):
    def test_padding_in_front_of_a_pool(self):
        for padding, ceil in (0, False), (1, False), (0, True), (1, True):
            with self.subTest(padding=padding, ceil=ceil), warnings.catch_warnings():
                warnings.simplefilter("error")
                made = anyshape.export(Padded(padding, ceil), torch.randn(2, 3, 12, 13),
                                       dynamic_axes={"x": {0: "batch", 2: "h", 3: "w"}})  # fmt: skip
                self.assertIn("equal in onnxruntime", made.onnxruntime)

    def test_an_optimizer_that_is_wrong_is_named(self):
        model, x = pad_and_pool(), -np.ones((1, 2, 6, 6), np.float32)
        wanted = _anyshape.Session(model).run({"x": x})
        samples = _ort.Samples([_ort.Sample({"x": x.shape}, {"x": x}, wanted)])
        right, sentence = samples.report(model, False)
        self.assertFalse(right)
        self.assertIn("ORT_DISABLE_ALL", sentence)

    def test_arbitration(self):
        model, x = pad_and_pool(), np.ones((1, 2, 6, 6), np.float32)
        wanted = _anyshape.Session(model).run({"x": x})
        differs = Compared({"x": [1, 2, 6, 6]}, 1.0, "output 0 differs")
        self.assertEqual(_ort.arbitrated(differs, model, {"x": x}, wanted).difference, "")
        self.assertIn("onnxruntime", str(_ort.arbitrated(differs, model, {"x": x}, wanted)))
        self.assertIs(_ort.arbitrated(differs, model, {"x": x}, [wanted[0] + 1]), differs)


if __name__ == "__main__":
    # Shells start what runs in the background deaf to it, and children are as deaf.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun} tests of live captures, {failed} failed, torch {torch.__version__}")
    sys.exit(1 if failed else 0)
