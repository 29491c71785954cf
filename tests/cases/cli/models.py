"""Writes the small models of the command-line cases: models.write_all(folder)."""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import configs
import foreign
import mql5_models
import sound_models
import target_models

F32, I64 = TensorProto.FLOAT, TensorProto.INT64


def info(name, dims, dtype=F32):
    return helper.make_tensor_value_info(name, dtype, dims)


def weights(name, *dims):
    return numpy_helper.from_array(np.ones(dims, np.float32), name)


def ints(name, values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(nodes, inputs, outputs, initializers=(), value_info=(), metadata=None):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers), value_info=list(value_info))
    out = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="cases")
    out.ir_version = 8
    if metadata:
        helper.set_model_props(out, metadata)
    return out


def node(op, inputs, outputs, name=None, **attributes):
    return helper.make_node(op, inputs, outputs, name=name or f"/{op.lower()}", **attributes)


def relu(inputs, outputs, **extra):
    return model([node("Relu", ["x"], ["y"])], inputs, outputs, **extra)


def matmul(inner):
    return model([node("MatMul", ["x", "w"], ["y"])], [info("x", ["batch", "seq"])], [info("y", ["batch", 4])],
                 [weights("w", inner, 4)])


def concat(x, y, out):
    return model([node("Concat", ["x", "y"], ["z"], axis=1)], [info("x", x), info("y", y)], [info("z", out)])


def scan():
    body = helper.make_graph(
        [node("MatMul", ["h_in", "u"], ["hu"]), node("Add", ["hu", "x_t"], ["s"]), node("Tanh", ["s"], ["h_out"]),
         node("Identity", ["h_out"], ["y_t"])],
        "cell", [info("h_in", [1, 8]), info("x_t", [1, 8])], [info("h_out", [1, 8]), info("y_t", [1, 8])])
    return model([node("Scan", ["h0", "x"], ["h", "y"], body=body, num_scan_inputs=1)],
                 [info("x", ["seq", 1, 8])], [info("h", [1, 8]), info("y", ["seq", 1, 8])],
                 [weights("h0", 1, 8), weights("u", 8, 8)])


def unrolled(steps):
    nodes, state = [], "h0"
    constants = [weights("h0", 1, 8), weights("u", 8, 8)]
    for i in range(steps):
        constants.append(ints(f"i{i}", i))
        nodes += [node("Gather", ["x", f"i{i}"], [f"x{i}"], f"/gather_{i}", axis=1),
                  node("MatMul", [state, "u"], [f"m{i}"], f"/matmul_{i}"),
                  node("Add", [f"m{i}", f"x{i}"], [f"a{i}"], f"/add_{i}"),
                  node("Tanh", [f"a{i}"], [f"h{i + 1}"], f"/tanh_{i}")]
        state = f"h{i + 1}"
    return model(nodes, [info("x", ["batch", steps, 8])], [info(state, ["batch", 8])], constants)


def lstm(state_batch):
    initial = ["", "h0", "c0"] if state_batch else []
    constants = [weights("w", 1, 16, 3), weights("r", 1, 16, 4)]
    if state_batch:
        constants += [weights("h0", 1, state_batch, 4), weights("c0", 1, state_batch, 4)]
    return model([node("LSTM", ["x", "w", "r", ""] + initial, ["y"], hidden_size=4)],
                 [info("x", ["seq", "batch", 3])], [info("y", ["seq", 1, "batch", 4])], constants)


def embedding():
    return model([node("Gather", ["table", "ids"], ["y"])], [info("ids", ["batch", "seq"], I64)],
                 [info("y", ["batch", "seq", 8])], [weights("table", 512, 8)])


def reshape():
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["b"]), node("Unsqueeze", ["b", "axes"], ["b1"]),
             node("Concat", ["b1", "rest"], ["target"], axis=0), node("Reshape", ["x", "target"], ["y"])]
    return model(nodes, [info("x", ["batch", 12])], [info("y", ["batch", 3, 4])],
                 [ints("zero", 0), ints("axes", [0]), ints("rest", [3, 4])])


def conv():
    return model([node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2], kernel_shape=[3, 3]),
                  node("Relu", ["c"], ["y"])],
                 [info("x", ["batch", 3, "h", "w"])], [info("y", ["batch", 8, "h2", "w2"])], [weights("w", 8, 3, 3, 3)])


def branch():
    then_branch = helper.make_graph([node("Relu", ["x"], ["t"], "/then")], "then", [], [info("t", None)])
    else_branch = helper.make_graph([node("Neg", ["x"], ["n"], "/else/neg"), node("Abs", ["n"], ["e"], "/else/abs")],
                                    "else", [], [info("e", None)])
    return model([node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)],
                 [info("x", ["batch", 3]), info("c", [], TensorProto.BOOL)], [info("y", ["batch", 3])])


def assumed(text, version=1):
    record = {"version": version, "conditions": [{"text": text, "symbols": {"n": "x:1"}, "origin": "net.py:12"}]}
    return relu([info("x", ["batch", "seq"])], [info("y", ["batch", "seq"])],
                metadata={"anyshape.assumed": json.dumps(record)})


def defaults(ir_version):
    """Inputs with a default: what is added, and the sizes of a Reshape."""
    out = model([node("Add", ["x", "w"], ["s"]), node("Reshape", ["s", "sizes"], ["y"])],
                [info("x", ["batch", 3]), info("w", ["k"]), info("sizes", [2], I64)], [info("y", None)],
                [weights("w", 3), ints("sizes", [-1, 6])])
    out.ir_version = ir_version
    return out


