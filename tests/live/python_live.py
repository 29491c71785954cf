#!/usr/bin/env python3
"""python_live.py: anyshape.export on live PyTorch models; the files are run by our engine and by ONNX Runtime.

Environment: ANYSHAPE (the program; the package is beside it in the build tree), ANYSHAPE_SEED.
"""

import os
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["ANYSHAPE"]).resolve().parent.parent / "python"))

import anyshape  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("ANYSHAPE_SEED", "1"))
BATCH_SEQ = {0: "batch", 1: "seq"}


class Rnn(nn.Module):
    def __init__(self, kind=nn.RNN, width=10, **options):
        super().__init__()
        self.rnn = kind(width, 20, batch_first=True, **options)
        self.fc = nn.Linear(20 * (2 if options.get("bidirectional") else 1), 5)

    def forward(self, x):
        return self.fc(self.rnn(x)[0][:, -1])


class Reshape(nn.Module):
    def forward(self, x):
        return x.view(x.shape[0], x.shape[1])


class Branch(nn.Module):
    """Another formula for short sequences; `matters`: with other values."""

    def __init__(self, matters):
        super().__init__()
        self.matters = matters

    def forward(self, x):
        if x.shape[1] > 8:
            return x * 2
        return x * 3 if self.matters else x + x


class Patches(nn.Module):
    """Positions learned for a grid of 4 by 4 patches, stretched for others; `native`: other values on that grid."""

    def __init__(self, native=1.0):
        super().__init__()
        self.cut, self.native = nn.Conv2d(3, 6, 8, 8), native
        self.places = nn.Parameter(torch.randn(1, 6, 4, 4))

    def forward(self, x):
        y = self.cut(x)
        if y.shape[2] * y.shape[3] == 16 and y.shape[2] == y.shape[3]:
            return y * self.native + self.places
        return y + nn.functional.interpolate(self.places, y.shape[2:], mode="bilinear", align_corners=False)


