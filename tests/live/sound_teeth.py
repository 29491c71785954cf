"""sound_teeth.py: wrong answers made by hand, each of which the judges of sound_live.py must find, and right ones."""

import types

import numpy as np
from onnx import helper

from sound_case import Case, Run
from sound_data import Seen
from sound_fix import verdict_problems
from sound_graph import peer_problems
from sound_judge import Report, engine_problems, proof_problems, run_problems, set_problems, shape_problems
from sound_lax import doubt_of, misinferred, not_asked

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


def lax(code, sentence):
    return NO | {"code": code, "sentence": sentence}


def fixing(old, new, refusal="", taken=True):
    graph = types.SimpleNamespace(report=report(old), bindings=SHAPES)
    fix = types.SimpleNamespace(how="frozen", arguments=("--freeze", "h=4"), refusal=refusal, report=report(new))
    return verdict_problems(graph, fix, lambda b: taken)


def formula(text):
    return [{"name": "y", "dims": [text, 6]}]


def chain(*nodes):
    """Nodes named as their outputs."""
    return [helper.make_node(op, inputs.split(), [out], name=out) for out, op, inputs in nodes]


def adding(size, shapes=()):
    """x of two entries and a constant of so many; ONNX Runtime loads no three."""
    types = {"x": (np.dtype("f4"), 1), "y": (np.dtype("f4"), 1)}
    runs = [Run("base", {"x": np.ones(shape, "f4")}, {"y": np.full(shape, 3, "f4")}) for shape in shapes]
    return Case(17, {"x": [2]}, types, {"c": np.full(size, 2, "f4")}, chain(("y", "Add", "x c")), ["y"], runs)


def peer(size, model, bindings=()):
    """What is said of a file with a constant of so many, written of the model."""
    return peer_problems(adding(size).model().SerializeToString(), model, bindings)


# (what the judge says, the kinds it is to find)
ROWS = [
    (set_problems(report([YES, NO], ["h % 2 == 0"]), SHAPES), []),
    (set_problems(report([YES, YES], ["h % 2 == 0"]), SHAPES), ["outside the set, accepted"]),
    (set_problems(report([NO, NO], ["h % 2 == 0"]), SHAPES), ["inside the exact set, refused"]),
    (set_problems(report([NO, NO], ["h % 2 == 0"], exact=False), SHAPES), []),
    (set_problems(report([YES, YES], ["h % 2 == 0"], exact=False), SHAPES), ["outside the set, accepted"]),
    (set_problems(report([YES, NO], ["select(h >= 4, h//2, 8//(h - 3)) == 2"]), SHAPES), []),
    (set_problems(report([YES, NO], ["broadcast(h, 4) == 4"]), SHAPES), []),
    (set_problems(report([YES, NO], ["opaque"]), SHAPES), ["a condition cannot be read"]),
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
    (engine_problems(report([YES, lax("loop.scan", "iterations give [1, 2] and [2, 1]: axis 0")]), case()), []),
    (engine_problems(report([YES, lax("loop.scan", "iterations give [1, 2] and [3, 1]: axis 0")]), case()),
     ["refused, ONNX Runtime runs"]),
    (engine_problems(report([YES, lax("loop.scan", "iterations give [1, 2] and [trips, 1]: axis 0")]), case()), []),
    (engine_problems(report([YES, lax("concat.dims", "inputs 0 and 1, [1, 2] and [2, 1], differ")]), case()),
     ["refused, ONNX Runtime runs"]),
    (engine_problems(report([YES, lax("lenient.concat", "")]), case()), []),
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
    (peer(2, adding(2, [2]), [0]), []),
    (peer(2, adding(2, [2, 5]), [1]), ["simplified is refused by ONNX Runtime"]),
    (peer(1, adding(3), []), []),
    (peer(3, adding(2), []), ["simplified is not loaded by ONNX Runtime"]),
    (peer(3, adding(3), []), []),
]


def loop(count, operator):
    """A loop over s whose body has one node."""
    names = [helper.make_empty_tensor_value_info(n) for n in ("i", "c", "s", "c2", "s2")]
    nodes = [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node(operator, ["s", "x"], ["s2"], name="inner")]
    body = helper.make_graph(nodes, "body", names[:3], names[3:])
    return helper.make_node("Loop", [count, "", "x"], ["l"], name="loop", body=body)


