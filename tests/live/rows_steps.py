"""Steps of the random graphs of rows_live.py that choose, gather, quantize, draw from sizes, or have bodies."""

import numpy as np
from onnx import TensorProto, helper

CHANNELS, LARGE = 4, 2**62
CARRIED = (("Relu", {}), ("Tanh", {}), ("Softmax", {"axis": 0}), ("Softmax", {"axis": 1}), ("Softmax", {"axis": -1}),
           ("Transpose", {}))  # fmt: skip


def any_type(name, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, None)


def cast(g, x, kind):
    """Out of what later steps pick from."""
    name = g.add("Cast", [x], g.shapes[x], to=kind)
    if kind != TensorProto.FLOAT:
        del g.shapes[name]
    return name


def hidden(g, type, inputs, shape, **attributes):
    name = g.add(type, inputs, shape, **attributes)
    del g.shapes[name]
    return name


def chosen(g):
    x, y = g.pick(), g.pick()
    try:
        shape = np.broadcast_shapes(g.shapes[x], g.shapes[y])
    except ValueError:
        y, shape = g.constant(np.float32(0.5)), g.shapes[x]
    mask = hidden(g, "Greater", [x, g.constant(np.float32(0.1))], g.shapes[x])
    g.add("Where", [mask, x, y], shape)


def best(g):
    x = g.pick(1)
    rank = len(g.shapes[x])
    if not rank:
        return
    axis = g.draw.randrange(rank)
    one = [1 if i == axis else size for i, size in enumerate(g.shapes[x])]
    if g.draw.random() < 0.5:
        g.add("TopK", [x, g.constant(np.array([1]))], one, outputs=2, axis=axis)
        return
    index = hidden(g, "ArgMax", [x], one, axis=axis, keepdims=1)
    g.shapes[index] = tuple(one)
    if g.draw.random() < 0.5:
        g.add("GatherElements", [x, index], one, axis=axis)
    else:
        cast(g, index, TensorProto.FLOAT)
    del g.shapes[index]


def looked_up(g):
    x = g.pick(1)
    if len(g.shapes[x]) > 3:
        return
    small = g.add("Clip", [x, g.constant(np.float32(-2)), g.constant(np.float32(2))], g.shapes[x])
    index = cast(g, small, TensorProto.INT64)
    if g.draw.random() < 0.7:
        table = g.constant(np.float32(np.random.rand(3, 2)))
        g.add("Gather", [table, index], (*g.shapes[x], 2), axis=0)
    else:
        values, depth = g.constant(np.array([0, 1], np.float32)), g.constant(np.int64(3))
        g.add("OneHot", [index, depth, values], (*g.shapes[x], 3), axis=-1)


def several(g):
    """Entries along one axis by an index that is a list, perhaps the other way round."""
    x = g.pick(1)
    if g.shapes[x]:
        axis = g.draw.randrange(len(g.shapes[x]))
        index = g.draw.choice(([0, 0], [0, -1], [-1, 0]))
        shape = [len(index) if i == axis else size for i, size in enumerate(g.shapes[x])]
        g.add("Gather", [x, g.constant(np.array(index))], shape, axis=axis)


def reversed_along(g):
    x = g.pick(1)
    if g.shapes[x]:
        axis = g.draw.randrange(len(g.shapes[x]))
        bounds = (g.constant(np.array([n], np.int64)) for n in (-1, -LARGE, axis, -1))
        g.add("Slice", [x, *bounds], g.shapes[x])


def repeated(g):
    x = g.pick(1)
    rank = len(g.shapes[x])
    if not rank:
        return
    times = [g.draw.choice((1, 1, 2)) for _ in range(rank)]
    g.add("Tile", [x, g.constant(np.array(times))], [a * b for a, b in zip(g.shapes[x], times)])


