"""anyshape.Batches, anyshape.ray, and sessions that are pickled or go through a fork."""

import os
import pickle
import random
import sys
import tempfile
import unittest
from pathlib import Path

import anyshape
import numpy as np
from onnx import TensorProto, helper


def made(nodes, inputs, outputs, **tensors):
    """The bytes of a model; inputs are name -> dims."""
    value = helper.make_tensor_value_info
    made_nodes = [helper.make_node(*node[:3], **(node[3] if len(node) > 3 else {})) for node in nodes]
    graph = helper.make_graph(made_nodes, "g",
                              [value(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()],
                              [value(name, TensorProto.FLOAT, None) for name in outputs],
                              [helper.make_tensor(name, TensorProto.FLOAT if array.dtype == np.float32
                                                  else TensorProto.INT64, array.shape, array.ravel())
                               for name, array in tensors.items()])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3) / 12
# Attention over seq, each row by itself; the mean over the batch, which mixes them.
APART = made([("MatMul", ["x", "w"], ["h"]), ("Softmax", ["h"], ["p"], {"axis": 1}),
              ("ReduceSum", ["p", "one"], ["y"], {"keepdims": 0})],
             {"x": ["batch", "seq", 4]}, ["y", "p"], w=WEIGHT, one=np.array([2], np.int64))  # fmt: skip
MIXED = made([("ReduceMean", ["x"], ["m"], {"axes": [0], "keepdims": 1}), ("Sub", ["x", "m"], ["y"])],
             {"x": ["batch", "seq", 4]}, ["y"])  # fmt: skip
SEQ_FIRST = made([("MatMul", ["x", "w"], ["h"]), ("CumSum", ["h", "zero"], ["y"])], {"x": ["seq", "batch", 4]}, ["y"],
                 w=WEIGHT, zero=np.array(0, np.int64))  # fmt: skip


def rows_of(lengths, seed=0):
    drawn = np.random.default_rng(seed)
    return [drawn.standard_normal((length, 4), dtype=np.float32) for length in lengths]


