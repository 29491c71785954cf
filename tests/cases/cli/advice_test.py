#!/usr/bin/env python3
"""advice_test.py CLI EXAMPLES EXPORT_EXAMPLES: what the text cases are advised ("Try:", "Fix:") is either plain words or
whole commands, and each of those commands runs and leaves nothing of the error or the finding it was advised for. `N`
stands for a size the caller knows, `NAME` for a name."""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import models
from fix_commands_test import filled_in
from run import parse

COMMAND = re.compile(r"anyshape .*?(?=, or |$)")
SAID = re.compile(r"(?P<what>(?P<kind>error|warning|info)\[[^\]]+\].*?)\. (?:Try|Fix): (?P<advice>.*)")
# Written where the error was met, so that a second command is needed to see that it is gone.
MAKES_A_MODEL = ("fix", "infer")


def words_of(text):
    """The words of a shell, $'...' too; none where it cannot read them."""
    return subprocess.run(["bash", "-c", f"printf '%s\\0' {text}"], capture_output=True, text=True,
                          errors="surrogateescape", check=False).stdout.split("\0")[:-1]


def run(cli, words, folder):
    done = subprocess.run([cli, *words], cwd=folder, capture_output=True, text=True, errors="surrogateescape", timeout=120)
    return done.returncode, done.stdout + done.stderr


def plain_words(advice):
    return "anyshape " not in advice and not advice.startswith("-")


def not_gone(cli, case, what, command, folder):
    """Why the advice is wrong; nothing where it is right."""
    model = next((one for one in shlex.split(case.command) if one.endswith(".onnx") and (folder / one).exists()), "")
    if "=N" in command and not model:
        command = command.replace("=N", "=4")
    words = words_of(filled_in(cli, command, folder / model))
    if not words:
        return "is no command of a shell"
    code, printed = run(cli, words[1:], folder)
    if code != 0 and "-o" in words and words[1] in MAKES_A_MODEL:
        return f"exits {code}: {printed}"
    asked = shlex.split(case.command)[1:]
    if "-o" in words and words[1] in MAKES_A_MODEL and words[1] != asked[0]:
        made = words[words.index("-o") + 1]
        code, printed = run(cli, [made if made.replace(".fixed.onnx", ".onnx") == one else one for one in asked], folder)
    return f"leaves it: {what}" if what in printed else ""


def try_cases(cli, file, examples, seen, failures):
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "cases"
        folder.mkdir()
        models.write_all(folder)
        shutil.copytree(examples, folder / "examples")
        for _, case in parse(file):
            _, printed = run(cli, shlex.split(case.command)[1:], folder)
            for line in printed.splitlines():
                said = SAID.match(line.strip())
                if not said or (said["what"], said["advice"]) in seen:
                    continue
                seen.add((said["what"], said["advice"]))
                commands = COMMAND.findall(said["advice"])
                if not commands and not plain_words(said["advice"]):
                    failures.append(f"{file.name}:{case.line}: no command and no words: {said['advice']}")
                for command in commands:
                    copy = Path(top) / "copy"
                    subprocess.run(["cp", "-al", str(folder), str(copy)], check=True)
                    wrong = not_gone(cli, case, said["what"], command, copy)
                    subprocess.run(["rm", "-rf", str(copy)], check=True)
                    if wrong:
                        failures.append(f"{file.name}:{case.line}: {command}\n  {wrong}")


def main():
    cli, examples, export_examples = sys.argv[1:]
    cli = str(Path(cli).resolve())
    seen, failures = set(), []
    for file in sorted(Path(__file__).parent.glob("*.case")):
        try_cases(cli, file, export_examples if file.name == "export.case" else examples, seen, failures)
    for failure in failures:
        print(failure)
    commands = sum(bool(COMMAND.search(advice)) for _, advice in seen)
    assert commands >= 40, f"{commands} commands only"
    print(f"{len(seen)} pieces of advice, {commands} with commands, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
