"""What is told of work that takes its time: one line on a terminal, and a log of what PyTorch says meanwhile."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Optional

from ._errors import shown

LOG = logging.getLogger("anyshape")
LOG.addHandler(logging.NullHandler())

_AFTER, _EVERY = 2.0, 0.5  # seconds
_WIDTH = 80


def _terminal() -> Optional[int]:
    """The file descriptor of standard error where that is a terminal."""
    try:
        number = sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        return None
    return number if os.isatty(number) and os.environ.get("TERM") != "dumb" else None


class Line:
    """While it lasts, the stage on the terminal, once the work has taken `after` seconds; nothing where there is none.

    The cursor stays at the beginning: what is printed meanwhile goes over it.
    """

    def __init__(self, after: float = _AFTER, every: float = _EVERY):
        self.stage = "beginning"
        self._after, self._every = after, every
        self._ended = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def __enter__(self) -> Line:
        terminal = _terminal()
        if terminal is not None:
            self._thread = threading.Thread(target=self._show, args=(terminal,), name="anyshape-line", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _show(self, terminal: int) -> None:
        start, wait, written = time.monotonic(), self._after, False
        while not self._ended.wait(wait):
            wait, written = self._every, True
            text = f"anyshape.export: {shown(self.stage)}, {time.monotonic() - start:.0f} s"
            # Not sys.stderr: a child that is forked meanwhile would find it locked.
            _write(terminal, f"\r{text[: _columns(terminal) - 1]}\033[K\r")
        if written:
            _write(terminal, "\r\033[K")


def _write(terminal: int, text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(terminal, text.encode("utf-8", "backslashreplace"))


def _columns(terminal: int) -> int:
    try:
        return os.get_terminal_size(terminal).columns or _WIDTH
    except OSError:
        return _WIDTH


_line: ContextVar[Optional[Line]] = ContextVar("line", default=None)


@contextlib.contextmanager
def line() -> Iterator[None]:
    """The line of one call; a call within it has the same."""
    if _line.get() is not None:
        yield
        return
    with Line() as made:
        token = _line.set(made)
        try:
            yield
        finally:
            _line.reset(token)


def stage(text: str) -> None:
    """What is being done, for the line of the call."""
    made = _line.get()
    if made is not None:
        made.stage = text


def heard(who: str, text: str) -> None:
    """What PyTorch has printed, for the log."""
    if said := "".join(f"\n    {shown(one)}" for one in text.splitlines() if one.strip()):
        LOG.info("%s said:%s", who, said)


@contextlib.contextmanager
def aloud(wanted: bool) -> Iterator[None]:
    """The log on standard error while it lasts."""
    if not wanted:
        yield
        return
    handler, before = logging.StreamHandler(), LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        LOG.setLevel(before)
        LOG.removeHandler(handler)