def stacked(g):
    """A new axis of copies, at times melted into the one beside it."""
    x = g.pick(1)
    shape = g.shapes[x]
    if not shape or len(shape) > 3:
        return
    axis = g.draw.randrange(len(shape) + 1)
    wide = [*shape[:axis], 1, *shape[axis:]]
    y = g.add("Unsqueeze", [x, g.constant(np.array([axis]))], wide)
    to = [1] * len(wide)
    to[axis] = 2
    y = g.add("Expand", [y, g.constant(np.array(to))], [2 if i == axis else size for i, size in enumerate(wide)])
    if axis < len(shape) and all(size == CHANNELS for size in shape[axis + 1 :]) and g.draw.random() < 0.7:
        target = [0] * axis + [-1, *shape[axis + 1 :]]
        g.add("Reshape", [y, g.constant(np.array(target))], [*shape[:axis], 2 * shape[axis], *shape[axis + 1 :]])


def summed(g):
    """Einstein sums over one value, or two of one shape."""
    x = g.pick(2)
    shape = g.shapes[x]
    if not 2 <= len(shape) <= 3:
        return
    letters = "abc"[: len(shape)]
    like = [name for name, other in g.shapes.items() if other == shape]
    out = "".join(g.draw.sample(letters, g.draw.randrange(1, len(letters) + 1)))
    kept = [shape[letters.index(one)] for one in out]
    form = g.draw.randrange(3)
    if form == 0:
        g.add("Einsum", [x], kept, equation=f"{letters}->{out}")
    elif form == 1:
        g.add("Einsum", [x, g.draw.choice(like)], kept, equation=f"{letters},{letters}->{out}")
    else:
        g.add("Einsum", [x, g.draw.choice(like)], shape[:-1], equation="...a,...a->...")


def parted(g):
    x = g.pick(1)
    for axis, size in enumerate(g.shapes[x]):
        if size == CHANNELS:
            half = [2 if i == axis else other for i, other in enumerate(g.shapes[x])]
            g.add("Split", [x], half, outputs=2, axis=axis)
            return


def below(g):
    x = g.pick(2)
    if len(g.shapes[x]) >= 2:
        g.add("Trilu", [x], g.shapes[x], upper=g.draw.randrange(2))


def quantized(g):
    x = g.pick(1)
    if not g.shapes[x]:
        return
    kind = g.draw.randrange(3)
    if kind == 0:
        names = [f"q{len(g.nodes)}_{i}" for i in range(3)]
        g.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], names))
        g.add("DequantizeLinear", names, g.shapes[x])
        return
    axis = g.draw.randrange(len(g.shapes[x]))
    size = () if kind == 1 else (g.shapes[x][axis],)
    scale, zero = g.constant(np.full(size, 0.125, np.float32)), g.constant(np.full(size, 3, np.int8))
    small = hidden(g, "QuantizeLinear", [x, scale, zero], g.shapes[x], axis=axis)
    g.add("DequantizeLinear", [small, scale, zero], g.shapes[x], axis=axis)


def normalized(g):
    x = g.pick(3)
    if len(g.shapes[x]) >= 3 and g.shapes[x][1] == CHANNELS:
        ones = [g.constant(np.float32(np.random.rand(CHANNELS) + 0.5)) for _ in range(4)]
        if g.draw.random() < 0.5:
            g.add("BatchNormalization", [x, *ones], g.shapes[x])
        else:
            g.add("InstanceNormalization", [x, *ones[:2]], g.shapes[x])


def flattened(g):
    x = g.pick(1)
    shape = g.shapes[x]
    if shape:
        axis = g.draw.randrange(len(shape) + 1)
        g.add("Flatten", [x], [int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))], axis=axis)


def at_count(g):
    """An index or a bound that is made of the size of an axis."""
    x = g.pick(1)
    shape = g.shapes[x]
    if not shape:
        return
    axis, of = g.draw.randrange(len(shape)), g.draw.randrange(len(shape))
    size = hidden(g, "Shape", [x], (1,), start=of, end=of + 1)
    if g.draw.random() < 0.5:
        index = hidden(g, "Mod", [size, g.constant(np.array([shape[axis]]))], (1,))
        g.add("Gather", [x, index], [1 if i == axis else n for i, n in enumerate(shape)], axis=axis)
    elif of == axis:
        zero, where = g.constant(np.array([0])), g.constant(np.array([axis]))
        g.add("Slice", [x, zero, size, where], shape)


