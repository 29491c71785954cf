"""A function called in a child process that can be ended. What it gives, it writes into files."""

from __future__ import annotations

import ctypes
import gc
import json
import logging
import os
import select
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Optional

from . import _anyshape

_LOOKS = 0.05  # seconds between looks at limits and signals
_KEPT = 1 << 16  # bytes of what it prints


class Failed(Exception):
    """The function raised something, or its process died; the text says what."""


class TimeUp(Failed):
    """It took too long and was ended."""


def possible(tensors: Iterable[Any]) -> bool:
    """Whether a forked process can use these tensors: other devices than the processor do not survive a fork."""
    return sys.platform == "linux" and all(tensor.device.type in ("cpu", "meta") for tensor in tensors)


def call(work: Callable[[], None], seconds: float, heard: Optional[Callable[[str], None]] = None) -> None:
    """Calls it in a fork of this process, where torch has one thread. Raises Failed, TimeUp: it took so many seconds, less
    those in which it waited for a processor of a busy machine. What it prints goes to no terminal; `heard` is given the
    end of it.

    Whatever ends the call here (a signal's handler that raises, anyshape.limits) ends the child first.
    """
    with tempfile.TemporaryFile() as printed:
        try:
            _call(work, seconds, printed.fileno())
        finally:
            if heard is not None:
                printed.seek(max(0, printed.seek(0, os.SEEK_END) - _KEPT))
                heard(printed.read().decode("utf-8", "replace"))


def _call(work: Callable[[], None], seconds: float, printed: int) -> None:
    receive, send = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # "may lead to deadlocks": then the time is up
        child = os.fork()
    if child == 0:
        gc.freeze()  # what is no longer needed is not ended here: sessions would wait for threads that only the parent has
        _work_and_exit(work, send, parent, printed)
    status = None
    try:
        os.close(send)
        told, status = _told(receive, child, seconds)
    finally:
        os.close(receive)
        if status is None:
            status = _end(child)
    if told is None:
        raise TimeUp(f"ended after {seconds:g} s")
    if not told:
        raise Failed(f"its process was ended by signal {os.WTERMSIG(status)}" if status and os.WIFSIGNALED(status)
                     else "its process ended without a word")  # fmt: skip
    if sentence := json.loads(told):
        raise Failed(sentence)


def _die_with(parent: int) -> None:
    """A parent that is killed cannot end its child any more: the system does."""
    set_death_signal = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _print_into(file: int) -> None:
    """Whatever prints, prints there: Python's streams may be others than those of the system, as in a notebook."""
    nowhere = os.open(os.devnull, os.O_RDONLY)
    for old, new in ((nowhere, 0), (file, 1), (file, 2)):
        os.dup2(old, new)
    before = sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__
    sys.stdout = sys.stderr = open(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
    for logger in [logging.getLogger(), *logging.Logger.manager.loggerDict.values()]:
        for handler in getattr(logger, "handlers", []):
            if getattr(handler, "stream", None) in before:
                handler.stream = sys.stderr
    warnings.simplefilter("default")


def _work_and_exit(work: Callable[[], None], send: int, parent: int, printed: int) -> None:
    sentence = ""
    try:
        _die_with(parent)
        os.setsid()  # Ctrl-C is for the parent
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _print_into(printed)
        import torch

        torch.set_num_threads(1)
        work()
    except BaseException as failure:  # noqa: BLE001 - this process has nobody else to tell
        sentence = f"{type(failure).__name__}: {failure}"
    finally:
        with suppress(BaseException):
            with os.fdopen(send, "w") as pipe:
                pipe.write(json.dumps(sentence) + "\n")
        os._exit(0)


def _told(receive: int, child: int, seconds: float) -> tuple[Optional[str], Optional[int]]:
    """What the child wrote, None where the time was up first; its exit status where it is known."""
    told, status, start = b"", None, time.monotonic()
    while not told.endswith(b"\n"):
        _anyshape.check_limits()
        took = time.monotonic() - start
        if took > seconds and took - _queued(child) > seconds:
            return None, None
        if select.select([receive], [], [], _LOOKS)[0]:
            part = os.read(receive, 1 << 16)
            if not part:
                break
            told += part
        elif status is not None:
            break  # dead, and some other process holds its end of the pipe
        else:
            status = _status(child, os.WNOHANG)
    return told.decode(), status


def _queued(child: int) -> float:
    """Seconds in which it could have run and had no processor; 0 where the system does not tell."""
    try:
        with open(f"/proc/{child}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _status(child: int, options: int) -> Optional[int]:
    try:
        ended, status = os.waitpid(child, options)
    except ChildProcessError:  # somebody else waits for all children
        return 0
    return status if ended else None


def _end(child: int) -> Optional[int]:
    """Ends it with all that it started."""
    for end in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            end(child, signal.SIGKILL)
    return _status(child, 0)
