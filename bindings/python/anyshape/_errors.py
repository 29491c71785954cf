"""The exceptions of the package."""

from __future__ import annotations

from ._words import pythonic


def shown(text: str) -> str:
    """The text on one line: what a terminal would obey or hide is escaped, bytes that were no UTF-8 as `\\xff`."""
    return text if text.isprintable() else "".join(one if one.isprintable() else _escaped(one) for one in text)


def _escaped(one: str) -> str:
    code = ord(one)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return one.encode("unicode_escape").decode("ascii")


def _indented(text: str) -> str:
    """Lines of a message: none of them begins like the line of an error."""
    return "\n    ".join(map(shown, text.split("\n")))


class Error(Exception):
    """A refusal with a stable code, the place it is about, a sentence, and where possible what to try.

    code: dotted, for scripts: "reshape.count", "export.baked".
    place: the file, node, input or axis; may be empty.
    message: one sentence.
    hint: the line or call to try; may be empty.
    kind: "refused" (the model, shape or request breaks a rule), "unknown" (no rule can tell), "usage" (a wrong
        argument or file), "system" (out of memory, disk full, no time left).

    Names in them are as the file has them; str() escapes what could mislead a reader.

    >>> try:
    ...     anyshape.fix("lstm_baked.onnx", freeze={"width": 8})
    ... except anyshape.Error as error:
    ...     print(error.code, error.kind)
    freeze.symbol usage
    """

    def __init__(self, code: str, place: str = "", message: str = "", hint: str = "", kind: str = "refused"):
        # Not super(): TimeoutError of a Timeout would take these for a number and its text.
        Exception.__init__(self, code, place, message, hint, kind)
        self.code = code
        self.place = place
        self.message = message
        self.hint = hint
        self.kind = kind

    def __str__(self) -> str:
        text = f"error[{self.code}] "
        if self.place:
            text += f"{shown(self.place)}: "
        text += _indented(self.message)
        if self.hint:
            text += f"{'' if text.endswith('.') else '.'} Try: {shown(self.hint)}"
        return text


class Stopped(Error):
    """The call was ended from outside before it was done. Nothing is left behind, and everything can be used again.

    >>> issubclass(anyshape.Timeout, anyshape.Stopped) and issubclass(anyshape.Stopped, anyshape.Error)
    True
    """


class Cancelled(Stopped):
    """By cancel() of its options or limits.

    >>> options = anyshape.RunOptions()
    >>> options.cancel()
    >>> try:
    ...     anyshape.run("lstm_batch.onnx", numpy.zeros((2, 120, 1), "float32"), run_options=options)
    ... except anyshape.Cancelled as stopped:
    ...     print(stopped.code)
    run.cancelled
    """


class Timeout(Stopped, TimeoutError):
    """By the timeout of its options or limits.

    >>> issubclass(anyshape.Timeout, TimeoutError)
    True
    """


_STOPPED = {"work.cancelled": Cancelled, "run.cancelled": Cancelled, "work.timeout": Timeout}


def make(code: str, place: str, message: str, hint: str, kind: str) -> Error:
    """The exception for what the library says."""
    return _STOPPED.get(code, Error)(code, place, pythonic(message), pythonic(hint), kind)


def usage(code: str, message: str, place: str = "", hint: str = "") -> Error:
    """A wrong argument."""
    return Error(code, place, message, hint, "usage")
