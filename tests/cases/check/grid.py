"""Compares `anyshape check` with what an engine did at each point of a grid of shapes; shared by the tests of check."""

import ast
import json
import re
import subprocess
import tempfile
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"\s*(?:(?P<quoted>'(?:[^'\\]|\\.)*')|(?P<name>[A-Za-z_]\w*(?:\.\w+)*)|(?P<range>-?\d+\.\.-?\d+)"
    r"|(?P<number>\d+)|(?P<sign>//|==|!=|<=|>=|[-+*%<>(){},]))"
)
WORDS = {"and", "or", "not", "in"}
ESCAPE = re.compile(r"\\x([0-9a-f]{2})|\\(.)")


class ConditionError(Exception):
    pass


class Undefined(ConditionError):
    """A broadcast of sizes that do not fit: no shape has it."""


def broadcast(*sizes):
    large = {size for size in sizes if size != 1}
    if len(large) > 1:
        raise Undefined(f"broadcast{sizes}")
    return large.pop() if large else 1


FUNCTIONS = {"min": min, "max": max, "broadcast": broadcast, "select": None, "range": range}


class Selects(ast.NodeTransformer):
    """select(c, a, b) looks at one of a and b only."""

    def visit_Call(self, node):
        self.generic_visit(node)
        return ast.IfExp(*node.args) if node.func.id == "select" else node


def compile_size(text):
    """value(binding) of a size or a condition as check prints it. Its grammar is Python's, but for names, ranges and
    never."""
    parts, names, place = [], [], 0
    while place < len(text.rstrip()):
        token = TOKEN.match(text, place)
        if not token:
            raise ConditionError(f"cannot read {text[place:]!r}")
        place = token.end()
        kind, word = token.lastgroup, token[token.lastgroup]
        if kind == "range":
            low, high = word.split("..")
            parts.append(f"range({low}, {high} + 1)")
        elif kind == "name" and word in ("always", "never"):
            parts.append(str(word == "always"))
        elif kind == "quoted" or (kind == "name" and word not in WORDS and not text.startswith("(", place)):
            plain = word if kind == "name" else ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2], word[1:-1])
            parts.append(f"_names[{len(names)}]")
            names.append(plain)
        else:
            parts.append(word)
    tree = Selects().visit(ast.parse(" ".join(parts), text, "eval"))
    code = compile(ast.fix_missing_locations(tree), text, "eval")

    def value(binding):
        missing = [n for n in names if n not in binding]
        if missing:
            raise ConditionError(f"unknown name {missing[0]!r} in: {text}")
        return eval(code, FUNCTIONS | {"__builtins__": {}, "_names": [binding[n] for n in names]})

    return value


def compile_condition(text):
    """holds(binding) of a condition as check prints it."""
    value = compile_size(text)

    def holds(binding):
        try:
            return bool(value(binding))
        except (ZeroDivisionError, Undefined):
            return False

    return holds


@dataclass
class Grid:
    """A model, its points, and what the engine did: verdicts[i] is {"runs": bool, "error": text, ...}."""

    name: str
    model: str
    points: list
    verdicts: list
    lenient: tuple = ()
    data_dependent: bool = False
    inputs: dict = field(default_factory=dict)  # declared dims by input, as `check --format json` gives them


def engine_accepts(verdict):
    """What the operators say: a rewrite of the engine's own (unoptimised differs) is no judge."""
    return verdict.get("unoptimised", verdict["runs"])


def run(cli, *arguments):
    return subprocess.run([cli, "check", *arguments], capture_output=True, text=True, timeout=120, check=False)


