"""The words of an MQL5 source."""

import re


class Refused(Exception):
    """What the translator does not know, with its place."""

    def __init__(self, file, line, sentence):
        super().__init__(f"{file}:{line}: {sentence}")


class Token:
    """`kind`: word, number, string, char, date, color, mark, directive or end. `lead`: blanks and comments before it."""

    def __init__(self, kind, text, lead="", line=0):
        self.kind, self.text, self.lead, self.line = kind, text, lead, line

    def copy(self, lead=None):
        return Token(self.kind, self.text, self.lead if lead is None else lead, self.line)


PATTERNS = [
    ("lead", re.compile(r"[ \t\r\f]+|//[^\n]*|/\*.*?\*/", re.S)),
    ("newline", re.compile(r"\n")),
    ("date", re.compile(r"D'[^'\n]*'")),
    ("color", re.compile(r"C'[^'\n]*'")),
    ("string", re.compile(r'"(?:\\.|[^"\\\n])*"')),
    ("char", re.compile(r"'(?:\\x[0-9A-Fa-f]+|\\.|[ -&(-\[\]-~])'")),
    ("number", re.compile(r"0[xX][0-9A-Fa-f]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?:[fi](?![A-Za-z0-9_]))?")),
    ("word", re.compile(r"[A-Za-z_][A-Za-z0-9_]*")),
    ("mark", re.compile(r"<<=|>>=|::|\+\+|--|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|<<|[-+*/%&|^<>=!~?:;,.()\[\]{}]")),
]
DIRECTIVE = re.compile(r"#(?:\\\r?\n|[^\n])*")


def tokens_of(text, file):
    """The tokens of a source, the last ones of kind `end`. Joined, leads and texts give the source again."""
    out, at, line, lead, fresh = [], 0, 1, "", True
    while at < len(text):
        kind, match = "directive", DIRECTIVE.match(text, at) if fresh and text[at] == "#" else None
        for name, pattern in PATTERNS if not match else ():
            kind, match = name, pattern.match(text, at)
            if match:
                break
        if not match:
            raise Refused(file, line, f"{text[at]!r} is no part of the subset that is translated")
        if kind in ("lead", "newline"):
            lead += match[0]
            fresh = fresh or kind == "newline"
        else:
            out.append(Token(kind, match[0], lead, line))
            lead, fresh = "", False
        line += match[0].count("\n")
        at = match.end()
    for one, two in zip(out, out[1:]):
        if one.kind == "number" and two.kind in ("word", "number") and not two.lead:
            raise Refused(file, one.line, f"{one.text}{two.text} is no number that is translated")
    # As many as anybody looks ahead.
    return out + [Token("end", "", lead, line)] + [Token("end", "", "", line) for _ in range(4)]


CLOSING = {"(": ")", "[": "]", "{": "}"}


def closing(tokens, at):
    """The place of the bracket that closes the one at `at`; None where there is none."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].kind != "mark":
            continue
        if tokens[i].text in CLOSING:
            depth += 1
        elif tokens[i].text in CLOSING.values():
            depth -= 1
            if depth == 0:
                return i
    return None


def split(tokens, mark):
    """Runs of tokens between marks outside of all brackets."""
    out, depth = [[]], 0
    for token in tokens:
        depth += (token.text in CLOSING) - (token.text in CLOSING.values()) if token.kind == "mark" else 0
        if token.kind == "mark" and token.text == mark and depth == 0:
            out.append([])
        else:
            out[-1].append(token)
    return out


def text_of(tokens):
    return "".join(t.lead + t.text for t in tokens)
