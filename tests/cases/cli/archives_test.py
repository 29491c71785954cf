#!/usr/bin/env python3
"""archives_test.py CLI FIXTURES: small archives that would be large in memory are refused before the memory is taken:
anyshape has less of it than they would need. And commands that need more than --max-memory gives them end."""

import resource
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import stop_test

MEBI = 1 << 20
MEMORY = 1500 * MEBI


def write(path, like, changes):
    """The archive `like` with other contents for the members that end so, deflated."""
    with zipfile.ZipFile(like) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for name in old.namelist():
            found = [content for end, content in changes.items() if name.endswith(end)]
            new.writestr(name, found[0] if found else old.read(name))


def laughs():
    """Each tuple holds the one before it three times."""
    return b"\x80\x02)" + b"q\x01h\x01h\x01\x87" * 60 + b"."


def numbers(program):
    """The JSON of a program with a long list of numbers in it."""
    with zipfile.ZipFile(program) as archive:
        name = next(name for name in archive.namelist() if name.endswith("models/model.json"))
        text = archive.read(name)
    begin, end = text.split(b'"inputs": [', 1)
    return begin + b'"inputs": [{"as_ints": [' + b"1," * (20 * MEBI) + b"1]}, " + end


def limited():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def expect(cli, folder, exit_code, code, *arguments):
    done = subprocess.run([cli, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, preexec_fn=limited)
    assert done.returncode == exit_code and f"error[{code}]" in done.stderr, (arguments, done.returncode, done.stderr)


def expect_limit(cli, folder):
    stop_test.write_chain(folder / "chain.onnx")
    for command in ["check", "chain.onnx"], ["infer", "chain.onnx", "-o", "out.onnx"], ["run", "chain.onnx", "--random", "v0=4"]:
        expect(cli, folder, 1, "system.memory", *command, "--max-memory", "1k")
    (folder / "chain.onnx").unlink()


def main():
    cli, fixtures = sys.argv[1], Path(sys.argv[2])
    script, program = fixtures / "export_cli" / "custom.pt", fixtures / "export_cli" / "squeezed.pt2"
    rows = {
        "zeros.pt": ("zip.ratio", script, {"data.pkl": b"\0" * (400 * MEBI)}),
        "nothings.pt": ("pickle.size", script, {"data.pkl": b"\x80\x02](" + b"N" * (40 * MEBI) + b"e."}),
        "names.pt": ("pickle.size", script, {"data.pkl": b"\x80\x02](c__torch__\n" + b"M" * MEBI + b"\nq\x01" +
                                             b"h\x01)\x81" * 100_000 + b"e."}),
        "laughs.pt": ("pickle.size", script, {"constants.pkl": laughs()}),
        "code.pt": ("script.size", script, {".py": b"# " + b"a" * (40 * MEBI)}),
        "zeros.pt2": ("zip.ratio", program, {"sample_inputs/model.pt": b"\0" * (400 * MEBI)}),
        "spaces.pt2": ("pt2.size", program, {"model.json": b" " * (200 * MEBI)}),
        "numbers.pt2": ("pt2.size", program, {"model.json": numbers(program)}),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, (code, like, changes) in rows.items():
            write(folder / file, like, changes)
            expect(cli, folder, 3, code, "export", file, "-o", "out.onnx")
            (folder / file).unlink()
        expect_limit(cli, folder)
        assert not any(folder.iterdir()), list(folder.iterdir())
    print(f"{len(rows)} archives are refused")


if __name__ == "__main__":
    main()
