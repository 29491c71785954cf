"""sound_ops_rare.py: for sound_draw.py: attributes and operators that models seldom have, over axes that vary."""

import numpy as np

from graph_draw import BOOL, F32, F64, I32, I64, U8, Refused
from graph_ops import as_axis
from sound_ops_pair import fitted
from sound_ops_size import any_size, scalar, size_in, size_of_axis, sized, vector


def broadcasts(xs, ys):
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(xs), reversed(ys)))


@sized(2)
def padded_pool(d):
    """Windows whose padding follows from the size."""
    x = d.pick((F32,), ranks=[3, 4], where=lambda v: 0 not in v.shape)
    op = d.rng.choice(["MaxPool", "AveragePool", "LpPool", "Conv"])
    spatial, more = x.rank - 2, {}
    kernel = [d.rng.randint(1, 3) for _ in range(spatial)]
    more["strides"] = [d.rng.randint(1, 3) for _ in range(spatial)]
    if d.rng.random() < 0.5:
        more["auto_pad"] = d.rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    elif op in ("MaxPool", "AveragePool"):
        more["ceil_mode"] = 1
    if op == "Conv":
        return d.put(op, [x, d.weight(F32, (2, x.shape[1], *kernel))], F32, **more)
    return d.put(op, [x], F32, grain=x.grain if op == "MaxPool" else None, kernel_shape=kernel, **more)


@sized()
def transposed(d):
    x = d.pick((F32,), ranks=[3, 4], where=lambda v: 0 not in v.shape)
    spatial = x.rank - 2
    more = {"strides": [2] * spatial, "output_padding": [d.rng.randint(0, 1)] * spatial}
    if d.rng.random() < 0.3:
        more = {"strides": [2] * spatial, "output_shape": [2 * n for n in x.shape[2:]]}
    d.put("ConvTranspose", [x, d.weight(F32, (x.shape[1], 2, *[3] * spatial))], F32, **more)


