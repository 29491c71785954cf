#!/usr/bin/env python3
"""run.py [--update] CLI EXAMPLES CASE...: runs the command lines of the cases and compares what they print.

A case file is a list of commands, each with what is expected:

    $ anyshape check pinned.onnx
    exit 3
    out> a line of standard output
    err> a line of standard error

`...` stands for any number of lines; a line starting with `~ ` is a regular expression. Commands run in a folder with
the models of models.py and a link `examples` to EXAMPLES. --update writes what was printed into the case files, except
for commands whose expectation uses `...` or `~ `.
"""

import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import models


@dataclass
class Case:
    command: str
    line: int
    code: int = 0
    out: list = field(default_factory=list)
    err: list = field(default_factory=list)

    def text(self):
        lines = [f"$ {self.command}", f"exit {self.code}"]
        lines += [f"out> {line}".rstrip() for line in self.out] + [f"err> {line}".rstrip() for line in self.err]
        return "\n".join(lines)


def parse(path):
    """(comment text, case) pairs of a file."""
    cases, comment = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("$ "):
            cases.append(("\n".join(comment), Case(line[2:], number)))
            comment = []
        elif line.startswith("exit "):
            cases[-1][1].code = int(line[5:])
        elif line.startswith("out>"):
            cases[-1][1].out.append(line[5:])
        elif line.startswith("err>"):
            cases[-1][1].err.append(line[5:])
        elif line.startswith("#"):
            comment.append(line)
        elif line.strip():
            sys.exit(f"{path}:{number}: not a line of a case: {line}")
    return cases


def matches(expected, actual):
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    if not actual:
        return False
    if expected[0].startswith("~ "):
        same = re.fullmatch(expected[0][2:], actual[0])
    else:
        same = expected[0].rstrip() == actual[0].rstrip()
    return bool(same) and matches(expected[1:], actual[1:])


def run(cli, case, folder):
    words = shlex.split(case.command)
    if words[0] != "anyshape":
        sys.exit(f"a case runs anyshape, not {words[0]}")
    done = subprocess.run([cli] + words[1:], cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=120,
                          env={"PATH": os.environ.get("PATH", "")} | {k: v for k, v in os.environ.items() if "SAN" in k})
    return Case(case.command, case.line, done.returncode, done.stdout.splitlines(), done.stderr.splitlines())


def fits(case, actual):
    return case.code == actual.code and matches(case.out, actual.out) and matches(case.err, actual.err)


def is_exact(case):
    return not any(line == "..." or line.startswith("~ ") for line in case.out + case.err)


def main():
    arguments = sys.argv[1:]
    update = arguments[0] == "--update"
    cli, examples, *files = arguments[1:] if update else arguments
    cli, failures, count = str(Path(cli).resolve()), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        models.write_all(folder)
        (Path(folder) / "examples").symlink_to(Path(examples).resolve())
        for path in map(Path, files):
            blocks = []
            for comment, case in parse(path):
                actual = run(cli, case, folder)
                count += 1
                if fits(case, actual) or (update and is_exact(case)):
                    case = actual if is_exact(case) else case
                else:
                    failures += 1
                    print(f"{path}:{case.line}: not as expected")
                    print("\n".join(difflib.unified_diff(case.text().splitlines(), actual.text().splitlines(),
                                                         "expected", "printed", lineterm="")))
                blocks.append("\n".join(filter(None, [comment, case.text()])))
            if update:
                path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    print(f"{count - failures} of {count} commands as expected")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
