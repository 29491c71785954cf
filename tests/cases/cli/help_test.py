#!/usr/bin/env python3
"""help_test.py CLI: what the help of every command promises: its defaults, its exit codes, examples that are commands.

An option with a value shows `=DEFAULT` or says `default: ...`, but where it must be given, or may be given several times.
An example, of files that are not there, may fail for nothing but them.
"""

import re
import shlex
import subprocess
import sys
import tempfile
import unittest

CLI = sys.argv[1]
ENTRY = re.compile(r"^  (-[^ ]+(?: [^ ]+)*?)(?:  +(.*))?$")
# Of commands that read no file.
WITHOUT_FILES = ("rules", "completion")


def run(*words, folder=None):
    return subprocess.run([CLI, *words], capture_output=True, text=True, cwd=folder)


def commands():
    told = run("--help").stdout.split("Subcommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in told.splitlines()]


def options(text):
    """(what is before its description, its description) of each option."""
    found = []
    for line in text.split("Options:\n")[1].split("\n\n")[0].splitlines():
        entry = ENTRY.match(line)
        if entry:
            found.append([entry[1], entry[2] or ""])
        else:
            found[-1][1] += line
    return found


class HelpTest(unittest.TestCase):
    def test_defaults(self):
        tried = 0
        for command in commands():
            for head, said in options(run(command, "--help").stdout):
                has_value = re.search(r" (TEXT|INT|FLOAT|UINT)", head)
                if not has_value or "REQUIRED" in head or head.endswith("..."):
                    continue
                tried += 1
                with self.subTest(f"{command} {head}"):
                    self.assertTrue(re.search(r"[]}A-Z]=\S+( |$)", head) or "default: " in f"{head} {said}", said)
        self.assertGreater(tried, 40)

    def test_nothing_is_left_over(self):
        for command in commands():
            text = run(command, "--help").stdout
            self.assertNotIn("\n\n\n", text)
            self.assertNotIn("=[]", text)

    def test_exit_codes(self):
        for command in commands():
            codes = run(command, "--help").stdout.split("Exit codes:\n")[1].split("\n\n")[0].splitlines()
            self.assertEqual([line.split()[0] for line in codes], ["0", "1", "2", "3"], command)

    def test_examples(self):
        for command in commands():
            examples = re.search(r"Examples?:\n((?:  .*\n)+)", run(command, "--help").stdout)[1].splitlines()
            for example in examples:
                words = shlex.split(example.split(" > ")[0])
                with self.subTest(example), tempfile.TemporaryDirectory() as folder:
                    self.assertEqual(words[:2], ["anyshape", command])
                    done = run(*words[1:], folder=folder)
                    if command in WITHOUT_FILES:
                        self.assertEqual(done.returncode, 0, done.stderr)
                    else:
                        self.assertEqual(done.returncode, 2, done.stderr)
                        self.assertTrue(done.stderr.startswith("error[file.open]"), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
