"""graph_ops_more.py: more operators for graph_draw.py: quantisation, sequences, data-dependent sizes, rarer ones."""

import math

import numpy as np
from onnx import helper

from graph_draw import ANY, BOOL, F32, F64, I32, I64, U8, Refused, elem
from graph_ops import as_axis, broadcast, drawn, info

I8 = np.dtype("i1")


@drawn(2)
def rare_unary(d):
    op, since, bound = d.rng.choice([
        ("Celu", 12, 1), ("Shrink", 9, 1), ("Gelu", 20, 1), ("Mish", 18, 1), ("Sinh", 9, 0), ("Asinh", 9, 1),
        ("Tan", 7, 0), ("Reciprocal", 13, 0), ("Log", 13, 1)])
    x = d.pick((F32,), exact=op == "Shrink")
    if d.opset < since:
        raise Refused
    if op in ("Reciprocal", "Log", "Tan"):  # away from poles
        (a,) = d.like("Abs", x)
        one = d.constant(np.array(1, F32))
        if op == "Tan":
            (a,) = d.emit("Div", [a, d.constant(np.array(x.bound + 1, F32))], [(F32, x.shape, 1.0, None)])
        (x,) = d.emit("Add", [a, one], [(F32, x.shape, x.bound + 1, None)]) if op != "Tan" else (a,)
    result = {"Sinh": math.sinh(min(x.bound, 50)), "Tan": 2.0, "Reciprocal": 1.0}.get(op, x.bound + 1) + bound
    d.emit(op, [x], [(F32, x.shape, result, None)])


@drawn()
def classify(d):
    """IsNaN and IsInf of values that may be either."""
    x = d.pick((F32,), exact=True)
    (root,) = d.emit("Sqrt", [x], [(F32, x.shape, 10.0, None)])
    (log,) = d.emit("Log", [root], [(F32, x.shape, 10.0, None)])
    d.values = [v for v in d.values if v.name not in (root.name, log.name)]
    d.emit(d.rng.choice(["IsNaN", "IsInf"]), [d.rng.choice([root, log])], [(BOOL, x.shape, 1.0, 0)])


@drawn()
def slopes(d):
    x = d.pick((F32,), ranks=range(1, 5))
    slope = d.weight(F32, x.shape[d.rng.randint(0, x.rank):])
    d.emit("PRelu", [x, slope], [(F32, x.shape, x.bound, None)])


@drawn()
def bits(d):
    x = d.pick((I32, I64))
    if d.opset < 18:
        raise Refused
    y = d.partner(x)
    shape = broadcast(x.shape, y.shape)
    d.emit(d.rng.choice(["BitwiseAnd", "BitwiseOr", "BitwiseXor"]), [x, y],
           [(x.dtype, shape, 2 * max(x.bound, y.bound) + 2, 0)])


@drawn()
def shift(d):
    x = d.pick((U8,))
    d.emit("BitShift", [x, d.constant(d.array(U8, x.shape, 0, 5))], [(U8, x.shape, 255.0, 0)],
           direction=d.rng.choice(["LEFT", "RIGHT"]))


@drawn(2)
def normalise(d):
    op = d.rng.choice(["LpNormalization", "MeanVarianceNormalization", "LRN", "Hardmax", "GroupNormalization"])
    x = d.pick((F32,), ranks=[4] if op in ("MeanVarianceNormalization", "LRN") else range(2, 5), exact=op == "Hardmax")
    if 0 in x.shape:
        raise Refused
    result = [(F32, x.shape, x.bound + 10, None)]
    if op == "GroupNormalization":
        c = x.shape[1]
        if d.opset != 21 or x.rank < 3:
            raise Refused
        groups = d.rng.choice([g for g in range(1, c + 1) if c % g == 0])
        return d.emit(op, [x, d.weight(F32, (c,)), d.weight(F32, (c,))], result, num_groups=groups, epsilon=0.01)
    if op == "LRN":
        return d.emit(op, [x], result, size=3)
    if op == "MeanVarianceNormalization":
        (x,) = d.emit("Add", [x, d.constant(d.array(F32, x.shape))], [(F32, x.shape, x.bound + 3, None)])
        if math.prod(x.shape[2:]) * x.shape[0] < 4:  # a variance of nothing is noise divided by noise
            raise Refused
        return d.emit(op, [x], result)
    if op == "LpNormalization":
        (x,) = d.emit("Add", [x, d.constant(np.array(2 * x.bound + 1, F32))], [(F32, x.shape, 3 * x.bound + 1, None)])
        return d.emit(op, [x], [(F32, x.shape, 1.0, None)], axis=d.rng.randrange(x.rank), p=d.rng.choice([1, 2]))
    return d.emit(op, [x], [(F32, x.shape, 1.0, 0)], axis=as_axis(d, d.rng.randrange(x.rank), x.rank))