def bools():
    """A bool weight as raw bytes, some of them neither 0 nor 1."""
    keep = helper.make_tensor("keep", TensorProto.BOOL, [4], bytes([0, 1, 2, 255]), raw=True)
    return model([node("Not", ["keep"], ["not"]), node("Xor", ["not", "mask"], ["odd"]), node("Where", ["keep", "x", "z"], ["y"]),
                  node("Cast", ["odd"], ["o"], to=I64)],
                 [info("x", ["n", 4]), info("mask", ["n", 4], TensorProto.BOOL)], [info("y", None), info("o", None, I64)],
                 [keep, weights("z", 1)])


def unranked_list():
    """Nothing tells the element type of the second item before the model runs."""
    boolean = TensorProto.BOOL
    return model([node("Where", ["c", "x", "x"], ["w"]), node("Sigmoid", ["w"], ["s"]),
                  node("SequenceConstruct", ["x", "s"], ["l"]), node("SequenceLength", ["l"], ["y"])],
                 [info("x", None), info("c", None, boolean)], [info("y", [], I64)])


def baked(target, sizes):
    """The sizes of the input as numbers, also in the target of a Reshape."""
    return model([node("Reshape", ["x", "target"], ["r"]), node("Relu", ["r"], ["y"])], [info("x", sizes)], [info("y", None)],
                 [ints("target", target)])


def twice_reshaped(sizes, *targets):
    """A Reshape to each target, something that keeps all axes in between."""
    nodes, value = [], "x"
    for i in range(len(targets)):
        nodes += [node("Reshape", [value, f"target{i}"], [f"r{i}"], f"/reshape_{i}"), node("Relu", [f"r{i}"], [f"y{i}"], f"/relu_{i}")]
        value = f"y{i}"
    return model(nodes, [info("x", sizes)], [info(value, None)], [ints(f"target{i}", target) for i, target in enumerate(targets)])


def compares_size(nodes, inputs, made, axis, wanted=("x", None), constants=()):
    """Whether an axis of a value is as large as that axis of another one, or as a part of it: what rules would conclude."""
    other, divisor = wanted
    compare = [node("Shape", [made], ["made_shape"], "/shape_made"), node("Gather", ["made_shape", "axis"], ["made_size"], "/gather_made"),
               node("Shape", [other], ["other_shape"], "/shape_other"), node("Gather", ["other_shape", "axis"], ["other_size"], "/gather_other")]
    size = "other_size"
    if divisor:
        compare, size = compare + [node("Div", ["other_size", "divisor"], ["part"])], "part"
    extra = [ints("axis", axis)] + ([ints("divisor", divisor)] if divisor else [])
    return model([*nodes, *compare, node("Equal", ["made_size", size], ["same"])], inputs, [info("same", None, TensorProto.BOOL)],
                 [*constants, *extra])


def certainties():
    """Sizes that are equal by a rule, and not always in ONNX Runtime."""
    two = [info("x", ["a", "b"]), info("z", ["c", "d"])]
    mystery = helper.make_node("Mystery", ["x"], ["y"], name="/mystery", domain="custom")
    claimed = model([mystery, node("Shape", ["y"], ["s"])], [info("x", ["n"])], [info("s", None, I64)], value_info=[info("y", [4])])
    claimed.opset_import.append(helper.make_opsetid("custom", 1))
    return {
        "tied_names": compares_size([], [info("x", ["n", 4]), info("z", ["n", 4])], "z", 0),
        "tied_square": compares_size([node("Transpose", ["x"], ["t"])], [info("x", ["n", "n"])], "t", 0),
        "stretched_prelu": compares_size([node("PRelu", ["x", "z"], ["y"])], two, "y", 0),
        "stretched_einsum": compares_size([node("Einsum", ["x", "z"], ["y"], equation="ij,ij->ij")], two, "y", 0),
        "skipped_concat": compares_size([node("Concat", ["x", "z"], ["y"], axis=1)], two, "y", 0),
        "filled_concat": compares_size([node("Concat", ["x", "z"], ["y"], axis=1)], [info("x", [2, 3]), info("z", ["c", "d"])], "y", 0),
        "small_pool": compares_size([node("MaxPool", ["x"], ["y"], kernel_shape=[2], strides=[2])], [info("x", [1, 1, "h"])], "y", 2, ("x", 2)),
        "dropped_demand": compares_size([node("MatMul", ["x", "w"], ["y"]), node("Relu", ["x"], ["r"])], [info("x", ["a", "b"])], "r", 1,
                                        ("v", None), [weights("w", 120, 4), weights("v", 4, 120)]),
        "claimed": claimed,
        "quantised_weight": model([node("DequantizeLinear", ["q", "scale"], ["w"]), node("MatMul", ["x", "w"], ["y"])], [info("x", ["n", 4])],
                                  [info("y", ["n", 2])], [numpy_helper.from_array(np.arange(8, dtype=np.int8).reshape(4, 2), "q"),
                                                          numpy_helper.from_array(np.float32(0.5), "scale")]),
        # Names of one to four letters: of the four scales three lie at addresses that are no multiple of a float's size.
        "odd_scales": model([node("QuantizeLinear", ["x" if i == 1 else f"x{i}", "s" * i, "zero"], [f"q{i}"], f"/q{i}") if half == 0
                             else node("DequantizeLinear", [f"q{i}", "s" * i, "zero"], ["y" if i == 4 else f"x{i + 1}"], f"/d{i}")
                             for i in range(1, 5) for half in range(2)], [info("x", ["n"])], [info("y", ["n"])],
                            [numpy_helper.from_array(np.float32(0.5), "s" * i) for i in range(1, 5)] + [numpy_helper.from_array(np.uint8(8), "zero")]),
        "overridable": model([node("Shape", ["w"], ["s"]), node("Expand", ["x", "s"], ["y"])], [info("x", ["n"]), info("w", ["k"])],
                             [info("y", None)], [weights("w", 3)]),
    }


