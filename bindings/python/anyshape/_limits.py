"""How long calls may take, how much memory, and how to end them."""

from __future__ import annotations

from contextvars import Token
from typing import Any, Optional

from . import _anyshape
from ._arguments import options as options_of
from ._errors import usage
from ._integers import integer


def _seconds(value: Any, what: str) -> float:
    """None and 0: no limit."""
    if value is None:
        return 0.0
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if not number >= 0 or isinstance(value, (bool, str)):
        raise usage("argument.seconds", f"{value!r} is no number of seconds", place=what)
    return number


def _bytes(value: Any, what: str) -> int:
    return 0 if value is None else integer(value, what, 0)


class limits:
    """Limits for all calls of the package inside of the block: `with anyshape.limits(timeout=60): ...`.

    timeout: seconds; past them a call raises Timeout, and so does every later one in the block.
    budget: seconds for proofs; past them what is not proved by then is unknown, and the reason says so.
    max_bytes: of what each run makes; beyond it raises Error run.memory.

    Blocks may be nested; the strictest limit holds. They belong to the thread (or task) they are entered in. cancel()
    ends the calls of the block with Cancelled, from any thread.

    >>> with anyshape.limits(timeout=60, budget=5):
    ...     anyshape.check("unet.onnx").exact
    True
    """

    def __init__(self, *, timeout: Optional[float] = None, budget: Optional[float] = None,
                 max_bytes: Optional[int] = None):  # fmt: skip
        self._given = _seconds(timeout, "timeout"), _seconds(budget, "budget"), _bytes(max_bytes, "max_bytes")
        self._limits = _anyshape.Limits()
        self._token: Optional[Token[Any]] = None

    def __enter__(self) -> limits:
        if self._token is not None:
            raise usage("limits.nested", "these limits are in force already: a block of its own needs its own")
        self._limits.start(*self._given, _anyshape.current_limits.get())
        self._token = _anyshape.current_limits.set(self._limits)
        return self

    def __exit__(self, *_: object) -> None:
        token, self._token = self._token, None
        if token is not None:
            _anyshape.current_limits.reset(token)

    def cancel(self) -> None:
        """Ends the calls of the block."""
        self._limits.cancelled = True

    @property
    def cancelled(self) -> bool:
        return self._limits.cancelled


class RunOptions:
    """Of one run, or of several: for InferenceSession.run().

    timeout: seconds, from the start of each run; past them it raises Timeout.
    max_bytes: of all that a run makes; beyond it raises Error run.memory.
    seed: of random operators that have no seed of their own.

    None or 0: no limit.

    >>> options = anyshape.RunOptions(timeout=60, seed=7)
    >>> anyshape.run("lstm_batch.onnx", numpy.zeros((2, 120, 1), "float32"), run_options=options)["y"].shape
    (2, 1)
    """

    def __init__(self, *, timeout: Optional[float] = None, max_bytes: Optional[int] = None, seed: int = 0):
        self._cancel = _anyshape.Limits()
        self.timeout = timeout
        self.max_bytes = max_bytes
        self.seed = seed

    @property
    def timeout(self) -> float:
        return self._timeout

    @timeout.setter
    def timeout(self, value: Optional[float]) -> None:
        self._timeout = _seconds(value, "timeout")

    @property
    def max_bytes(self) -> int:
        return self._max_bytes

    @max_bytes.setter
    def max_bytes(self, value: Optional[int]) -> None:
        self._max_bytes = _bytes(value, "max_bytes")

    @property
    def seed(self) -> int:
        return self._seed

    @seed.setter
    def seed(self, value: int) -> None:
        self._seed = integer(value, "seed", 0, 2**64 - 1)

    def cancel(self) -> None:
        """Ends the runs that have these options, those in progress and those to come, with Cancelled. From any thread."""
        self._cancel.cancelled = True

    @property
    def terminate(self) -> bool:
        """Whether cancel() was called. May be set, as that of onnxruntime; False lets later runs run."""
        return self._cancel.cancelled

    @terminate.setter
    def terminate(self, value: bool) -> None:
        self._cancel.cancelled = bool(value)

    def __repr__(self) -> str:
        return f"RunOptions(timeout={self.timeout}, max_bytes={self.max_bytes}, seed={self.seed})"


def run_arguments(options: Any) -> dict[str, Any]:
    """What _anyshape.Session.run() takes beside the feed. Of an object of onnxruntime's class only `terminate` counts."""
    if options is None:
        return {}
    if not isinstance(options, RunOptions):
        options = _translated(options_of(options, "run_options", RunOptions, "terminate"))
    return {"seed": options.seed, "max_bytes": options.max_bytes, "timeout": options.timeout,
            "cancel": options._cancel}  # fmt: skip


def _translated(options: Any) -> RunOptions:
    made = RunOptions(timeout=getattr(options, "timeout", None), max_bytes=getattr(options, "max_bytes", None),
                      seed=getattr(options, "seed", None) or 0)  # fmt: skip
    made.terminate = getattr(options, "terminate", False)
    return made
