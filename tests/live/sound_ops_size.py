"""sound_ops_size.py: for sound_draw.py: integers computed from shapes, by float arithmetic, too, and what reads them as
sizes. Many of these sizes no formula of the algebra holds."""

import numpy as np
from onnx import numpy_helper

from graph_draw import ANY, BOOL, F16, F32, F64, I32, I64, NUMBERS, U8, Refused, elem
from graph_ops import as_axis
from graph_ops_more import I8

SIZED = []
FRACTIONS = (0.37, 0.5, 0.75, 1.5, 1.7, 0.3333, 2.0, 0.1, 1.25)


def sized(weight=1):
    def add(function):
        SIZED.extend([function] * weight)
        return function
    return add


# Sizes: scalars.

def scalar(d, number, dtype=np.int64):
    return d.constant(np.array(number, dtype))


def size_of_axis(d, x=None):
    """A scalar: the size of an axis."""
    x = x or d.pick(ranks=range(1, 6))
    axis = d.rng.randrange(x.rank)
    if d.opset >= 15 and d.rng.random() < 0.3:
        one = d.put("Shape", [x], I64, grain=0, start=axis, end=axis + 1)
        s = d.put("Squeeze", [one], I64, grain=0)
        d.hide(one, s)
        return s
    sizes = d.put("Shape", [x], I64, grain=0)
    s = d.put("Gather", [sizes, scalar(d, as_axis(d, axis, x.rank))], I64, grain=0, axis=0)
    d.hide(sizes, s)
    return s


def through_floats(d, s):
    """The size times a fraction, rounded."""
    dtype = d.rng.choice([F32, F32, F64])
    f = d.put("Cast", [s], dtype, grain=0, to=elem(dtype))
    d.hide(f)
    for _ in range(d.rng.choice([1, 1, 2])):
        op = d.rng.choice(["Mul", "Mul", "Div", "Add"])
        f = d.put(op, [f, scalar(d, d.rng.choice(FRACTIONS), dtype)], dtype)
        d.hide(f)
    if d.rng.random() < 0.15:
        f = d.put("Sqrt", [f], dtype)
        d.hide(f)
    f = d.put(d.rng.choice(["Floor", "Ceil", "Round", "Floor"]), [f], dtype, grain=0)
    s = d.put("Cast", [f], I64, grain=0, to=elem(I64))
    d.hide(f, s)
    return s


def arithmetic(d, s):
    op, other = d.rng.choice([("Add", scalar(d, d.rng.randint(-2, 3))), ("Sub", scalar(d, d.rng.randint(-1, 3))),
                              ("Mul", scalar(d, d.rng.randint(1, 3))), ("Div", scalar(d, d.rng.randint(2, 3))),
                              ("Mod", scalar(d, d.rng.randint(2, 5))), ("Max", scalar(d, d.rng.randint(1, 4))),
                              ("Min", scalar(d, d.rng.randint(2, 6))), ("Add", None), ("Sub", None), ("Mul", None),
                              ("Max", None), ("Min", None), ("Where", None), ("Abs", ""), ("Neg", ""),
                              ("BitwiseAnd", scalar(d, d.rng.randint(1, 7)))])
    if op == "Where":
        less = d.put(d.rng.choice(["Less", "Greater", "Equal"]), [s, scalar(d, d.rng.randint(2, 6))], BOOL, grain=0)
        out = d.put("Where", [less, s, any_size(d)], I64, grain=0)
        d.hide(less, out)
        return out
    if op == "BitwiseAnd" and d.opset < 18:
        raise Refused
    out = d.put(op, [s] if other == "" else [s, other or any_size(d)], I64, grain=0)
    d.hide(out)
    return out


