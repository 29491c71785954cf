#!/usr/bin/env python3
"""Proves that each lint script fails on a bad tree and passes on a good one."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).parent


class LintTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path, text=""):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def run_tool(self, name):
        runner = [sys.executable] if name.endswith(".py") else []
        done = subprocess.run(runner + [TOOLS / name, self.root], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_layers(self):
        for header in "base/a.h", "sym/a.h", "ir/a.h", "ops/a.h", "run/ort/a.h", "api/a.h", "base/os/a.h":
            self.write(f"src/{header}")
        for header in "error.h", "api.h", "model.h":
            self.write(f"include/anyshape/{header}")
        rows = [  # file, include, expected words or None
            ("src/sym/x.cpp", '"base/a.h"', None),
            ("src/base/x.cpp", '"base/os/a.h"', None),
            ("src/ops/x.cpp", '"base/a.h"', None),
            ("src/ir/x.cpp", '"a.h"', None),
            ("src/base/x.h", '"anyshape/error.h"', None),
            ("src/api/x.cpp", '"anyshape/model.h"', None),
            ("src/ir/x_test.cpp", '"ops/a.h"', None),
            ("src/base/os/x.cpp", "<sys/mman.h>", None),
            ("src/format/onnx/x.cpp", "<protozero/pbf_reader.hpp>", None),
            ("src/base/x.cpp", "<simdjson.h>", None),
            ("apps/cli/x.cpp", "<CLI/CLI.hpp>", None),
            ("src/base/x.cpp", '"sym/a.h"', "base stands below sym"),
            ("src/base/x.cpp", "<sym/a.h>", "base stands below sym"),
            ("src/base/x.cpp", '"../sym/a.h"', "base stands below sym"),
            ("src/ir/x.h", '"ops/a.h"', "ir stands below ops"),
            ("src/ops/x.cpp", '"api/a.h"', "nothing includes src/api"),
            ("src/ops/x_test.cpp", '"api/a.h"', "nothing includes src/api"),
            ("src/run/cpu/x.cpp", '"run/ort/a.h"', "run/cpu stands below run/ort, or beside it"),
            ("src/sym/x.cpp", '"anyshape/model.h"', "only src/api implements"),
            ("src/odd/x.cpp", '"base/a.h"', "not in the table"),
            ("src/ir/x.cpp", '"base/none.h"', "no such file"),
            ("include/anyshape/x.h", '"base/a.h"', "public headers only"),
            ("apps/cli/x.cpp", '"base/a.h"', "include/ only"),
            ("bindings/mql5/x.cpp", '"anyshape/model.h"', None),
            ("bindings/mql5/x.cpp", '"base/a.h"', "include/ only"),
            ("bindings/mql5/x_test.cpp", '"base/a.h"', "include/ only"),
            ("src/sym/x.cpp", "<unistd.h>", "OS headers"),
            ("src/base/x.cpp", "<sys/mman.h>", "OS headers"),
            ("tests/x.cpp", "<dlfcn.h>", "OS headers"),
            ("src/base/x.cpp", "<Windows.h>", "OS headers"),
            ("src/format/onnx/x.h", "<protozero/pbf_reader.hpp>", "src/format/onnx/*.cpp only"),
            ("src/ops/x.cpp", "<protozero/pbf_reader.hpp>", "src/format/onnx/*.cpp only"),
            ("src/base/x.h", "<simdjson.h>", ".cpp files only"),
            ("src/base/x.cpp", "<CLI/CLI.hpp>", "apps/cli only"),
        ]
        for file, include, expected in rows:
            with self.subTest(file=file, include=include):
                self.write(file, f"#pragma once\n  #  include {include}\n")
                code, out = self.run_tool("check_layers.py")
                (self.root / file).unlink()
                self.assertEqual(code, 1 if expected else 0, out)
                if expected:
                    self.assertIn(f"{file}:2: #include ", out)
                    self.assertIn(expected, out)

    def test_sources(self):
        self.write("CMakeLists.txt", "add_executable(b ${CMAKE_SOURCE_DIR}/src/b.cpp)\n")
        self.write("src/b.cpp")
        self.write("src/sym/CMakeLists.txt", "target_sources(core PRIVATE a.cpp)\nunit_test(t a_test.cpp)\n")
        self.write("src/sym/a.cpp")
        self.write("src/sym/a_test.cpp")
        self.assertEqual(self.run_tool("check_sources.py"), (0, "sources: all 3 are listed\n"))

        self.write("src/sym/forgotten.cpp")
        self.assertEqual(
            self.run_tool("check_sources.py"), (1, "src/sym/forgotten.cpp: listed in no CMakeLists.txt\n")
        )
        self.write("src/sym/CMakeLists.txt", "f(a.cpp a_test.cpp gone.cpp)  # forgotten.cpp\nf(${x}.cpp)\n")
        code, out = self.run_tool("check_sources.py")
        self.assertEqual(code, 1)
        self.assertEqual(
            out.splitlines(),
            [
                "src/sym/CMakeLists.txt: gone.cpp: listed, but there is no such file",
                "src/sym/CMakeLists.txt: ${x}.cpp: write the name out, without variables",
                "src/sym/forgotten.cpp: listed in no CMakeLists.txt",
            ],
        )

    def test_format(self):
        self.write(".clang-format", (TOOLS.parent / ".clang-format").read_text())
        self.write("src/a.cpp", "int f(int x) { return x; }\n")
        self.assertEqual(self.run_tool("check_format.sh"), (0, "format: ok\n"))
        self.write("src/a.cpp", "int  f( int x ){return x;}\n")
        code, out = self.run_tool("check_format.sh")
        self.assertNotEqual(code, 0)
        self.assertIn("src/a.cpp:1", out)


if __name__ == "__main__":
    unittest.main()