@drawn()
def range_(d):
    start, step, n = d.rng.randint(-3, 3), d.rng.choice([1, 2, -1]), d.rng.randint(0, 6)
    dtype = d.rng.choice([I64, I32, F32])
    names = [d.constant(np.array(v, dtype)) for v in (start, start + step * n, step)]
    d.emit("Range", names, [(dtype, (n,), 16.0, 0)])


@drawn()
def range_of_size(d):
    """Positions along an axis, as transformers number their tokens."""
    x = d.pick(ranks=range(1, 5))
    axis = d.rng.randrange(x.rank)
    (sizes,) = d.emit("Shape", [x], [(I64, (x.rank,), 64.0, 0)])
    (size,) = d.emit("Gather", [sizes, d.constant(np.array(axis, np.int64))], [(I64, (), 64.0, 0)])
    d.values = [v for v in d.values if v.name not in (sizes.name, size.name)]
    zero, one = (d.constant(np.array(v, np.int64)) for v in (0, 1))
    d.emit("Range", [zero, size, one], [(I64, (x.shape[axis],), 2.0 * max(1, x.shape[axis]), 0)])


@drawn()
def eye(d):
    x = d.pick((F32, I64), ranks=[2])
    d.emit("EyeLike", [x], [(x.dtype, x.shape, 1.0, 0)], k=d.rng.randint(-2, 2))


@drawn()
def reverse(d):
    x = d.pick((F32, F64, I64), ranks=range(2, 5))
    if 0 in x.shape[:2]:
        raise Refused
    batch = d.rng.randint(0, 1)
    lengths = d.array(I64, (x.shape[batch],), 1, x.shape[1 - batch])
    d.like("ReverseSequence", x, d.constant(lengths), batch_axis=batch, time_axis=1 - batch)


def per_axis(d, x):
    """Scale and zero point (u8) of the whole or of one axis, and the attributes."""
    if x.rank and d.rng.random() < 0.5:
        axis = d.rng.randrange(x.rank)
        scale = d.constant(np.array([d.rng.choice([0.25, 0.5, 1.0]) for _ in range(x.shape[axis])], F32))
        return scale, d.constant(d.array(U8, (x.shape[axis],), 0, 200)), {"axis": as_axis(d, axis, x.rank)}
    return d.constant(np.array(0.5, F32)), d.constant(np.array(d.rng.randint(0, 200), U8)), {}


@drawn(2)
def quantise(d):
    x = d.pick((F32,), exact=True, where=lambda v: 0 not in v.shape)
    scale, zero, more = per_axis(d, x)
    (q,) = d.emit("QuantizeLinear", [x, scale, zero], [(U8, x.shape, 255.0, 0)], **more)
    if d.rng.random() < 0.7:
        d.emit("DequantizeLinear", [q, scale, zero], [(F32, x.shape, 255.0, 2)], **more)


@drawn()
def dynamic_quantise(d):
    x = d.pick((F32,), exact=True, where=lambda v: 0 not in v.shape and v.bound < 50)
    (q, scale, zero) = d.emit("DynamicQuantizeLinear", [x],
                              [(U8, x.shape, 255.0, 0), (F32, (), 5.0, None), (U8, (), 255.0, 0)])
    # Entries may lie between two steps, and the scale of zeros is anything: what is seen is that they come back.
    d.values = [v for v in d.values if v not in (q, scale, zero)]
    d.hidden |= {q.name, scale.name, zero.name}
    d.emit("DequantizeLinear", [q, scale, zero], [(F32, x.shape, 100.0, None)])


