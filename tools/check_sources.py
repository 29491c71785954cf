#!/usr/bin/env python3
"""check_sources.py [ROOT]: fails if a .cpp file is built by no CMakeLists.txt, or a listed one does not exist.

Sources are written out in full, one by one: a name made of variables cannot be checked and is refused.
"""

import re
import sys
from pathlib import Path

FOLDERS = ("src", "apps", "bindings", "tests", "bench", "tools")
KNOWN_VARIABLES = re.compile(r"\$\{(CMAKE_SOURCE_DIR|PROJECT_SOURCE_DIR|CMAKE_CURRENT_SOURCE_DIR|CMAKE_CURRENT_LIST_DIR)\}/")
COMMENT = re.compile(r"#.*")
SOURCE = re.compile(r'[^\s()"]+\.cpp(?=[\s()"])')


def listed_sources(root, lists):
    """(source relative to ROOT, None) for each listed source of one CMakeLists.txt, or (text, problem)."""
    for token in SOURCE.findall(COMMENT.sub("", lists.read_text(encoding="utf-8"))):
        known = KNOWN_VARIABLES.match(token)
        base = root if known and not known[1].startswith("CMAKE_CURRENT") else lists.parent
        name = token[known.end() :] if known else token
        path = (base / name).resolve()
        if "$" in name:
            yield token, "write the name out, without variables"
        elif not path.is_file():
            yield token, "listed, but there is no such file"
        else:
            yield path.relative_to(root).as_posix(), None


def check(root):
    listed, problems = set(), []
    files = [root / "CMakeLists.txt"] + [p for f in FOLDERS for p in sorted((root / f).rglob("CMakeLists.txt"))]
    for lists in filter(Path.is_file, files):
        for source, problem in listed_sources(root, lists):
            if problem:
                problems.append(f"{lists.relative_to(root).as_posix()}: {source}: {problem}")
            else:
                listed.add(source)
    present = {p.relative_to(root).as_posix() for f in FOLDERS for p in (root / f).rglob("*.cpp")}
    problems += [f"{source}: listed in no CMakeLists.txt" for source in sorted(present - listed)]
    return problems, len(present)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    problems, count = check(root)
    print("\n".join(problems) if problems else f"sources: all {count} are listed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
