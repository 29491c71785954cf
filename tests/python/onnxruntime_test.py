"""anyshape.onnxruntime: a program written for onnxruntime finds what it uses."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from pathlib import Path

import anyshape
import anyshape.onnxruntime as ort
import numpy as np
from anyshape.onnxruntime.capi import onnxruntime_pybind11_state as state
from models import SPIN, model

SCALED = model("""scaled (float[n, 4] x, float[?, 4] k) => (float[n, 4] y, float[n, 4] z) {
    y = Add (x, k)
    z = Relu (y)
}""")


def feed(n=2):
    return {"x": np.full((n, 4), -3, np.float32), "k": np.ones((1, 4), np.float32)}


MINE = np.ones((2, 4), np.float32)
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# Prints how many larger blocks 20 runs into bound memory have asked for, and the making of 20 arrays.
COUNTING = """
import ctypes, gc, sys
import anyshape.onnxruntime as ort
import numpy as np

blocks, large = ctypes.CDLL(None).anyshape_blocks, ctypes.CDLL(None).anyshape_large_blocks
blocks.restype = large.restype = ctypes.c_long
session = ort.InferenceSession(sys.argv[1])
x, mask = np.ones((2, 3, 64, 32), np.float32), np.empty((2, 1, 64, 32), np.float32)
binding = session.io_binding()
binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
binding.bind_output("mask", "cpu", 0, np.float32, mask.shape, mask.ctypes.data)
for run in lambda: session.run_with_iobinding(binding), lambda: np.empty(1 << 16, np.uint8):
    run()
    gc.collect()
    gc.disable()
    for i in range(40):
        run()
        if i == 19:  # the interpreter has seen how it goes
            large_before, before = large(), blocks()
    print(blocks() - before, large() - large_before)
