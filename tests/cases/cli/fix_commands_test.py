#!/usr/bin/env python3
"""fix_commands_test.py CLI EXAMPLES: every command that a finding proposes runs, and what it writes has the finding no
more. `N` in a command stands for a size the caller knows; here it is one that the model takes."""

import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import models

COMMAND = re.compile(r"anyshape (?:infer|fix) .*?(?=, or |$)")


def run(cli, *arguments):
    return subprocess.run([cli, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def report(cli, file, *options):
    done = run(cli, "check", file, "--format", "json", "--no-config", *options)
    return json.loads(done.stdout) if done.stdout else {"findings": [], "accepted": None}


def size_taken(cli, file, symbol):
    """The size of the symbol in the smallest shape that the model takes, as far as that can be found."""
    inputs = report(cli, file)["inputs"]
    smallest = re.search(r"--minShapes=([^ ]*)", run(cli, "check", file, "--no-config", "--format", "trtexec").stdout)
    sizes = dict(one.rsplit(":", 1) for one in smallest.group(1).split(",")) if smallest else {}
    for value in inputs:
        for axis, dim in enumerate(value.get("dims", [])):
            if dim == symbol and value["name"] in sizes:
                return int(sizes[value["name"]].split("x")[axis])
    return 4


def filled_in(cli, command, file):
    named = re.search(r"--freeze '?([^ ']+)=N'?", command)
    command = command.replace("=N", f"={size_taken(cli, file, named.group(1))}") if named else command
    return re.sub(r"=NAME(\d*)", r"=axis_name\1", command)


def same(one, other):
    return one["rule"] == other["rule"] and one["node"] == other["node"] and one["message"] == other["message"]


def try_fixes(cli, file, options, seen):
    failures = []
    before = report(cli, file, *options)
    for finding in before["findings"]:
        for command in COMMAND.findall(finding["fix"]):
            if "$'" in command:  # bash reads it, shlex does not
                continue
            if re.search(r"=N(?!A)", command) and not before["accepted"]["exact"]:  # no size is known to be taken
                continue
            words = shlex.split(filled_in(cli, command, file))
            seen.add(finding["rule"])
            done = run(cli, *words[1:])
            after = report(cli, words[words.index("-o") + 1], *options)["findings"] if done.returncode == 0 else []
            if done.returncode != 0:
                failures.append(f"{finding['rule']}: {command}\n  exits {done.returncode}: {done.stderr}")
            elif any(same(finding, one) for one in after):
                failures.append(f"{finding['rule']}: {command}\n  leaves it: {finding['message']}")
    return failures


def main():
    cli, examples = sys.argv[1:]
    seen, failures, count = set(), [], 0
    with tempfile.TemporaryDirectory() as folder:
        models.write_all(folder)
        for file in sorted(Path(examples).glob("*.onnx")):
            (Path(folder) / file.name).write_bytes(file.read_bytes())
        # A name with a space is one word of the command all the same.
        (Path(folder) / "a pinned model.onnx").write_bytes((Path(folder) / "pinned.onnx").read_bytes())
        for file in sorted(Path(folder).glob("*.onnx")):
            count += 1
            for options in ([], ["--policy", "batch-only"]):
                failures += [f"{file.name} {' '.join(options)}: {one}" for one in try_fixes(cli, file, options, seen)]
    for failure in failures:
        print(failure)
    wanted = {"anonymous-axis", "declared-inner-mismatch", "declared-output-mismatch", "declared-output-type",
              "dynamic-output-declared-static", "equal-names", "one-name-two-sizes", "pinned-axis", "policy.batch-only",
              "static-output-declared-dynamic"}
    assert wanted <= seen, f"no command was tried for {wanted - seen}"
    print(f"{count} models, commands of {len(seen)} rules, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
