"""Translation word by word: literals, names of types, what C++ would read otherwise."""

import calendar
import re

from tokens import Refused, Token

# Keywords of C++ that MQL5 takes for names, and what of MQL5 has no counterpart here.
REFUSED = {
    word: "is a keyword of C++: choose another name"
    for word in """alignas alignof and and_eq asm auto bitand bitor catch char8_t char16_t char32_t co_await co_return
    co_yield compl concept consteval constexpr constinit const_cast decltype explicit export friend goto inline mutable
    noexcept not not_eq nullptr or or_eq register reinterpret_cast requires signed static_assert static_cast
    thread_local throw try typeid unsigned using volatile wchar_t xor xor_eq""".split()
} | {
    "union": "is not translated: fill an array of bytes instead",
    "interface": "is not translated: write a class with virtual functions",
    "extern": "is not translated: write input",
    "pack": "is not translated: structs have the layout of C++",
    "__DATE__": "is not translated: a test has no date",
    "__DATETIME__": "is not translated: a test has no date",
    "__PATH__": "is not translated: a test has no folder of its own",
}
WORDS = {
    "NULL": "nullptr",
    "long": "int64_t",
    "__FUNCTION__": "string(__FUNCTION__)",
    "__FUNCSIG__": "string(__PRETTY_FUNCTION__)",
    "__FILE__": "string(__FILE__)",
}
CONTAINERS = {
    (name, entry): name + letter
    for name in ("vector", "matrix") for entry, letter in (("double", ""), ("float", "f"), ("complex", "c"))
}
BUILTIN = set("bool char uchar short ushort int uint int64_t long ulong float double color datetime string complex".split())


def date_number(text, refuse):
    match = re.fullmatch(r"D'(\d{4})\.(\d{1,2})\.(\d{1,2})(?:\s+(\d{1,2})(?::(\d{1,2})(?::(\d{1,2}))?)?)?'", text)
    if not match:
        refuse(f"{text} is not translated: write D'2026.01.31 23:59:59'")
    numbers = [int(n or 0) for n in match.groups()]
    return str(calendar.timegm((*numbers, 0, 0, 0)))


def color_number(text, refuse):
    parts = re.fullmatch(r"C'(\w+)\s*,\s*(\w+)\s*,\s*(\w+)'", text)
    if not parts:
        refuse(f"{text} is no color: write C'255,128,0'")
    red, green, blue = (int(part, 0) for part in parts.groups())
    return str(red | green << 8 | blue << 16)


def number(text, refuse):
    if re.match(r"0\d", text):
        refuse(f"{text} would be octal in C++: write it without the leading 0")
    return f"complex(0, {text[:-1]})" if text.endswith("i") else text


def sizeof_problem(tokens, at):
    operand = [t.text for t in tokens[at + 1 : at + 4]]
    return not (len(operand) == 3 and operand[0] == "(" and operand[1] in BUILTIN and operand[2] == ")")


LITERALS = {
    "date": lambda text, refuse: f"datetime({date_number(text, refuse)})",
    "color": lambda text, refuse: f"color({color_number(text, refuse)})",
    "char": lambda text, refuse: f"ushort({text})",
    "number": number,
}


def string_run(tokens, at):
    """Strings one after the other are one; how many there are."""
    end = at
    while tokens[end].kind == "string":
        end += 1
    texts = "".join(t.lead + t.text for t in tokens[at:end])[len(tokens[at].lead) :]
    return f"string({texts})", end - at


def container(tokens, at, refuse):
    name, entry = tokens[at].text, tokens[at + 2].text
    if (name, entry) not in CONTAINERS or tokens[at + 3].text != ">":
        refuse(f"{name}<{entry}> is not translated: entries are double, float or complex")
    return CONTAINERS[name, entry], 4


def word(tokens, at, refuse):
    """The text for the word at `at`, and how many tokens it stands for."""
    text, after = tokens[at].text, tokens[at + 1].text
    if text in REFUSED:
        refuse(f"{text} {REFUSED[text]}")
    if text == "typename" and after == "(":
        refuse("typename(...) is not translated")
    if text == "sizeof" and sizeof_problem(tokens, at):
        refuse("sizeof is translated for the built-in types only")
    if text in ("vector", "matrix") and after == "<":
        return container(tokens, at, refuse)
    if text == "this" and after == ".":
        return "this->", 2
    return WORDS.get(text, text), 1


def translate_words(tokens, file):
    """The same tokens with the texts that C++ has for them."""
    out, at = [], 0
    while at < len(tokens):
        token = tokens[at]

        def refuse(sentence, line=token.line):
            raise Refused(file, line, sentence)

        kind, text, count = token.kind, token.text, 1
        if kind == "string":
            kind, (text, count) = "word", string_run(tokens, at)
        elif kind == "word":
            text, count = word(tokens, at, refuse)
        elif kind in LITERALS:
            kind, text = "number", LITERALS[kind](text, refuse)
        out.append(Token(kind, text, token.lead, token.line))
        at += count
    return out
