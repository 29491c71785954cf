"""What pip builds the package with: scikit-build-core, and a word on the terminal about how far it is.

pip shows a build's output only when it fails or with -v. Minutes of silence look like a hang, so the lines of ninja are
told on the terminal, where there is one, a few times a minute.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from typing import Any, Iterator, TextIO

from scikit_build_core import build
from scikit_build_core.build import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = ["build_editable", "build_sdist", "build_wheel", "get_requires_for_build_editable",
           "get_requires_for_build_sdist", "get_requires_for_build_wheel", "prepare_metadata_for_build_editable",
           "prepare_metadata_for_build_wheel"]  # fmt: skip

STEP = re.compile(rb"\[(\d+)/(\d+)\] ")
SECONDS = 5.0


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    with _told():
        return build.build_wheel(wheel_directory, config_settings, metadata_directory)


def _tell(terminal: TextIO, sentence: str) -> None:
    # Over pip's own line, which a spinner stands at the end of.
    terminal.write(f"\r  anyshape: {sentence}\033[K\n")
    terminal.flush()


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Standard output passes through here while it lasts, that of the programs called, too."""
    try:
        terminal = open("/dev/tty", "w", encoding="utf-8")  # noqa: SIM115
    except OSError:
        yield
        return
    with terminal:
        _tell(terminal, "looking for compiler and libraries")
        output = os.dup(1)
        reading, writing = os.pipe()
        os.dup2(writing, 1)
        os.close(writing)
        passing = threading.Thread(target=_pass_on, args=(reading, output, terminal))
        passing.start()
        try:
            yield
        finally:
            os.dup2(output, 1)
            passing.join()
            os.close(output)


def _pass_on(reading: int, output: int, terminal: TextIO) -> None:
    begun = told = time.monotonic()
    with open(reading, "rb") as lines, open(output, "wb", buffering=0, closefd=False) as out:
        for line in lines:
            out.write(line)
            step, now = STEP.match(line), time.monotonic()
            if step and (now - told > SECONDS or told == begun):
                told = now
                _tell(terminal, f"compiling, {int(step[1])} of {int(step[2])} steps after {now - begun:.0f} s")
