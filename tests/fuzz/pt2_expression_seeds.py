#!/usr/bin/env python3
"""pt2_expression_seeds.py OUT: the sizes and guards of tests/fixtures/pt2_reader, and the rows of the parser's test."""
import hashlib
import pathlib
import re
import sys

from pt2_seeds import seeds as archives

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST = ROOT / "src" / "format" / "pt2" / "expression_test.cpp"


def seeds():
    for data in archives():
        text = data.decode("utf-8", "replace")
        yield from re.findall(r'"expr_str": "([^"]*)"', text)
        for guards in re.findall(r'"guards_code": \[([^\n]*)\]\}', text):
            yield from re.findall(r'"([^"]*)"', guards)
    yield from re.findall(r'^    \{"([^"\\]+)"', TEST.read_text(), re.MULTILINE)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for text in set(seeds()):
        (out / hashlib.sha1(text.encode()).hexdigest()).write_text(text)


if __name__ == "__main__":
    main()