"""


class SessionTest(unittest.TestCase):
    def test_listings(self):
        session = ort.InferenceSession(SCALED)
        self.assertEqual([(i.name, i.type, i.shape) for i in session.get_inputs()],
                         [("x", "tensor(float)", ["n", 4]), ("k", "tensor(float)", [None, 4])])  # fmt: skip
        self.assertEqual([i.shape for i in session.get_outputs()], [["n", 4], ["n", 4]])
        meta = session.get_modelmeta()
        self.assertEqual((meta.graph_name, meta.custom_metadata_map, meta.description), ("scaled", {}, ""))
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])
        self.assertEqual(session.get_provider_options(), {"CPUExecutionProvider": {}})

    def test_run(self):
        session = ort.InferenceSession(SCALED)
        y, z = session.run(None, feed())
        np.testing.assert_array_equal(y, np.full((2, 4), -2, np.float32))
        np.testing.assert_array_equal(session.run(["z"], feed())[0], np.zeros((2, 4)))
        self.assertEqual(len(session.run([], feed())), 2)
        self.assertTrue((z == 0).all())

    def test_providers_that_are_not_there(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            session = ort.InferenceSession(SCALED, providers=[("CUDAExecutionProvider", {"device_id": 0})])
        self.assertIn("CUDAExecutionProvider", str(told[0].message))
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])

    def test_errors(self):
        session = ort.InferenceSession(SCALED)
        refused = {
            ValueError: lambda: session.run(None, {"x": feed()["x"]}),
            state.InvalidArgument: lambda: session.run(None, feed() | {"other": 1}),
            state.NoSuchFile: lambda: ort.InferenceSession("/there/is/no.onnx"),
            state.InvalidProtobuf: lambda: ort.InferenceSession(b"no model"),
            TypeError: lambda: ort.InferenceSession(3),
            state.Fail: lambda: ort.SessionOptions().register_custom_ops_library("ops.so"),
        }
        for kind, call in refused.items():
            with self.subTest(kind), self.assertRaises(kind):
                call()
        with self.assertRaisesRegex(state.InvalidArgument, r"^\[ONNXRuntimeError\] : 2 : INVALID_ARGUMENT : .*x"):
            session.run(None, feed() | {"x": np.ones((2, 3), np.float32)})
        with self.assertRaisesRegex(state.InvalidArgument, "Invalid output name:q"):
            session.run(["q"], feed())
        with self.assertRaisesRegex(anyshape.Error, "Required inputs .*'k'.* are missing"):
            session.run(None, {"x": feed()["x"]})

    def test_free_dimensions(self):
        options = ort.SessionOptions()
        options.add_free_dimension_override_by_name("n", 2)
        session = ort.InferenceSession(SCALED, options)
        self.assertEqual(session.get_inputs()[0].shape, [2, 4])
        session.run(None, feed(2))
        with self.assertRaises(state.InvalidArgument):
            session.run(None, feed(3))

    def test_terminate(self):
        options = ort.RunOptions()
        options.terminate = True
        session = ort.InferenceSession(SCALED)
        with self.assertRaisesRegex(state.Fail, "terminate flag"):
            session.run(None, feed(), options)
        options.terminate = False
        session.run(None, feed(), options)

    def test_terminate_a_run_in_progress(self):
        options = ort.RunOptions()
        timer = threading.Timer(0.05, lambda: setattr(options, "terminate", True))
        timer.start()
        with self.assertRaises(state.Fail):
            ort.InferenceSession(model(SPIN)).run(None, {"rounds": np.array(10**9), "x": np.ones(4, np.float32)}, options)
        timer.join()

    def test_async(self):
        done, got = threading.Event(), []

        def callback(outputs, data, failure):
            got.append((outputs, data, failure))
            done.set()

        session = ort.InferenceSession(SCALED)
        for given, outputs, failed in (feed(), 2, False), ({}, 0, True):
            done.clear()
            session.run_async(None, given, callback, "mine")
            done.wait()
            made, data, failure = got.pop()
            self.assertEqual((len(made), data, bool(failure)), (outputs, "mine", failed))

    def test_profiling(self):
        with tempfile.TemporaryDirectory() as folder:
            options = ort.SessionOptions()
            options.enable_profiling = True
            options.profile_file_prefix = os.path.join(folder, "steps")
            session = ort.InferenceSession(SCALED, options)
            session.run(None, feed())
            with open(session.end_profiling(), encoding="utf-8") as file:
                told = json.load(file)
        events = told["traceEvents"] if isinstance(told, dict) else told
        self.assertTrue([event for event in events if event.get("ph") == "X"])
        self.assertEqual(ort.InferenceSession(SCALED).end_profiling(), "")


class OptionsTest(unittest.TestCase):
    def test_fields_are_remembered(self):
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.execution_mode = ort.ExecutionMode.ORT_PARALLEL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.assertEqual(options.get_session_config_entry("session.intra_op.allow_spinning"), "0")
        with self.assertRaises(RuntimeError):
            options.get_session_config_entry("other")
        with self.assertRaises(AttributeError):
            options.no_such_field = 1
        with self.assertRaises(anyshape.Error):
            options.intra_op_num_threads = 1.5
        session = ort.InferenceSession(SCALED, options)
        self.assertIs(session.get_session_options(), options)
        self.assertEqual(session.get_session_options().execution_mode, ort.ExecutionMode.ORT_PARALLEL)


class BindingTest(unittest.TestCase):
    def test_outputs_go_to_the_memory_of_the_caller(self):
        session = ort.InferenceSession(SCALED)
        binding = session.io_binding()
        given = feed()
        mine = np.empty((2, 4), np.float32)
        for name, value in given.items():
            binding.bind_cpu_input(name, value)
        binding.bind_output("z", "cpu")
        binding.bind_output("y", "cpu", 0, np.float32, mine.shape, mine.ctypes.data)
        session.run_with_iobinding(binding)
        self.assertTrue((mine == -2).all())
        z, y = binding.get_outputs()
        self.assertEqual((y.data_ptr(), z.shape()), (mine.ctypes.data, [2, 4]))
        given["x"][:] = 5
        session.run_with_iobinding(binding)
        self.assertTrue((mine == 6).all())
        self.assertTrue((binding.copy_outputs_to_cpu()[0] == 6).all())
        binding.clear_binding_outputs()
        self.assertEqual(binding.get_outputs(), [])

    def test_memory_that_does_not_fit(self):
        session = ort.InferenceSession(SCALED)
        given = feed()
        read_only = np.empty((2, 4), np.float32)
        read_only.flags.writeable = False
        for memory in np.empty((3, 4), np.float32), np.empty((2, 4), np.float64), read_only, np.empty((2, 8), "f4")[:, ::2]:
            binding = session.io_binding()
            for name, value in given.items():
                binding.bind_cpu_input(name, value)
            binding.bind_ortvalue_output("y", ort.OrtValue(memory))
            with self.assertRaises(anyshape.Error):
                session.run_with_iobinding(binding)
        for call in (lambda: binding.bind_output("no"), lambda: binding.bind_cpu_input("no", MINE),
                     lambda: binding.bind_output("y", "cuda")):  # fmt: skip
            with self.assertRaises(state.InvalidArgument):
                call()

    def test_bound_arrays_are_read_and_written_where_they_are(self):
        session = ort.InferenceSession(SCALED)
        x, k, y, z = (np.ones((2, 4), np.float32) for _ in range(4))
        binding = session.io_binding()
        for name, value in (("x", x), ("k", k[:1])):
            binding.bind_cpu_input(name, value)
        for name, value in (("y", y), ("z", z)):
            binding.bind_ortvalue_output(name, ort.OrtValue.ortvalue_from_numpy(value))
        for size in (1, -3):
            x[:] = size
            session.run_with_iobinding(binding)
            self.assertEqual((y[1, 3], z[1, 3]), (size + 1, max(size + 1, 0)))
        self.assertTrue(np.shares_memory(binding.get_outputs()[0].numpy(), y))
        other = np.full((2, 4), 5, np.float32)
        binding.bind_cpu_input("x", other)
        session.run_with_iobinding(binding)
        self.assertEqual(y[0, 0], 6)
        # What has to be copied is copied in each run.
        swapped = other.astype(">f4")
        binding.bind_cpu_input("x", swapped)
        for size in (7, 8):
            swapped[:] = size
            session.run_with_iobinding(binding)
            self.assertEqual(y[0, 0], size + 1)
        binding.bind_cpu_input("x", np.ones((3, 4), np.float32))
        with self.assertRaises(anyshape.Error):
            session.run_with_iobinding(binding)
        options = ort.RunOptions()
        options.terminate = True
        binding.bind_cpu_input("x", other)
        with self.assertRaises(state.Fail):
            session.run_with_iobinding(binding, options)

    @unittest.skipUnless("ANYSHAPE_COUNTED" in os.environ, "the library that counts is made by the build")
    def test_no_memory_is_asked_for_after_the_first_run_of_a_shape(self):
        """In a process of its own, which counts what it asks for; that it counts, arrays show."""
        environment = os.environ | {"LD_PRELOAD": os.environ["ANYSHAPE_COUNTED"]}
        done = subprocess.run([sys.executable, "-c", COUNTING, str(EXAMPLES / "unet.onnx")], capture_output=True,
                              text=True, env=environment)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        small, large, *of_arrays = map(int, done.stdout.split())
        self.assertEqual(large, 0)
        self.assertLess(small, 20)  # not one for each run; what counts takes some itself
        self.assertGreaterEqual(min(of_arrays), 20)


class ValueTest(unittest.TestCase):
    def test_of_numpy(self):
        value = ort.OrtValue.ortvalue_from_numpy(MINE)
        self.assertEqual((value.data_type(), value.shape(), value.device_name(), value.element_type()),
                         ("tensor(float)", [2, 4], "cpu", 1))  # fmt: skip
        self.assertTrue(np.shares_memory(value.numpy(), MINE))
        self.assertTrue(np.shares_memory(np.from_dlpack(value), MINE))
        self.assertTrue(np.shares_memory(ort.OrtValue.from_dlpack(MINE).numpy(), MINE))
        self.assertEqual(ort.OrtValue.ortvalue_from_shape_and_type([3], np.int64).tensor_size_in_bytes(), 24)
        value = ort.OrtValue.ortvalue_from_shape_and_type([2, 4], 1)
        value.update_inplace(MINE)
        self.assertTrue((value.numpy() == 1).all())
        with self.assertRaises(state.InvalidArgument):
            value.update_inplace(MINE[:1])

    def test_run(self):
        session = ort.InferenceSession(SCALED)
        values = {name: ort.OrtValue.ortvalue_from_numpy(value) for name, value in feed().items()}
        (y,) = session.run_with_ort_values(["y"], values)
        self.assertEqual((y.shape(), y.is_tensor()), ([2, 4], True))
        self.assertTrue((np.asarray(y) == -2).all())


class InstallTest(unittest.TestCase):
    def program(self, text):
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_install(self):
        self.program("import anyshape.onnxruntime as door; door.install(); door.install()\n"
                     "import onnxruntime, onnxruntime.capi.onnxruntime_pybind11_state as state\n"
                     "from onnxruntime.capi import _pybind_state as C\n"
                     "from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument, RuntimeException\n"
                     "assert onnxruntime is door and state.Fail is C.Fail\n"
                     "assert onnxruntime.get_available_providers() == C.get_available_providers()\n"
                     "onnxruntime.set_default_logger_severity(3); onnxruntime.disable_telemetry_events()")  # fmt: skip

    def test_what_is_python_only_comes_from_the_real_one(self):
        with tempfile.TemporaryDirectory() as folder:
            tools = Path(folder) / "onnxruntime" / "tools"
            tools.mkdir(parents=True)
            (tools.parent / "__init__.py").write_text("raise ImportError('the real one')\n")
            (tools / "__init__.py").write_text("from onnxruntime import InferenceSession\n")
            self.program(f"import sys; sys.path.insert(0, {folder!r})\n"
                         "import anyshape.onnxruntime as door; door.install(); door.install()\n"
                         "from onnxruntime.tools import InferenceSession\n"
                         "assert InferenceSession is door.InferenceSession\n"
                         f"assert door.__path__.count({str(tools.parent)!r}) == 1")  # fmt: skip

    def test_not_beside_the_real_one(self):
        self.program("import sys, types; sys.modules['onnxruntime'] = types.ModuleType('onnxruntime')\n"
                     "import anyshape, anyshape.onnxruntime as door\n"
                     "try: door.install()\n"
                     "except anyshape.Error as error: assert error.code == 'onnxruntime.imported'\n"
                     "else: raise SystemExit('it was replaced')")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