def resized_reshape(target):
    """A size that no formula gives goes into a Reshape."""
    return model([node("Resize", ["x", "", "scales"], ["r"], mode="nearest"), node("Reshape", ["r", "target"], ["y"])],
                 [info("x", [1, 1, 6, 4])], [info("y", None)],
                 [numpy_helper.from_array(np.array([1, 1, 1.3456789, 1], np.float32), "scales"), ints("target", target)])


def reshape_in_branch(target):
    then_branch = helper.make_graph([node("Reshape", ["x", "target"], ["t"], "/then")], "then", [], [info("t", None)])
    else_branch = helper.make_graph([node("Neg", ["x"], ["n"]), node("Reshape", ["n", "target"], ["e"], "/else")], "else", [], [info("e", None)])
    return model([node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)],
                 [info("x", [6, 4]), info("c", [], TensorProto.BOOL)], [info("y", None)], [ints("target", target)])


def reshape_in_function(target):
    """A call of a local function that reshapes."""
    function = helper.make_function("local", "View", ["a"], ["b"],
                                    [helper.make_node("Constant", [], ["target"], value_ints=target), node("Reshape", ["a", "target"], ["b"])],
                                    [helper.make_opsetid("", 17)])
    graph = helper.make_graph([helper.make_node("View", ["x"], ["y"], name="/view", domain="local")], "g", [info("x", [6, 4])], [info("y", None)])
    out = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("local", 1)], functions=[function])
    out.ir_version = 8
    return out


def cut():
    """A Slice that ends where the axis ends, or at a number that happens to be the same."""
    return model([node("Slice", ["x", "start", "end", "axis"], ["y"])], [info("x", ["batch", 120])], [info("y", None)],
                 [ints("start", [1]), ints("end", [120]), ints("axis", [1])])


def twelve():
    """A table of twelve entries, whatever its sides."""
    return model([node("Reshape", ["x", "to"], ["y"])], [info("x", ["h", "w"])], [info("y", [12])], [ints("to", [12])])


def counted():
    """The first entry, the first two, ...: how many there are is only known after a walk through all turns of the loop."""
    items = helper.make_tensor_sequence_value_info
    turn = [node("Identity", ["go"], ["go_on"]), node("Add", ["i", "one"], ["end"]), node("Slice", ["x", "zero", "end"], ["first"]),
            node("SequenceInsert", ["items", "first"], ["more"])]
    body = helper.make_graph(turn, "turn", [info("i", [], I64), info("go", [], TensorProto.BOOL), items("items", F32, None)],
                             [info("go_on", [], TensorProto.BOOL), items("more", F32, None)])
    return model([node("Size", ["x"], ["n"]), node("SequenceEmpty", [], ["none"]), node("Loop", ["n", "", "none"], ["all"], body=body),
                  node("ConcatFromSequence", ["all"], ["row"], axis=0), node("Reshape", ["row", "column"], ["y"])],
                 [info("x", ["n"])], [info("y", ["m", 1])], [ints("zero", [0]), ints("one", [1]), ints("column", [-1, 1])])


def looped(turn, start, grown, before=(), opset=17):
    """A loop of 10^9 rounds whose body turns `grown` into `next`; the size of what comes of it."""
    body = helper.make_graph(turn, "turn", [info("i", [], I64), info("more", [], TensorProto.BOOL), grown("all")],
                             [info("more", [], TensorProto.BOOL), grown("next" if turn else "all")])
    out = model([*before, node("Loop", ["rounds", "", start], ["y"], body=body)], [info("x", ["n"])], [grown("y")],
                [numpy_helper.from_array(np.array(10**9, np.int64), "rounds")])
    out.opset_import[0].version = opset
    return out


def hoards():
    """Loops that keep more and more: items of a sequence, the letters of strings, the rows of a scan output."""
    def items(name):
        return helper.make_tensor_sequence_value_info(name, F32, None)

    def texts(name):
        return info(name, ["n"], TensorProto.STRING)

    empty, words = node("SequenceEmpty", [], ["none"]), node("Cast", ["x"], ["words"], to=TensorProto.STRING)
    scanned = looped([], "x", lambda name: info(name, ["n"]))
    scanned.graph.node[0].attribute[0].g.output.append(info("all", ["n"]))
    scanned.graph.node[0].output.append("rows")
    scanned.graph.output.append(info("rows", None))
    return {
        "hoard": looped([node("SequenceInsert", ["all", "x"], ["next"])], "none", items, [empty]),
        "hoard_sums": looped([node("Add", ["x", "x"], ["sum"]), node("SequenceInsert", ["all", "sum"], ["next"])], "none",
                             items, [empty]),
        "hoard_words": looped([node("StringConcat", ["all", "all"], ["next"])], "words", texts, [words], opset=20),
        "hoard_rows": scanned,
    }