@sized()
def global_pool(d):
    x = d.pick((F32,), ranks=[3, 4], where=lambda v: 0 not in v.shape)
    d.put(d.rng.choice(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"]), [x], F32)


@sized(2)
def pad_axes(d):
    if d.opset < 18:
        raise Refused
    x = d.pick((F32, I64), ranks=range(1, 5))
    axis = d.rng.randrange(x.rank)
    pads = vector(d, d.rng.randint(0, 2), size_in(d, -1, 4))
    d.put("Pad", [x, pads, scalar(d, 1, x.dtype), d.ints(as_axis(d, axis, x.rank))], x.dtype, grain=x.grain)


@sized()
def squeeze_all(d):
    """How many axes go depends on the sizes."""
    x = d.pick(ranks=range(1, 5))
    d.put("Squeeze", [x], x.dtype, grain=x.grain)


@sized(2)
def variadic(d):
    x = d.pick((F32, F64))
    others = [d.fellow(x, broadcasts, lax=0.4) for _ in range(d.rng.randint(1, 3))]
    d.put(d.rng.choice(["Max", "Min", "Sum", "Mean"]), [x, *others], x.dtype)


@sized(2)
def slices(d):
    """Several axes at once, backwards, too; bounds may be computed."""
    x = d.pick(ranks=range(2, 5))
    axes = d.rng.sample(range(x.rank), 2)
    steps = [d.rng.choice([1, -1, 2]), d.rng.choice([1, 1, 3, -2])]
    far = [2**31 if step > 0 else -2**31 for step in steps]
    starts = [d.rng.choice([0, 1]) if step > 0 else d.rng.choice([-1, 2**31]) for step in steps]
    starts[1] = any_size(d) if d.rng.random() < 0.4 else starts[1]
    ends = [far[0], any_size(d) if d.rng.random() < 0.4 else far[1]]
    out = d.put("Slice", [x, vector(d, *starts), vector(d, *ends), d.ints(*axes), d.ints(*steps)], x.dtype, grain=x.grain)
    if 0 in out.shape and d.rng.random() < 0.9:
        raise Refused


@sized()
def scattered(d):
    """Reductions into a value at places that come from a shape."""
    x = d.pick((F32, I64), ranks=range(1, 4), where=lambda v: 0 not in v.shape and v.bound < 100)
    if d.opset < 18:
        raise Refused
    at = vector(d, size_in(d, 0, x.shape[0] - 1), 0)
    rows = d.put("Unsqueeze", [at, d.ints(-1)], I64, grain=0)
    updates = d.put("Gather", [x, at], x.dtype, grain=x.grain, axis=0)
    d.hide(rows)
    d.put("ScatterND", [x, rows, updates], x.dtype, grain=x.grain, reduction=d.rng.choice(["add", "max", "min"]))


@sized()
def batched_gather(d):
    x = d.pick((F32, I64), ranks=range(2, 4), where=lambda v: 0 not in v.shape)
    index = d.put("Range", [scalar(d, 0), size_of_axis(d, x), scalar(d, 1)], I64, grain=0)
    limit = scalar(d, 1)
    index = d.put("Min", [index, limit], I64, grain=0)
    rows = d.put("Reshape", [index, d.ints(-1, 1)], I64, grain=0)
    d.hide(index, rows)
    d.put("GatherND", [x, rows], x.dtype, grain=x.grain, batch_dims=1)


@sized()
def flat_compress(d):
    x = d.pick((F32, I64), ranks=range(1, 4), where=lambda v: 0 not in v.shape)
    mask = d.array(BOOL, (d.rng.randint(1, int(np.prod(x.shape))),))
    mask[0] = True
    d.put("Compress", [x, d.constant(mask)], x.dtype, grain=x.grain)


@sized()
def quantised_axis(d):
    """Scales along an axis, of a computed number."""
    x = d.pick((F32,), ranks=range(1, 4), exact=True, where=lambda v: 0 not in v.shape)
    axis = d.rng.randrange(x.rank)
    scale = fitted(d, x, (x.shape[axis],), 0, 0.5)
    q = d.put("QuantizeLinear", [x, scale], U8, grain=0, axis=axis)
    d.put("DequantizeLinear", [q, scale], F32, grain=1, axis=axis)


@sized()
def all_of_unique(d):
    x = d.pick((F32, I64), ranks=range(1, 3), exact=True, where=lambda v: 0 not in v.shape)
    d.emit("Unique", [x], [(x.dtype, (), 0.0, x.grain), *[(I64, (), 0.0, 0)] * 3], sorted=d.rng.randint(0, 1) or 1)


@sized()
def ellipsis(d):
    x = d.pick((F32, F64), ranks=[3, 4], where=lambda v: 0 not in v.shape)
    y = d.fellow(x, lambda xs, ys: len(xs) == len(ys) and 0 not in ys and xs[-1] == ys[-1] and broadcasts(xs[:-2], ys[:-2]),
                 lax=0.4)
    d.put("Einsum", [x, y], x.dtype, equation="...ij,...kj->...ik")


@sized()
def space(d):
    """Blocks of two: axes must be even."""
    x = d.pick((F32,), ranks=[4], where=lambda v: 0 not in v.shape)
    if x.shape[1] % 4 == 0 and d.rng.random() < 0.5:
        return d.put("DepthToSpace", [x], F32, grain=x.grain, blocksize=2)
    return d.put("SpaceToDepth", [x], F32, grain=x.grain, blocksize=2)


@sized()
def boxes(d):
    """As many boxes as the data has good ones."""
    n = size_in(d, 1, 8)
    shape = d.put("ConstantOfShape", [vector(d, 1, n, 4)], F32, grain=0)
    corners = d.put("Add", [shape, d.constant(np.array([0, 0, 1, 1], F32))], F32, grain=0)
    scores = d.put("ConstantOfShape", [vector(d, 1, 1, n)], F32, grain=0)
    d.hide(shape, corners, scores)
    chosen = d.put("NonMaxSuppression", [corners, scores, scalar(d, [d.rng.randint(1, 3)])], I64, grain=0)
    d.put("Cast", [chosen], I32, grain=0, to=6)


@sized()
def lengths(d):
    """A recurrent layer that is told how long each sequence is."""
    x = d.pick((F32,), ranks=[3], where=lambda v: 0 not in v.shape)
    w, r = d.weight(F32, (1, 3, x.shape[2])), d.weight(F32, (1, 3, 1))
    ones = d.put("ConstantOfShape", [vector(d, size_of_axis(d, x))], F32, grain=0)
    lens = d.put("Cast", [ones], I32, grain=0, to=6)
    more = d.put("Add", [lens, scalar(d, d.rng.randint(1, x.shape[0]), np.int32)], I32, grain=0)
    d.hide(ones, lens, more)
    d.put("GRU", [x, w, r, "", more], F32, F32, hidden_size=1)


@sized()
def resized_axes(d):
    if d.opset < 18:
        raise Refused
    x = d.pick((F32,), ranks=[4], where=lambda v: 0 not in v.shape)
    axes = d.rng.choice([[2, 3], [3], [2]])
    if d.rng.random() < 0.5:
        policy = d.rng.choice(["stretch", "not_larger", "not_smaller"])
        inputs = [x, "", "", vector(d, *[size_in(d, 1, 14) for _ in axes])]
    else:
        policy, inputs = "stretch", [x, "", d.constant(np.array([d.rng.choice([0.6, 1.4, 2.0]) for _ in axes], F32))]
    d.put("Resize", inputs, F32, mode="linear", axes=axes, keep_aspect_ratio_policy=policy)