class Padded(nn.Module):
    """Brings rows to a multiple of 4; a grid of 8 rows takes another way to the same values."""

    def forward(self, x):
        if x.shape[1] % 4:
            x = nn.functional.pad(x, (0, 0, 0, 4 - x.shape[1] % 4))
        grid = x.reshape(x.shape[0], x.shape[1] // 4, 4, x.shape[2])
        return grid.sum(2) * 2 if grid.shape[1] == 8 else 2 * grid.sum(2)


class Nested(nn.Module):
    def forward(self, pair, *, scale, bias=None):
        return {"sum": pair[0] + pair[1], "scaled": pair[0] * scale}


class Mean(nn.Module):
    """Of the entries a mask has."""

    def forward(self, x, mask):
        return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


class Messages(nn.Module):
    def forward(self, x, edges):
        return torch.zeros_like(x).index_add(0, edges[1], x[edges[0]])


class Folded(nn.Module):
    """Needs an even number of rows."""

    def forward(self, x):
        return x.reshape(x.shape[0] // 2, 2, x.shape[1]).sum(1)


class Exported(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(SEED)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "model.onnx"

    def equal(self, model, feeds):
        """File and model agree in both engines."""
        ours, theirs = anyshape.InferenceSession(self.path), onnxruntime.InferenceSession(self.path)
        names = [arg.name for arg in ours.get_inputs()]
        self.assertEqual(names, [arg.name for arg in theirs.get_inputs()])
        model.eval()
        for feed in feeds:
            with torch.no_grad():
                want = model(*feed)
            want = [one.numpy() for one in (want if isinstance(want, tuple) else (want,))]
            arrays = {name: tensor.numpy() for name, tensor in zip(names, feed)}
            for session in ours, theirs:
                for got, wanted in zip(session.run(None, arrays), want):
                    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-4)

    def test_linear(self):
        model = nn.Linear(10, 5)
        made = anyshape.export(model, torch.randn(3, 10), self.path, input_names=["x"], output_names=["y"],
                               dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}}, opset_version=17)  # fmt: skip
        self.assertTrue(made.proved)
        self.assertEqual((made.nodes, made.shape_nodes), (1, 0))
        self.assertEqual(anyshape.check(self.path).outputs, {"y": "f32[batch, 5]"})
        self.equal(model, [(torch.randn(n, 10),) for n in (1, 2, 5, 64)])

    def test_recurrent(self):
        for kind, options in (nn.RNN, {}), (nn.GRU, {"num_layers": 2}), (nn.LSTM, {"bidirectional": True}):
            with self.subTest(kind.__name__):
                model = Rnn(kind, **options)
                made = anyshape.export(model, (torch.randn(3, 7, 10),), self.path, dynamic_axes={"x": BATCH_SEQ})
                self.assertTrue(made.proved, made)
                self.equal(model, [(torch.randn(b, s, 10),) for b, s in ((1, 1), (1, 120), (4, 3), (2, 2))])

    def test_reshape(self):
        made = anyshape.export(Reshape(), (torch.randn(3, 7),), self.path, dynamic_axes={"x": BATCH_SEQ})
        self.assertTrue(made.proved)
        self.assertEqual(made.shape_nodes, 0)
        self.equal(Reshape(), [(torch.randn(b, s),) for b, s in ((1, 1), (1, 9), (8, 1), (5, 4))])

    def test_transformer(self):
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        model = nn.TransformerEncoder(layer, 2)
        anyshape.export(model, (torch.randn(2, 7, 16),), self.path, dynamic_axes={"src": BATCH_SEQ})
        self.equal(model, [(torch.randn(b, s, 16),) for b, s in ((1, 1), (1, 30), (4, 3), (2, 2))])

    def test_train_mode(self):
        model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Dropout(0.5))
        model[2].eval()
        anyshape.export(model, (torch.randn(2, 3, 8, 8),), self.path, input_names=["x"],
                        dynamic_axes={"x": {0: "batch", 2: "height", 3: "width"}})  # fmt: skip
        self.assertEqual([part.training for part in model], [True, True, False])
        self.equal(model, [(torch.randn(b, 3, h, w),) for b, h, w in ((1, 1, 1), (2, 8, 9), (3, 5, 16))])

    def test_guard_that_matters(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = anyshape.export(Branch(True), (torch.randn(2, 12, 3),), self.path, dynamic_axes={"x": BATCH_SEQ})
        self.assertTrue(any("refuses" in str(one.message) for one in caught) or not made.assumed)
        self.equal(Branch(True), [(torch.randn(b, s, 3),) for b, s in ((1, 9), (4, 40))])
        short = torch.randn(2, 5, 3)
        for make in anyshape.InferenceSession, onnxruntime.InferenceSession:
            try:
                got = make(self.path).run(None, {"x": short.numpy()})[0]
            except Exception:  # noqa: BLE001 - a refusal is right, other values are not
                continue
            np.testing.assert_allclose(got, Branch(True)(short).numpy(), rtol=1e-5)

    def test_guard_embedded(self):
        """No capture has both branches, so the file must refuse beyond the one it has, in every runtime."""

        class Unscriptable(Branch):
            def forward(self, x):
                return (lambda y: super(Unscriptable, self).forward(y))(x)

        with self.assertWarns(UserWarning):
            made = anyshape.export(Unscriptable(True), (torch.randn(2, 12, 3),), self.path,
                                   dynamic_axes={"x": BATCH_SEQ})  # fmt: skip
        self.assertEqual(made.assumed, ["seq >= 9"])
        self.assertTrue(made.refused)
        self.assertFalse(anyshape.check(self.path).accepts(x=(2, 8, 3)))
        self.equal(Branch(True), [(torch.randn(b, s, 3),) for b, s in ((1, 9), (4, 40))])
        for make in anyshape.InferenceSession, onnxruntime.InferenceSession:
            with self.assertRaises(Exception):  # noqa: B017 - each runtime has its own
                make(self.path).run(None, {"x": np.ones((2, 8, 3), np.float32)})

    def test_guard_that_does_not_matter(self):
        model = Branch(False)
        made = anyshape.export(model, (torch.randn(2, 12, 3),), self.path, dynamic_axes={"x": BATCH_SEQ})
        self.assertEqual(made.assumed, [])
        self.assertTrue(made.proved)
        self.equal(model, [(torch.randn(b, s, 3),) for b, s in ((1, 1), (2, 8), (2, 9), (4, 40))])

    def test_guards_of_a_grid(self):
        """The native size takes another way to the same values; where the values are others, it is refused or right."""
        axes = {"x": {0: "batch", 2: "height", 3: "width"}}
        made = anyshape.export(Patches(), (torch.randn(2, 3, 64, 96),), self.path, dynamic_axes=axes)
        self.assertEqual((made.refused, made.assumed), ([], []))
        self.assertTrue(anyshape.check(self.path).accepts(x=(1, 3, 32, 32)))
        model = Patches(native=2.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = anyshape.export(model, (torch.randn(2, 3, 64, 96),), self.path, dynamic_axes=axes)
        if anyshape.check(self.path).accepts(x=(1, 3, 32, 32)):
            self.equal(model, [(torch.randn(1, 3, 32, 32),)])
        else:
            self.assertTrue(made.refused)

    def test_a_guard_is_not_blamed_for_another(self):
        """At 33 rows the capture is wrong, which is not the fault of the guard that 8 rows of a grid break."""
        made = anyshape.export(Padded(), (torch.randn(2, 12, 3),), self.path, dynamic_axes={"x": BATCH_SEQ})
        self.assertTrue(anyshape.check(self.path).accepts(x=(2, 32, 3)), made.details())
        self.equal(Padded(), [(torch.randn(1, s, 3),) for s in (4, 32, 36)])

    def test_condition_of_the_model(self):
        made = anyshape.export(Folded(), (torch.randn(4, 3),), self.path, dynamic_axes={"x": {0: "rows"}})
        report = anyshape.check(self.path)
        self.assertTrue(report.accepts(x=(6, 3)))
        self.assertFalse(report.accepts(x=(5, 3)))
        self.assertEqual(made.refused, [])
        self.equal(Folded(), [(torch.randn(n, 3),) for n in (2, 4, 10)])

    def test_a_size_in_the_code_is_named(self):
        class Fixed(nn.Module):
            def forward(self, x):
                y = x * 2
                return y.view(3, -1)

        with self.assertWarnsRegex(UserWarning, r"export\.narrowed: .*batch % 3 == 0.*y\.view\(y\.shape\[0\], -1\)"):
            made = anyshape.export(Fixed(), (torch.randn(3, 4),), self.path, dynamic_axes={"x": {0: "batch"}})
        self.assertEqual([one.condition for one in made.narrowed], ["batch % 3 == 0"])
        with self.assertRaises(anyshape.Error) as caught:
            anyshape.export(Fixed(), (torch.randn(3, 4),), self.path, dynamic_axes={"x": {0: "batch"}}, strict_axes=True)
        self.assertEqual(caught.exception.code, "export.narrowed")
        self.assertIn("y.view(y.shape[0], -1)", str(caught.exception))

    def test_bounds_below_are_no_news(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = anyshape.export(nn.Conv1d(2, 3, 5), (torch.randn(2, 2, 9),), self.path, strict_axes=True,
                                   dynamic_axes={"input": {0: "batch", 2: "length"}})  # fmt: skip
        self.assertEqual(made.narrowed, [])

    def test_a_forgotten_input_is_named(self):
        class Sum(nn.Module):
            def forward(self, a, b):
                return a + b

        args = torch.randn(2, 4), torch.randn(2, 4)
        with self.assertWarnsRegex(UserWarning, 'axis 0 of "b" is 2 and pins batch: add "b": {0: "batch"}'):
            anyshape.export(Sum(), args, self.path, dynamic_axes={"a": {0: "batch"}})
        made = anyshape.export(Sum(), args, self.path, dynamic_axes={"a": {0: "batch"}, "b": {0: "batch"}})
        self.assertTrue(made.proved and not made.narrowed)

    def test_inputs_stay_legal(self):
        mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]])
        edges = torch.tensor([[0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0, 3]])
        rows = [
            (nn.EmbeddingBag(10, 4), (torch.randint(10, (9,)), torch.tensor([0, 3, 7])),
             {"input": {0: "n"}, "offsets": {0: "bags"}}),
            (Mean(), (torch.randn(3, 6, 4), mask), {"x": BATCH_SEQ, "mask": BATCH_SEQ}),
            (Messages(), (torch.randn(6, 3), edges), {"x": {0: "nodes"}, "edges": {1: "edges"}}),
        ]  # fmt: skip
        for model, args, axes in rows:
            with self.subTest(type(model).__name__):
                made = anyshape.export(model, args, self.path, dynamic_axes=axes)
                self.assertGreater(len(made.compared), 9)
                self.assertTrue(all(np.isfinite(one.error) for one in made.compared))

    def test_sampler(self):
        asked = []

        def sampler(sizes):
            asked.append(sizes)
            return {"edges": torch.randint(sizes["nodes"], (2, sizes["edges"]))}

        axes = {"x": {0: "nodes"}, "edges": {1: "edges"}}
        args = torch.randn(6, 3), torch.tensor([[0, 1], [2, 3]])
        anyshape.export(Messages(), args, self.path, dynamic_axes=axes, sampler=sampler)
        self.assertGreater(len(asked), 5)

    def test_nested_and_keywords(self):
        pair, scale = (torch.randn(3, 4), torch.randn(3, 4)), torch.randn(4)
        made = anyshape.export(Nested(), (pair,), self.path, kwargs={"scale": scale},
                               dynamic_axes={"pair_0": {0: "n"}, "pair_1": {0: "n"}})  # fmt: skip
        session = anyshape.InferenceSession(self.path)
        self.assertEqual([arg.name for arg in session.get_inputs()], ["pair_0", "pair_1", "scale"])
        self.assertEqual(list(made.check().outputs), ["sum", "scaled"])
        one = np.ones((7, 4), np.float32)
        feed = {"pair_0": one, "pair_1": one, "scale": np.full(4, 3, np.float32)}
        for got, want in zip(session.run(None, feed), (2, 3)):
            np.testing.assert_array_equal(got, np.full((7, 4), want, np.float32))

    def test_dynamic_shapes(self):
        model = nn.Linear(10, 5)
        wanted = {"input": {0: torch.export.Dim("batch", min=4, max=64)}}
        made = anyshape.export(model, (torch.randn(5, 10),), self.path, dynamic_shapes=wanted)
        self.assertEqual(made.check().inputs, {"input": "f32[batch, 10]"})
        for size in (3, 65):
            self.assertFalse(made.check().accepts(input=(size, 10)))
        self.assertEqual(made.nodes, 1)
        made = anyshape.export(model, (torch.randn(3, 10),), self.path, dynamic_shapes=({0: "n"},))
        self.assertEqual(made.check().inputs, {"input": "f32[n, 10]"})
        self.assertTrue(made.proved)

    def test_exported_program(self):
        model = nn.Linear(10, 5)
        program = torch.export.export(model, (torch.randn(3, 10),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
        made = anyshape.export(program, (), self.path, input_names=["x"], dynamic_axes={"x": {0: "batch"}})
        self.assertGreater(len(made.compared), 1)
        self.equal(model, [(torch.randn(n, 10),) for n in (1, 4)])

    def test_a_wrong_file_is_never_written(self):
        class Other(nn.Linear):
            """Is another function when it is captured."""

            def forward(self, x):
                return super().forward(x) + (1 if torch.compiler.is_exporting() or torch.jit.is_tracing() else 0)

        with self.assertRaises(anyshape.Error) as caught:
            anyshape.export(Other(3, 3), (torch.randn(2, 3),), self.path, dynamic_axes={"x": {0: "batch"}})
        self.assertEqual(caught.exception.code, "export.differs")
        self.assertIn("2x3", str(caught.exception))
        self.assertFalse(self.path.exists())

    def test_wrong_requests(self):
        rows = [
            ({"dynamic_axes": {"x": {5: "batch"}}, "input_names": ["x"]}, "dynamic.axis"),
            ({"dynamic_axes": {"z": {0: "batch"}}, "output_names": ["y"]}, "dynamic.value"),
            ({"input_names": ["a", "b"]}, "names.inputs"),
        ]
        for options, code in rows:
            with self.assertRaises(anyshape.Error) as caught:
                anyshape.export(nn.Linear(3, 3), (torch.randn(2, 3),), self.path, **options)
            self.assertEqual(caught.exception.code, code)
        with self.assertRaises(anyshape.Error) as caught:
            anyshape.export(nn.Linear(3, 3), (torch.randn(2, 4),), self.path)
        self.assertEqual(caught.exception.code, "export.args")


class WholeRnn(unittest.TestCase):
    def test_restores(self):
        layer, x = nn.LSTM(3, 4), torch.randn(5, 2, 3)
        want = layer(x)[0]
        with anyshape.capture.whole_rnn():
            pass
        torch.testing.assert_close(layer(x)[0], want)
        program = torch.export.export(layer, (x,))
        torch.testing.assert_close(program.module()(x)[0], want)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun} tests of the Python package, {failed} failed, torch {torch.__version__}")
    sys.exit(1 if failed else 0)