def any_size(d):
    """An old one or a new one."""
    if d.sizes and d.rng.random() < 0.5:
        return d.rng.choice(d.sizes)
    if d.rng.random() < 0.05:  # data
        s = d.add_input(I64, [], 0, 5)
        d.hide(s)
        return s
    numbers = [v for v in d.values if v.dtype == I64 and not v.rank and v.bound <= 40]
    s = d.rng.choice(numbers) if numbers and d.rng.random() < 0.2 else size_of_axis(d)
    for _ in range(d.rng.choice([0, 0, 1, 1, 2])):
        s = d.rng.choice([through_floats, through_floats, arithmetic])(d, s)
    if d.rng.random() < 0.15:
        dtype = d.rng.choice([I32, I32, I8, U8, F16])
        narrow = d.put("Cast", [s], dtype, grain=0, to=elem(dtype))
        s = d.put("Cast", [narrow], I64, grain=0, to=elem(I64))
        d.hide(narrow, s)
    d.sizes.append(s)
    return s


def at_base(d, s):
    return int(d.arrays[s.name][0])


def size_in(d, low, high, tries=6):
    """A size that lies there at the base binding."""
    for _ in range(tries):
        s = any_size(d)
        if low <= at_base(d, s) <= high:
            return s
    raise Refused


def size_is(d, wanted):
    """A size that is this one at the base binding: an old one, or the nearest one put right by an addition."""
    fit = [s for s in d.sizes if at_base(d, s) == wanted]
    if fit and d.rng.random() < 0.7:
        return d.rng.choice(fit)
    s = any_size(d)
    off = wanted - at_base(d, s)
    if off:
        s = d.put("Add", [s, scalar(d, off)], I64, grain=0)
        d.hide(s)
        d.sizes.append(s)
    return s


def filled_with(d, number, dtype, *entries):
    """A tensor of one number; its sizes are numbers and sizes."""
    out = d.put("ConstantOfShape", [vector(d, *entries)], dtype, grain=2,
                value=numpy_helper.from_array(np.array([number], dtype)))
    d.hide(out)
    return out


def vector(d, *entries):
    """A 1-D tensor of sizes and numbers."""
    parts = []
    for entry in entries:
        if isinstance(entry, int):
            parts.append(d.ints(entry))
        else:
            parts.append(d.put("Unsqueeze", [entry, d.ints(0)], I64, grain=0))
            d.hide(parts[-1])
    if len(parts) == 1:
        return parts[0]
    out = d.put("Concat", parts, I64, grain=0, axis=0)
    d.hide(out)
    return out


# What reads them.

@sized(2)
def shape(d):
    """The shape of a value as an ordinary tensor."""
    x = d.pick(ranks=range(1, 5))
    more = {"start": d.rng.randint(-2, 1)} if d.opset >= 15 and d.rng.random() < 0.3 else {}
    v = d.put("Shape", [x], I64, grain=0, **more)
    if d.rng.random() < 0.4 and v.shape[0]:
        d.put("ReduceProd", [v], I64, grain=0, keepdims=d.rng.randint(0, 1))


@sized(3)
def slice_to(d):
    """Any number is an end of a Slice."""
    x = d.pick(ranks=range(1, 5))
    axis = d.rng.randrange(x.rank)
    s = any_size(d)
    if d.rng.random() < 0.7:
        bounds = [d.ints(d.rng.choice([0, 0, 1])), vector(d, s)]
    else:
        bounds = [vector(d, s), d.ints(2**31)]
    step = [d.ints(d.rng.choice([1, 2]))] if d.rng.random() < 0.3 else []
    out = d.put("Slice", [x, *bounds, d.ints(as_axis(d, axis, x.rank)), *step], x.dtype, grain=x.grain)
    if 0 in out.shape:
        raise Refused


@sized(3)
def expand_to(d):
    x = d.pick(ranks=range(0, 4))
    shape = [int(n) for n in x.shape]
    ones = [i for i, n in enumerate(shape) if n == 1]
    if ones and d.rng.random() < 0.6:
        at = d.rng.choice(ones)
        entries = [size_in(d, 1, 12) if i == at else 1 for i in range(x.rank)]
    elif shape and d.rng.random() < 0.5:
        at = d.rng.randrange(x.rank)
        entries = [size_is(d, shape[at]) if i == at else 1 for i in range(x.rank)]
    else:
        entries = [size_in(d, 1, 9)] + [1] * x.rank
    d.put("Expand", [x, vector(d, *entries)], x.dtype, grain=x.grain)


