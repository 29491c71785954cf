#!/usr/bin/env python3
"""translate.py SOURCE.mq5 -o OUT.cpp [--main] [--include DIR]... [--set INPUT=VALUE]... [--depfile FILE]

A subset of MQL5 to C++ that compiles with anyshape/mql5.h and tests/mql5/terminal.h, for tests. docs/mql5.md lists what
is translated; what is not is refused with its line (exit code 3). `--main` adds a program that calls the event functions.
"""

import argparse
import re
import sys
from pathlib import Path

from declarations import (is_mark, is_name, pointer_names, translate_arrays, translate_indices, translate_inputs,
                          translate_parameters, translate_pointers)
from tokens import CLOSING, Refused, Token, closing, split, text_of, tokens_of
from words import translate_words

# Files of the terminal whose classes terminal.h has.
STAND_INS = {"trade/trade.mqh", "trade/positioninfo.mqh", "trade/symbolinfo.mqh", "object.mqh"}
CLASSES = {"CTrade", "CPositionInfo", "CSymbolInfo", "CObject"}
LONGEST_RESOURCE = 63


def bytes_literal(data):
    lines = [data[i : i + 64] for i in range(0, len(data), 64)] or [b""]
    return "\n".join('"' + "".join(f"\\{byte:03o}" for byte in line) + '"' for line in lines)


class Translator:
    def __init__(self, folders, values):
        self.folders, self.values = folders, values
        self.classes, self.pointers, self.functions = set(CLASSES), set(), set()
        self.seen, self.resources = set(), set()

    def file(self, path):
        """The C++ text of a source with all it includes."""
        self.seen.add(path.resolve())
        tokens = tokens_of(path.read_text(encoding="utf-8-sig"), path)
        check_brackets(tokens, path)
        for token in tokens:
            if token.kind == "directive":
                token.text = self.directive(token, path)
        tokens = translate_words(tokens, path)
        self.classes |= {b.text for a, b in zip(tokens, tokens[1:]) if a.text in ("class", "struct") and is_name(b)}
        self.pointers |= pointer_names(tokens, self.classes)
        tokens = translate_pointers(tokens, path, self.pointers, self.classes)
        tokens = translate_parameters(translate_indices(tokens), path)
        tokens = translate_inputs(tokens, path, self.values)
        tokens = translate_arrays(tokens, path)
        return f'#line 1 "{path.as_posix()}"\n' + self.with_prototypes(tokens, path)

    def directive(self, token, path):
        text = re.sub(r"\s*//.*", "", token.text) if not token.text.startswith("#define") else token.text
        name = re.match(r"#\s*(\w*)", text)[1]
        if name == "property":
            return ""
        if name in ("ifdef", "ifndef", "else", "endif", "undef"):
            return text
        if name == "define":
            return "#define" + text_of(translate_words(tokens_of(text[len("#define") :], path), path))
        if name == "include":
            return self.include(text, token, path)
        if name == "resource":
            return self.resource(text, token, path)
        raise Refused(path, token.line, f"#{name} is not translated")

    def include(self, text, token, path):
        match = re.fullmatch(r'#\s*include\s*[<"]([^>"]+)[>"]\s*;?\s*', text)
        if not match:
            raise Refused(path, token.line, "#include needs a file in brackets or quotes")
        name = match[1].replace("\\", "/")
        if name.lower() in STAND_INS:
            return ""
        for folder in [path.parent, *self.folders]:
            if (folder / name).is_file():
                if (folder / name).resolve() in self.seen:
                    return ""
                return self.file(folder / name) + f'\n#line {token.line + 1} "{path.as_posix()}"'
        raise Refused(path, token.line, f"there is no {name} beside the source or in the folders of --include")

    def resource(self, text, token, path):
        match = re.fullmatch(r'#\s*resource\s*"([^"]+)"\s*as\s+(?:const\s+)?uchar\s+(\w+)\s*\[\s*\]\s*;?\s*', text)
        if not match:
            raise Refused(path, token.line, 'write #resource "FILE" as uchar NAME[]')
        name = match[1].replace("\\\\", "\\").replace("\\", "/")
        if len(match[1]) > LONGEST_RESOURCE or ".." in name or ":" in name:
            raise Refused(path, token.line, f"MetaTrader takes paths of up to {LONGEST_RESOURCE} characters without ..")
        for folder in [path.parent, *self.folders]:
            if (folder / name.lstrip("/")).is_file():
                self.resources.add((folder / name.lstrip("/")).resolve())
                data = (folder / name.lstrip("/")).read_bytes()
                return (f"const mql5_array<uchar> {match[2]}(std::span(reinterpret_cast<const uchar*>(\n"
                        f'{bytes_literal(data)}), size_t{{{len(data)}}}));\n#line {token.line + 1} "{path.as_posix()}"')
        raise Refused(path, token.line, f"there is no file {name} for the resource")

    def with_prototypes(self, tokens, path):
        """MQL5 knows functions and types before they are written: what the file has is declared before the first."""
        found = list(top_level(tokens))
        for kind, start, end in found:
            if kind == "function":
                self.functions.add(function_name(tokens[start : end + 1]))
        head = [declaration_of(kind, tokens[start : end + 1]) for kind, start, end in found]
        for kind, start, end in reversed(found):
            if kind == "function":
                tokens = tokens[:start] + without_defaults(tokens[start : end + 1]) + tokens[end + 1 :]
            if kind == "enum":
                tokens = tokens[: end + 1] + [Token("word", enum_names(tokens[start : end + 1]))] + tokens[end + 1 :]
                tokens[start + 1].text += " : int"
        if not found:
            return text_of(tokens)
        first, line = found[0][1], tokens[found[0][1]].line
        lead = Token("word", "\n" + "\n".join(head) + f'\n#line {line} "{path.as_posix()}"\n', tokens[first].lead)
        tokens[first].lead = ""
        return text_of(self.qualified(tokens[:first] + [lead] + tokens[first:]))

    def qualified(self, tokens):
        """`::Name` of a function of the program itself."""
        for before, mark, name in zip(tokens, tokens[1:], tokens[2:]):
            if is_mark(mark, "::") and not is_name(before) and name.text in self.functions:
                mark.text = "mql5_program::"
        return tokens


