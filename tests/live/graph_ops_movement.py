"""graph_ops_movement.py: operators for graph_draw.py that move entries: views, slices, joins, lookups, resizing."""

import math
from fractions import Fraction

import numpy as np
from onnx import numpy_helper

from graph_draw import BOOL, F32, F64, I32, I64, U8, Refused
from graph_ops import as_axis, broadcast, drawn


@drawn(4)
def transpose(d):
    x = d.pick(ranks=range(2, 9))
    perm = d.rng.sample(range(x.rank), x.rank)
    d.emit("Transpose", [x], [(x.dtype, [x.shape[p] for p in perm], x.bound, x.grain)], perm=perm)


def factored(d, count):
    """A shape of this many entries."""
    if count == 0:
        return [d.rng.choice([0, 1, 2]) for _ in range(d.rng.randint(0, 2))] + [0]
    shape = [1] * d.rng.randint(0, 1)
    while count > 1:
        divisor = d.rng.choice([f for f in range(2, count + 1) if count % f == 0])
        shape.append(divisor)
        count //= divisor
    d.rng.shuffle(shape)
    return shape[:5] if len(shape) <= 5 else [*shape[:4], math.prod(shape[4:])]


@drawn(3)
def reshape(d):
    x = d.pick()
    shape = factored(d, math.prod(x.shape))
    written, more = list(shape), {}
    if math.prod(shape) == 0:
        if d.opset < 14:
            raise Refused
        more["allowzero"] = 1
    elif shape and d.rng.random() < 0.6:
        written[d.rng.randrange(len(shape))] = -1
    for i, size in enumerate(shape):
        if not more and i < x.rank and x.shape[i] == size and d.rng.random() < 0.4 and written[i] != -1:
            written[i] = 0
    d.emit("Reshape", [x, d.ints(*written)], [(x.dtype, shape, x.bound, x.grain)], **more)


@drawn(2)
def flatten_by_shape(d):
    """Shape, Slice or Gather, Concat, Reshape, as exporters write a view."""
    x = d.pick(ranks=range(2, 6))
    keep = d.rng.randint(1, x.rank - 1)
    rest = math.prod(x.shape[keep:])
    if math.prod(x.shape) == 0:
        raise Refused
    (sizes,) = d.emit("Shape", [x], [(I64, (x.rank,), 64.0, 0)])
    if d.rng.random() < 0.5:
        (front,) = d.emit("Slice", [sizes, d.ints(0), d.ints(keep)], [(I64, (keep,), 64.0, 0)])
    else:
        (front,) = d.emit("Gather", [sizes, d.ints(*range(keep))], [(I64, (keep,), 64.0, 0)])
    (target,) = d.emit("Concat", [front, d.ints(-1)], [(I64, (keep + 1,), 64.0, 0)], axis=0)
    d.emit("Reshape", [x, target], [(x.dtype, (*x.shape[:keep], rest), x.bound, x.grain)])
    # Sizes must stay what they are: other operators may not work on them.
    d.values = [v for v in d.values if v.name not in (sizes.name, front.name, target.name)]


@drawn()
def flatten(d):
    x = d.pick(ranks=range(1, 9))
    axis = d.rng.randint(0, x.rank)
    d.emit("Flatten", [x], [(x.dtype, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])), x.bound, x.grain)],
           axis=axis)


@drawn(3)
def slice_(d):
    x = d.pick(ranks=range(1, 9))
    axes = sorted(d.rng.sample(range(x.rank), d.rng.randint(1, x.rank)))
    shape, columns = list(x.shape), []
    for axis in axes:
        step = d.rng.choice([1, 1, 1, 2, 3, -1, -2])
        start, end = d.rng.randint(-8, 8), d.rng.choice([d.rng.randint(-8, 8), 2**31 if step > 0 else -(2**31)])
        shape[axis] = len(range(*slice(start, end, step).indices(x.shape[axis])))
        columns.append((start, end, as_axis(d, axis, x.rank), step))
    inputs = [d.ints(*column) for column in zip(*columns)]
    d.emit("Slice", [x, *inputs], [(x.dtype, shape, x.bound, x.grain)])