@drawn()
def integer_products(d):
    x = d.pick((U8,), ranks=[2, 3])
    if x.shape[-1] == 0 or d.rng.random() < 0.3:
        raise Refused
    n = d.rng.choice([1, 4, 17])
    w = d.constant(d.array(d.rng.choice([I8, U8]), (x.shape[-1], n), 0, 9))
    zeros = [d.constant(np.array(d.rng.randint(0, 9), U8))] if d.rng.random() < 0.5 else []
    d.emit("MatMulInteger", [x, w, *zeros], [(I32, (*x.shape[:-1], n), 255.0 * 12 * x.shape[-1], 0)])


@drawn(2)
def chosen(d):
    """Sizes that depend on data: NonZero, Compress, Unique; what follows works on unknown sizes."""
    x = d.pick((F32, I64, I32), ranks=range(1, 4), exact=True, where=lambda v: v.name in d.inputs and 0 not in v.shape)
    array = d.inputs[x.name]
    kind = d.rng.randrange(3)
    d.fixed |= {x.name}
    if kind == 0:
        count = int(np.count_nonzero(array))
        (at,) = d.emit("NonZero", [x], [(I64, (x.rank, count), 40.0, 0)])
        (rows,) = d.emit("Transpose", [at], [(I64, (count, x.rank), 40.0, 0)], perm=[1, 0])
        d.values.remove(rows)
        return d.emit("GatherND", [x, rows], [(x.dtype, (count,), x.bound, x.grain)])
    if kind == 1:
        axis = d.rng.randrange(x.rank)
        keep = d.array(BOOL, (x.shape[axis],))
        shape = [int(keep.sum()) if i == axis else s for i, s in enumerate(x.shape)]
        return d.emit("Compress", [x, d.constant(keep)], [(x.dtype, shape, x.bound, x.grain)], axis=axis)
    if x.dtype == I32:
        raise Refused
    return d.emit("Unique", [x], [(x.dtype, (len(np.unique(array)),), x.bound, x.grain)], sorted=1)


@drawn()
def sequence(d):
    """A tensor cut into a sequence and put together again."""
    x = d.pick((F32, I64), ranks=range(1, 4))
    axis = d.rng.randrange(x.rank)
    n = x.shape[axis]
    if n == 0:
        raise Refused
    parts = d.fresh("s")
    chunk = d.rng.randint(1, n)
    size = d.constant(np.array(chunk, np.int64))
    d.nodes.append(helper.make_node("SplitToSequence", [x.name, size], [parts], axis=axis))
    if d.rng.random() < 0.5:
        return d.emit("ConcatFromSequence", [parts], [(x.dtype, x.shape, x.bound, x.grain)], axis=axis)
    shape = [min(chunk, n) if i == axis else s for i, s in enumerate(x.shape)]
    return d.emit("SequenceAt", [parts, d.constant(np.array(0, np.int64))], [(x.dtype, shape, x.bound, x.grain)])


@drawn()
def scan(d):
    """A running sum over the first axis."""
    x = d.pick((F32, F64), ranks=range(2, 4))
    if x.shape[0] == 0:
        raise Refused
    state, entry, total, seen = (d.fresh("b") for _ in range(4))
    nodes = [helper.make_node("Add", [state, entry], [total]), helper.make_node("Identity", [total], [seen])]
    rank, bound = x.rank - 1, x.bound * x.shape[0] + 1
    body = helper.make_graph(nodes, "body", [info(state, x.dtype, rank), info(entry, x.dtype, rank)],
                             [info(total, x.dtype, rank), info(seen, x.dtype, rank)])
    first = d.weight(x.dtype, x.shape[1:])
    d.emit("Scan", [first, x], [(x.dtype, x.shape[1:], bound, None), (x.dtype, x.shape, bound, None)], body=body,
           num_scan_inputs=1, scan_input_directions=[d.rng.randint(0, 1)], scan_output_directions=[d.rng.randint(0, 1)])


