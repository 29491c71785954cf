"""sound_ops_pair.py: for sound_draw.py: two values that must fit each other, which they may do at some bindings only;
quantised products; rarer operators whose sizes are computed."""

import math

import numpy as np

from graph_draw import BOOL, F32, F64, I32, I64, U8, Refused
from graph_ops import as_axis
from graph_ops_more import I8
from sound_ops_size import at_base, filled_with, scalar, size_in, size_is, size_of_axis, sized, vector


def same_but(axis):
    return lambda xs, ys: len(xs) == len(ys) and all(a == b for i, (a, b) in enumerate(zip(xs, ys)) if i != axis)


@sized(4)
def concat(d):
    x = d.pick(ranks=range(1, 5))
    axis = d.rng.randrange(x.rank)
    others = [d.fellow(x, same_but(axis), lax=0.4) for _ in range(d.rng.randint(1, 2))]
    grains = [v.grain for v in (x, *others)]
    d.put("Concat", [x, *others], x.dtype, grain=None if None in grains else max(grains), axis=as_axis(d, axis, x.rank))


# Ways down and up again: (operator, scale or mode, the size it makes of another).
DOWN = [("MaxPool", 0, lambda n: n // 2), ("AveragePool", 1, lambda n: -(-n // 2)), ("Conv", 0, lambda n: -(-n // 2)),
        *[("Resize", s, lambda n, s=s: int(np.float32(n) * np.float32(s))) for s in (0.5, 0.6, 0.75)]]
UP = [("ConvTranspose", 0, lambda n: 2 * n), *[("Resize", s, lambda n, s=s: int(np.float32(n) * np.float32(s)))
                                               for s in (2.0, 1.5, 1.7, 1.3333334)]]


def moved(d, x, op, how):
    c = x.shape[1]
    if op == "Conv":
        return d.put(op, [x, d.weight(F32, (c, c, 3, 3))], F32, pads=[1] * 4, strides=[2, 2])
    if op == "ConvTranspose":
        return d.put(op, [x, d.weight(F32, (c, c, 2, 2))], F32, strides=[2, 2])
    if op == "Resize":
        scales = d.constant(np.array([1, 1, how, how], F32))
        return d.put(op, [x, "", scales], F32, mode="linear", coordinate_transformation_mode="asymmetric")
    return d.put(op, [x], F32, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=how)


@sized(4)
def skip(d):
    """Down, up again, and beside what went in: a U-Net's step."""
    x = d.pick((F32,), ranks=[4], where=lambda v: min(v.shape[2:]) >= 2 and v.shape[0] * v.shape[1])
    ways = [(a, b) for a in DOWN for b in UP if all(b[2](a[2](n)) == n for n in x.shape[2:])]
    if not ways:
        raise Refused
    d.losses = max(d.losses, 5)  # it fits few sizes
    (down, how, _), (up, again, _) = d.rng.choice(ways)
    y = moved(d, moved(d, x, down, how), up, again)
    op = d.rng.choice(["Concat", "Concat", "Add"])
    d.put(op, [y, x], F32, **({"axis": 1} if op == "Concat" else {}))


@sized(3)
def matmul(d):
    x = d.pick((F32, F64, I64), ranks=range(2, 4))
    y = d.fellow(x, lambda xs, ys: len(ys) >= 2 and xs[-1] == ys[-2] and xs[-1] > 0 and
                 all(a == b or 1 in (a, b) for a, b in zip(xs[-3::-1], ys[-3::-1])), lax=0.4)
    d.put("MatMul", [x, y], x.dtype, grain=None if x.dtype != I64 else 0)


@sized(3)
def gemm(d):
    x = d.pick((F32, F64), ranks=[2])
    a, b = d.rng.randint(0, 1), d.rng.randint(0, 1)
    y = d.fellow(x, lambda xs, ys: len(ys) == 2 and xs[0 if a else 1] == ys[1 if b else 0] > 0, lax=0.5)
    inputs = [x, y]
    if d.rng.random() < 0.6:
        n = y.shape[0 if b else 1]
        inputs.append(d.fellow(y, lambda ys, cs: len(cs) < 3 and all(s in (1, n) for s in cs[-1:])) if d.rng.random() < 0.5
                      else d.weight(x.dtype, d.rng.choice([(n,), (1, n), (1,)])))
    d.put("Gemm", inputs, x.dtype, transA=a, transB=b)


@sized(2)
def einsum(d):
    x = d.pick((F32, F64), ranks=[2, 3])
    text, left = d.rng.choice({2: [("ij,jk->ik", (1, 0)), ("ij,kj->ik", (1, 1)), ("ij,ij->i", None)],
                               3: [("bij,bjk->bik", (2, 1)), ("bij,bkj->bik", (2, 2)), ("bij,bij->bj", None)]}[x.rank])

    def fits(xs, ys):
        if len(xs) != len(ys) or 0 in (*xs, *ys):
            return False
        return xs == ys if left is None else xs[left[0]] == ys[left[1]] and (len(xs) == 2 or xs[0] == ys[0])

    d.put("Einsum", [x, d.fellow(x, fits, lax=0.4)], x.dtype, equation=text)


@sized(2)
def where(d):
    x = d.pick((F32, F64, I64))
    y = d.fellow(x, lambda xs, ys: all(a == b or 1 in (a, b) for a, b in zip(xs[::-1], ys[::-1])), lax=0.4)
    c = d.fellow(x, lambda xs, cs: all(a == b or 1 in (a, b) for a, b in zip(xs[::-1], cs[::-1])), (BOOL,), lax=0.4)
    grain = None if None in (x.grain, y.grain) else max(x.grain, y.grain)
    d.put("Where", [c, x, y], x.dtype, grain=grain)


@sized(2)
def scatter(d):
    """Updates of a computed number of rows."""
    x = d.pick((F32, I64), ranks=range(1, 4), where=lambda v: 0 not in v.shape)
    n = size_in(d, 1, x.shape[0])
    at = d.put("Range", [scalar(d, 0), n, scalar(d, 1)], I64, grain=0)
    updates = d.put("Slice", [x, d.ints(0), vector(d, n), d.ints(0)], x.dtype, grain=x.grain)
    d.hide(at)
    if d.rng.random() < 0.5:
        rows = d.put("Unsqueeze", [at, d.ints(-1)], I64, grain=0)
        d.hide(rows)
        return d.put("ScatterND", [x, rows, updates], x.dtype, grain=x.grain)
    for _ in range(x.rank - 1):
        at = d.put("Unsqueeze", [at, d.ints(-1)], I64, grain=0)
        d.hide(at)
    sizes = d.put("Shape", [updates], I64, grain=0)
    index = d.put("Expand", [at, sizes], I64, grain=0)
    d.hide(sizes, index)
    return d.put(d.rng.choice(["ScatterElements", "GatherElements"]), [x, index, updates], x.dtype, grain=x.grain, axis=0
                 ) if d.rng.random() < 0.6 else d.put("GatherElements", [x, index], x.dtype, grain=x.grain, axis=0)


@sized(2)
def gather_nd(d):
    x = d.pick((F32, I64), ranks=range(1, 4), where=lambda v: 0 not in v.shape)
    at = d.put("Range", [scalar(d, 0), size_in(d, 1, x.shape[0]), scalar(d, 1)], I64, grain=0)
    rows = d.put("Unsqueeze", [at, d.ints(-1)], I64, grain=0)
    d.hide(at, rows)
    if d.rng.random() < 0.5:
        return d.put("GatherND", [x, rows], x.dtype, grain=x.grain)
    return d.put("Gather", [x, rows], x.dtype, grain=x.grain, axis=0)


@sized(2)
def normalise(d):
    """Scale and bias as long as a computed size."""
    x = d.pick((F32,), ranks=range(2, 5), where=lambda v: 0 not in v.shape)
    kinds = ["BatchNormalization", "InstanceNormalization"] + (["LayerNormalization"] if d.opset >= 17 else [])
    op = d.rng.choice(kinds)
    if op == "InstanceNormalization" and x.rank < 3:
        raise Refused
    n = x.shape[-1] if op == "LayerNormalization" else x.shape[1]
    ones = filled_with(d, 1.0, F32, size_is(d, n) if d.rng.random() < 0.6 else n)
    extra = [ones, ones] if op == "BatchNormalization" else []
    more = {"epsilon": 0.01} if op != "BatchNormalization" else {}
    d.put(op, [x, ones, ones, *extra], F32, **more)


@sized(2)
def recurrent(d):
    """An initial state for a computed batch."""
    x = d.pick((F32,), ranks=[3], where=lambda v: 0 not in v.shape)
    op, gates = d.rng.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    hidden, width = d.rng.choice([1, 3]), x.shape[2]
    w, r = d.weight(F32, (1, gates * hidden, width)), d.weight(F32, (1, gates * hidden, hidden))
    batch = size_is(d, x.shape[1]) if d.rng.random() < 0.6 else size_of_axis(d, x)
    if at_base(d, batch) != x.shape[1]:
        raise Refused
    first = filled_with(d, 0.5, F32, 1, batch, hidden)
    inputs = [x, w, r, "", "", first] + ([first] if op == "LSTM" and d.rng.random() < 0.5 else [])
    d.put(op, inputs, *[F32] * (3 if op == "LSTM" else 2), hidden_size=hidden)


@sized(2)
def conv(d):
    """A convolution whose weights are no constants."""
    x = d.pick((F32,), ranks=[3, 4], where=lambda v: 0 not in v.shape)
    w = d.fellow(x, lambda xs, ys: len(xs) == len(ys) and xs[1] == ys[1] and 0 not in ys and
                 all(b <= a for a, b in zip(xs[2:], ys[2:])), lax=0.5)
    d.put("Conv", [x, w], F32)


def fitted(d, x, shape, at, number=0.5):
    """A tensor of x's type; axis `at` of its shape is a size that is as it should be at the base binding."""
    return filled_with(d, number, x.dtype, *[size_is(d, n) if i == at else int(n) for i, n in enumerate(shape)])


@sized(2)
def weighed(d):
    """Products with weights of a computed size."""
    x = d.pick((F32,), ranks=range(2, 5), where=lambda v: 0 not in v.shape)
    op = d.rng.choice(["MatMul", "Gemm", "Einsum", "Conv"])
    if op in ("Gemm", "Einsum") and x.rank != 2 or op == "Conv" and x.rank < 3:
        raise Refused
    if op == "Conv":
        return d.put(op, [x, fitted(d, x, (2, x.shape[1], *[1] * (x.rank - 2)), 1)], F32)
    w = fitted(d, x, (x.shape[-1], 2), 0)
    if op == "Gemm" and d.rng.random() < 0.5:
        return d.put(op, [x, w, fitted(d, x, (x.shape[0], 1), 0)], F32)
    return d.put(op, [x, w], F32, **({"equation": "ij,jk->ik"} if op == "Einsum" else {}))


@sized(3)
def beside(d):
    """Put together with a tensor of a computed size."""
    x = d.pick((F32, F64, I64), ranks=range(1, 4), where=lambda v: 0 not in v.shape)
    at = d.rng.randrange(x.rank)
    draw = d.rng.random()
    if draw < 0.35 and x.rank > 1:
        axis = d.rng.choice([i for i in range(x.rank) if i != at])
        return d.put("Concat", [x, fitted(d, x, x.shape, at, 1)], x.dtype, grain=x.grain, axis=axis)
    if draw < 0.7:
        shape = [n if i == at or d.rng.random() < 0.2 else 1 for i, n in enumerate(x.shape)]
        op = d.rng.choice(["Add", "Mul", "Max"] if x.dtype != I64 else ["Add", "Mul"])
        return d.put(op, [x, fitted(d, x, shape, at, 1)], x.dtype, grain=x.grain)
    if draw < 0.85:
        mask = d.put("Greater", [x, fitted(d, x, x.shape, at, 1)], BOOL, grain=0) if x.exact else d.add_input(BOOL, [])
        return d.put("Where", [mask, x, fitted(d, x, x.shape, at, 1)], x.dtype, grain=x.grain)
    parts = [size_is(d, n) if i == at else int(n) for i, n in enumerate(x.shape)]
    return d.put("Expand", [fitted(d, x, [1 if i == at else n for i, n in enumerate(x.shape)], (at + 1) % x.rank, 1),
                            vector(d, *parts)], x.dtype, grain=2)


# Quantised.

def eight_bit(d, ranks):
    """An 8-bit value and its zero point."""
    x = d.pick((F32, U8), ranks=ranks, exact=True, where=lambda v: 0 not in v.shape)
    zero = scalar(d, d.rng.randint(0, 9), U8)
    if x.dtype == U8:
        return x, zero
    q = d.put("QuantizeLinear", [x, scalar(d, 0.25, F32), zero], U8, grain=0)
    return q, zero


@sized(2)
def integer_matmul(d):
    x, zero = eight_bit(d, [2, 3])
    try:
        y = d.fellow(x, lambda xs, ys: len(ys) == 2 and xs[-1] == ys[0] > 0, lax=0.4)
    except Refused:
        y = d.constant(d.array(d.rng.choice([U8, I8]), (x.shape[-1], 3), 0, 9))
    if d.rng.random() < 0.5:
        return d.put("MatMulInteger", [x, y, zero], I32, grain=0)
    dtype = d.types[y if isinstance(y, str) else y.name][0]
    return d.put("QLinearMatMul", [x, scalar(d, 0.5, F32), zero, y, scalar(d, 0.5, F32), scalar(d, 0, dtype),
                                   scalar(d, 16.0, F32), scalar(d, 3, U8)], U8, grain=0)


@sized(2)
def integer_conv(d):
    x, zero = eight_bit(d, [4])
    w = d.constant(d.array(U8, (2, x.shape[1], d.rng.randint(1, 2), 1), 0, 9))
    more = {"pads": [1, 0, 0, 1]} if d.rng.random() < 0.5 else {}
    if d.rng.random() < 0.5:
        return d.put("ConvInteger", [x, w, zero], I32, grain=0, **more)
    return d.put("QLinearConv", [x, scalar(d, 0.5, F32), zero, w, scalar(d, 0.5, F32), scalar(d, 0, U8),
                                 scalar(d, 32.0, F32), scalar(d, 3, U8)], U8, grain=0, **more)


# Rarer ones.

@sized()
def window(d):
    if d.opset < 17:
        raise Refused
    d.put(d.rng.choice(["HannWindow", "HammingWindow", "BlackmanWindow"]), [size_in(d, 1, 12)], F32)


@sized()
def squeeze(d):
    """An axis that is 1 at some bindings."""
    x = d.pick(ranks=range(1, 5), where=lambda v: 1 in v.shape)
    axis = d.rng.choice([i for i, n in enumerate(x.shape) if n == 1])
    d.put("Squeeze", [x, d.ints(as_axis(d, axis, x.rank))], x.dtype, grain=x.grain)


@sized(2)
def equal_parts(d):
    x = d.pick(ranks=range(1, 4))
    axis = d.rng.randrange(x.rank)
    count = d.rng.choice([2, 2, 3])
    more = {"num_outputs": count} if d.opset >= 18 else {}
    d.put("Split", [x], *[x.dtype] * count, grain=x.grain, axis=axis, **more)


@sized()
def unique(d):
    x = d.pick((F32, I64), ranks=range(1, 4), exact=True)
    axis = {} if d.rng.random() < 0.6 else {"axis": d.rng.randrange(x.rank)}
    if d.rng.random() < 0.5:
        return d.put("Unique", [x], x.dtype, grain=x.grain, **axis)
    at = d.put("NonZero", [x], I64, grain=0)
    return d.put("Transpose", [at], I64, grain=0, perm=[1, 0])


@sized()
def by_mask(d):
    """Compress by a mask that is data."""
    x = d.pick((F32, I64), ranks=range(1, 4))
    axis = d.rng.randrange(x.rank)
    mask = d.fellow(x, lambda xs, ms: len(ms) == 1 and ms[0] <= xs[axis], (BOOL,), lax=0.3)
    d.put("Compress", [x, mask], x.dtype, grain=x.grain, axis=axis)


@sized()
def crop(d):
    if d.opset < 18:
        raise Refused
    x = d.pick((F32, I64), ranks=range(1, 4))
    axis = d.rng.randrange(x.rank)
    d.put("CenterCropPad", [x, vector(d, size_in(d, 1, 12))], x.dtype, grain=x.grain, axes=[axis])


@sized()
def cumulative(d):
    """Along an axis that is computed."""
    x = d.pick((F32, I64), ranks=range(1, 4), where=lambda v: v.bound * math.prod(v.shape) < 1e4)
    d.put("CumSum", [x, size_in(d, 0, x.rank - 1)], x.dtype)


@sized()
def triangle(d):
    if d.opset < 14:
        raise Refused
    x = d.pick((F32, I64), ranks=range(2, 4))
    d.put("Trilu", [x, size_in(d, -4, 4)], x.dtype, grain=x.grain)


@sized()
def reduce(d):
    """Over axes that vary."""
    op = d.rng.choice(["ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean"])
    x = d.pick((F32, I64) if op != "ReduceMean" else (F32,), ranks=range(1, 5))
    axis, keep = d.rng.randrange(x.rank), d.rng.randint(0, 1)
    if d.opset >= 18 or op == "ReduceSum":
        return d.put(op, [x, d.ints(axis)], x.dtype, keepdims=keep)
    return d.put(op, [x], x.dtype, axes=[axis], keepdims=keep)
