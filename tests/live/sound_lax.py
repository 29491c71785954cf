"""sound_lax.py: where ONNX Runtime is no judge of a node. It runs what the operator's text forbids, gives memory as it finds
it, or lets the rounding of a float decide. Each row says why, and is told from what the node sees: nothing else is excused,
and at such a binding all that is not asked of ONNX Runtime still holds. sound_teeth.py has a test of every row.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from onnx import helper

HALF = Fraction(1, 2)
NEAR = Fraction(1, 2**20)  # of a float's rounding, in parts of the number


@dataclasses.dataclass(frozen=True)
class Row:
    operators: str  # their names
    why: str
    holds: Callable  # (node, its inputs and outputs by name) -> bool
    forbidden: bool = False  # the text does not allow it

    def of(self, node):
        return node.op_type in self.operators.split()


def attribute(node, name, default):
    found = [a for a in node.attribute if a.name == name]
    value = helper.get_attribute_value(found[0]) if found else default
    return value.decode() if isinstance(value, bytes) else value


def inputs_of(node, arrays):
    return [arrays.get(name) for name in node.input]


def operators(node):
    """The types of a node and of those in its bodies."""
    yield node.op_type
    for body in (a.g for a in node.attribute if a.HasField("g")):
        for inner in body.node:
            yield from operators(inner)


# Sizes and indices that the text forbids.

def letters(term, shape):
    """(letter, size) of a term of an equation; what an ellipsis stands for broadcasts, and is left out."""
    before, dots, after = term.replace(" ", "").partition("...")
    return [*zip(before, shape), *(zip(reversed(after), reversed(shape)) if dots else ())]


def one_against_more(node, arrays):
    terms, sizes = attribute(node, "equation", "").partition("->")[0].split(","), {}
    for term, array in zip(terms, inputs_of(node, arrays)):
        for letter, size in letters(term, array.shape):
            sizes.setdefault(letter, set()).add(size)
    return any(len(seen) > 1 and 1 in seen for seen in sizes.values())


def other_batches(node, arrays):
    data, indices = inputs_of(node, arrays)
    count = attribute(node, "batch_dims", 0)
    return data.shape[:count] != indices.shape[:count]


def unseen_index(node, arrays):
    data, indices = inputs_of(node, arrays)
    count, width = attribute(node, "batch_dims", 0), indices.shape[-1]
    limits = np.array(data.shape[count:count + width])
    return not arrays[node.output[0]].size and bool(((indices >= limits) | (indices < -limits)).any())


def fits_but_empty(node, arrays):
    shapes, axis = [array.shape for array in inputs_of(node, arrays)], attribute(node, "axis", 0)
    rests = {tuple(np.delete(shape, axis)) for shape in shapes}
    return len(rests) > 1 and any(0 in shape for shape in shapes)


def stretched_by_slope(node, arrays):
    x, slope = inputs_of(node, arrays)
    return np.broadcast_shapes(x.shape, slope.shape) != x.shape


def window_beyond(node, arrays):
    sizes, kernel = arrays[node.input[0]].shape[2:], attribute(node, "kernel_shape", [])
    pads, steps = attribute(node, "pads", [0] * 2 * len(kernel)), attribute(node, "dilations", [1] * len(kernel))
    if attribute(node, "auto_pad", "NOTSET").startswith("SAME"):
        return False
    around = np.add(pads[:len(kernel)], pads[len(kernel):])
    return bool(np.any((np.subtract(kernel, 1) * steps + 1) > np.add(sizes, around)))


def padded_nothing(node, arrays):
    return attribute(node, "mode", "constant") != "constant" and not arrays[node.input[0]].size


def negative_crop(node, arrays):
    return bool((arrays[node.input[1]] < 0).any())


def other_state(node, arrays):
    states = len(node.input) - attribute(node, "num_scan_inputs", 0)
    pairs = [(arrays[before].shape, arrays[after].shape) for before, after in zip(node.input[:states], node.output)
             if before in arrays and after in arrays]
    return any(before != after for before, after in pairs)


# Resize.

def same_shape(node, arrays):
    return arrays[node.output[0]].shape == arrays[node.input[0]].shape


def places(where, size, to, scale):
    """Where the entries of a result lie on an axis of the input; None: not known here."""
    if where == "align_corners":
        return [Fraction(i * (size - 1), to - 1) if to > 1 else Fraction(0) for i in range(to)]
    if where == "pytorch_half_pixel" and to == 1:
        return [Fraction(0)]
    shift = {"asymmetric": Fraction(0), "half_pixel": HALF, "pytorch_half_pixel": HALF}.get(where)
    return None if shift is None else [(i + shift) / scale - shift for i in range(to)]


ROUNDED = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round_prefer_floor": lambda place: math.ceil(place - HALF),
    "round_prefer_ceil": lambda place: math.floor(place + HALF),
}


def nearest(place, rounding, size):
    """The entries that a place may stand for: one, or two where it lies on a border, the right one first."""
    near = NEAR * (1 + abs(place))
    found = [ROUNDED[rounding](p) for p in (place, place - near, place + near)]
    return list(dict.fromkeys(min(max(i, 0), size - 1) for i in found))


def scales_of(node, arrays):
    """By axis; as the sizes have it where no scale is given."""
    x, y = arrays[node.input[0]], arrays[node.output[0]]
    out = [Fraction(to, size) for size, to in zip(x.shape, y.shape)]
    given = arrays.get(node.input[2]) if len(node.input) > 2 else None
    if given is not None and given.size:
        for axis, scale in zip(attribute(node, "axes", range(x.ndim)), given):
            out[axis] = Fraction(float(scale))
    return out


def choices(node, arrays):
    """For each axis, the entries of the input that each of the result may be; None: not known here."""
    x, y = arrays[node.input[0]], arrays[node.output[0]]
    where = attribute(node, "coordinate_transformation_mode", "half_pixel")
    rounding = attribute(node, "nearest_mode", "round_prefer_floor")
    out = []
    for size, to, scale in zip(x.shape, y.shape, scales_of(node, arrays)):
        at = places(where, size, to, scale) if scale != 1 else [Fraction(i) for i in range(to)]
        if at is None:
            return None
        out.append([nearest(place, rounding, size) for place in at])
    return out


def on_border(node, arrays):
    """Whether some entry is not the nearest one, and each is it or its neighbour across a border."""
    x, y = arrays[node.input[0]], arrays[node.output[0]]
    if attribute(node, "mode", "nearest") != "nearest" or not x.size or not y.size:
        return False
    picks = choices(node, arrays)
    if picks is None:
        return False
    sides = [[[c[0] for c in axis], [c[-1] for c in axis]] for axis in picks]
    taken = [x[np.ix_(*side)] == y for side in itertools.product(*sides)]
    return not taken[0].all() and bool(np.any(taken, axis=0).all())


def no_rounds(node, arrays):
    return any(not arrays[name].size for name in node.output[len(node.input) - 2:] if name in arrays)


def product_beyond(node, arrays):
    x, y = arrays[node.input[0]], arrays[node.output[0]]
    return bool(np.isfinite(x).all() and np.isnan(y).any())


ROWS = [
    Row("Einsum", "a letter of one entry is stretched, which the text keeps to the ellipsis", one_against_more, True),
    Row("GatherND", "data and indices have other batches", other_batches, True),
    Row("GatherND", "indices are not looked at where there is nothing to copy", unseen_index, True),
    Row("Concat", "inputs without entries may have any sizes", fits_but_empty, True),
    Row("PRelu", "the slope stretches the input, which the text has the other way only", stretched_by_slope, True),
    Row("AveragePool LpPool MaxPool", "a window may be larger than what it moves over", window_beyond, True),
    Row("Pad", "what has no entries is padded by its edges", padded_nothing, True),
    Row("CenterCropPad", "a size may be negative", negative_crop, True),
    Row("Scan", "a state may get another shape", other_state, True),
    Row("Resize", "what keeps its shape is copied, whatever the scale", same_shape),
    Row("Resize", "places are computed in float, and may fall on the other side of a border", on_border),
    Row("ReduceProd", "products are rounded to the type on the way, and infinity meets zero", product_beyond),
    Row("Loop", "what a loop of no rounds collects has a shape of its own", no_rounds),
]


# What ONNX's inference says of a shape with names, wrongly: ONNX Runtime gives the value the buffer of another by it.

def one_kept(node, arrays):
    """What an ellipsis stands for has a 1 in some input, and more in another."""
    terms, shapes = attribute(node, "equation", "").partition("->")[0].replace(" ", "").split(","), []
    for term, array in zip(terms, inputs_of(node, arrays)):
        before, dots, after = term.partition("...")
        if dots:
            shapes.append(array.shape[len(before):array.ndim - len(after)])
    whole = np.broadcast_shapes(*shapes)
    return any(one == 1 != size for shape in shapes for one, size in zip(reversed(shape), reversed(whole)))


INFERENCE = [Row("Einsum", "of the sizes of an ellipsis, inference keeps a 1 beside one with a name", one_kept)]

# When these have no entries, the shape may be another than the text's, the entries memory as it is found, and the process die.
NOT_ON_NOTHING = """
ArgMax ArgMin AveragePool BatchNormalization Conv ConvInteger ConvTranspose CumSum Einsum GRU Gemm GlobalAveragePool
GlobalLpPool GlobalMaxPool GroupNormalization InstanceNormalization LSTM LayerNormalization LogSoftmax LpNormalization
LpPool MatMul MatMulInteger MaxPool MeanVarianceNormalization QLinearConv QLinearMatMul RNN ReduceL1 ReduceL2 ReduceLogSum
ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Softmax TopK Unique
""".split()


def not_asked(node, arrays):
    """Why ONNX Runtime is not asked to run the node; arrays: its inputs by name."""
    if any(not array.size for array in arrays.values()):
        wrong = [op for op in operators(node) if op in NOT_ON_NOTHING]
        return f"{wrong[0]} of nothing" if wrong else ""
    return ""


def doubt_of(node, arrays):
    """The row by which ONNX Runtime's answer may be wrong, or None; arrays: inputs and outputs by name."""
    return next((row for row in ROWS if row.of(node) and row.holds(node, arrays)), None)


def misinferred(node, arrays):
    """The row by which ONNX's inference is wrong about the node's shape, or None."""
    return next((row for row in INFERENCE if row.of(node) and row.holds(node, arrays)), None)