def limited(rows):
    """The first rows of a table, as many as the input has."""
    return model([node("Shape", ["x"], ["count"]), node("Slice", ["table", "start", "count"], ["t"]),
                  node("Add", ["x", "t"], ["y"])], [info("x", ["seq"])], [info("y", ["seq"])],
                 [weights("table", rows), ints("start", [0])])


def lstm_of_one():
    """Exported with a batch of 1, zeros for its state."""
    zeros = [numpy_helper.from_array(np.zeros((1, 1, 4), np.float32), name) for name in ("h0", "c0")]
    return model([node("LSTM", ["x", "w", "r", "", "", "h0", "c0"], ["y"], hidden_size=4)],
                 [info("x", ["seq", 1, 3])], [info("y", ["seq", 1, 1, 4])], [weights("w", 1, 16, 3), weights("r", 1, 16, 4), *zeros])


def picked(nodes, inputs, outputs, initializers, axis=0):
    """What follows a Compress by a constant mask: a size that no expression can write."""
    mask = numpy_helper.from_array(np.array([1, 0, 1, 1, 0, 1, 0, 1], bool), "mask")
    return model([node("Compress", ["x", "mask"], ["picked"], axis=axis), *nodes], inputs, outputs, [mask, *initializers])


def scaled_size(nodes, inputs, scale=None):
    """`size` is 0.37 of axis 0 of x, by way of float32; the nodes make y of it. scale: makes "part" of "real"."""
    factor = numpy_helper.from_array(np.array([0.37], np.float32), "factor")
    return model([node("Shape", ["x"], ["sizes"], end=1), node("Cast", ["sizes"], ["real"], "/real", to=F32),
                  scale or node("Mul", ["real", "factor"], ["part"]), node("Floor", ["part"], ["whole"]),
                  node("Cast", ["whole"], ["size"], "/size", to=I64), *nodes], inputs, [info("y", None)], [factor])


def scaled_in_function():
    """An Expand to a size that a local function scales."""
    call = helper.make_node("Scale", ["real", "factor"], ["part"], name="/scale", domain="local")
    out = scaled_size([node("Expand", ["z", "size"], ["y"])], [info("x", ["n"]), info("z", ["m"])], call)
    out.opset_import.append(helper.make_opsetid("local", 1))
    out.functions.append(helper.make_function("local", "Scale", ["a", "b"], ["c"], [node("Mul", ["a", "b"], ["c"])],
                                              [helper.make_opsetid("", 17)]))
    return out


def scaled_in_branch():
    """An Expand to a size that one branch scales."""
    yes = helper.make_tensor("yes", TensorProto.BOOL, [], [True])
    branches = {key: helper.make_graph([node(op, ["real", "factor"], [key])], key, [], [info(key, None)])
                for key, op in (("then_branch", "Mul"), ("else_branch", "Div"))}
    out = scaled_size([node("Expand", ["z", "size"], ["y"])], [info("x", ["n"]), info("z", ["m"])],
                      node("If", ["yes"], ["part"], **branches))
    out.graph.initializer.append(yes)
    return out


def computed_zero(target):
    """x[seq, 9] reshaped to entries of which `seq` is its first size."""
    parts = [ints(f"part{i}", [entry]) for i, entry in enumerate(target) if entry != "seq"]
    names = ["seq" if entry == "seq" else f"part{i}" for i, entry in enumerate(target)]
    return model([node("Shape", ["x"], ["seq"], end=1), node("Concat", names, ["target"], axis=0),
                  node("Reshape", ["x", "target"], ["y"])], [info("x", ["seq", 9])], [info("y", None)], parts)


def doubled():
    """Trips by a shape, and a size that doubles each time."""
    body = helper.make_graph([node("Identity", ["c"], ["go"]), node("Concat", ["v", "v"], ["twice"], axis=0)], "body",
                             [info("i", [], I64), info("c", [], TensorProto.BOOL), info("v", None)],
                             [info("go", [], TensorProto.BOOL), info("twice", None)])
    yes = numpy_helper.from_array(np.array(True), "yes")
    return model([node("Shape", ["x"], ["sizes"]), node("Squeeze", ["sizes"], ["trips"]),
                  node("Loop", ["trips", "yes", "x"], ["grown"], body=body), node("Add", ["grown", "z"], ["y"])],
                 [info("x", ["n"]), info("z", ["m"])], [info("y", None)], [yes])


def unrun():
    """A loop of no rounds whose body fits three entries only; the rank of what it would collect is not declared."""
    body = helper.make_graph([node("Identity", ["c"], ["go"]), node("Reshape", ["v", "three"], ["same"]),
                              node("Add", ["z", "same"], ["row"])], "body",
                             [info("i", [], I64), info("c", [], TensorProto.BOOL), info("v", None)],
                             [info("go", [], TensorProto.BOOL), info("same", None), info("row", None)])
    return model([node("Loop", ["none", "", "x"], ["kept", "rows"], body=body), node("NonZero", ["kept"], ["y"]),
                  node("Shape", ["rows"], ["sizes"])],
                 [info("x", ["n"]), info("z", ["m", "n"])], [info("y", None, I64), info("sizes", None, I64)],
                 [helper.make_tensor("none", I64, [], [0]), ints("three", [3])])


