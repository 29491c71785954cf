#!/usr/bin/env python3
"""check_layers.py [ROOT]: fails if an #include goes against the layering of the sources.

The arrows are those of CONTRIBUTING.md: a folder may include itself and what stands below it. Unit tests
(*_test.cpp, and *_testing.cpp, which they share) and the folders tests/ and bench/ may include any layer but src/api;
the rules on OS headers and third-party headers hold everywhere, but that tests of the public API (tests/api) may look at
the process they run in.
"""

import re
import sys
from pathlib import Path

# Folder -> the folders directly below it; what those may include, it may include too.
BELOW = {
    "base": [],
    "base/os": ["base"],
    "sym": ["base"],
    "tensor": ["base"],
    "ir": ["sym", "tensor"],
    "kernels": ["tensor"],
    "ops": ["ir", "kernels"],
    "format/onnx": ["ops"],
    "format/pt2": ["sym", "tensor"],
    "format/torchscript": ["sym", "tensor"],
    "lower": ["format/onnx", "format/pt2", "format/torchscript", "ops"],
    "solve": ["ops"],
    "check": ["format/onnx", "solve"],
    "picture": ["check"],
    "engine/target": ["ir"],
    "passes": ["engine/target", "solve"],
    "plan": ["passes"],
    "engine/executable": ["plan"],
    "run/cpu": ["engine/executable"],
    "run/ort": ["engine/executable"],
    "run": ["run/cpu", "run/ort"],
    "verify": ["run", "check"],
    "fix": ["check", "passes"],
    "target": ["fix"],
    "mqh": ["fix"],
    "api": ["format/onnx", "lower", "verify", "fix", "target", "mqh", "picture"],
}
# base/ wraps what base/os offers, so the two may include each other.
BELOW["base"].append("base/os")

# Public headers any layer may use; the others are src/api's to implement.
SHARED_PUBLIC = {"anyshape/error.h", "anyshape/api.h", "anyshape/axes.h", "anyshape/dtype.h", "anyshape/printable.h",
                 "anyshape/reason.h", "anyshape/report.h", "anyshape/test_folder.h", "anyshape/tolerance.h",
                 "anyshape/work.h"}

OS_HEADERS = re.compile(
    r"(unistd|fcntl|dlfcn|pthread|sched|termios|poll|dirent|pwd|grp|spawn|semaphore|syslog|netdb|ifaddrs|aio|glob|ftw"
    r"|fnmatch|wordexp|execinfo|ucontext|windows|winsock2?|ws2tcpip|io|direct|process|libloaderapi|memoryapi|fileapi"
    r")\.h|(sys|linux|asm|net|netinet|arpa|mach|mach-o)/.*",
    re.IGNORECASE,
)
OS_HOME = re.compile(r"src/base/os/|tests/api/")

# Header pattern -> where it may be included, and how to say so.
CONFINED = [
    (re.compile(r"protozero/"), re.compile(r"src/format/onnx/[^/]+\.cpp"), "src/format/onnx/*.cpp"),
    (re.compile(r"simdjson(\.h|/)"), re.compile(r".*\.cpp"), ".cpp files"),
    (re.compile(r"zlib\.h"), re.compile(r"src/base/"), "src/base"),
    (re.compile(r"CLI(11\.hpp|/)"), re.compile(r"apps/cli/"), "apps/cli"),
]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCE_FOLDERS = ("include", "src", "apps", "bindings", "tests", "bench")


def allowed(layer):
    """Every layer that `layer` may include, itself among them."""
    seen, todo = set(), [layer]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += BELOW[at]
    return seen


def layer_of(path):
    """The layer of a path relative to src/, or None: the longest folder of BELOW that contains it."""
    parts = path.split("/")[:-1]
    for n in range(len(parts), 0, -1):
        if "/".join(parts[:n]) in BELOW:
            return "/".join(parts[:n])
    return None


def resolve(root, file, name):
    """The included file relative to ROOT if it is one of ours, else None."""
    for base in (root / file).parent, root / "src", root / "include":
        candidate = (base / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def own_include_problem(file, target):
    """Why `file` may not include our own file `target`, or None."""
    if target.startswith("src/api/") and not file.startswith("src/api/"):
        return "nothing includes src/api"
    if file.startswith("include/"):
        return None if target.startswith("include/") else "a public header includes public headers only"
    if file.startswith(("apps/", "bindings/")):
        return "apps and bindings use include/ only" if target.startswith("src/") else None
    if not file.startswith("src/") or file.endswith(("_test.cpp", "_testing.cpp")):
        return None
    layer = layer_of(file.removeprefix("src/"))
    if layer is None:
        return "its folder is not in the table of tools/check_layers.py"
    if target.startswith("include/"):
        if layer == "api" or target.removeprefix("include/") in SHARED_PUBLIC:
            return None
        return "only src/api implements this public header"
    below = layer_of(target.removeprefix("src/"))
    if below not in allowed(layer):
        return f"{layer} stands below {below}, or beside it"
    return None


def include_problem(root, file, quoted, name):
    if OS_HEADERS.fullmatch(name) and not OS_HOME.match(file):
        return "OS headers belong into src/base/os"
    for header, home, words in CONFINED:
        if header.match(name) and not home.match(file):
            return f"this library may be included in {words} only"
    target = resolve(root, file, name)
    if target:
        return own_include_problem(file, target)
    return "no such file in src/ or include/" if quoted else None


def check(root):
    problems = []
    for folder in SOURCE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".hpp", ".cpp", ".cc", ".c") or not path.is_file():
                continue
            file = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8")
            for match in INCLUDE.finditer(text):
                problem = include_problem(root, file, match[1] == '"', match[2])
                if problem:
                    line = text.count("\n", 0, match.start()) + 1
                    problems.append(f"{file}:{line}: #include {match[2]}: {problem}")
    return problems


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    problems = check(root)
    print("\n".join(problems) if problems else "layers: every #include goes downwards")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