def answers(cli, grid):
    """One (kind, code, sentence) per point."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.write("".join(json.dumps(p) + "\n" for p in grid.points))
        file.flush()
        result = run(cli, grid.model, "--shapes-file", file.name)
    lines = result.stdout.splitlines()
    all_accepted = all(line == "accept" for line in lines)
    if result.returncode != (0 if all_accepted else 3) or len(lines) != len(grid.points):
        counts = f"{len(lines)} lines for {len(grid.points)} points"
        raise RuntimeError(f"exit {result.returncode}, {counts}: {result.stderr[:200]}")
    return [tuple((line.split(" ", 2) + ["", ""])[:3]) for line in lines]


def accepted_set(cli, model):
    """(exact, [condition text]) of the printed set."""
    result = run(cli, model, "--format", "json", "--fail-on", "never")
    if result.returncode != 0 and not result.stdout:  # a model that takes no shape at all: exit 3, with its report
        raise RuntimeError(f"exit {result.returncode} of --format json: {result.stderr[:200]}")
    accepted = json.loads(result.stdout)["accepted"]
    never = ["never"] if accepted.get("never") else []
    return accepted["exact"], never + [c["text"] for c in accepted["conditions"]]


def binding_of(shapes, declared):
    """Sizes by declared name and by NAME.AXIS; None when the point breaks a declared size or a shared name."""
    sizes = {f"{name}.{axis}": d for name, dims in shapes.items() for axis, d in enumerate(dims)}
    for name, dims in shapes.items():
        for axis, d in enumerate(dims):
            label = declared[name][axis]
            if isinstance(label, int) and label > 0 and label != d:
                return None
            if isinstance(label, str) and label and sizes.setdefault(label, d) != d and not is_placeholder(label):
                return None
    return sizes


def is_placeholder(label):
    return label == "?" or label.startswith("unk__")


def compare_point(grid, verdict, answer):
    """A sentence about a disagreement with the engine, or None."""
    kind, code, sentence = answer
    runs = engine_accepts(verdict)
    if kind == "unknown":
        return None if grid.data_dependent else f"unknown {code} {sentence}"
    if kind == "accept":  # where data decides, other data than the engine was given may run
        return None if runs or grid.data_dependent else f"FALSE ACCEPT, the engine: {verdict.get('error', '')}"
    if kind != "refuse":
        return f"not an answer: {' '.join(answer)}"
    lenient = code.startswith("lenient.") and code in grid.lenient
    return f"FALSE REFUSAL {code} {sentence}" if runs and not lenient else None


def compare_set(cli, grid, given):
    """Sentences about points where the printed set and the answers differ; an inexact set may only be larger."""
    exact, texts = accepted_set(cli, grid.model)
    conditions = [compile_condition(t) for t in texts]
    problems = []
    for shapes, (kind, code, _) in zip(grid.points, given):
        binding = binding_of(shapes, grid.inputs)
        if binding is None or kind == "unknown":
            continue
        inside = all(holds(binding) for holds in conditions)
        if inside != (kind == "accept") and (exact or not inside):
            said = "accept" if inside else "refuse"
            problems.append(f"{shapes}: the printed set says {said}, the answer is {kind} {code}")
    return problems, exact, texts


def compare(cli, grid):
    """(problems, exact): every disagreement of check with the engine and with its own printed set."""
    try:
        given = answers(cli, grid)
        problems = []
        for shapes, verdict, answer in zip(grid.points, grid.verdicts, given):
            problem = compare_point(grid, verdict, answer)
            problems += [f"{shapes}: {problem}"] if problem else []
        more, exact, texts = compare_set(cli, grid, given)
        return problems + more + ([f"printed: {'; '.join(texts)}"] if more else []), exact
    except (RuntimeError, ConditionError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
        return [f"{type(error).__name__}: {error}"], False


def report(results, shown=6):
    """Prints the failed models and the closing line; the exit code."""
    failed = {name: problems for name, (problems, _) in results.items() if problems}
    for name, problems in failed.items():
        print(f"{name}: {len(problems)} problems")
        for problem in problems[:shown]:
            print(f"    {problem}")
    exact = sum(e for _, e in results.values())
    print(f"{exact} of {len(results)} printed sets are exact")
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0
