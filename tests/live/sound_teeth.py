"""sound_teeth.py: wrong answers made by hand, each of which the judges of sound_live.py must find, and right ones."""

import types

import numpy as np
from onnx import helper

from sound_case import Case, Run
from sound_data import Seen
from sound_fix import verdict_problems
from sound_judge import Report, engine_problems, proof_problems, run_problems, set_problems, shape_problems

YES = {"answer": "accept", "outputs": [], "data_conditions": []}
NO = {"answer": "refuse", "code": "conv.kernel", "place": "", "sentence": ""}
SHAPES = [{"x": [4, 6]}, {"x": [3, 6]}]


def report(verdicts, conditions=(), exact=True, proof=None, outputs=(), labels=("h", 6)):
    return Report({
        "inputs": [{"name": "x", "dims": list(labels)}], "outputs": list(outputs), "data_conditions": [], "require": proof,
        "accepted": {"exact": exact, "never": False, "conditions": [{"text": t} for t in conditions], "on_data": []},
        "answers": [{"verdict": v} for v in verdicts]})


def case(error="", doubt=""):
    runs = [Run("base", {"x": np.zeros(s["x"])}, {"y": np.zeros((2, 6))}, error, doubt) for s in SHAPES]
    return Case(17, {"x": ["h", 6]}, {}, {}, [], ["y"], runs)


def fixing(old, new, refusal="", taken=True):
    graph = types.SimpleNamespace(report=report(old), bindings=SHAPES)
    fix = types.SimpleNamespace(how="frozen", arguments=("--freeze", "h=4"), refusal=refusal, report=report(new))
    return verdict_problems(graph, fix, lambda b: taken)


def formula(text):
    return [{"name": "y", "dims": [text, 6]}]


# (what the judge says, the kinds it is to find)
ROWS = [
    (set_problems(report([YES, NO], ["h % 2 == 0"]), SHAPES), []),
    (set_problems(report([YES, YES], ["h % 2 == 0"]), SHAPES), ["outside the set, accepted"]),
    (set_problems(report([NO, NO], ["h % 2 == 0"]), SHAPES), ["inside the exact set, refused"]),
    (set_problems(report([NO, NO], ["h % 2 == 0"], exact=False), SHAPES), []),
    (set_problems(report([YES, YES], ["h % 2 == 0"], exact=False), SHAPES), ["outside the set, accepted"]),
    (set_problems(report([YES, NO], ["select(h >= 4, h//2, 8//(h - 3)) == 2"]), SHAPES), []),
    (set_problems(report([YES, NO], ["broadcast(h, 4) == 4"]), SHAPES), []),
    (set_problems(report([YES, NO], ["h in {4, 5} or max(h, 2) == min(9, h + 1)"]), SHAPES), []),
    (set_problems(report([YES, NO], labels=("h", "h")), SHAPES), ["declared sizes are not held"]),
    (proof_problems(report([YES, NO], proof={"answer": "proved"}), "h in 1..4", SHAPES), ["proved, refused"]),
    (proof_problems(report([YES, NO], proof={"answer": "proved"}), "h in 4..9", SHAPES), []),
    (proof_problems(report([YES, NO], proof={"answer": "refuted", "verdict": YES}), "h in 1..4", SHAPES),
     ["refuted by a shape that is accepted"]),
    (shape_problems(report([YES, NO], outputs=formula("h//2")), case()), []),
    (shape_problems(report([YES, NO], outputs=formula("h//3")), case()), ["shape by formula is wrong"]),
    (shape_problems(report([YES, NO], outputs=formula("nonzero")), case()), []),
    (shape_problems(report([YES | {"outputs": formula(3)}, NO]), case()), ["shape by walk is wrong"]),
    (engine_problems(report([YES, YES]), case()), []),
    (engine_problems(report([YES, NO]), case()), ["refused, ONNX Runtime runs"]),
    (engine_problems(report([YES, NO]), case(doubt="why")), []),
    (engine_problems(report([NO, YES]), case(error="why")), ["accepted, ONNX Runtime refuses"]),
    (run_problems(report([YES, NO]), case(), ["", "error[conv.kernel] x"], "run"), []),
    (run_problems(report([YES, NO]), case(), ["", "ran"], "run"), ["run: check refuses, run runs"]),
    (run_problems(report([YES, NO]), case(), ["", "error[run.size] x"], "run"), ["run: another code"]),
    (run_problems(report([YES, NO]), case(), ["error[conv.kernel] x", "error[conv.kernel] x"], "run"),
     ["run: check accepts, run refuses"]),
    (run_problems(report([YES, NO]), case(), ["error[test.output] x", "died: test ends with -11"], "run"),
     ["run: wrong value", "run: dies"]),
    (fixing([YES, NO], [YES, NO]), []),
    (fixing([YES, NO], [NO, NO]), ["frozen takes less"]),
    (fixing([YES, NO], [YES, YES]), ["frozen takes more"]),
    (fixing([NO, NO], [NO, YES], taken=None), ["frozen takes another size"]),
    (fixing([YES, NO], [YES, NO], refusal="error[fix.baked] x"), ["frozen is refused"]),
]


def loop(count, operator):
    """A loop over s whose body has one node."""
    names = [helper.make_empty_tensor_value_info(n) for n in ("i", "c", "s", "c2", "s2")]
    nodes = [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node(operator, ["s", "x"], ["s2"], name="inner")]
    body = helper.make_graph(nodes, "body", names[:3], names[3:])
    return helper.make_node("Loop", [count, "", "x"], ["l"], name="loop", body=body)


def chain(*nodes):
    """Nodes named as their outputs."""
    return [helper.make_node(op, inputs.split(), [out], name=out) for out, op, inputs in nodes]


SIZE = ("size", "Shape", "x")
# (nodes, those that see data); x is an input
DATA_ROWS = [
    (chain(SIZE, ("r", "Reshape", "x size"), ("t", "TopK", "r size")), []),
    (chain(SIZE, ("f", "Cast", "size"), ("m", "Mul", "f f"), ("e", "Expand", "x m")), []),
    (chain(("a", "Relu", "x"), ("e", "Expand", "a x")), ["e"]),
    (chain(("z", "NonZero", "x"), ("c", "Concat", "z z"), ("s", "Shape", "z"), ("r", "Range", "s s s")),
     ["c", "r", "s", "z"]),
    (chain(("z", "Unique", "x"), ("a", "Add", "x x")), ["z"]),
    ([*chain(SIZE), loop("size", "Concat"), *chain(("y", "Add", "l l"))], []),
    ([loop("x", "Add"), *chain(("y", "Add", "l l"))], ["inner", "loop", "y"]),
    ([*chain(SIZE), loop("size", "Expand")], ["inner"]),
]


def toothless():
    """The rows that are judged otherwise."""
    told = [([found.kind for found in judged], wanted) for judged, wanted in ROWS]
    for nodes, wanted in DATA_ROWS:
        seen = Seen(Case(17, {"x": []}, {}, {}, nodes, [], []))
        told.append((sorted(name for name, data in seen.nodes.items() if data and name), wanted))
    return [f"{kinds} instead of {wanted}" for kinds, wanted in told if kinds != wanted]