@drawn(3)
def concat(d):
    x = d.pick(ranks=range(1, 9))
    axis = d.rng.randrange(x.rank)
    def fits(v):
        return v.dtype == x.dtype and v.rank == x.rank and all(
            a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis)

    others = [v for v in d.values if fits(v)]
    xs = [x] + [d.rng.choice(others) for _ in range(d.rng.randint(0, 2))]
    if d.rng.random() < 0.3:
        xs.append(d.weight(x.dtype, x.shape))
    d.rng.shuffle(xs)
    shape = [sum(v.shape[axis] for v in xs) if i == axis else s for i, s in enumerate(x.shape)]
    grains = [v.grain for v in xs]
    d.emit("Concat", xs, [(x.dtype, shape, max(v.bound for v in xs), None if None in grains else max(grains))],
           axis=as_axis(d, axis, x.rank))


@drawn(2)
def split(d):
    x = d.pick(ranks=range(1, 9))
    axis = d.rng.randrange(x.rank)
    cut = d.rng.randint(0, x.shape[axis])
    parts, inputs, more = [cut, x.shape[axis] - cut], [x], {}
    if d.rng.random() < 0.4 and x.shape[axis] % 2 == 0:
        parts = [x.shape[axis] // 2] * 2
        more = {"num_outputs": 2} if d.opset >= 18 else {}
    else:
        inputs.append(d.ints(*parts))
    results = [(x.dtype, [p if i == axis else s for i, s in enumerate(x.shape)], x.bound, x.grain) for p in parts]
    d.emit("Split", inputs, results, axis=as_axis(d, axis, x.rank), **more)


@drawn(2)
def squeeze(d):
    x = d.pick()
    ones = [i for i, s in enumerate(x.shape) if s == 1]
    if ones and d.rng.random() < 0.6:
        gone = sorted(d.rng.sample(ones, d.rng.randint(1, len(ones))))
        shape = [s for i, s in enumerate(x.shape) if i not in gone]
        return d.emit("Squeeze", [x, d.ints(*[as_axis(d, a, x.rank) for a in gone])],
                      [(x.dtype, shape, x.bound, x.grain)])
    if x.rank > 5:
        raise Refused
    axis = d.rng.randint(0, x.rank)
    return d.emit("Unsqueeze", [x, d.ints(as_axis(d, axis, x.rank + 1))],
                  [(x.dtype, (*x.shape[:axis], 1, *x.shape[axis:]), x.bound, x.grain)])


@drawn(2)
def pad(d):
    x = d.pick((F32, F64, I32, I64), ranks=range(1, 6))
    mode = d.rng.choice(["constant", "constant", "reflect", "edge"])
    begin, end = [[d.rng.randint(-1 if mode == "constant" and s > 1 and d.rng.random() < 0.2 else 0, 2)
                   for s in x.shape] for _ in range(2)]
    if mode != "constant" and any(s < 3 for s in x.shape):
        raise Refused
    shape = [b + s + e for b, s, e in zip(begin, x.shape, end)]
    if any(s < 0 for s in shape):
        raise Refused
    inputs = [x, d.ints(*begin, *end)]
    if mode == "constant" and d.rng.random() < 0.5:
        inputs.append(d.constant(np.array(d.rng.randint(-3, 3), x.dtype)))
    d.emit("Pad", inputs, [(x.dtype, shape, max(3.0, x.bound), x.grain)], mode=mode)


@drawn(3)
def gather(d):
    x = d.pick(ranks=range(1, 6))
    axis = d.rng.randrange(x.rank)
    n = x.shape[axis]
    if n == 0:
        raise Refused
    index = np.asarray(d.array(d.rng.choice([I32, I64]), d.shape(d.rng.choice([0, 1, 1, 2])), -n, n - 1))
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1:])
    d.emit("Gather", [x, d.constant(index)], [(x.dtype, shape, x.bound, x.grain)], axis=as_axis(d, axis, x.rank))


