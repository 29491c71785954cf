#!/usr/bin/env python3
"""write_allocation_cases.py OUT: models whose entries, not only their shapes, say how much there is to do.

OUT/<case>/model.onnx, OUT/<case>/test_data_set_0/{input,output}_<j>.pb, for anyshape_allocations: reserve() learns on
zeros what a step takes, these entries ask for more. Outputs have the right type and shape, their entries are zeros.
"""
import pathlib
import shutil
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("com.microsoft", 1)]
RNG = np.random.default_rng(0)


def write(out, name, nodes, inputs, outputs, opsets=None):
    """inputs, outputs: name -> array, in order."""
    def infos(values):
        return [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                for n, v in values.items()]

    graph = helper.make_graph(nodes, name, infos(inputs), infos(outputs))
    model = helper.make_model(graph, opset_imports=opsets or OPSETS, ir_version=8)
    data = out / name / "test_data_set_0"
    data.mkdir(parents=True)
    (out / name / "model.onnx").write_bytes(model.SerializeToString())
    for kind, values in (("input", inputs), ("output", outputs)):
        for j, (n, value) in enumerate(values.items()):
            (data / f"{kind}_{j}.pb").write_bytes(numpy_helper.from_array(value, n).SerializeToString())


def normal(shape, dtype=np.float32):
    return (3 * RNG.standard_normal(shape)).astype(dtype)


def grouped(out, name, queries, dtype=np.float32, inputs=(), packed=False, cache=200, present=True, **attributes):
    """GroupQueryAttention of 3 sequences of different lengths over caches of 200 steps; inputs: number -> array."""
    batch, heads, shared, size = 3, 4, 2, 16
    width = (heads + 2 * shared if packed else heads) * size
    feeds = {0: normal((batch, queries, width), dtype)}
    if not packed:
        feeds |= {i: normal((batch, queries, shared * size), dtype) for i in (1, 2)}
    feeds |= {i: normal((batch, shared, cache, size), dtype) for i in (3, 4)}
    feeds |= {5: np.array([10, 150, cache - 1], np.int32), 6: np.array([cache], np.int32)}
    feeds |= dict(inputs)
    names = [f"i{i}" if i in feeds else "" for i in range(max(feeds) + 1)]
    outputs = {"y": np.zeros((batch, queries, heads * size), dtype)}
    if present:
        outputs |= {n: np.zeros((batch, shared, cache, size), dtype) for n in ("present_key", "present_value")}
    node = helper.make_node("GroupQueryAttention", names, list(outputs), domain="com.microsoft", num_heads=heads,
                            kv_num_heads=shared, **attributes)
    write(out, name, [node], {f"i{i}": feeds[i] for i in sorted(feeds)}, outputs)


def write_grouped(out):
    sink = {11: normal((4,))}
    rotary = {7: normal((256, 8)), 8: normal((256, 8))}
    for queries in (1, 7):
        grouped(out, f"grouped_{queries}", queries)
        grouped(out, f"grouped_half_{queries}", queries, np.float16)
        grouped(out, f"grouped_double_{queries}", queries, np.float64, present=False)
        grouped(out, f"grouped_packed_{queries}", queries, packed=True)
        grouped(out, f"grouped_window_{queries}", queries, local_window_size=20)
        grouped(out, f"grouped_smooth_{queries}", queries, smooth_softmax=1)
        grouped(out, f"grouped_sink_{queries}", queries, inputs=sink, local_window_size=20)
        grouped(out, f"grouped_rotary_{queries}", queries, inputs=rotary, do_rotary=1)
        for heads in (1, 4):
            grouped(out, f"grouped_bias_{heads}_{queries}", queries, inputs={10: normal((3, heads, queries, 250))})
        grouped(out, f"grouped_all_{queries}", queries, do_rotary=1, local_window_size=20,
                inputs={**rotary, **sink, 10: normal((3, 4, queries, 250))})