def collecting(count):
    """A loop whose state gets sizes from data; it collects the state, in no round as many axes as that would have."""
    names = [helper.make_empty_tensor_value_info(n) for n in ("i", "c", "s", "c2", "s2", "row")]
    nodes = [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Expand", ["s", "x"], ["s2"], name="inner"),
             helper.make_node("Identity", ["s"], ["row"])]  # fmt: skip
    body = helper.make_graph(nodes, "body", names[:3], names[3:])
    return helper.make_node("Loop", [count, "", "x"], ["l", "rows"], name="loop", body=body)


def scan(after):
    """A scan over x whose state becomes a value from outside."""
    names = [helper.make_empty_tensor_value_info(n) for n in ("before", "row", "after")]
    nodes = [helper.make_node("Identity", [after], ["after"])]
    body = helper.make_graph(nodes, "body", names[:2], names[2:])
    return helper.make_node("Scan", ["x", "x"], ["s"], name="s", body=body, num_scan_inputs=1)


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
    ([collecting("none"), *chain(("s", "Shape", "rows"), ("g", "Gather", "s two"))], ["g", "inner", "loop", "s"]),
    (chain(("z", "NonZero", "x")) + [scan("z")], ["s", "z"]),
    ([scan("x")], []),
]


def seen_by(operator, inputs, outputs=(), **attributes):
    """The node, and what it sees; None: an input that is absent."""
    names = ["" if array is None else f"x{i}" for i, array in enumerate(inputs)]
    node = helper.make_node(operator, names, [f"y{i}" for i in range(len(outputs))], **attributes)
    given = {name: np.asarray(array) for name, array in zip(names, inputs) if name}
    return node, given | {f"y{i}": np.asarray(array) for i, array in enumerate(outputs)}


def resized(entries, **attributes):
    """Ten entries that became six; rightly 0, 2, 3, 5, 7, 8 by halves and floor, the second and the fifth by a hair."""
    return seen_by("Resize", [np.arange(10), None, None, [6]], [entries], nearest_mode="floor", **attributes)


def of(*shape):
    return np.zeros(shape)