def boxed():
    """The entry of x after as many as there are boxes left of m equal ones."""
    corners = numpy_helper.from_array(np.array([0, 0, 1, 1], np.float32), "corners")
    return model([node("Shape", ["z"], ["count"]), node("Concat", ["one", "count", "four"], ["all"], "/all", axis=0),
                  node("Concat", ["one", "one", "count"], ["each"], "/each", axis=0), node("ConstantOfShape", ["all"], ["none"], "/none"),
                  node("ConstantOfShape", ["each"], ["scores"], "/scores"), node("Add", ["none", "corners"], ["boxes"]),
                  node("NonMaxSuppression", ["boxes", "scores", "most"], ["left"]), node("Shape", ["left"], ["at"], "/at", end=1),
                  node("Gather", ["x", "at"], ["y"])], [info("x", ["n"]), info("z", ["m"])], [info("y", None)],
                 [ints("one", [1]), ints("four", [4]), ints("most", [3]), corners])


def unused_in_branch():
    """Two branches that fit three entries only, by nodes whose results nobody reads."""
    then_branch = helper.make_graph([node("Reshape", ["x", "three"], ["seen"]), node("Relu", ["x"], ["yes"])], "then", [],
                                    [info("yes", None)])
    else_branch = helper.make_graph([node("Unsqueeze", ["x", "front"], ["row"]), node("Add", ["row", "w"], ["sum"]),
                                     node("Abs", ["x"], ["no"])], "else", [], [info("no", None)])
    return model([node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)],
                 [info("c", [], TensorProto.BOOL), info("x", ["n"])], [info("y", None)],
                 [ints("three", [3]), ints("front", [0]), weights("w", 1, 3)])


def unswept():
    """A Scan over an axis that may have no entries; its body fits three entries of z only."""
    body = helper.make_graph([node("Identity", ["s"], ["same"]), node("Reshape", ["z", "three"], ["seen"]), node("Identity", ["x"], ["row"], "/row")],
                             "body", [info("s", None), info("entry", None)], [info("same", None), info("row", [None, None])])
    return model([node("Scan", ["z", "x"], ["kept", "rows"], body=body, num_scan_inputs=1)],
                 [info("x", ["n", 7]), info("z", ["m"])], [info("rows", None)], [ints("three", [3])])


def erased():
    """As many prefixes of x as z is long, but one, put together."""
    body = helper.make_graph([node("Identity", ["c"], ["go"]), node("Add", ["i", "one"], ["next"]),
                              node("Reshape", ["next", "one"], ["end"]), node("Slice", ["x", "zero", "end"], ["part"]),
                              node("SequenceInsert", ["s", "part"], ["more"])], "body",
                             [info("i", [], I64), info("c", [], TensorProto.BOOL), helper.make_tensor_sequence_value_info("s", F32, None)],
                             [info("go", [], TensorProto.BOOL), helper.make_tensor_sequence_value_info("more", F32, None)])
    return model([node("SequenceEmpty", [], ["none"], dtype=F32), node("Size", ["z"], ["trips"]),
                  node("Loop", ["trips", "", "none"], ["many"], body=body), node("SequenceErase", ["many", "first"], ["fewer"]),
                  node("ConcatFromSequence", ["fewer"], ["all"], "/join", axis=0), node("Size", ["all"], ["y"], "/entries")],
                 [info("x", ["n"]), info("z", ["m"])], [info("y", None, I64)],
                 [ints("one", [1]), ints("zero", [0]), helper.make_tensor("first", I64, [], [0])])