def random_trees(prefix, count, depth, features, targets):
    """Full trees; leaves vote for one of `targets`."""
    nodes = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")}
    votes = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(count):
        inner = 2**depth - 1
        for node in range(2 * inner + 1):
            leaf = node >= inner
            row = (tree, node, int(RNG.integers(features)), float(RNG.standard_normal()),
                   "LEAF" if leaf else "BRANCH_LEQ", 0 if leaf else 2 * node + 1, 0 if leaf else 2 * node + 2)
            for key, value in zip(nodes, row):
                nodes[key].append(value)
            if leaf:
                for key, value in zip(votes, (tree, node, int(RNG.choice(targets)), float(RNG.random()))):
                    votes[key].append(value)
    return {f"nodes_{k}": v for k, v in nodes.items()} | {f"{prefix}_{k}": v for k, v in votes.items()}


def write_trees(out):
    for dtype in (np.float32, np.float64, np.int64, np.int32):
        x = normal((333, 5), dtype)
        for targets in (1, 3):
            node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=targets,
                                    **random_trees("target", 7, 4, 5, range(targets)))
            write(out, f"trees_{targets}_{x.dtype}", [node], {"x": x}, {"y": np.zeros((333, targets), np.float32)})
        for name, labels, votes, transform in (("first", 2, [0], "LOGISTIC"), ("second", 2, [1], "PROBIT"),
                                               ("both", 2, [0, 1], "SOFTMAX"), ("three", 3, [0, 1, 2], "SOFTMAX_ZERO")):
            node = helper.make_node("TreeEnsembleClassifier", ["x"], ["y", "z"], domain="ai.onnx.ml",
                                    classlabels_int64s=range(labels), post_transform=transform,
                                    **random_trees("class", 7, 4, 5, votes))
            outputs = {"y": np.zeros(333, np.int64), "z": np.zeros((333, labels), np.float32)}
            write(out, f"classes_{name}_{x.dtype}", [node], {"x": x}, outputs)


def write_labels(out):
    lists = {np.dtype(np.int64): ("int64s", range(40)), np.dtype(np.float32): ("floats", [i + 0.0 for i in range(40)])}
    for key, (keys, some) in lists.items():
        for value, (values, others) in lists.items():
            node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml",
                                    **{f"keys_{keys}": some, f"values_{values}": others})
            x = RNG.integers(60, size=(3, 100)).astype(key)
            write(out, f"labels_{key}_{value}", [node], {"x": x}, {"y": np.zeros((3, 100), value)})


def write_dropout(out):
    """Whether it trains is computed: on zeros it does not."""
    nodes = [helper.make_node("ReduceMax", ["x"], ["most"], keepdims=0), helper.make_node("Cast", ["most"], ["train"],
             to=TensorProto.BOOL), helper.make_node("Dropout", ["x", "ratio", "train"], ["y", "mask"], seed=3)]
    for dtype in (np.float32, np.float16, np.float64):
        x = np.abs(normal((50, 60), dtype))
        write(out, f"dropout_{x.dtype}", nodes, {"x": x, "ratio": np.array(0.4, np.float32)},
              {"y": np.zeros_like(x), "mask": np.zeros(x.shape, bool)})


def write_einsum(out):
    for dtype in (np.float32, np.float16):
        x, y = normal((2,) * 8, dtype), normal((2,) * 8, dtype)
        node = helper.make_node("Einsum", ["x", "y"], ["z"],
                                equation="a b c d e f g h, h g i j k l m n -> a b c d i j k l")
        write(out, f"einsum_{x.dtype}", [node], {"x": x, "y": y}, {"z": np.zeros((2,) * 8, dtype)})
    node = helper.make_node("Einsum", ["x", "y"], ["z"], equation="abcdefgh, ijklmnop -> abcdefghijklmnop")
    write(out, "einsum_wide", [node], {"x": normal((2,) * 8), "y": normal((1,) * 8)},
          {"z": np.zeros((2,) * 8 + (1,) * 8, np.float32)})


def main():
    out = pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    for writer in (write_grouped, write_trees, write_labels, write_dropout, write_einsum):
        writer(out)


if __name__ == "__main__":
    main()