# (node and what it sees, a word of the reason why ONNX Runtime is no judge, or nothing)
LAX_ROWS = [
    (seen_by("Einsum", [of(2, 1), of(3, 4)], [of(2, 4)], equation="ij,jk->ik"), "letter"),
    (seen_by("Einsum", [of(2, 3), of(3, 4)], [of(2, 4)], equation="ij,jk->ik"), ""),
    (seen_by("Einsum", [of(2, 1), of(1, 4)], [of(2, 4)], equation="ij,jk->ik"), ""),
    (seen_by("Einsum", [of(1, 2, 3), of(5, 4, 3)], [of(5, 2, 4)], equation="...ij,...kj->...ik"), ""),
    (seen_by("Einsum", [of(5, 2, 1), of(5, 4, 3)], [of(5, 2, 4)], equation="...ij,...kj->...ik"), "letter"),
    (seen_by("GatherND", [of(2, 8), of(4, 1)], [of(4)], batch_dims=1), "batches"),
    (seen_by("GatherND", [of(2, 8), of(2, 1)], [of(2)], batch_dims=1), ""),
    (seen_by("GatherND", [of(2, 0), [[5]]], [of(1, 0)]), "nothing to copy"),
    (seen_by("GatherND", [of(2, 0), [[1]]], [of(1, 0)]), ""),
    (seen_by("GatherND", [of(2, 3), [[5]]], [of(1, 3)]), ""),
    (seen_by("Concat", [of(2, 3), of(0, 5)], [of(2, 3)], axis=0), "without entries"),
    (seen_by("Concat", [of(2, 3), of(0, 3)], [of(2, 3)], axis=0), ""),
    (seen_by("Concat", [of(2, 3), of(2, 5)], [of(2, 8)], axis=-1), ""),
    (seen_by("PRelu", [of(1, 2), of(6, 2)], [of(6, 2)]), "slope"),
    (seen_by("PRelu", [of(6, 2), of(2)], [of(6, 2)]), ""),
    (seen_by("MaxPool", [of(1, 1, 4)], [of(1, 1, 0)], kernel_shape=[5]), "window"),
    (seen_by("MaxPool", [of(1, 1, 4)], [of(1, 1, 1)], kernel_shape=[3], dilations=[2]), "window"),
    (seen_by("AveragePool", [of(1, 1, 4)], [of(1, 1, 1)], kernel_shape=[5], pads=[0, 1]), ""),
    (seen_by("AveragePool", [of(1, 1, 4)], [of(1, 1, 4)], kernel_shape=[5], auto_pad="SAME_UPPER"), ""),
    (seen_by("Pad", [of(0, 3), [0, 1, 0, 0]], [of(0, 4)], mode="edge"), "edges"),
    (seen_by("Pad", [of(0, 3), [0, 1, 0, 0]], [of(0, 4)]), ""),
    (seen_by("Pad", [of(2, 3), [0, 1, 0, 0]], [of(2, 4)], mode="edge"), ""),
    (seen_by("CenterCropPad", [of(3), [-1]], [of(0)]), "negative"),
    (seen_by("CenterCropPad", [of(3), [0]], [of(0)]), ""),
    (seen_by("Scan", [of(1), of(3)], [of(2), of(3)], num_scan_inputs=1), "state"),
    (seen_by("Scan", [of(1), of(3)], [of(1), of(3, 7)], num_scan_inputs=1), ""),
    (seen_by("Resize", [of(3), None, [1.2]], [of(3)]), "copied"),
    (resized([0, 2, 3, 5, 7, 8]), ""),
    (resized([0, 1, 3, 5, 7, 8]), "border"),
    (resized([0, 1, 3, 5, 6, 8]), "border"),
    (resized([0, 1, 3, 5, 7, 9]), ""),
    (resized([0, 3, 3, 5, 7, 8]), ""),
    (resized([0, 1, 3, 5, 7, 8], mode="linear"), ""),
    (resized([0, 1, 3, 5, 6, 8], coordinate_transformation_mode="asymmetric"), ""),
    (seen_by("ReduceProd", [of(2)], [np.array(np.nan)]), "infinity"),
    (seen_by("ReduceProd", [np.array([np.inf, 0])], [np.array(np.nan)]), ""),
    (seen_by("ReduceProd", [of(2)], [np.array(1.0)]), ""),
    (seen_by("Loop", [3, True, of(2)], [of(2), of(0, 4)]), "no rounds"),
    (seen_by("Loop", [3, True, of(0)], [of(0), of(3, 4)]), ""),
]

# (node and what it sees, whether ONNX's inference may be wrong about its shape)
INFERENCE_ROWS = [
    (seen_by("Einsum", [of(1, 2, 3), of(5, 4, 3)], equation="...ij,...kj->...ik"), True),
    (seen_by("Einsum", [of(5, 2, 3), of(4, 3)], equation="...ij,...kj->...ik"), False),
    (seen_by("Einsum", [of(5, 2, 3), of(5, 4, 3)], equation="...ij,...kj->...ik"), False),
    (seen_by("Einsum", [of(5, 2, 3), of(4, 3)], equation="...ij,kj->...ik"), False),
    (seen_by("Einsum", [of(2, 3), of(3, 4)], equation="ij,jk->ik"), False),
    (seen_by("MatMul", [of(1, 2, 3), of(5, 3, 4)]), False),
]


def lax_problems(case, wanted):
    row = doubt_of(*case)
    return [] if (wanted in row.why if row and wanted else not row and not wanted) else [row.why if row else "nothing"]


def toothless():
    """The rows that are judged otherwise."""
    for case, wanted in LAX_ROWS:
        yield from (f"{said} instead of {wanted!r} for {case}" for said in lax_problems(case, wanted))
    for count, wanted in ((0, True), (2, False)):
        if bool(not_asked(*seen_by("ReduceMax", [of(count)]))) != wanted:
            yield "whether a reduction of nothing is asked"
    for case, wanted in INFERENCE_ROWS:
        if bool(misinferred(*case)) != wanted:
            yield f"whether inference is wrong: not {wanted} for {case}"
    yield from wrong_rows()


def wrong_rows():
    told = [([found.kind for found in judged], wanted) for judged, wanted in ROWS]
    for nodes, wanted in DATA_ROWS:
        seen = Seen(Case(17, {"x": []}, {}, {}, nodes, [], []))
        told.append((sorted(name for name, data in seen.nodes.items() if data and name), wanted))
    return [f"{kinds} instead of {wanted}" for kinds, wanted in told if kinds != wanted]