def divided(d, x):
    """A size that divides the entries, and the rest."""
    count = int(np.prod(x.shape))
    fit = [s for s in d.sizes if at_base(d, s) > 0 and count % at_base(d, s) == 0]
    s = d.rng.choice(fit) if fit else size_of_axis(d, x)
    return d.rng.choice([[s, -1], [-1, s]])


def merged(d, x):
    """The axes as they are, two of them made one; some copied, one left to see."""
    sizes = [d.put("Gather", [d.put("Shape", [x], I64, grain=0), scalar(d, i)], I64, grain=0) for i in range(x.rank)]
    d.hide(*sizes)
    if x.rank > 1:
        at = d.rng.randrange(x.rank - 1)
        both = d.put("Mul", sizes[at:at + 2], I64, grain=0)
        d.hide(both)
        sizes[at:at + 2] = [both]
    entries = [0 if at_base(d, s) == x.shape[i] and d.rng.random() < 0.3 else s for i, s in enumerate(sizes)]
    if d.rng.random() < 0.5:
        entries[d.rng.randrange(len(entries))] = -1
    return entries


def maybe_zero(d, x):
    """A first entry that is 0 at some bindings, and means a copy then."""
    op, other = d.rng.choice([("Mul", 0), ("Div", d.rng.randint(2, 12)), ("Div", d.rng.randint(2, 4))])
    zero = d.put(op, [size_of_axis(d, x), scalar(d, other)], I64, grain=0)
    d.hide(zero)
    return [zero, -1]


def as_at_base(d, x):
    """An entry that is an axis's size at the base binding."""
    at = d.rng.randrange(x.rank)
    entries = [size_is(d, x.shape[at]), -1]
    return entries if at == 0 else entries[::-1]


@sized(4)
def reshape_to(d):
    x = d.pick(ranks=range(1, 5), where=lambda v: 0 not in v.shape)
    entries = d.rng.choice([divided, divided, merged, merged, maybe_zero, as_at_base])(d, x)
    more = {"allowzero": 1} if d.opset >= 14 and d.rng.random() < 0.1 and -1 not in entries else {}
    d.put("Reshape", [x, vector(d, *entries)], x.dtype, grain=x.grain, **more)


@sized(2)
def range_to(d):
    s = any_size(d)
    step = scalar(d, d.rng.choice([1, 1, 2]))
    out = d.put("Range", [scalar(d, d.rng.choice([0, 0, 1])), s, step], I64, grain=0)
    if d.rng.random() < 0.6:
        d.put("Cast", [out], F32, grain=0, to=elem(F32))


@sized(2)
def tile_by(d):
    x = d.pick(NUMBERS, ranks=range(1, 4))
    at = d.rng.randrange(x.rank)
    d.put("Tile", [x, vector(d, *[size_in(d, 0, 4) if i == at else 1 for i in range(x.rank)])], x.dtype, grain=x.grain)


@sized(2)
def filled(d):
    """ConstantOfShape of sizes; what is below zero is refused."""
    shape = vector(d, *[size_in(d, 0, 12) if d.rng.random() < 0.7 else d.rng.randint(1, 4)
                        for _ in range(d.rng.randint(1, 3))])
    dtype = d.rng.choice([F32, I64])
    d.put("ConstantOfShape", [shape], dtype, grain=0, value=numpy_helper.from_array(np.array([2], dtype)))


@sized(2)
def pad_by(d):
    x = d.pick((F32, F64, I32, I64), ranks=range(1, 4))
    at, mode = d.rng.randrange(x.rank), d.rng.choice(["constant", "constant", "edge", "reflect"])
    before = [size_in(d, -2, 5) if i == at and d.rng.random() < 0.6 else 0 for i in range(x.rank)]
    after = [size_in(d, -2, 5) if i == at else 0 for i in range(x.rank)]
    d.put("Pad", [x, vector(d, *before, *after)], x.dtype, grain=x.grain, mode=mode)


@sized(3)
def top_k(d):
    x = d.pick((F32, F64, I64), ranks=range(1, 4), exact=True)
    axis = d.rng.randrange(x.rank)
    k = vector(d, size_in(d, 0, x.shape[axis]))
    d.put("TopK", [x, k], x.dtype, I64, grain=x.grain, axis=as_axis(d, axis, x.rank), largest=d.rng.randint(0, 1))


