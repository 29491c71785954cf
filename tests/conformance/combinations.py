"""Operators that sample, pad and pool: a row for every combination of their modes.

groups() yields Group: a graph of one node per row, all fed by the same few inputs. ONNX's reference evaluator says what
each node gives; rows for which it is wrong are not made, see unjudged().
"""

import itertools
from dataclasses import dataclass, field

import numpy as np
from onnx import ValueInfoProto, helper, numpy_helper


@dataclass
class Row:
    op: str
    inputs: list  # names of the group's inputs, arrays for constants, None for an input that is left out
    attributes: dict = field(default_factory=dict)
    outputs: int = 1

    def name(self):
        constants = [np.array2string(a, separator=",", threshold=100) for a in self.inputs if isinstance(a, np.ndarray)]
        named = [f"{key}={value}" for key, value in self.attributes.items()]
        return " ".join([self.op, *named, *constants]).replace("\n", "")


@dataclass
class Group:
    name: str
    opset: int
    inputs: dict
    rows: list

    def model(self):
        nodes, constants, outputs = [], [], []
        for i, row in enumerate(self.rows):
            names = []
            for k, given in enumerate(row.inputs):
                if isinstance(given, np.ndarray):
                    constants.append(numpy_helper.from_array(given, f"constant_{i}_{k}"))
                    given = constants[-1].name
                names.append(given or "")
            made = [row.name(), *(f"{row.name()} output {k}" for k in range(1, row.outputs))]
            outputs += made
            nodes.append(helper.make_node(row.op, names, made, name=f"row_{i}", **row.attributes))
        typed = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
                 for name, value in self.inputs.items()]
        graph = helper.make_graph(nodes, self.name, typed, [ValueInfoProto(name=name) for name in outputs], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 10
        return model


def grid(**choices):
    """Every way to choose one value for each key."""
    for values in itertools.product(*choices.values()):
        yield dict(zip(choices, values))


def floats(*values):
    return np.array(values, np.float32)


def ints(*values):
    return np.array(values, np.int64)


def numbers(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def grid_sample(rng):
    """Positions inside, at the borders and far outside."""
    edges = floats(-1, 1, 0, -1.2, 1.3)
    for opset, modes in (16, ("bilinear", "nearest", "bicubic")), (20, ("linear", "nearest", "cubic")):
        for space in ((4, 5), (1, 3)), ((3, 4, 5),):
            for size in space:
                if len(size) == 3 and opset < 20:
                    continue
                x = numbers(rng, 2, 2, *size)
                at = (rng.random((2, 7, *([3] * (len(size) - 1)), len(size))) * 5 - 2.5).astype(np.float32)
                at.reshape(-1)[:edges.size] = edges
                rows = [Row("GridSample", ["x", "grid"], choice) for choice in grid(
                    mode=modes, padding_mode=("zeros", "border", "reflection"), align_corners=(0, 1))]
                yield Group(f"grid_sample_{opset}_{'x'.join(map(str, size))}", opset, {"x": x, "grid": at}, rows)
    yield Group("grid_sample_f64", 20, {"x": x.astype(np.float64), "grid": at.astype(np.float64)}, rows)


GEOMETRIES = {
    "up": (floats(1, 1, 2, 3), None),
    "up_fraction": (floats(1, 1, 1.3, 1.7), None),
    "down": (floats(1, 1, 0.5, 0.6), None),
    "mixed": (floats(1, 1, 2.5, 0.4), None),
    "sizes_up": (None, ints(1, 1, 7, 9)),
    "sizes_down": (None, ints(1, 1, 3, 2)),
    "sizes_one": (None, ints(1, 1, 1, 1)),
}
COORDINATES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")


def resize(rng):
    """Every mode at every geometry."""
    styles = {
        "nearest": grid(mode=["nearest"], nearest_mode=("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")),
        "linear": grid(mode=["linear"], exclude_outside=(0, 1), antialias=(0, 1)),
        "cubic": grid(mode=["cubic"], cubic_coeff_a=(-0.75, -0.5), exclude_outside=(0, 1), antialias=(0, 1)),
    }
    styles = {mode: list(style) for mode, style in styles.items()}
    for (geometry, (scales, sizes)), (mode, style) in itertools.product(GEOMETRIES.items(), styles.items()):
        rows = [Row("Resize", ["x", None, scales, sizes], {**one, "coordinate_transformation_mode": coordinates})
                for one in style for coordinates in COORDINATES]
        yield Group(f"resize_{mode}_{geometry}", 19, {"x": numbers(rng, 1, 1, 4, 5)}, rows)


def resize_crop(rng):
    """A region of the input, reaching beyond it, with what stands outside."""
    regions = floats(0, 0, 0.23, 0.11, 1, 1, 0.9, 0.7), floats(0, 0, -0.3, 0.4, 1, 1, 1.2, 1.5), floats(0, 0, 0.8, 0.5, 1, 1, 0.1, 0.5)
    rows = []
    for mode, roi, outside in itertools.product(("nearest", "linear", "cubic"), regions, (0.0, 7.5)):
        for scales, sizes in GEOMETRIES.values():
            rows.append(Row("Resize", ["x", roi, scales, sizes], {
                "mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": outside}))
    yield Group("resize_crop", 19, {"x": numbers(rng, 1, 1, 4, 5)}, rows)
    two = [Row("Resize", ["x", floats(0.43, -0.2, 0.6, 1.1), None, ints(3, 3)], {
        "mode": mode, "axes": [2, 3], "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 2.5})
        for mode in ("nearest", "linear", "cubic")]
    yield Group("resize_crop_axes", 19, {"x": numbers(rng, 1, 1, 4, 5)}, two)


def resize_axes(rng):
    """Some axes only, in any order, with the aspect ratio kept or not; other ranks."""
    styles = list(grid(mode=("nearest", "linear", "cubic"), coordinate_transformation_mode=COORDINATES))
    rows = []
    for style in styles:
        for axes, policy in itertools.product(([2, 3], [3, 2], [-1, -2]), ("stretch", "not_larger", "not_smaller")):
            for target in ints(11, 8), ints(3, 2), ints(2, 11):
                rows.append(Row("Resize", ["x", None, None, target], {**style, "axes": axes, "keep_aspect_ratio_policy": policy}))
        rows.append(Row("Resize", ["x", None, floats(1.5), None], {**style, "axes": [3]}))
        rows.append(Row("Resize", ["x", None, floats(0.5, 2), None], {**style, "axes": [3, 1]}))
    yield Group("resize_axes", 19, {"x": numbers(rng, 1, 2, 4, 5)}, rows)
    for rank in 3, 5:
        targets = (floats(*[1] * (rank - 2), 1.6, 0.7), None), (None, ints(*[1, 2, 3][:rank - 2], 3, 9))
        # The evaluator, and ONNX Runtime, know cubic for two axes.
        rows = [Row("Resize", ["x", None, *target], style) for style in styles for target in targets if style["mode"] != "cubic"]
        yield Group(f"resize_rank_{rank}", 19, {"x": numbers(rng, *[1, 2, 3][:rank - 2], 4, 5)}, rows)
    for opset in 11, 13, 18:
        styles = grid(mode=("nearest", "linear", "cubic"),
                      coordinate_transformation_mode=("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"))
        rows = [Row("Resize", ["x", floats(), scales, None], style) for style in styles
                for scales, _ in list(GEOMETRIES.values())[:4]]
        yield Group(f"resize_opset_{opset}", opset, {"x": numbers(rng, 1, 1, 4, 5)}, rows)


def roi_align(rng):
    """Regions inside, beyond the borders, turned around and empty."""
    rois = floats(0.3, 0.2, 7.4, 5.1, -3, -2, 4, 9, 2.2, 2.2, 2.3, 2.3, 6, 5, 2, 1, 3, 3, 3, 3).reshape(-1, 4)
    batch = ints(0, 1, 1, 0, 1)
    feed = {"x": numbers(rng, 2, 2, 6, 8), "rois": rois, "batch": batch}
    sizes = list(grid(mode=("avg", "max"), sampling_ratio=(0, 1, 2, 3), spatial_scale=(1.0, 0.5), output_height=(1, 3), output_width=(2,)))
    for opset, coordinates in (10, [None]), (16, ("half_pixel", "output_half_pixel")), (22, ("half_pixel", "output_half_pixel")):
        rows = [Row("RoiAlign", ["x", "rois", "batch"], one if c is None else {**one, "coordinate_transformation_mode": c})
                for one in sizes for c in coordinates]
        yield Group(f"roi_align_{opset}", opset, feed, rows)


def pad(rng):
    """Pads that add and that cut, on all axes or some."""
    patterns = [(0, 1, 2, 1), (2, 0, 0, 3), (1, 2, 1, 2), (-1, 0, 1, 2), (0, -2, 1, -1), (2, -1, -1, 0), (0, 0, 0, 0)]
    rows = []
    for mode, pads in itertools.product(("constant", "edge", "reflect", "wrap"), patterns):
        rows.append(Row("Pad", ["x", ints(*pads)], {"mode": mode}))
        rows.append(Row("Pad", ["x", ints(*pads), floats(1.5).reshape(())], {"mode": mode}))
        for axes in (1,), (-2,), (1, 0), (-1, 0):
            chosen = ints(*[pads[i] for i in range(len(axes))], *[pads[2 + i] for i in range(len(axes))])
            rows.append(Row("Pad", ["x", chosen, None, ints(*axes)], {"mode": mode}))
    yield Group("pad", 19, {"x": numbers(rng, 3, 4)}, rows)
    older = [Row("Pad", ["x", ints(*pads)], {"mode": mode}) for mode in ("constant", "edge", "reflect") for pads in patterns[:3]]
    for opset in 11, 13, 18:
        yield Group(f"pad_{opset}", opset, {"x": numbers(rng, 3, 4)}, older)
    deep = [Row("Pad", ["x", ints(0, 1, 2, 1, 0, 0, 1, 2)], {"mode": mode}) for mode in ("constant", "edge", "reflect", "wrap")]
    yield Group("pad_rank_4", 19, {"x": numbers(rng, 1, 2, 3, 4)}, deep)


def windows(rank):
    """Kernel, strides, dilations and pads of some windows."""
    chosen = ((3, 1, 1, 0, 0), (3, 2, 1, 1, 1), (2, 2, 1, 0, 1), (3, 3, 1, 1, 0), (2, 1, 2, 1, 0), (3, 2, 2, 1, 1),
              (1, 2, 1, 0, 0))
    for kernel, stride, dilation, begin, end in chosen:
        shift = list(range(rank))
        yield {"kernel_shape": [kernel + i % 2 for i in shift], "strides": [stride + i % 2 for i in shift],
               "dilations": [dilation] * rank}, [begin] * rank + [end] * rank


def pools(rng):
    spaces = {"1": (9,), "2": (7, 8), "3": (5, 7, 5), "wide": (5, 37)}
    extras = {
        "MaxPool": (22, list(grid(storage_order=(0, 1))), 2),
        "AveragePool": (22, list(grid(count_include_pad=(0, 1))), 1),
        "LpPool": (22, list(grid(p=(1, 2, 3))), 1),
    }
    for (op, (opset, more, outputs)), (name, space) in itertools.product(extras.items(), spaces.items()):
        rows = []
        for (window, pads), ceil_mode, extra in itertools.product(windows(len(space)), (0, 1), more):
            rows.append(Row(op, ["x"], {**window, **extra, "ceil_mode": ceil_mode, "pads": pads}, outputs))
            for auto_pad in "SAME_UPPER", "SAME_LOWER", "VALID":
                rows.append(Row(op, ["x"], {**window, **extra, "ceil_mode": ceil_mode, "auto_pad": auto_pad}, outputs))
        yield Group(f"{op.lower()}_{name}", opset, {"x": numbers(rng, 1, 2, *space)}, rows)
    for name, space in spaces.items():
        rows = [Row(op, ["x"]) for op in ("GlobalAveragePool", "GlobalMaxPool")] + [Row("GlobalLpPool", ["x"], {"p": p}) for p in (1, 2, 3)]
        yield Group(f"global_{name}", 22, {"x": numbers(rng, 2, 3, *space)}, rows)


# Why the evaluator is no judge of a row, for each operator: a function of the row's attributes, its group and the row
# gives the reason, or nothing. Where it is wrong, the operator's text and ONNX Runtime say otherwise.

def no_judge_of_grid_sample(a, group, row):
    space = group.inputs["x"].shape[2:]
    if a["mode"] in ("bilinear", "bicubic"):
        return "it knows the names of version 20 only"
    if a["mode"] == "cubic" and a["padding_mode"] == "border":
        return "it draws the position to the border, not each of the cells; PyTorch and ONNX Runtime do the latter"
    if a["mode"] != "nearest" and a["padding_mode"] == "reflection" and a["align_corners"] and 1 in space:
        return "it divides by the distance of the borders, which is 0"


def no_judge_of_resize(a, group, row):
    x = group.inputs["x"].shape
    if min(a.get("axes", [0])) < 0:
        return "it does not count axes from the back"
    scales, sizes, axes = row.inputs[2], row.inputs[3], a.get("axes", range(len(x)))
    widths = [x[axis] * float(f) for axis, f in zip(axes, scales)] if scales is not None else [float(n) for n in sizes]
    smooth = a["mode"] == "cubic" or a.get("antialias")
    if a["coordinate_transformation_mode"] == "pytorch_half_pixel" and smooth and 1 in map(int, widths):
        return "one cell is read at -0.5, by the text at 0"
    if a["coordinate_transformation_mode"] == "tf_crop_and_resize" and any(abs(w - round(w)) > 1e-3 for w in widths):
        return "the region is spread over a fraction of cells, by the text over the cells there are"


def no_judge_of_roi_align(a, group, row):
    if group.opset < 16:
        return "version 10 is taken for version 16 with its other coordinates"


def no_judge_of_pad(a, group, row):
    if row.inputs[1].min() < 0:
        return "NumPy does not cut"
    if a["mode"] == "reflect" and row.inputs[1].max() >= min(group.inputs["x"].shape):
        return "NumPy reflects again what the text has no name for"


def overhang(a, space):
    """How far the last window of each axis reaches beyond the padding."""
    rank = len(space)
    for i, size in enumerate(space):
        window, stride = (a["kernel_shape"][i] - 1) * a["dilations"][i] + 1, a["strides"][i]
        padded = size + a["pads"][i] + a["pads"][rank + i]
        count = -(-(padded - window) // stride) + 1
        if (count - 1) * stride >= size + a["pads"][i]:
            count -= 1
        yield (count - 1) * stride + window - padded


def no_judge_of_pool(a, group, row):
    if "auto_pad" not in a:
        # LpPool multiplies an average by the size of the window, of which the average leaves out what is beyond.
        if a["ceil_mode"] and max(overhang(a, group.inputs["x"].shape[2:])) > (0 if "p" in a else 1):
            return "half of what the last window needs beyond the padding is padded before the first one"
    elif max(a["dilations"]) > 1:
        return "auto_pad does not count dilations"
    elif a["ceil_mode"]:
        return "it has no ceil_mode with auto_pad"
    elif a["auto_pad"] != "VALID":
        return narrow(a)


def narrow(a):
    if any(k < s for k, s in zip(a["kernel_shape"], a["strides"])):
        return "a window smaller than its stride makes negative pads"


def no_judge_of_max_pool(a, group, row):
    if max(a["strides"] + a["dilations"]) == 1:
        return "its shorter way for plain windows has no places of 1-D pools"
    if a.get("auto_pad") == "SAME_LOWER":
        return "its windows are one too few"
    if a.get("auto_pad") == "SAME_UPPER":
        return narrow(a)
    if a.get("auto_pad") == "VALID" and a["ceil_mode"]:
        return "it has no ceil_mode with VALID"


NO_JUDGE = {
    "GridSample": no_judge_of_grid_sample,
    "Resize": no_judge_of_resize,
    "RoiAlign": no_judge_of_roi_align,
    "Pad": no_judge_of_pad,
    "MaxPool": no_judge_of_max_pool,
    "AveragePool": no_judge_of_pool,
    "LpPool": no_judge_of_pool,
    "GlobalMaxPool": lambda a, group, row: len(group.inputs["x"].shape) != 4 and "it keeps two axes, whatever the rank is",
    "GlobalLpPool": lambda a, group, row: "it does not have it",
}


def unjudged(row, group):
    """Why the evaluator is no judge of the row; nothing where it is."""
    return row.op in NO_JUDGE and NO_JUDGE[row.op](row.attributes, group, row)


def all_groups(seed=0):
    rng = np.random.default_rng(seed)
    for family in grid_sample, resize, resize_crop, resize_axes, roi_align, pad, pools:
        yield from family(rng)


def groups(seed=0):
    """The rows the evaluator is a judge of."""
    for group in all_groups(seed):
        group.rows = [row for row in group.rows if not unjudged(row, group)]
        if group.rows:
            yield group
