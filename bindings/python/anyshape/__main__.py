"""`python -m anyshape`: the program `anyshape` that was installed with the package.

It takes the place of the interpreter, so exit codes and signals are its own.
"""

from __future__ import annotations

import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError, files
from typing import Optional


def _program() -> Optional[str]:
    try:
        installed = files("anyshape") or []
    except PackageNotFoundError:
        installed = []
    listed = [str(file.locate()) for file in installed if file.name == "anyshape"]
    return next((path for path in listed if os.access(path, os.X_OK)), shutil.which("anyshape"))


def main() -> int:
    program = _program()
    if program is None:
        print("error[system.program] the program `anyshape` is not installed with the package, and not in PATH either",
              file=sys.stderr)  # fmt: skip
        return 1
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