def body(g, inputs, nodes, outputs):
    return helper.make_graph(nodes, f"b{len(g.nodes)}", inputs, outputs)


def looped(g):
    x = g.pick(2)
    shape = g.shapes[x]
    if len(shape) < 2:
        return
    op, attributes = g.draw.choice(CARRIED)
    tag = len(g.nodes)
    nodes = [helper.make_node("Identity", [f"go{tag}"], [f"on{tag}"]),
             helper.make_node(op, [f"v{tag}"], [f"w{tag}"], **attributes),
             helper.make_node("Identity", [f"w{tag}"], [f"each{tag}"])]  # fmt: skip
    inside = body(g, [any_type(f"i{tag}", TensorProto.INT64), any_type(f"go{tag}", TensorProto.BOOL),
                      any_type(f"v{tag}")], nodes,
                  [any_type(f"on{tag}", TensorProto.BOOL), any_type(f"w{tag}"), any_type(f"each{tag}")])  # fmt: skip
    last, each = f"last{tag}", f"all{tag}"
    g.nodes.append(helper.make_node("Loop", [g.constant(np.int64(2)), "", x], [last, each], name=last, body=inside))
    g.shapes[last] = shape
    if op != "Transpose":
        g.shapes[each] = (2, *shape)


def branched(g):
    x = g.pick(1)
    if not g.shapes[x]:
        return
    tag = len(g.nodes)
    most = hidden(g, "ReduceMax", [x], (), keepdims=0)
    test = hidden(g, "Greater", [most, g.constant(np.float32(1))], ())
    if g.draw.random() < 0.4:
        test = g.constant(np.array(g.draw.random() < 0.5))
    sides = [body(g, [], [helper.make_node(op, [x], [f"{op}{tag}"])], [any_type(f"{op}{tag}")])
             for op in ("Relu", "Neg")]  # fmt: skip
    g.add("If", [test], g.shapes[x], then_branch=sides[0], else_branch=sides[1])


def scanned(g):
    x = g.pick(2)
    shape = g.shapes[x]
    if not 2 <= len(shape) <= 3:
        return
    axis, tag = g.draw.randrange(len(shape)), len(g.nodes)
    rest = [size for i, size in enumerate(shape) if i != axis]
    start = g.add("ReduceMax", [x], rest, axes=[axis], keepdims=0)
    op, attributes = g.draw.choice(CARRIED[:4])
    if attributes:
        attributes = {"axis": g.draw.randrange(len(rest))}
    nodes = [helper.make_node(op, [f"e{tag}"], [f"f{tag}"], **attributes),
             helper.make_node("Add", [f"s{tag}", f"f{tag}"], [f"t{tag}"]),
             helper.make_node("Identity", [f"t{tag}"], [f"o{tag}"])]  # fmt: skip
    inside = body(g, [any_type(f"s{tag}"), any_type(f"e{tag}")], nodes, [any_type(f"t{tag}"), any_type(f"o{tag}")])
    out = g.draw.randrange(len(shape))
    last, each = f"last{tag}", f"all{tag}"
    g.nodes.append(helper.make_node("Scan", [start, x], [last, each], name=last, body=inside, num_scan_inputs=1,
                                    scan_input_axes=[axis], scan_output_axes=[out],
                                    scan_input_directions=[g.draw.randrange(2)]))  # fmt: skip
    g.shapes[last] = tuple(rest)
    g.shapes[each] = (*rest[:out], shape[axis], *rest[out:])


STEPS = (chosen, best, looked_up, several, reversed_along, repeated, stacked, summed, summed, parted, below, quantized,
         normalized, flattened, at_count, looped, branched, scanned)  # fmt: skip
