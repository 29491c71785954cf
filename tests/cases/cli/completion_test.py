#!/usr/bin/env python3
"""completion_test.py CLI: what bash proposes with the script of `anyshape completion bash`; zsh reads its own where it is
installed. Every option of every help is among them."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS = [
    (["anyshape", "che"], {"check"}),
    (["anyshape", "check", "--sh"], {"--shape", "--shapes-file"}),
    (["anyshape", "check", "m.onnx", "--format", ""], {"text", "json", "sarif", "trtexec", "html"}),
    (["anyshape", "help", "ex"], {"export", "explain"}),
    (["anyshape", "completion", ""], {"bash", "zsh"}),
    (["anyshape", "run", "mod"], {"model.onnx"}),
]


def proposals(script, words, folder):
    line = (f"source {script}; COMP_WORDS=({' '.join(w or chr(39) * 2 for w in words)}); COMP_CWORD={len(words) - 1}; "
            "_anyshape; printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def main():
    (cli,) = sys.argv[1:]
    cli = str(Path(cli).resolve())

    def printed(*arguments):
        return subprocess.run([cli, *arguments], capture_output=True, text=True, check=True).stdout

    failures = []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as apart:
        (Path(folder) / "model.onnx").touch()
        script = Path(apart) / "anyshape.bash"
        script.write_text(printed("completion", "bash"), encoding="utf-8")
        for words, wanted in ROWS:
            if (got := proposals(script, words, folder)) != wanted:
                failures.append(f"{words}: {got} instead of {wanted}")
        commands = proposals(script, ["anyshape", ""], folder) - {"help", "version", "--help", "--version"}
        for command in sorted(commands):
            options = set(re.findall(r"(?<![\w-])--[a-z0-9-]+", printed(command, "--help").split("Exit codes")[0]))
            known = proposals(script, ["anyshape", command, "--"], folder)
            failures += [f"{command}: {option} is not proposed" for option in options
                         if option not in known and f"  {option}" in printed(command, "--help")]
        zsh = Path(apart) / "_anyshape"
        zsh.write_text(printed("completion", "zsh"), encoding="utf-8")
        if shutil.which("zsh"):
            subprocess.run(["zsh", "-n", str(zsh)], check=True)
    for failure in failures:
        print(failure)
    print(f"{len(ROWS)} rows, {len(commands)} commands, {len(failures)} failures")
    return 1 if failures or len(commands) < 13 else 0


if __name__ == "__main__":
    sys.exit(main())
