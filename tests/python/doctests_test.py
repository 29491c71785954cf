"""The examples in docstrings, run where the shipped models lie, and that every public call has one."""

import contextlib
import doctest
import importlib
import inspect
import os
import pkgutil
import tempfile
import unittest
from pathlib import Path

import anyshape
import numpy

ROOT = Path(__file__).resolve().parents[2]
FILES = [*ROOT.glob("examples/*.onnx"), ROOT / "tests/fixtures/export/dynamic_reshape/dynamic_reshape.pt2"]
NAMES = {"anyshape": anyshape, "numpy": numpy}


def _modules():
    for found in pkgutil.iter_modules(anyshape.__path__):
        if found.name not in ("__main__", "_anyshape", "onnxruntime"):
            yield importlib.import_module(f"anyshape.{found.name}")


@contextlib.contextmanager
def _folder_of_examples():
    """The files under their names; what an example writes is gone afterwards."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for file in FILES:
            Path(folder, file.name).symlink_to(file)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


class DocTest(unittest.TestCase):
    def test_examples(self):
        tried = 0
        finder = doctest.DocTestFinder(exclude_empty=True)
        for module in _modules():
            for example in finder.find(module, globs=dict(NAMES)):
                if not example.examples:
                    continue
                tried += 1
                told = []
                with self.subTest(example.name), _folder_of_examples():
                    doctest.DocTestRunner(verbose=False).run(example, out=told.append)
                    self.assertEqual(told, [], "".join(told))
        self.assertGreater(tried, 5)

    def test_every_call_has_one(self):
        for name in anyshape.__all__:
            value = getattr(anyshape, name)
            called = [] if inspect.ismodule(value) else [(name, value)]
            if inspect.isclass(value):
                called += [(f"{name}.{of}", method) for of, method in vars(value).items() if _has_arguments(of, method)]
            for what, one in called:
                with self.subTest(what):
                    self.assertIn(">>> ", inspect.getdoc(one) or "")


def _has_arguments(name, method):
    return inspect.isfunction(method) and not name.startswith("_") and len(inspect.signature(method).parameters) > 1


if __name__ == "__main__":
    unittest.main()