@drawn()
def gather_elements(d):
    x = d.pick(ranks=range(1, 6))
    axis = d.rng.randrange(x.rank)
    n = x.shape[axis]
    if n == 0:
        raise Refused
    shape = [d.rng.randint(1, 4) if i == axis else s for i, s in enumerate(x.shape)]
    index = d.array(I64, shape, -n, n - 1)
    d.emit("GatherElements", [x, d.constant(index)], [(x.dtype, shape, x.bound, x.grain)],
           axis=as_axis(d, axis, x.rank))


@drawn()
def gather_nd(d):
    x = d.pick((F32, F64, I64, I32), ranks=range(1, 6))
    depth = d.rng.randint(1, x.rank)
    if 0 in x.shape:
        raise Refused
    rows = d.shape(d.rng.randint(0, 2))
    columns = [d.array(I64, rows, -s, s - 1) for s in x.shape[:depth]]
    index = np.stack(columns, -1).reshape(*rows, depth)
    d.emit("GatherND", [x, d.constant(index)], [(x.dtype, (*rows, *x.shape[depth:]), x.bound, x.grain)])


@drawn()
def scatter_elements(d):
    x = d.pick((F32, F64, I64, I32), ranks=range(1, 5))
    axis = d.rng.randrange(x.rank)
    n = x.shape[axis]
    if 0 in x.shape:
        raise Refused
    count = d.rng.randint(1, n)
    order = d.rng.sample(range(n), count)
    shape = [count if i == axis else s for i, s in enumerate(x.shape)]
    index = np.broadcast_to(np.reshape(order, [count if i == axis else 1 for i in range(x.rank)]), shape)
    updates = d.weight(x.dtype, shape)
    grain = None if x.grain is None else max(x.grain, updates.grain)
    d.emit("ScatterElements", [x, d.constant(np.ascontiguousarray(index).astype(np.int64)), updates],
           [(x.dtype, x.shape, max(x.bound, updates.bound), grain)], axis=as_axis(d, axis, x.rank))


@drawn()
def scatter_nd(d):
    x = d.pick((F32, F64, I64, I32), ranks=range(1, 5))
    if 0 in x.shape:
        raise Refused
    order = d.rng.sample(range(x.shape[0]), d.rng.randint(1, x.shape[0]))
    updates = d.weight(x.dtype, (len(order), *x.shape[1:]))
    grain = None if x.grain is None else max(x.grain, updates.grain)
    d.emit("ScatterND", [x, d.constant(np.array(order, np.int64)[:, None]), updates],
           [(x.dtype, x.shape, max(x.bound, updates.bound), grain)])


@drawn(2)
def expand(d):
    x = d.pick(ranks=range(0, 5))
    shape = [d.rng.choice([1, 2, 3, s]) if s == 1 else d.rng.choice([1, s]) for s in x.shape]
    shape = [d.rng.choice([1, 2]) for _ in range(d.rng.randint(0, 2))] + shape
    d.emit("Expand", [x, d.ints(*shape)], [(x.dtype, broadcast(x.shape, shape), x.bound, x.grain)])


@drawn()
def expand_like(d):
    """Expand to the shape another value has when the model runs."""
    x = d.pick()
    y = d.rng.choice(d.values)
    try:
        shape = broadcast(x.shape, y.shape)
    except ValueError:
        raise Refused from None
    (sizes,) = d.emit("Shape", [y], [(I64, (y.rank,), 64.0, 0)])
    d.values.remove(sizes)
    d.emit("Expand", [x, sizes], [(x.dtype, shape, x.bound, x.grain)])


@drawn()
def tile(d):
    x = d.pick((F32, F64, I32, I64, U8, BOOL), ranks=range(1, 5))
    times = [d.rng.choice([1, 1, 2, 3, 0] if d.rng.random() < 0.1 else [1, 2]) for _ in x.shape]
    d.emit("Tile", [x, d.ints(*times)], [(x.dtype, [s * t for s, t in zip(x.shape, times)], x.bound, x.grain)])


