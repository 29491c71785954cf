"""The one exception of the package."""

from __future__ import annotations


class Error(Exception):
    """A refusal with a stable code, the place it is about, a sentence, and where possible what to try.

    code: dotted, for scripts: "reshape.count", "export.baked".
    place: the file, node, input or axis; may be empty.
    message: one sentence.
    hint: the line or command to try; may be empty.
    kind: "refused" (the model, shape or request breaks a rule), "unknown" (no rule can tell), "usage" (a wrong
        argument or file), "system" (out of memory, disk full).
    """

    def __init__(self, code: str, place: str = "", message: str = "", hint: str = "", kind: str = "refused"):
        super().__init__(code, place, message, hint, kind)
        self.code = code
        self.place = place
        self.message = message
        self.hint = hint
        self.kind = kind

    def __str__(self) -> str:
        text = f"error[{self.code}] "
        if self.place:
            text += f"{self.place}: "
        text += self.message
        if self.hint:
            text += f"{'' if text.endswith('.') else '.'} Try: {self.hint}"
        return text


def usage(code: str, message: str, place: str = "", hint: str = "") -> Error:
    """A wrong argument."""
    return Error(code, place, message, hint, "usage")
