#!/usr/bin/env python3
"""translate.py over the rows of translate.case, and what rows cannot say: files, values, resources."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tokens import Refused
from translate import translate

HERE = Path(__file__).parent


def rows():
    for block in re.split(r"^== ", (HERE / "translate.case").read_text(encoding="utf-8"), flags=re.M)[1:]:
        name, rest = block.split("\n", 1)
        source, wanted = re.split(r"^--\n", rest, flags=re.M)
        yield name, source, [line.rstrip() for line in wanted.split("\n") if line.strip()]


def body(text):
    """The lines of the program itself."""
    inside = re.search(r"namespace mql5_program \{\n(.*)\n\}  // namespace", text, re.S)[1]
    return [line.rstrip() for line in inside.split("\n") if line.strip() and not line.startswith("#line")]


class TranslateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")
        return self.root / name

    def test_rows(self):
        for name, source, wanted in rows():
            with self.subTest(name):
                path = self.write("a.mq5", source)
                try:
                    got = body(translate(path)[0])
                except Refused as error:
                    place, line, sentence = re.fullmatch(r"(.*?):(\d+): (.*)", str(error)).groups()
                    self.assertEqual(place, str(path))
                    got = [f"refused {line}: {sentence}"]
                self.assertEqual(got, wanted)

    def test_files(self):
        path = self.write("a.mq5", '#include "lib\\b.mqh"\n#include "lib\\b.mqh"\nCB b;\nvoid F(CB *p) { p.x=1; }\n')
        other = self.write("lib/b.mqh", "class CB { public: int x; };\n")
        text, files = translate(path)
        self.assertEqual(text.count("class CB {"), 1)
        self.assertIn("p->x", text)
        self.assertEqual(files, sorted([path.resolve(), other.resolve()]))
        # What the compiler says is said about the source.
        self.assertIn(f'#line 2 "{path}"\n\nCB b;', text)

    def test_folders(self):
        path = self.write("a.mq5", "#include <Mine/c.mqh>\n")
        self.write("include/Mine/c.mqh", "int c;\n")
        self.assertIn("int c;", translate(path, [self.root / "include"])[0])

    def test_resources(self):
        path = self.write("a.mq5", '#resource "Models\\\\m.onnx" as uchar Model[];\nint a;\n')
        self.write("Models/m.onnx", "A\n\0")
        text, files = translate(path)
        self.assertIn('"\\101\\012\\000"), size_t{3}', text)
        self.assertEqual(len(files), 2)
        self.assertIn(f'#line 2 "{path}"\nint a;', text)

    def test_values(self):
        path = self.write("a.mq5", "input int N=5;\ninput string S;\n")
        text = translate(path, values=[("N", "7"), ("S", '"x"')])[0]
        self.assertEqual(body(text), ["const int N = 7;", 'const string S = "x";'])
        with self.assertRaisesRegex(Refused, "there is no input M"):
            translate(path, values=[("M", "1")])

    def test_command(self):
        path = self.write("a.mq5", "void OnStart() {}\n")
        bad = self.write("b.mq5", "\nunion U {};\n")
        command = [sys.executable, HERE / "translate.py"]
        out = self.root / "a.cpp"
        subprocess.run([*command, path, "-o", out, "--main", "--depfile", f"{out}.d"], check=True)
        self.assertIn("mql5_run({.OnStart", out.read_text())
        self.assertEqual(Path(f"{out}.d").read_text(), f"{out}: {path.resolve()}\n")
        done = subprocess.run([*command, bad, "-o", out], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stderr.startswith(f"{bad}:2: union"), done.stderr)


if __name__ == "__main__":
    unittest.main()
