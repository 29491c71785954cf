"""anyshape.InferenceSession: values of every kind in and out, errors, threads."""

import gc
import threading
import unittest
from pathlib import Path

import anyshape
import numpy as np
from anyshape._values import EXTENSION, from_bits, parts
from models import model

RUN = Path(__file__).resolve().parents[1] / "fixtures" / "run"


def session(name, **options):
    return anyshape.InferenceSession(RUN / f"{name}.onnx", **options)


class ValuesTest(unittest.TestCase):
    def test_types_and_shapes(self):
        (given,), (made,) = session("blocks").get_inputs(), session("blocks").get_outputs()
        self.assertEqual((given.name, given.type, given.shape), ("x", "tensor(float)", ["n", 2]))
        self.assertEqual((made.name, made.type, made.shape), ("y", "tensor(float)", ["n//4", 4, 2]))
        self.assertEqual([i.type for i in session("narrow").get_inputs()], ["tensor(bfloat16)", "tensor(int4)"])
        self.assertEqual(session("sequence").get_inputs()[0].type, "seq(tensor(float))")

    def test_dense_and_strided(self):
        model = session("through")
        x = np.arange(12, dtype=np.float32).reshape(6, 2)
        for given in x, x[::2], np.asfortranarray(x), x.astype(">f4"), x[::-1], x[:0]:
            same, named, flat = model.run(None, {"x": given})
            np.testing.assert_array_equal(same, given)
            np.testing.assert_array_equal(named, given)
            np.testing.assert_array_equal(flat, given.reshape(-1))
        np.testing.assert_array_equal(model.run(["flat"], {"x": x.tolist()})[0], x.reshape(-1))

    def test_input_with_a_default(self):
        model = session("default")
        x = np.array([1, 2], np.float32)
        self.assertEqual([i.name for i in model.get_inputs()], ["x"])
        (scale,) = model.get_overridable_initializers()
        self.assertEqual((scale.name, scale.type, scale.shape), ("scale", "tensor(float)", [1]))
        for _ in range(2):
            np.testing.assert_array_equal(model.run(None, {"x": x})[0], x * 3)
            np.testing.assert_array_equal(model.run(None, {"x": x, "scale": np.array([5], np.float32)})[0], x * 5)
        with self.assertRaises(anyshape.Error):
            model.run(None, {"x": x, "scale": x})

    def test_unaligned(self):
        raw = np.zeros(4 * 12 + 1, np.uint8)
        x = raw[1:].view(np.float32).reshape(6, 2)
        x[:] = np.arange(12).reshape(6, 2)
        np.testing.assert_array_equal(session("through").run(["named"], {"x": x})[0], x)

    def test_read_only_input(self):
        x = np.ones((2, 2), np.float32)
        x.flags.writeable = False
        np.testing.assert_array_equal(session("through").run(["x"], {"x": x})[0], x)

    def test_outputs_are_the_callers(self):
        model = session("through")
        x = np.ones((3, 2), np.float32)
        made = model.run(None, {"x": x})
        x[:] = 5
        for one in made:
            self.assertTrue((one == 1).all())
            one[:] = 7
        again = model.run(None, {"x": x})
        self.assertTrue((made[0] == 7).all())
        self.assertTrue((again[0] == 5).all())
        del model
        gc.collect()
        self.assertTrue((again[2] == 5).all())

    def test_constants_cannot_be_written_through(self):
        model = session("constant")
        x = np.zeros((2, 2), np.float32)
        first = [np.copy(one) for one in model.run(None, {"x": x})]
        for one in model.run(None, {"x": x}):
            if one.dtype != object and one.flags.writeable:
                one[...] = 9
        for before, after in zip(first, model.run(None, {"x": x})):
            np.testing.assert_array_equal(before, after)

    def test_strings(self):
        model = session("text")
        joined, count = model.run(None, {"a": np.array(["x", "häß"]), "b": ["1", "2"]})
        self.assertEqual(joined.tolist(), ["x1", "häß2"])
        self.assertEqual(count.dtype, np.int64)

    def test_sequences(self):
        many = [np.ones(2, np.float32), np.full(3, 2, np.float32)]
        more, joined = session("sequence").run(None, {"many": many, "one": np.zeros(1, np.float32)})
        self.assertIsInstance(more, list)
        self.assertEqual(sum(len(one) for one in more), len(joined))

    def test_types_of_ml_dtypes(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        b = np.array([1.5, -2, 0.25], ml_dtypes.bfloat16)
        i = np.array([-8, 7, 3], ml_dtypes.int4)
        y, same = session("narrow").run(None, {"b": b, "i": i})
        self.assertEqual(same.dtype, ml_dtypes.bfloat16)
        np.testing.assert_array_equal(same.astype(np.float32), b.astype(np.float32))
        np.testing.assert_array_equal(y, b.astype(np.float32) + i.astype(np.float32))

    def test_packed_bits_come_back(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        for code, (name, bits) in EXTENSION.items():
            for count in (0, 1, 3, 4, 9):
                with self.subTest(name, count=count):
                    given = (np.arange(count) % 2).astype(getattr(ml_dtypes, name))
                    found, shape, packed = parts(given, code)
                    self.assertEqual((found, shape, packed.nbytes), (code, (count,), -(-count * bits // 8)))
                    back = from_bits(code, [count], packed)
                    self.assertEqual(back.dtype, given.dtype)
                    self.assertEqual(back.tobytes(), given.tobytes())


class ErrorsTest(unittest.TestCase):
    def refusal(self, feed, model="mlp", names=None):
        with self.assertRaises(anyshape.Error) as caught:
            session(model).run(names, feed)
        return caught.exception.code

    def test_feeds(self):
        x = np.zeros((2, 8), np.float32)
        self.assertEqual(self.refusal({}), "input.missing")
        with self.assertRaisesRegex(anyshape.Error, 'input "x": nothing is given for it; "X" is given, which the model does'):
            session("mlp").run(None, {"X": x})
        self.assertEqual(self.refusal({"x": x, "z": x}), "input.unknown")
        self.assertEqual(self.refusal({"x": x.astype(np.float64)}), "input.dtype")
        self.assertEqual(self.refusal({"x": x[0]}), "input.rank")
        self.assertEqual(self.refusal({"x": "text"}), "input.type")
        self.assertEqual(self.refusal({"x": x.astype("datetime64[s]")}), "input.type")
        self.assertEqual(self.refusal({"x": None}), "input.type")
        self.assertEqual(self.refusal({"x": x}, names=["nope"]), "output.unknown")
        self.assertEqual(self.refusal({"many": x, "one": x}, "sequence"), "input.kind")

    def test_lists_that_would_lose_something(self):
        for name, given in ("int64", [1.5, 2]), ("int8", [300]), ("uint8", [-1]), ("bool", [0.5]), ("int64", [2**63]):
            text = f"m ({name}[n] x) => ({name}[n] y) {{ y = Identity (x) }}"
            with self.subTest(name, given=given), self.assertRaises(anyshape.Error) as caught:
                anyshape.InferenceSession(model(text)).run(None, {"x": given})
            self.assertEqual(caught.exception.code, "input.type")
        whole = anyshape.InferenceSession(model("m (int64[n] x) => (int64[n] y) { y = Identity (x) }"))
        self.assertEqual(whole.run(None, {"x": []})[0].tolist(), [])

    def test_models(self):
        for source in b"", b"\0" * 100, "nowhere.onnx":
            with self.assertRaises(anyshape.Error):
                anyshape.InferenceSession(source)

    def test_providers(self):
        session("mlp", providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
        with self.assertRaises(anyshape.Error):
            session("mlp", providers=["CUDAExecutionProvider"])


class RunTest(unittest.TestCase):
    def test_reference_kernels_agree(self):
        x = np.random.default_rng(1).standard_normal((5, 8)).astype(np.float32)
        options = anyshape.SessionOptions(optimize=False, intra_op_num_threads=1)
        slow = session("mlp", sess_options=options).run(None, {"x": x})[0]
        np.testing.assert_allclose(session("mlp").run(None, {"x": x})[0], slow, rtol=1e-4, atol=1e-5)

    def test_exact(self):
        rng = np.random.default_rng(3)
        source = model("m (float[n, 32, h, w] x) => (float[n, 32, a, b] y) { y = Conv (x, k) }",
                       k=rng.standard_normal((32, 32, 3, 3)).astype(np.float32))  # fmt: skip
        x = rng.standard_normal((1, 32, 24, 24)).astype(np.float32)
        usual = anyshape.InferenceSession(source)
        exact = anyshape.InferenceSession(source, anyshape.SessionOptions(exact=True))
        self.assertIn("winograd", usual.plan({"x": x.shape}))
        self.assertNotIn("winograd", exact.plan({"x": x.shape}))
        np.testing.assert_allclose(exact.run(None, {"x": x})[0], usual.run(None, {"x": x})[0], rtol=1e-3, atol=1e-3)

    def test_threads(self):
        model = session("mlp", sess_options=anyshape.SessionOptions(intra_op_num_threads=1))
        rng = np.random.default_rng(2)
        inputs = [rng.standard_normal((n, 8)).astype(np.float32) for n in range(1, 9)]
        wanted = [model.run(None, {"x": x})[0] for x in inputs]
        failures = []

        def work(x, want):
            for _ in range(50):
                if not np.array_equal(model.run(None, {"x": x})[0], want):
                    failures.append(x.shape)

        threads = [threading.Thread(target=work, args=pair) for pair in zip(inputs, wanted)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_bytes_and_metadata(self):
        data = (RUN / "mlp.onnx").read_bytes()
        x = np.ones((1, 8), np.float32)
        a, b = anyshape.InferenceSession(data).run(None, {"x": x}), session("mlp").run(None, {"x": x})
        np.testing.assert_array_equal(a[0], b[0])
        self.assertTrue(session("mlp").get_modelmeta().producer_name)
        self.assertIn("[2, 16]", session("mlp").plan({"x": (2, 8)}))


class CustomTest(unittest.TestCase):
    def test_python_kernel(self):
        with self.assertRaises(anyshape.Error) as caught:
            session("custom")
        self.assertEqual(caught.exception.code, "run.missing")

        def repeat(node, x):
            if x.shape[0] == 5:
                raise ValueError("five rows")
            return np.tile(x, (1, node.integer("times"))) * np.float32(node.number("scale"))

        anyshape.register_op("test", "Repeat", "y = [x0, 3*x1] where x1 >= 2", repeat)
        model = session("custom")
        name = model.get_inputs()[0].name
        x = np.arange(4, dtype=np.float32).reshape(2, 2)
        np.testing.assert_array_equal(model.run(None, {name: x})[0], np.tile(x, (1, 3)) / 2)
        with self.assertRaises(anyshape.Error) as caught:
            model.run(None, {name: np.zeros((5, 2), np.float32)})
        self.assertEqual(caught.exception.code, "custom.python")
        self.assertIn("five rows", caught.exception.message)
        with self.assertRaises(anyshape.Error):
            model.run(None, {name: x[:, :1]})

    def test_rules_that_are_none(self):
        for rule in "", "y = [", "y = [q0]":
            with self.assertRaises(anyshape.Error) as caught:
                anyshape.register_op("test", "Broken", rule)
            self.assertEqual(caught.exception.code, "custom.rule")


if __name__ == "__main__":
    unittest.main()
