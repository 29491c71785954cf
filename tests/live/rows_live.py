#!/usr/bin/env python3
"""rows_live.py: random graphs of which `check` says that rows are independent give, on ONNX Runtime, for several rows
what they give row by row.

Environment: ANYSHAPE (the program), ANYSHAPE_SEED, ANYSHAPE_FULL=1 for 6,000 graphs, ANYSHAPE_GRAPHS for any number.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import rows_steps
from onnx import TensorProto, helper

CLI = os.environ["ANYSHAPE"]
SAMPLE, FULL, CHUNK = 600, 6000, 200
ROWS, TIME, CHANNELS = 3, 2, 4
UNARY = ("Relu", "Tanh", "Neg", "Sigmoid", "Identity", "Abs")
BINARY = ("Add", "Mul", "Sub", "Max")
REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax")


class Graph:
    """Values with the shapes they have at ROWS rows."""

    def __init__(self, draw):
        self.draw, self.nodes, self.tensors, self.shapes = draw, [], [], {}
        self.axis = draw.randrange(3)
        sizes, names = [TIME, CHANNELS], ["t", CHANNELS]
        sizes.insert(self.axis, ROWS)
        names.insert(self.axis, "n")
        self.inputs = [self.input("x", sizes, names)]
        if draw.random() < 0.4:
            self.inputs.append(self.input("z", sizes, names))
        if draw.random() < 0.3:
            self.inputs.append(self.input("w", [TIME, CHANNELS], ["t", CHANNELS]))

    def input(self, name, sizes, names):
        self.shapes[name] = tuple(sizes)
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, names)

    def constant(self, array):
        name = f"c{len(self.tensors)}"
        self.tensors.append(onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, type, inputs, shape, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(type, inputs, names, name=names[0], **attributes))
        self.shapes[names[0]] = tuple(shape)
        return names[0]

    def pick(self, rank=None):
        found = [name for name, shape in self.shapes.items() if rank is None or len(shape) >= rank]
        # Chains go deeper than an even choice would.
        return self.draw.choice(found[-3:]) if found and self.draw.random() < 0.7 else self.draw.choice(found or ["x"])

    def step(self):
        self.draw.choice(STEPS)(self)


def unary(g):
    x = g.pick()
    g.add(g.draw.choice(UNARY), [x], g.shapes[x])


def binary(g):
    x, y = g.pick(), g.pick()
    try:
        shape = np.broadcast_shapes(g.shapes[x], g.shapes[y])
    except ValueError:
        y = g.constant(np.float32(g.draw.random()))
        shape = g.shapes[x]
    g.add(g.draw.choice(BINARY), [x, y], shape)


def with_constant(g):
    x = g.pick(1)
    shape = tuple(size if g.draw.random() < 0.5 else 1 for size in g.shapes[x][-2:])
    fixed = tuple(1 if size not in (CHANNELS,) else size for size in shape)
    g.add(g.draw.choice(BINARY), [x, g.constant(np.float32(np.random.rand(*fixed)))], g.shapes[x])


def along(g):
    x = g.pick(1)
    axis = g.draw.randrange(len(g.shapes[x])) if g.shapes[x] else None
    if axis is None:
        return
    kind = g.draw.choice(("Softmax", "LayerNormalization", "CumSum", "LogSoftmax"))
    if kind == "CumSum":
        g.add(kind, [x, g.constant(np.int64(axis))], g.shapes[x])
    elif kind == "LayerNormalization":
        if g.shapes[x][-1] == CHANNELS:
            g.add(kind, [x, g.constant(np.ones(CHANNELS, np.float32))], g.shapes[x], axis=-1)
    else:
        g.add(kind, [x], g.shapes[x], axis=axis)


def reduced(g):
    x = g.pick(1)
    rank = len(g.shapes[x])
    if not rank:
        return
    axis, keep = g.draw.randrange(rank), g.draw.randrange(2)
    shape = [size if i != axis else 1 for i, size in enumerate(g.shapes[x]) if keep or i != axis]
    kind = g.draw.choice(REDUCTIONS)
    if kind == "ReduceSum":
        g.add(kind, [x, g.constant(np.array([axis]))], shape, keepdims=keep)
    else:
        g.add(kind, [x], shape, axes=[axis], keepdims=keep)


def transposed(g):
    x = g.pick(2)
    perm = list(range(len(g.shapes[x])))
    g.draw.shuffle(perm)
    g.add("Transpose", [x], [g.shapes[x][i] for i in perm], perm=perm)


def reshaped(g):
    """Axes joined by -1 and 0, or the sizes of another value of as many entries."""
    x = g.pick(1)
    shape = g.shapes[x]
    same = [name for name, other in g.shapes.items() if name != x and np.prod(other) == np.prod(shape) and other]
    if same and g.draw.random() < 0.5:
        other = g.draw.choice(same)
        target = g.add("Shape", [other], [len(g.shapes[other])])
        del g.shapes[target]
        g.add("Reshape", [x, target], g.shapes[other])
        return
    if len(shape) < 2:
        return
    at = g.draw.randrange(len(shape) - 1)
    joined = (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :])
    if at == 0:
        target = [-1, *shape[2:]]
        known = all(size == CHANNELS for size in shape[2:])
    else:
        target = [0] * at + [-1, *shape[at + 2 :]]
        known = all(size == CHANNELS for size in shape[at + 2 :])
    if known:
        g.add("Reshape", [x, g.constant(np.array(target, np.int64))], joined)


def split_channels(g):
    x = g.pick(1)
    shape = g.shapes[x]
    if shape and shape[-1] == CHANNELS and len(shape) < 5:
        target = [0] * (len(shape) - 1) + [2, 2]
        g.add("Reshape", [x, g.constant(np.array(target, np.int64))], (*shape[:-1], 2, 2))


def matmul(g):
    x = g.pick(2)
    shape = g.shapes[x]
    if len(shape) < 2:
        return
    if shape[-1] == CHANNELS and g.draw.random() < 0.5:
        weight = np.float32(np.random.rand(CHANNELS, CHANNELS))
        g.add("MatMul", [x, g.constant(weight)], shape)
        return
    other = g.pick(2)
    if len(g.shapes[other]) >= 2 and g.shapes[other][-2] == shape[-1]:
        try:
            batch = np.broadcast_shapes(shape[:-2], g.shapes[other][:-2])
        except ValueError:
            return
        g.add("MatMul", [x, other], (*batch, shape[-2], g.shapes[other][-1]))


def concat(g):
    x = g.pick(1)
    axis = g.draw.randrange(max(1, len(g.shapes[x])))
    like = [name for name, shape in g.shapes.items() if shape == g.shapes[x] and shape]
    if like:
        shape = list(g.shapes[x])
        shape[axis] *= 2
        g.add("Concat", [x, g.draw.choice(like)], shape, axis=axis)


def gathered(g):
    x = g.pick(1)
    if g.shapes[x]:
        axis, index = g.draw.randrange(len(g.shapes[x])), g.draw.choice((0, -1))
        shape = [size for i, size in enumerate(g.shapes[x]) if i != axis]
        g.add("Gather", [x, g.constant(np.int64(index))], shape, axis=axis)


def sliced(g):
    x = g.pick(1)
    if not g.shapes[x]:
        return
    axis, start, end = g.draw.randrange(len(g.shapes[x])), g.draw.choice((0, 0, 1)), g.draw.choice((1, 2, 2**62))
    shape = list(g.shapes[x])
    shape[axis] = len(range(shape[axis])[start:end])
    g.add("Slice", [x, *(g.constant(np.array([n], np.int64)) for n in (start, end, axis))], shape)


def padded(g):
    x = g.pick(1)
    rank = len(g.shapes[x])
    pads = [g.draw.choice((0, 0, 0, 1)) for _ in range(2 * rank)]
    shape = [size + pads[i] + pads[i + rank] for i, size in enumerate(g.shapes[x])]
    if rank:
        g.add("Pad", [x, g.constant(np.array(pads, np.int64))], shape)


def unsqueezed(g):
    x = g.pick()
    axis = g.draw.randrange(len(g.shapes[x]) + 1)
    if len(g.shapes[x]) < 5:
        shape = [*g.shapes[x][:axis], 1, *g.shapes[x][axis:]]
        g.add("Unsqueeze", [x, g.constant(np.array([axis]))], shape)


def counted(g):
    """What is made of sizes: a quotient by one, or a constant for each entry."""
    x, axis = g.pick(1), 0
    if not g.shapes[x]:
        return
    axis = g.draw.randrange(len(g.shapes[x]))
    if g.draw.random() < 0.5:
        size = g.add("Shape", [x], (1,), start=axis, end=axis + 1)
        number = g.add("Cast", [size], (1,), to=TensorProto.FLOAT)
        del g.shapes[size]
        g.add("Div", [x, number], g.shapes[x])
        return
    sizes = g.add("Shape", [x], (len(g.shapes[x]),))
    del g.shapes[sizes]
    if g.draw.random() < 0.5:
        g.add("ConstantOfShape", [sizes], g.shapes[x], value=onnx.numpy_helper.from_array(np.array([0.5], np.float32)))
    else:
        token = g.constant(np.float32(np.random.rand(CHANNELS if g.shapes[x][-1] == CHANNELS else 1)))
        g.add("Expand", [token, sizes], g.shapes[x])


def recurrent(g):
    x = g.pick(3)
    shape = g.shapes[x]
    if len(shape) == 3 and shape[-1] == CHANNELS:
        weights = [g.constant(np.float32(np.random.rand(1, 3 * 2, k) - 0.5)) for k in (CHANNELS, 2)]
        y = g.add("GRU", [x, *weights], (shape[0], 1, shape[1], 2), hidden_size=2)
        g.add("Identity", [y], g.shapes[y])


def conv(g):
    x = g.pick(3)
    shape = g.shapes[x]
    if len(shape) == 3 and shape[1] == CHANNELS:
        g.add("Conv", [x, g.constant(np.float32(np.random.rand(CHANNELS, CHANNELS, 3)))], shape, pads=[1, 1])
    elif len(shape) >= 3:
        g.add("GlobalAveragePool", [x], (*shape[:2], *(1 for _ in shape[2:])))


STEPS = (unary, binary, binary, with_constant, along, along, reduced, transposed, transposed, reshaped, reshaped,
         split_channels, matmul, matmul, concat, gathered, sliced, padded, unsqueezed, counted, recurrent, conv,
         *rows_steps.STEPS)  # fmt: skip


def drawn(seed):
    draw = random.Random(seed)
    np.random.seed(seed % 2**32)
    g = Graph(draw)
    for _ in range(draw.randrange(1, 7)):
        g.step()
    last = list(g.shapes)[-1]
    if last in {value.name for value in g.inputs}:
        return None
    outputs = [helper.make_tensor_value_info(last, TensorProto.FLOAT, None)]
    graph = helper.make_graph(g.nodes, "g", g.inputs, outputs, g.tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return g, model.SerializeToString()


def run(session, feed):
    try:
        return session.run(None, feed)[0]
    except Exception:
        return None


def differs(g, model, rows):
    """A sentence where the joined run is not the runs row by row; None: it is; "": the model does not run."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception:
        return ""
    random_of = np.random.default_rng(7)
    feed = {value.name: random_of.standard_normal(g.shapes[value.name]).astype(np.float32) for value in g.inputs}
    joined = run(session, feed)
    alone = []
    for row in range(ROWS):
        one = {name: value if name == "w" else value.take([row], g.axis) for name, value in feed.items()}
        alone.append(run(session, one))
    if joined is None or any(one is None for one in alone):
        return ""
    output = rows["outputs"][0] if rows.get("outputs") else None
    expected = np.concatenate(alone, output["axis"]) if output else alone[0]
    if output is None and any(not np.array_equal(one, alone[0], equal_nan=True) for one in alone):
        return "the rows have different outputs"
    if joined.shape != expected.shape:
        return f"shape {joined.shape} and {expected.shape}"
    same = np.allclose(joined, expected, rtol=1e-3, atol=1e-4, equal_nan=True)
    return None if same else "other values"


