#!/usr/bin/env python3
"""example_test.py CLI EXAMPLE: make.sh gives the files that lie in the example, byte for byte."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

MADE = ("model.onnx", "Lstm120.onnx", "Lstm120.mqh")


def main():
    cli, example = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([example / "make.sh", folder], check=True, env=os.environ | {"ANYSHAPE": str(cli)})
        wrong = [name for name in MADE if (Path(folder) / name).read_bytes() != (example / name).read_bytes()]
        left = sorted(path.name for path in Path(folder).iterdir() if path.name not in MADE)
    print(f"other bytes: {wrong}, not expected: {left}" if wrong or left else f"{len(MADE)} files are the same")
    return 1 if wrong or left else 0


if __name__ == "__main__":
    sys.exit(main())