@sized(3)
def split_by(d):
    x = d.pick(ranks=range(1, 4))
    axis = d.rng.randrange(x.rank)
    n = x.shape[axis]
    first = size_in(d, 0, n)
    if d.rng.random() < 0.5:  # the rest, whatever that is
        sizes = d.put("Shape", [x], I64, grain=0)
        whole = d.put("Gather", [sizes, scalar(d, axis)], I64, grain=0)
        rest = d.put("Sub", [whole, first], I64, grain=0)
        d.hide(sizes, whole, rest)
    else:
        rest = n - at_base(d, first) if d.rng.random() < 0.6 else size_is(d, n - at_base(d, first))
    d.put("Split", [x, vector(d, first, rest)], x.dtype, x.dtype, grain=x.grain, axis=as_axis(d, axis, x.rank))


@sized(2)
def one_hot(d):
    x = d.pick((I64, I32), ranks=range(0, 3), where=lambda v: v.bound <= 64)
    depth = size_in(d, 1, 9)
    values = d.constant(np.array([0, d.rng.randint(1, 3)], F32))
    d.put("OneHot", [x, depth, values], F32, grain=0, axis=d.rng.randint(-1, x.rank))


@sized(3)
def resize(d):
    """By fractions, or to sizes."""
    x = d.pick((F32,), ranks=[3, 4], where=lambda v: 0 not in v.shape)
    spatial = x.rank - 2
    mode, where = d.rng.choice(["nearest", "linear"]), d.rng.choice(["asymmetric", "half_pixel"])
    more = {"nearest_mode": d.rng.choice(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])}
    if d.rng.random() < 0.65:
        scales = [1.0] * 2 + [d.rng.choice([0.5, 2.0, 1.5, 0.7, 0.75, 1.3]) for _ in range(spatial)]
        inputs = [x, "", d.constant(np.array(scales, F32))]
    else:
        front = d.put("Slice", [d.put("Shape", [x], I64, grain=0), d.ints(0), d.ints(2)], I64, grain=0)
        back = vector(d, *[size_in(d, 1, 16) for _ in range(spatial)])
        sizes = d.put("Concat", [front, back], I64, grain=0, axis=0)
        d.hide(front, sizes)
        inputs = [x, "", "", sizes]
    more = more if mode == "nearest" else {}
    d.put("Resize", inputs, F32, grain=x.grain if more else None, mode=mode, coordinate_transformation_mode=where, **more)


@sized(3)
def compress(d):
    """A constant mask; one that is longer than the axis is no mask."""
    x = d.pick(ranks=range(1, 4))
    axis = d.rng.randrange(x.rank)
    n = x.shape[axis]
    mask = d.array(BOOL, (d.rng.randint(1, max(1, n)),))
    if not mask.any():
        mask[0] = True
    d.put("Compress", [x, d.constant(mask)], x.dtype, grain=x.grain, axis=as_axis(d, axis, x.rank))


@sized()
def gather_at(d):
    x = d.pick(ranks=range(1, 4))
    axis = d.rng.randrange(x.rank)
    at = size_in(d, -x.shape[axis], x.shape[axis] - 1)
    d.put("Gather", [x, at if d.rng.random() < 0.5 else vector(d, at)], x.dtype, grain=x.grain, axis=axis)


@sized()
def as_number(d):
    """Sizes as ordinary numbers."""
    v = vector(d, any_size(d), any_size(d)) if d.rng.random() < 0.5 else any_size(d)
    d.put("Cast", [v], F32, grain=0, to=elem(F32))


@sized(2)
def sliced_alike(d):
    """Two values cut to the same computed size, which later nodes may put together."""
    s = any_size(d)
    for _ in range(2):
        x = d.pick(ANY, ranks=range(1, 4))
        out = d.put("Slice", [x, d.ints(0), vector(d, s), d.ints(d.rng.randrange(x.rank))], x.dtype, grain=x.grain)
        if 0 in out.shape:
            raise Refused