def all_models():
    any2 = [info("x", ["batch", "seq"])]
    twice = [node("Concat", ["x", "x"], ["y"], axis=0)]
    return {
        "every": relu(any2, [info("y", ["batch", "seq"])]),
        "static": relu([info("x", [2, 3])], [info("y", [2, 3])]),
        "scalar": relu([info("x", [])], [info("y", [])]),
        "pinned": matmul(120),
        "unpinned": model([node("MatMul", ["x", "w"], ["y"])], [info("x", ["batch", "seq", 120])],
                          [info("y", ["batch", "seq", 4])], [weights("w", 120, 4)]),
        "never": model([node("MatMul", ["x", "w"], ["y"])], [info("x", ["batch", 3])], [info("y", ["batch", 4])],
                       [weights("w", 5, 4)]),
        "equal": concat(["a", 4], ["b", 4], ["a", 8]),
        "anonymous": relu([info("x", ["?", None])], [info("y", None)]),
        "colon": model([node("Relu", ["input:0"], ["y"])], [info("input:0", ["batch", 3])], [info("y", ["batch", 3])]),
        "wrong_number": relu([info("x", ["batch", 3])], [info("y", ["batch", 7])]),
        "wrong_type": relu([info("x", ["batch", 3])], [info("y", ["batch", 3], I64)]),
        "wrong_inner": model([node("Relu", ["x"], ["r"]), node("Abs", ["r"], ["y"])], [info("x", ["batch", 3])],
                             [info("y", ["batch", 3])], value_info=[info("r", ["batch", 5])]),
        "static_label": relu([info("x", ["batch", 3])], [info("y", [1, 3])]),
        "dynamic_label": relu([info("x", ["batch", 3])], [info("y", ["batch", "features"])]),
        "two_sizes": model(twice, [info("x", ["batch", 3])], [info("y", ["batch", 3])]),
        "hard": model([node("Mystery", ["x"], [f"m{i}"], f"/m{i}", domain="custom") for i in range(15)],
                      [info("x", [None] * 15)], [info("m0", None)]),
        "wide": model([node("Relu", [f"x{i}"], [f"y{i}"], f"/relu{i}") for i in range(16)],
                      [info(f"x{i}", [f"n{i}"]) for i in range(16)], [info(f"y{i}", [f"n{i}"]) for i in range(16)]),
        "nonzero": model([node("NonZero", ["x"], ["y"])], any2, [info("y", [2, "n"], I64)]),
        "scan": scan(),
        "unrolled": unrolled(5),
        "short": unrolled(3),
        "lstm_state": lstm(1),
        "lstm": lstm(0),
        "embedding": embedding(),
        "sequence": sequence(),
        "two_names": two_names(),
        "gathered": gathered(),
        **{f"identity_{name}": model([node("Identity", ["x"], ["y"])], [info("x", ["n"], dtype)], [info("y", ["n"], dtype)])
           for name, dtype in (("c64", TensorProto.COMPLEX64), ("i64", I64), ("f32", F32), ("string", TensorProto.STRING))},
        "no_rank": relu([info("x", None)], [info("y", None)]),
        "reshape": reshape(),
        "conv": conv(),
        "branch": branch(),
        "bools": bools(),
        "unranked_list": unranked_list(),
        "defaults": defaults(8),
        "defaults_ir3": defaults(3),
        "baked": baked([-1, 120, 2, 4], ["batch", 120, 8]),
        "mixing": baked([-1, 50], ["batch", 120]),
        "glued": baked([3, 8], [6, 4]),
        "glued_rest": baked([3, -1], [6, 4]),
        "cut_apart": baked([2, 3, 4], [6, 4]),
        "joined": baked([2, 12], [4, 6]),
        "joined_and_back": twice_reshaped([2, 120, 8], [240, 8], [2, 120, 8]),
        "joined_and_turned": twice_reshaped([6, 2, 8], [12, 8], [2, 6, 8]),
        **certainties(),
        "resized": resized_reshape([8, 4]),
        "resized_glued": resized_reshape([4, -1]),
        "branch_view": reshape_in_branch([-1, 2, 2]),
        "branch_glued": reshape_in_branch([3, -1]),
        "function_glued": reshape_in_function([3, -1]),
        "cut": cut(),
        "sorted": model([node("TopK", ["x", "k"], ["y", "i"])], [info("x", ["batch", 120])], [info("y", None), info("i", None, I64)],
                        [ints("k", [120])]),
        "two_static": model([node("Relu", ["x"], ["y"], "/one"), node("Relu", ["z"], ["w"], "/two")],
                            [info("x", ["batch", 4]), info("z", ["n", 6])], [info("y", None), info("w", None)]),
        "assumed_size": assumed("n == 7"),
        "lstm_of_one": lstm_of_one(),
        "counted": counted(),
        "twelve": twelve(),
        "limited": limited(50),
        "late_split": late_split(),
        "unique_in_loop": unique_in_loop(), "sliced_unique": sliced_unique(),
        "added_to_either": added_to_either(),
        "refused_branch": refused_branch(),
        "perhaps_scanned": perhaps_scanned(),
        "endless": looped([], "x", lambda name: info(name, ["n"])),
        **hoards(),
        "negated": model([node("Neg", ["x"], ["y"])], any2, [info("y", ["batch", "seq"])]),
        "renamed": model([node("Relu", ["input"], ["output"])], [info("input", ["batch", "seq"])], [info("output", None)]),
        "assumed": assumed("n >= 2"),
        "assumed_bad": assumed("n >= >= 2"),
        "assumed_new": assumed("n >= 2", version=7),
        "opaque": model([helper.make_node("Mystery", ["x"], ["y"], name="/mystery", domain="custom")], any2,
                        [info("y", ["batch"])]),
        "picked_concat": picked([node("Concat", ["picked", "z"], ["y"], axis=1)], [info("x", ["n", 4]), info("z", ["k", 4])],
                                [info("y", None)], []),
        "picked_topk": picked([node("TopK", ["picked", "k"], ["y", "at"], axis=0)], [info("x", ["n", 4])],
                              [info("y", None), info("at", None, I64)], [ints("k", [4])]),
        "picked_split": picked([node("Split", ["picked", "parts"], ["y", "z"], axis=0)], [info("x", ["n", 4])],
                               [info("y", None), info("z", None)], [ints("parts", [2, 3])]),
        "picked_gemm": picked([node("Gemm", ["picked", "w"], ["y"])], [info("x", ["b", "n"])], [info("y", None)],
                              [weights("w", 4, 64)], axis=1),
        "scaled_expand": scaled_size([node("Expand", ["z", "size"], ["y"])], [info("x", ["n"]), info("z", ["m"])]),
        "scaled_resize": scaled_size([node("Resize", ["x", "", "", "size"], ["small"], mode="nearest"),
                                      node("Add", ["small", "z"], ["y"])], [info("x", ["n"]), info("z", ["m"])]),
        "scaled_in_function": scaled_in_function(),
        "scaled_in_branch": scaled_in_branch(),
        "unrun": unrun(),
        "unswept": unswept(),
        "erased": erased(),
        "boxed": boxed(),
        "unused_in_branch": unused_in_branch(),
        "unused_add": model([node("NonZero", ["x"], ["found"]), node("Add", ["found", "z"], ["sum"]), node("Relu", ["x"], ["y"])],
                            [info("x", ["n"]), info("z", ["k"], I64)], [info("y", None)]),
        "zero_last": computed_zero([-1, "seq"]),
        "zero_whole": computed_zero([3, "seq", 3]),
        "doubled": doubled(),
        "forged": forged(),
        "quote": model([node("Relu", ['a"\\\n\x01é'], ["y"])], [info('a"\\\n\x01é', ["batch"])], [info("y", ["batch"])]),
    }


