"""The models of the speed table that are written node by node: trees, a logistic regression, an attention full of shape
arithmetic; and the quantised ones, made by ONNX Runtime's quantiser. GRAPHS: name -> function of `file_of`, which gives
the file of another model."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FEATURES = 10


def model(nodes, inputs, outputs, weights=(), ml=False):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "bench", [value("x", TensorProto.FLOAT, inputs)], [value(*output) for output in outputs], list(weights)
    )
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid("ai.onnx.ml", 3)] * ml
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def tree(rng, depth, leaves):
    """The nodes of a tree that grows at random leaves, as (feature, value, true, false, weight); -1: a leaf."""
    nodes, open_leaves = [[-1, 0.0, 0, 0, 0.0]], [(0, 0)]
    while len(open_leaves) < leaves:
        candidates = [i for i, (_, level) in enumerate(open_leaves) if level < depth]
        place, level = open_leaves.pop(int(rng.choice(candidates)))
        nodes[place][:4] = int(rng.integers(FEATURES)), float(np.float32(rng.normal())), len(nodes), len(nodes) + 1
        for _ in range(2):
            open_leaves.append((len(nodes), level + 1))
            nodes.append([-1, 0.0, 0, 0, 0.0])
    for place, _ in open_leaves:
        nodes[place][4] = float(np.float32(rng.normal(0, 0.1)))
    return nodes


def trees(_file_of):
    rng = np.random.default_rng(1)
    rows = [(t, i, *node) for t in range(100) for i, node in enumerate(tree(rng, 9, 31))]
    leaves = [row for row in rows if row[2] < 0]
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, post_transform="NONE",
        base_values=[0.5],
        nodes_treeids=[r[0] for r in rows], nodes_nodeids=[r[1] for r in rows],
        nodes_featureids=[max(r[2], 0) for r in rows], nodes_values=[r[3] for r in rows],
        nodes_modes=["LEAF" if r[2] < 0 else "BRANCH_LEQ" for r in rows],
        nodes_truenodeids=[r[4] for r in rows], nodes_falsenodeids=[r[5] for r in rows],
        nodes_missing_value_tracks_true=[0] * len(rows), nodes_hitrates=[1.0] * len(rows),
        target_treeids=[r[0] for r in leaves], target_nodeids=[r[1] for r in leaves],
        target_ids=[0] * len(leaves), target_weights=[r[6] for r in leaves],
    )  # fmt: skip
    return model([node], ["batch", FEATURES], [("y", TensorProto.FLOAT, ["batch", 1])], ml=True)


def logistic(_file_of):
    rng = np.random.default_rng(2)
    classes = 3
    nodes = [
        helper.make_node("LinearClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", multi_class=1,
                         coefficients=rng.normal(size=classes * FEATURES).astype(np.float32).tolist(),
                         intercepts=rng.normal(size=classes).astype(np.float32).tolist(),
                         classlabels_ints=list(range(classes)), post_transform="SOFTMAX"),
        helper.make_node("Normalizer", ["scores"], ["probabilities"], domain="ai.onnx.ml", norm="L1"),
    ]  # fmt: skip
    outputs = [("label", TensorProto.INT64, ["batch"]), ("probabilities", TensorProto.FLOAT, ["batch", classes])]
    return model(nodes, ["batch", FEATURES], outputs, ml=True)


class ShapeHeavy:
    """A causal attention block as older exporters write it: every Reshape fed by Shape, Gather and Concat, the mask
    made at run time."""

    def __init__(self, width=64, heads=4):
        self.width, self.heads, self.rng = width, heads, np.random.default_rng(3)
        self.nodes, self.weights = [], []

    def put(self, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.weights)}"))
        return self.weights[-1].name

    def node(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def size(self, x, axis):
        size = self.node("Gather", self.node("Shape", x), self.put(np.int64(axis)), axis=0)
        return self.node("Unsqueeze", size, self.put(np.int64([0])))

    def reshape(self, x, like, *rest):
        sizes = [self.size(like, 0), self.size(like, 1), *(self.put(np.int64([r])) for r in rest)]
        return self.node("Reshape", x, self.node("Concat", *sizes, axis=0))

    def linear(self, x):
        weight = self.rng.normal(0, self.width**-0.5, (self.width, self.width)).astype(np.float32)
        product = self.node("MatMul", x, self.put(weight))
        return self.node("Add", product, self.put(self.rng.normal(0, 0.1, self.width).astype(np.float32)))

    def split(self, x, source, perm):
        return self.node("Transpose", self.reshape(x, source, self.heads, self.width // self.heads), perm=perm)

    def masked(self, scores, x):
        shape = self.node("Concat", self.size(x, 1), self.size(x, 1), axis=0)
        ones = self.node("ConstantOfShape", shape, value=numpy_helper.from_array(np.float32([1])))
        allowed = self.node("Cast", self.node("Trilu", ones, upper=0), to=TensorProto.BOOL)
        return self.node("Where", allowed, scores, self.put(np.float32(-1e9)))

    def build(self):
        q, k, v = (self.linear("x") for _ in range(3))
        scores = self.node("MatMul", self.split(q, "x", [0, 2, 1, 3]), self.split(k, "x", [0, 2, 3, 1]))
        scores = self.node("Div", scores, self.put(np.float32((self.width // self.heads) ** 0.5)))
        weights = self.node("Softmax", self.masked(scores, "x"), axis=-1)
        mixed = self.node("MatMul", weights, self.split(v, "x", [0, 2, 1, 3]))
        joined = self.reshape(self.node("Transpose", mixed, perm=[0, 2, 1, 3]), "x", self.width)
        self.node("Add", "x", self.linear(joined))
        self.nodes[-1].output[0] = "y"
        dims = ["batch", "seq", self.width]
        return model(self.nodes, dims, [("y", TensorProto.FLOAT, dims)], self.weights)


def shape_heavy(_file_of):
    return ShapeHeavy().build()


def quantised_mlp(file_of):
    from onnxruntime import quantization

    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "out.onnx"
        quantization.quantize_dynamic(file_of("mlp_4x768"), out, weight_type=quantization.QuantType.QInt8)
        return onnx.load(out)


def quantised_statically(source, **options):
    """The file of a network of images, its activations as bytes whose ranges were seen on random images."""
    from onnxruntime import quantization

    class Samples(quantization.CalibrationDataReader):
        def __init__(self):
            rng = np.random.default_rng(4)
            self.left = [{"x": rng.standard_normal((2, 3, 64, 64), dtype=np.float32)} for _ in range(4)]

        def get_next(self):
            return self.left.pop() if self.left else None

    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "out.onnx"
        quantization.quantize_static(
            source, out, Samples(), activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8, **options,
        )  # fmt: skip
        return onnx.load(out)


def quantised_cnn(file_of):
    """As somebody makes it who does not prepare the model first: BatchNormalization stays."""
    from onnxruntime import quantization

    return quantised_statically(file_of("resnet"), quant_format=quantization.QuantFormat.QOperator)


def quantised_mobilenet(file_of):
    """As it is recommended: prepared, with QuantizeLinear and DequantizeLinear, one scale for each filter."""
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with tempfile.TemporaryDirectory() as place:
        prepared = Path(place) / "prepared.onnx"
        quant_pre_process(str(file_of("mobilenet")), str(prepared), skip_symbolic_shape=True)
        return quantised_statically(prepared, quant_format=quantization.QuantFormat.QDQ, per_channel=True)


GRAPHS = {
    "trees_100": trees,
    "logistic": logistic,
    "shape_heavy": shape_heavy,
    "quantised_mlp": quantised_mlp,
    "quantised_cnn": quantised_cnn,
    "quantised_mobilenet": quantised_mobilenet,
}