def chunk(seeds, folder):
    made = {f"{seed}.onnx": graph for seed in seeds if (graph := drawn(seed))}
    for name, (_, model) in made.items():
        (folder / name).write_bytes(model)
    told = subprocess.run([CLI, "check", "--format", "json", *made], cwd=folder, capture_output=True, text=True)
    reports = json.loads(told.stdout)
    for report in reports if isinstance(reports, list) else [reports]:
        g, model = made[report["model"]]
        rows = [one for one in report.get("rows", []) if one["symbol"] == "n"]
        if not rows:
            continue
        yield report["model"], rows[0], g, model


def main():
    seed = int(os.environ.get("ANYSHAPE_SEED", time.time_ns() % 2**31))
    print(f"seed {seed}")
    count = int(os.environ.get("ANYSHAPE_GRAPHS", FULL if os.environ.get("ANYSHAPE_FULL") else SAMPLE))
    proved = ran = wrong = mixed = 0
    for first in range(0, count, CHUNK):
        with tempfile.TemporaryDirectory() as folder:
            for name, rows, g, model in chunk(range(seed + first, seed + min(first + CHUNK, count)), Path(folder)):
                if not rows["independent"]:
                    mixed += 1
                    continue
                proved += 1
                why = differs(g, model, rows)
                ran += why != ""
                if why:
                    wrong += 1
                    print(f"{name} (ANYSHAPE_SEED={name[:-5]} ANYSHAPE_GRAPHS=1): {why}: {rows}")
                    print("  " + " ".join(f"{n.op_type}({', '.join(n.input)})" for n in g.nodes))
    print(f"rows: {count} graphs, {proved} proved, {ran} of them run, {mixed} not proved, {wrong} wrong")
    return 1 if wrong or ran < count // 10 or mixed < count // 10 else 0


if __name__ == "__main__":
    sys.exit(main())