@drawn()
def grid_sample(d):
    x = d.pick((F32,), ranks=[4])
    if 0 in x.shape or d.opset < 20:
        raise Refused
    h, w = d.rng.randint(1, 5), d.rng.randint(1, 5)
    grid = d.constant(d.array(F32, (x.shape[0], h, w, 2), -5, 5) * np.float32(0.93))
    d.emit("GridSample", [x, grid], [(F32, (*x.shape[:2], h, w), x.bound, None)],
           mode="linear", padding_mode=d.rng.choice(["zeros", "border"]), align_corners=d.rng.randint(0, 1))


@drawn()
def cast_like(d):
    if d.opset < 15:
        raise Refused
    x, y = d.pick(exact=True), d.pick((F32, F64, I32, I64))
    if y.dtype not in (F32, F64) and x.bound > 1e6:
        raise Refused
    grain = x.grain if y.dtype in (F32, F64) else 0
    d.emit("CastLike", [x, y], [(y.dtype, x.shape, x.bound, grain)])


@drawn(2)
def attention(d):
    """Scores, scale, softmax and values, as transformers write them."""
    x = d.pick((F32,), ranks=[3])
    if 0 in x.shape or x.bound > 50:
        raise Refused
    b, t, c = x.shape
    heads = d.rng.choice([h for h in (1, 2, 3, 4, 8) if c % h == 0])
    width = c // heads
    split = []
    for _ in range(3):
        (p,) = d.emit("MatMul", [x, d.weight(F32, (c, c))], [(F32, (b, t, c), x.bound * c, None)])
        (r,) = d.emit("Reshape", [p, d.ints(0, 0, heads, width)], [(F32, (b, t, heads, width), p.bound, None)])
        split += d.emit("Transpose", [r], [(F32, (b, heads, t, width), p.bound, None)], perm=[0, 2, 1, 3])
    q, k, v = split
    (kt,) = d.emit("Transpose", [k], [(F32, (b, heads, width, t), k.bound, None)], perm=[0, 1, 3, 2])
    (s,) = d.emit("MatMul", [q, kt], [(F32, (b, heads, t, t), min(9e3, q.bound * k.bound * width), None)])
    (s,) = d.emit("Div", [s, d.constant(np.array(8 * math.sqrt(width) + s.bound / 8, F32))],
                  [(F32, s.shape, 8.0, None)])
    (a,) = d.emit("Softmax", [s], [(F32, s.shape, 1.0, None)], axis=-1)
    (o,) = d.emit("MatMul", [a, v], [(F32, (b, heads, t, width), v.bound, None)])
    (o,) = d.emit("Transpose", [o], [(F32, (b, t, heads, width), v.bound, None)], perm=[0, 2, 1, 3])
    d.emit("Reshape", [o, d.ints(0, 0, c)], [(F32, (b, t, c), v.bound, None)])


@drawn(2)
def residual(d):
    """Convolution, normalisation, activation and a sum with what went in."""
    x = d.pick((F32,), ranks=[4])
    if 0 in x.shape or x.bound > 100:
        raise Refused
    c = x.shape[1]
    w = d.weight(F32, (c, c, 3, 3))
    (y,) = d.emit("Conv", [x, w], [(F32, x.shape, x.bound * 9 * c, None)], kernel_shape=[3, 3], pads=[1] * 4)
    scale, bias, mean = (d.weight(F32, (c,)) for _ in range(3))
    var = d.constant(np.abs(d.array(F32, (c,))) + 1)
    (y,) = d.emit("BatchNormalization", [y, scale, bias, mean, var], [(F32, x.shape, y.bound + 5, None)])
    (y,) = d.emit(d.rng.choice(["Relu", "Sigmoid", "Tanh", "LeakyRelu"]), [y], [(F32, x.shape, y.bound, None)])
    d.emit("Add", [y, x], [(F32, x.shape, y.bound + x.bound, None)])


@drawn()
def dropout(d):
    x = d.pick((F32, F64))
    d.like("Dropout", x)


@drawn()
def size_of(d):
    x = d.pick(ANY)
    (n,) = d.emit("Size", [x], [(I64, (), 1e5, 0)])
    d.values.remove(n)
    d.emit("Cast", [n], [(F32, (), max(1.0, math.prod(x.shape)), 0)], to=elem(F32))