@drawn()
def one_hot(d):
    x = d.pick((I64, I32), ranks=range(0, 4), where=lambda v: v.bound <= 64)
    depth = d.rng.choice([1, 3, 5])
    values = d.constant(np.array([0, d.rng.randint(1, 3)], d.rng.choice([F32, I64])))
    dtype = d.types[values][0]
    axis = d.rng.randint(0, x.rank)
    d.emit("OneHot", [x, d.constant(np.array(depth, np.int64)), values],
           [(dtype, (*x.shape[:axis], depth, *x.shape[axis:]), 3.0, 0)], axis=as_axis(d, axis, x.rank + 1))


def on_boundary(size, to, where, rounding):
    """Whether a place of the result falls exactly between two of the input, with a scale that no float holds: which of
    them is taken depends on how the place is computed."""
    scale = Fraction(to, size)
    if where == "align_corners" or scale.denominator & (scale.denominator - 1) == 0:
        return False
    shift = Fraction(1, 2) if where == "half_pixel" else 0
    boundary = 0 if rounding == "floor" else Fraction(1, 2)
    return any(((x + shift) / scale - shift + boundary).denominator == 1 for x in range(to))


@drawn()
def resize(d):
    x = d.pick((F32,), ranks=[4])
    if 0 in x.shape:
        raise Refused
    mode = d.rng.choice(["nearest", "linear"])
    sizes = [*x.shape[:2], *[d.rng.randint(1, 9) for _ in range(2)]]
    where = d.rng.choice(["half_pixel", "asymmetric", "align_corners"])
    more = {"nearest_mode": d.rng.choice(["floor", "round_prefer_floor"])} if mode == "nearest" else {}
    if more and any(on_boundary(*pair, where, more["nearest_mode"]) for pair in zip(x.shape[2:], sizes[2:])):
        raise Refused
    d.emit("Resize", [x, "", "", d.ints(*sizes)], [(F32, sizes, x.bound, x.grain if mode == "nearest" else None)],
           mode=mode, coordinate_transformation_mode=where, **more)


@drawn()
def depth_space(d):
    x = d.pick((F32,), ranks=[4])
    n, c, h, w = x.shape
    if c % 4 == 0 and c:
        return d.emit("DepthToSpace", [x], [(F32, (n, c // 4, h * 2, w * 2), x.bound, x.grain)], blocksize=2,
                      mode=d.rng.choice(["DCR", "CRD"]))
    if h % 2 or w % 2:
        raise Refused
    return d.emit("SpaceToDepth", [x], [(F32, (n, c * 4, h // 2, w // 2), x.bound, x.grain)], blocksize=2)


@drawn()
def triangle(d):
    x = d.pick((F32, F64, I64), ranks=range(2, 5))
    if d.opset < 14:
        raise Refused
    inputs = [x] + ([d.constant(np.array(d.rng.randint(-2, 2), np.int64))] if d.rng.random() < 0.5 else [])
    d.like("Trilu", *inputs, upper=d.rng.randint(0, 1))


@drawn()
def constant_of_shape(d):
    """A tensor of one value with the shape of another."""
    x = d.pick((F32, I64))
    (sizes,) = d.emit("Shape", [x], [(I64, (x.rank,), 64.0, 0)])
    d.values.remove(sizes)
    fill = numpy_helper.from_array(np.array([2], x.dtype))
    d.emit("ConstantOfShape", [sizes], [(x.dtype, x.shape, 2.0, 0)], value=fill)


@drawn()
def einsum(d):
    x = d.pick((F32, F64), ranks=[2, 3])
    square = x.shape[-2] == x.shape[-1]
    texts = {2: ["ij->ji", "ij->i", "ij->"], 3: ["bij->bji", "bij->ij", "bii->b" if square else "bij->j"]}
    equation = d.rng.choice(texts[x.rank])
    left, right = equation.split("->")
    sizes = dict(zip(left, x.shape))
    bound = x.bound * max(1, math.prod(s for c, s in sizes.items() if c not in right))
    if 0 in x.shape:
        raise Refused
    d.emit("Einsum", [x], [(x.dtype, [sizes[c] for c in right], bound, x.grain)], equation=equation)

