"""What the library advises, in the words of this package: the program's options as keyword arguments, its commands as
calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Optional

Read = Callable[[str], Any]


def _number(word: str) -> Any:
    return int(word) if re.fullmatch(r"-?\d+", word) else _Plain(word) if word.isidentifier() else word


class _Plain(str):
    """A word that stands for what is to be put there."""

    def __repr__(self) -> str:
        return str(self)


def _axes(word: str) -> Any:
    """ "x:1=seq,2=w" as {"x": {1: "seq", 2: "w"}}."""
    name, _, rest = word.rpartition(":")
    pairs = [pair.partition("=") for pair in rest.split(",")]
    return {name: {int(axis): symbol for axis, _, symbol in pairs}}


def _shape(word: str) -> Any:
    name, _, sizes = word.rpartition("=")
    return {name: () if sizes == "scalar" else tuple(map(int, sizes.split("x")))}


def _pair(split: str, value: Read = str) -> Read:
    def read(word: str) -> Any:
        name, _, rest = word.rpartition(split)
        return {name: value(rest)}

    return read


def _rule(word: str) -> Any:
    """ "ns::op: y = [x0]" as {"ns::op": "y = [x0]"}."""
    name, _, rule = word.partition(": ")
    return {name: rule}


def _one(word: str) -> Any:
    return [word]


# Option of the program -> keyword here, and how its value is written.
_OPTIONS: dict[str, tuple[str, Read]] = {
    "allow": ("allow", _one),
    "custom-shape": ("custom_shapes", _rule),
    "dims": ("dims", str),
    "dynamic": ("dynamic", _axes),
    "engine": ("engine", str),
    "external-data": ("external_data", str),
    "freeze": ("freeze", _pair("=", _number)),
    "guards": ("guards", str),
    "ignore": ("ignore", _one),
    "input": ("inputs", _one),
    "o": ("output", str),
    "opset": ("opset_version", _number),
    "ort-lib": ("ort_library", str),
    "policy": ("batch_only", lambda word: word == "batch-only"),
    "rename": ("rename", _pair("=")),
    "shape": ("shapes", _shape),
    "target": ("target", str),
    "training": ("training", str),
}
# Those without a value.
_SWITCHES = {"simplify": "simplify", "static": "static", "strict": "strict", "strict-axes": "strict_axes"}
# Command -> function, and keywords that are called otherwise there.
_COMMANDS: dict[str, tuple[str, dict[str, str]]] = {
    "bench": ("bench", {}),
    "check": ("check", {}),
    "explain": ("explain", {}),
    "export": ("export", {"dynamic": "dynamic_axes", "output": "f"}),
    "fix": ("fix", {}),
    "infer": ("infer_shapes", {}),
    "plan": ("plan", {}),
    "rules": ("rules", {}),
    "verify": ("verify", {}),
}

# Words, the spaces between them, and brackets that open. Quoted words are those of a shell.
_TOKEN = re.compile(r"""\s+|\(|(?:\$'(?:\\.|[^'\\])*'|'(?:[^']|'\\'')*'|"[^"]*")[,;.)]*|\S+""")
_QUOTED = re.compile(r"""(\$'|'|")(.*)['"]([,;.)]*)""", re.DOTALL)
# Advice that is one shape: "x=1x120x1".
_SHAPE = re.compile(r"(?!-).+=(\d+(x\d+)+|scalar)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|(.))")


def _split(word: str) -> tuple[str, str]:
    """What a word stands for, and the marks that end the sentence or a part of it."""
    quoted = _QUOTED.fullmatch(word)
    if quoted is None:
        plain = word.rstrip(",;.)")
        return plain, word[len(plain) :]
    kind, inner, end = quoted.groups()
    if kind == "'":
        inner = inner.replace("'\\''", "'")
    if kind == "$'":
        inner = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2], inner)
        inner = inner.encode("latin-1").decode("utf-8", "surrogateescape")
    return inner, end


class _Sentence:
    """Its words, from the first to the last."""

    def __init__(self, text: str):
        self._words = _TOKEN.findall(text)
        self._at = 0

    def _word(self, ahead: int = 0) -> str:
        """Empty beyond the end."""
        return "".join(self._words[self._at + ahead : self._at + ahead + 1])

    def translated(self) -> str:
        out = ""
        while self._at < len(self._words):
            first = self._at
            made = self._call() or (self._option() if self._at == first else None)
            if made is None:
                self._at = max(self._at, first + 1)
                out += "".join(self._words[first : self._at])
            else:
                out += "".join(made)
        return out

    def _take(self) -> tuple[str, str]:
        word = _split(self._word())
        self._at += 1
        return word

    def _option(self) -> Optional[tuple[str, str]]:
        keyword = self._keyword()
        if keyword is None:
            return None
        name, value, end = keyword
        return f"{name}={'' if value is None else repr(value)}", end

    def _keyword(self) -> Optional[tuple[str, Any, str]]:
        """Keyword, value and end, of an option that has a meaning here; the value of one that is only named is None."""
        if not self._word().startswith("--") and self._word() != "-o":
            return None
        option, end = self._take()
        option = option.lstrip("-")
        if option in _SWITCHES:
            return _SWITCHES[option], True, end
        if option not in _OPTIONS:
            return None
        name, read = _OPTIONS[option]
        if end or not self._word().isspace():
            return name, None, end
        self._at += 1
        value, end = self._take()
        try:
            return name, read(value), end
        except ValueError:
            return None

    def _call(self) -> Optional[tuple[str, str]]:
        verb, end = _split(self._word(2))
        if self._word() != "anyshape" or verb not in _COMMANDS:
            return None
        function, renamed = _COMMANDS[verb]
        arguments: list[str] = []
        keywords: dict[str, Any] = {}
        self._at += 3
        while not end and self._word().isspace():
            if self._word(1).startswith("-"):
                self._at += 1
                keyword = self._keyword()
                if keyword is None or keyword[1] is None:
                    return None
                end = keyword[2]
                _add(keywords, renamed.get(keyword[0], keyword[0]), keyword[1])
            elif not arguments and (not keywords or not self._word(2)):
                self._at += 1
                model, end = self._take()
                arguments.append(repr(model))
            else:
                break
        ordered = sorted(keywords.items(), key=lambda keyword: keyword[0] in ("output", "f"))
        words = [*arguments, *(f"{name}={value!r}" for name, value in ordered)]
        return f"anyshape.{function}({', '.join(words)})", end


def _add(keywords: dict[str, Any], name: str, value: Any) -> None:
    """What is given twice is one argument with both."""
    known = keywords.get(name)
    if isinstance(known, dict):
        for key, one in value.items():
            known[key] = {**known[key], **one} if isinstance(known.get(key), dict) else one
    else:
        keywords[name] = known + value if isinstance(known, list) else value


def pythonic(text: str) -> str:
    """The sentence with calls and keyword arguments in place of commands and options."""
    if _SHAPE.fullmatch(text):
        return repr(_shape(text))
    if "--" not in text and "anyshape " not in text:
        return text
    return _Sentence(text).translated()