def check_brackets(tokens, path):
    open_ones = []
    for token in tokens:
        if is_mark(token, *CLOSING):
            open_ones.append(token)
        elif is_mark(token, *CLOSING.values()) and (not open_ones or CLOSING[open_ones.pop().text] != token.text):
            raise Refused(path, token.line, f"{token.text} closes nothing")
    if open_ones:
        raise Refused(path, open_ones[-1].line, f"{open_ones[-1].text} is not closed")


def top_level(tokens):
    """(kind, first token, last of the head or of the whole) of functions, classes and enums outside of brackets."""
    start = at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind == "directive" or is_mark(token, ";"):
            start = at + 1
        elif is_mark(token, "(", "["):
            at = closing(tokens, at) or len(tokens)
        elif is_mark(token, "{"):
            end = closing(tokens, at)
            if end is None:
                return
            head = tokens[start:at]
            words = [t.text for t in head]
            is_value = len(split(head, "=")) > 1
            if words and words[0] in ("class", "struct") and is_name(head[1]):
                yield "type", start, start + 1
            elif words and words[0] == "enum" and len(head) == 2:
                yield "enum", start, end + 1
            elif words and words[0] != "enum" and (words[-1] == ")" or words[-2:] == [")", "const"]):
                if function_name(head) and not is_value:
                    yield "function", start, at - 1
            if not (words and words[0] in ("class", "struct", "enum")) and not is_value:
                start = end + 1
            at = end
        at += 1


def function_name(head):
    """The name of a function from its head; None for a member or an operator."""
    texts = [t.text for t in head]
    at = texts.index("(")
    return None if at < 2 or not is_name(head[at - 1]) or texts[at - 2] in ("::", "~") else texts[at - 1]


def declaration_of(kind, tokens):
    texts = [t.text for t in tokens]
    if kind == "type":
        return f"{texts[0]} {texts[1]};"
    if kind == "enum":
        return f"enum {texts[1]} : int;"
    return re.sub(r"//[^\n]*|/\*.*?\*/|\s+", " ", text_of(tokens), flags=re.S).strip() + ";"


def without_defaults(head):
    """The head of a function whose prototype has the values of its parameters."""
    first = next(i for i, t in enumerate(head) if is_mark(t, "("))
    last = closing(head, first)
    out = []
    for parameter in split(head[first + 1 : last], ","):
        out += ([Token("mark", ",")] if out else []) + split(parameter, "=")[0]
    return head[: first + 1] + out + head[last:]


def enum_names(tokens):
    """EnumToString for an enum of the program."""
    inside = tokens[3 : closing(tokens, 2)]
    names = [part[0].text for part in split(inside, ",") if part]
    tests = " ".join(f'if (value == {name}) return "{name}";' for name in names)
    return f" inline string EnumToString({tokens[1].text} value) {{ {tests} return string(int(value)); }}"


CALLS = {
    "OnInit": ".OnInit = [] { return mql5_result(mql5_program::OnInit); }",
    "OnDeinit": ".OnDeinit = [](int reason) { mql5_program::OnDeinit(reason); }",
    "OnTick": ".OnTick = [] { mql5_program::OnTick(); }",
    "OnStart": ".OnStart = [] { return mql5_result(mql5_program::OnStart); }",
}


def main_function(functions):
    return f"int main() {{ return mql5_run({{{', '.join(CALLS[name] for name in CALLS if name in functions)}}}); }}\n"


def translate(path, folders=(), values=(), main=False):
    """The C++ text of a program, and the files it was made of."""
    translator = Translator([Path(f) for f in folders], dict(values))
    body = translator.file(Path(path))
    if translator.values:
        raise Refused(path, 1, f"there is no input {', '.join(translator.values)}")
    text = ('#include "anyshape/mql5.h"\n#include "terminal.h"\n\nnamespace mql5_program {\n' + body +
            "\n}  // namespace mql5_program\n" + (main_function(translator.functions) if main else ""))
    return text, sorted(translator.seen | translator.resources)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("-o", dest="out", required=True)
    parser.add_argument("--main", action="store_true")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--depfile")
    options = parser.parse_args()
    try:
        text, files = translate(options.source, options.include, [v.split("=", 1) for v in options.set], options.main)
    except Refused as error:
        print(error, file=sys.stderr)
        return 3
    Path(options.out).write_text(text, encoding="utf-8")
    if options.depfile:
        names = " ".join(str(f).replace(" ", "\\ ") for f in files)
        Path(options.depfile).write_text(f"{options.out}: {names}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