def sequence():
    pair = helper.make_tensor_sequence_value_info("s", F32, None)
    return model([node("SequenceConstruct", ["x", "x"], ["s"])], [info("x", ["batch", "seq"])], [pair])


def two_names():
    return model([node("Add", ["a=b", "in put/0"], ["y:0"])], [info("a=b", ["n"]), info("in put/0", ["n"])],
                 [info("y:0", ["n"])])


def gathered():
    return model([node("Gather", ["x", "i"], ["y"], axis=1)], [info("x", ["batch", "seq"]), info("i", ["n"], I64)],
                 [info("y", ["batch", "n"])])


FORGED = '/x" (MatMul): fine\nerror[forged] \x1b[2J\u202e'


def late_split():
    """A part below nothing, in a stage after one whose sizes depend on data."""
    nodes = [node("Unique", ["x"], ["u"], sorted=1), node("Relu", ["u"], ["r"]), node("Concat", ["twelve", "e"], ["parts"], axis=0),
             node("Split", ["x", "parts"], ["a", "b"], axis=0), node("Neg", ["b"], ["y"])]
    return model(nodes, [info("x", ["p", 2]), info("e", [1], I64)], [info("r", None), info("y", None)], [ints("twelve", [12])])


def perhaps_scanned():
    """Where the body runs, its slice has 1 row; where it does not, none."""
    body = helper.make_graph([node("Identity", ["go"], ["on"]), node("Identity", ["part"], ["row"], "/row")], "body",
                             [info("i", [], I64), info("go", [], TensorProto.BOOL)],
                             [info("on", [], TensorProto.BOOL), info("row", [None, 2])])
    nodes = [node("Shape", ["x"], ["s"], end=1), node("Min", ["s", "two"], ["last"]), node("Slice", ["z", "one", "last"], ["part"]),
             node("Shape", ["part"], ["rows"], "/rows", end=1), node("Squeeze", ["rows"], ["count"]),
             node("Loop", ["count", ""], ["y"], body=body)]
    return model(nodes, [info("x", ["n"]), info("z", [3, 2])], [info("y", None)], [ints("one", [1]), ints("two", [2])])


def sliced_unique():
    """A size that depends on data, of one that does."""
    return model([node("Unique", ["x"], ["u"]), node("Slice", ["u", "zero", "e"], ["s"]), node("Gather", ["s", "first"], ["y"])],
                 [info("x", ["n"]), info("e", [1], I64)], [info("y", [])],
                 [ints("zero", [0]), helper.make_tensor("first", I64, [], [0])])


def unique_in_loop():
    """How many different columns there are is counted in a body; as many less than ten are the rows of a reshape."""
    flag = TensorProto.BOOL
    body = helper.make_graph([node("Identity", ["more"], ["go_on"]), node("Unique", ["v"], ["u"], axis=1)], "body",
                             [info("i", [], I64), info("more", [], flag), info("kept", None)], [info("go_on", [], flag), info("u", None)])
    return model([node("Loop", ["rounds", "", "v"], ["last"], body=body), node("Shape", ["last"], ["sizes"]), node("Gather", ["sizes", "one"], ["columns"]),
                  node("Sub", ["ten", "columns"], ["rows"]), node("Concat", ["rows", "rest"], ["target"], axis=0),
                  node("Reshape", ["x", "target"], ["y"])],
                 [info("v", [8, "n"]), info("x", ["h", "w"])], [info("y", None)],
                 [numpy_helper.from_array(np.array(2, np.int64), "rounds"), ints("one", [1]), ints("ten", [10]), ints("rest", [-1])])


def branches(then, otherwise, after, inputs, outputs, initializers=()):
    """An If on the input c whose branches give b; then `after`."""
    bodies = {name: helper.make_graph(nodes, name, [], [info(result, None)])
              for name, nodes, result in (("then_branch", then, "yes"), ("else_branch", otherwise, "no"))}
    return model([node("If", ["c"], ["b"], **bodies), *after], [info("c", [], TensorProto.BOOL), *inputs], outputs, initializers)


def added_to_either():
    """x is added to a or to b, of the same rank and other sizes."""
    return branches([node("Relu", ["a"], ["yes"])], [node("Abs", ["o"], ["no"])], [node("Add", ["x", "b"], ["y"])],
                    [info("a", ["k"]), info("o", ["m"]), info("x", ["n"])], [info("y", None)])


def refused_branch():
    """A branch that no shape suits, because of a node that nobody reads."""
    return branches([node("Reshape", ["x", "three"], ["unread"]), node("Relu", ["x"], ["yes"])], [node("Abs", ["x"], ["no"])], [],
                    [info("x", [5])], [info("b", [5])], [ints("three", [3])])


