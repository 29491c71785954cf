"""The tutorial: its cells are run in order, where the files it speaks of lie."""

import ast
import contextlib
import io
import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run_cell(source, names):
    """As a notebook does: the value of an expression at the end is shown, as HTML where it has some."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    if last is None:
        return
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    if value is not None:
        print(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))


class TutorialTest(unittest.TestCase):
    def test_cells(self):
        cells = json.loads((EXAMPLES / "tutorial.ipynb").read_text())["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        self.assertGreater(len(sources), 5)
        self.assertFalse(any(cell.get("outputs") for cell in cells), "committed without outputs")
        before, names = os.getcwd(), {}
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
            for model in EXAMPLES.glob("*.onnx"):
                shutil.copy(model, folder)
            os.chdir(folder)
            try:
                for source in sources:
                    run_cell(source, names)
            finally:
                os.chdir(before)
        for wanted in "<table>", "reshape.count", "the same at":
            self.assertIn(wanted, printed.getvalue())


if __name__ == "__main__":
    unittest.main()