class BatchesTest(unittest.TestCase):
    def test_rows_are_joined_where_they_are_proved_apart(self):
        rows = rows_of(random.Random(1).choices([1, 2, 3, 5, 8], k=100))
        for source, axis, most, place in (APART, "batch", 5, 0), (MIXED, None, 100, 0), (SEQ_FIRST, "batch", 5, 1):
            batches = anyshape.Batches(source)
            self.assertEqual(batches.axis, axis)
            answers = batches({"x": rows})
            self.assertEqual(batches.runs, most)
            alone = anyshape.InferenceSession(source)
            for row, y in zip(rows, answers["y"]):
                expected = alone.run(["y"], {"x": np.expand_dims(row, place)})[0]
                np.testing.assert_allclose(y, expected.squeeze(place), rtol=1e-5, atol=1e-6)
            self.assertEqual(set(answers["error"]), {None})

    def test_a_refused_row_has_a_sentence(self):
        rows = rows_of([3, 3, 3, 3])
        rows[1] = rows[1][:, :2]
        rows[2] = None
        answers = anyshape.Batches(APART)({"x": rows})
        self.assertEqual([one is None for one in answers["error"]], [True, False, False, True])
        self.assertIn("no value", answers["error"][2])
        self.assertEqual([one is None for one in answers["y"]], [False, True, True, False])

    def test_runs_are_cut(self):
        rows = np.stack(rows_of([4] * 40))
        batches = anyshape.Batches(APART, max_rows=16)
        batches({"x": rows})
        self.assertEqual(batches.runs, 3)
        alone = anyshape.Batches(APART, max_bytes=2000, threads=1)
        answers = alone({"x": rows})
        self.assertEqual(set(answers["error"]), {None})
        self.assertGreater(alone.runs, 3)
        np.testing.assert_allclose(answers["y"], batches({"x": rows})["y"], rtol=1e-5)
        answers = anyshape.Batches(APART, max_bytes=8)({"x": rows[:2]})
        self.assertIn("run.memory", answers["error"][0])

    def test_names_of_columns(self):
        batches = anyshape.Batches(APART, inputs={"x": "signal"}, outputs={"y": "score"}, error="why")
        self.assertEqual(sorted(batches({"signal": rows_of([2])})), ["score", "why"])
        for wrong in {"x": "signal"}, {"signal": []}:
            if "signal" in wrong:
                self.assertEqual(len(batches(wrong)["why"]), 0)
                continue
            with self.assertRaises(anyshape.Error) as caught:
                batches({"x": rows_of([2])})
            self.assertEqual(caught.exception.code, "rows.column")
        with self.assertRaises(anyshape.Error):
            anyshape.Batches(APART, inputs={"z": "signal"})

    def test_the_function_for_ray(self):
        kind = anyshape.ray.predictor(APART, inputs={"x": "signal"}, outputs={"y": "score"})
        out = kind()({"id": np.arange(3), "signal": np.array([*rows_of([1, 2, 2]), None], object)[:3]})
        self.assertEqual(list(out), ["id", "signal", "score", "error"])
        self.assertEqual(out["score"].shape[0], 3)

    @unittest.skipUnless("pyarrow" in sys.modules or __import__("importlib").util.find_spec("pyarrow"), "no pyarrow")
    def test_arrow_is_read_where_it_lies(self):
        import pyarrow as pa
        from anyshape._columns import column

        flat = pa.array([[1.0, 2.0], [3.0, 4.0], [5.0]], pa.list_(pa.float32()))
        lists = column(flat)
        run = lists.rows([0, 1])
        self.assertTrue(np.shares_memory(run, flat.values.to_numpy()))
        np.testing.assert_array_equal(run, [[1, 2], [3, 4]])
        self.assertEqual(lists.shape(2), (1,))
        sliced = column(flat.slice(1))
        np.testing.assert_array_equal(sliced.rows([1]), [[5]])
        fixed = pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int64(), 2)).slice(1)
        np.testing.assert_array_equal(column(fixed).rows([0, 1]), [[3, 4], [5, 6]])
        nested = pa.array([[[1.0] * 4] * 2, [[2.0] * 4]], pa.list_(pa.list_(pa.float32(), 4)))
        self.assertEqual(column(nested).shape(0), (2, 4))
        answers = anyshape.Batches(APART)(pa.table({"x": nested}))
        self.assertEqual([y.shape for y in answers["p"]], [(2, 3), (1, 3)])

    @unittest.skipUnless(__import__("importlib").util.find_spec("pyarrow"), "no pyarrow")
    def test_what_arrow_does_not_have_is_missing_in_its_row_only(self):
        import pyarrow as pa

        lists, pairs = pa.list_(pa.float32()), pa.list_(pa.float32(), 2)
        for values in (
            pa.array([[9], None, [1, 2], [None], [3]], lists).slice(2), pa.array([[1, 2], [3, None], [4, 5]], pairs),
            pa.array([[1, 2], None, [4, 5]], pa.list_view(pa.float32())),
            pa.chunked_array([pa.array([[1, 2], None], lists), pa.array([[3]], lists)]),
            pa.array([[[1, 2]], [[3, 4], [5, None]], [[6, 7]]], pa.list_(pairs)),
            pa.array([[[1], [2]], [[3, 4], [5]], [[6]]], pa.list_(lists)),
        ):  # fmt: skip
            rank = 3 if "<item: fixed_size_list" in str(values.type) or "<item: list" in str(values.type) else 2
            batches = anyshape.Batches(made([("Neg", ["x"], ["y"])], {"x": ["batch", *"stu"[: rank - 1]]}, ["y"]))
            answers = batches({"x": values})
            self.assertEqual([one is None for one in answers["error"]], [True, False, True], values.type)
            for row in 0, 2:
                np.testing.assert_array_equal(answers["y"][row], -np.array(values[row].as_py(), np.float32))

    def test_rows_that_are_no_arrays(self):
        answers = anyshape.Batches(APART)({"x": [[[1.0], [2.0, 3.0]], *rows_of([2])]})
        self.assertIn("no array", answers["error"][0])
        self.assertIsNone(answers["error"][1])


    def test_pickled_with_what_it_was_given(self):
        batches = pickle.loads(pickle.dumps(anyshape.Batches(APART, outputs={"y": "score"}, max_rows=2)))
        answers = batches({"x": rows_of([3] * 5)})
        self.assertEqual((sorted(answers), batches.runs), (["error", "score"], 3))


class SessionTravelsTest(unittest.TestCase):
    def test_pickled(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.onnx"
            path.write_bytes(APART)
            x = np.stack(rows_of([3, 3]))
            for source in path, str(path), APART:
                session = anyshape.InferenceSession(source, anyshape.SessionOptions(intra_op_num_threads=1, exact=True))
                text = pickle.dumps(session)
                back = pickle.loads(text)
                self.assertIs(pickle.loads(text), back)
                np.testing.assert_array_equal(back.run(None, {"x": x})[0], session.run(None, {"x": x})[0])
            text = pickle.dumps(anyshape.InferenceSession(path))
            before = pickle.loads(text)
            path.write_bytes(MIXED)
            self.assertIsNot(pickle.loads(text), before)
        with self.assertRaises(anyshape.Error) as caught:
            pickle.dumps(anyshape.InferenceSession(bytearray(APART)))
        self.assertEqual(caught.exception.code, "session.pickle")

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_goes_on_after_a_fork(self):
        session = anyshape.InferenceSession(APART, anyshape.SessionOptions(intra_op_num_threads=4))
        x = np.random.default_rng(2).standard_normal((64, 128, 4), dtype=np.float32)
        expected = session.run(None, {"x": x})[0]
        for _ in range(3):
            child = os.fork()
            if child == 0:
                same = np.array_equal(session.run(None, {"x": x})[0], expected)
                os._exit(0 if same else 1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], expected)


if __name__ == "__main__":
    unittest.main()