def forged():
    """Names and sizes that would be lines, terminal commands and other directions if they were printed as they are."""
    sizes = "seq\nerror[forged]"
    return model([node("MatMul", [FORGED, "w"], ["error[forged]"], FORGED)], [info(FORGED, ["batch", sizes])],
                 [info("error[forged]", ["batch", 4])], [weights("w", 120, 4)], metadata={"note": "two\nlines"})


def write_test(folder, proto, inputs, outputs):
    """A folder as ONNX's test data has them."""
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(proto, folder / "model.onnx")
    for stem, values in ("input", inputs), ("output", outputs):
        for i, value in enumerate(values):
            (data / f"{stem}_{i}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())


def write_values(folder):
    x = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)
    np.save(folder / "x.npy", x)
    np.save(folder / "x64.npy", x.astype(np.float64))
    np.save(folder / "dir=1.npy", np.array([1, 2], np.float32))
    np.save(folder / "complex.npy", np.array([1 + 2j, -0.5j], np.complex64))
    np.save(folder / "large.npy", np.array([2**62, -2**62], np.int64))
    np.save(folder / "nan.npy", np.array([1, np.nan, -2], np.float32))
    np.save(folder / "words.npy", np.array(["a", "née"]))
    np.save(folder / "one.npy", np.array([1], np.int64))
    np.save(folder / "five.npy", np.array([5], np.int64))
    np.save(folder / "w.npy", np.array([10, 20, 30], np.float32))
    np.save(folder / "w4.npy", np.array([10, 20, 30, 40], np.float32))
    np.save(folder / "sizes.npy", np.array([3, -1], np.int64))
    np.save(folder / "x4.npy", np.array([[5, 6, 7, 8]], np.float32))
    np.save(folder / "true.npy", np.array(True))
    np.save(folder / "mask.npy", np.array([[7, 0, 255, 0]], np.uint8).view(np.bool_))
    np.savez(folder / "defaults.npz", x=x, w=np.array([7], np.float32))
    (folder / "x.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())
    (folder / "bad.npy").write_bytes(b"no array")
    (folder / "bad.pb").write_bytes(b"\x08\xff")
    np.savez(folder / "x.npz", x=x, other=x)
    np.savez(folder / "other.npz", other=x)


def write_tests(folder):
    x = np.array([[-1, 2], [3, -4]], np.float32)
    y = np.maximum(x, 0)
    any2 = [info("x", ["batch", "seq"])]
    good = relu(any2, [info("y", ["batch", "seq"])])
    write_test(folder / "good" / "node" / "test_relu", good, [x], [y])
    write_test(folder / "good" / "node" / "test_near", good, [x], [y + np.float32(0.01)])
    (folder / "good" / "manifest.tsv").write_text("node\ttest_near\t0.1\t0.1\t1\n")
    write_test(folder / "mixed" / "relu", good, [x], [y])
    write_test(folder / "mixed" / "wrong_entry", good, [x], [x])
    write_test(folder / "mixed" / "wrong_shape", good, [x], [y[:1]])
    write_test(folder / "mixed" / "wrong_type", good, [x.astype(np.float64)], [y])
    write_test(folder / "mixed" / "no_input", good, [], [y])
    write_test(folder / "mixed" / "refused", matmul(3), [x], [x])
    ones, sizes = np.ones(3, np.float32), np.array([3, -1], np.int64)
    tall = np.ones((2, 3), np.float32)
    write_test(folder / "defaults" / "not_fed", defaults(8), [tall], [np.full((1, 6), 2, np.float32)])
    write_test(folder / "defaults" / "fed", defaults(3), [tall, ones * 4, sizes], [np.full((3, 2), 5, np.float32)])
    (folder / "mixed" / "broken" / "test_data_set_0").mkdir(parents=True)
    (folder / "mixed" / "broken" / "model.onnx").write_bytes(b"\x08\x08\x3a\xff\xff")
    (folder / "empty").mkdir()


def write_all(folder):
    folder = Path(folder)
    foreign.write_all(folder)
    configs.write_all(folder)
    write_values(folder)
    write_tests(folder)
    target_models.write_all(folder)
    mql5_models.write_all(folder)
    sound_models.write_all(folder)
    for name, proto in all_models().items():
        if name in ("opaque", "hard"):
            proto.opset_import.append(helper.make_opsetid("custom", 1))
        onnx.save(proto, folder / f"{name}.onnx")
    (folder / "broken.onnx").write_bytes(b"\x08\x08\x3a\xff\xff")
    (folder / "good.jsonl").write_text('{"x": [1, 120]}\n\n{"x": [1, 119]}\n{"x": [0, 120]}\n{"y": [1]}\n')
    (folder / "some.jsonl").write_text('{"x": [2, 120]}\n{"x": [2, 119]}\n')
    (folder / "some_equal.jsonl").write_text('{"x": [2, 3], "c": []}\n{"x": [1, 3]}\n')
    (folder / "refused.jsonl").write_text('{"x": [2, 119]}\n')
    (folder / "forged.jsonl").write_text(json.dumps({FORGED: [1, 120]}) + "\n" + json.dumps({FORGED: [1, 7]}) + "\n")
    (folder / "bad.jsonl").write_text('{"x": [1, 120]}\n\n{"x": [1, 1.5]}\n')
    (folder / "worse.jsonl").write_text("[1, 120]\n")
