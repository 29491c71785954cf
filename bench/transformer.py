"""Builds the transformer that check_bench.py measures: post-norm encoder layers written the way PyTorch's exporter does,
with the shape arithmetic of a dynamic batch and sequence (Shape, Gather, Concat, Reshape) left in."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Encoder:
    def __init__(self, layers: int, width: int, heads: int) -> None:
        self.width, self.heads = width, heads
        self.nodes, self.weights = [], []
        self.rng = np.random.default_rng(0)
        self.constants = {}
        value = "x"
        for i in range(layers):
            value = self.layer(f"/layers.{i}", value)
        self.output = value

    def constant(self, values) -> str:
        array = np.asarray(values, dtype=np.int64)
        key = (array.shape, array.tobytes())
        if key not in self.constants:
            name = f"const_{len(self.constants)}"
            self.constants[key] = name
            self.weights.append(numpy_helper.from_array(array, name))
        return self.constants[key]

    def weight(self, name: str, *shape: int) -> str:
        array = self.rng.standard_normal(shape, dtype=np.float32) * 0.02
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op: str, inputs, name: str, **attributes) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name + "_out"], name=name, **attributes))
        return name + "_out"

    def linear(self, name: str, x: str, n: int, m: int) -> str:
        product = self.node("MatMul", [x, self.weight(name + ".weight", n, m)], name + "/MatMul")
        return self.node("Add", [product, self.weight(name + ".bias", m)], name + "/Add")

    def sizes(self, name: str, x: str) -> tuple:
        shape = self.node("Shape", [x], name + "/Shape")
        out = []
        for axis in (0, 1):
            size = self.node("Gather", [shape, self.constant(axis)], f"{name}/Gather_{axis}", axis=0)
            out.append(self.node("Unsqueeze", [size, self.constant([0])], f"{name}/Unsqueeze_{axis}"))
        return tuple(out)

    def split_heads(self, name: str, x: str, sizes: tuple) -> str:
        target = self.node(
            "Concat", [*sizes, self.constant([self.heads]), self.constant([self.width // self.heads])], name + "/Concat", axis=0
        )
        heads = self.node("Reshape", [x, target], name + "/Reshape")
        return self.node("Transpose", [heads], name + "/Transpose", perm=[0, 2, 1, 3])

    def norm(self, name: str, x: str) -> str:
        return self.node(
            "LayerNormalization",
            [x, self.weight(name + ".weight", self.width), self.weight(name + ".bias", self.width)],
            name + "/LayerNormalization",
            axis=-1,
        )

    def layer(self, name: str, x: str) -> str:
        w = self.width
        sizes = self.sizes(name + "/attn", x)
        q, k, v = (
            self.split_heads(f"{name}/attn/{part}", self.linear(f"{name}/attn/{part}_proj", x, w, w), sizes) for part in "qkv"
        )
        k_t = self.node("Transpose", [k], name + "/attn/k_t/Transpose", perm=[0, 1, 3, 2])
        scores = self.node("Softmax", [self.node("MatMul", [q, k_t], name + "/attn/scores/MatMul")], name + "/attn/Softmax", axis=-1)
        mixed = self.node("Transpose", [self.node("MatMul", [scores, v], name + "/attn/mix/MatMul")], name + "/attn/mix/Transpose", perm=[0, 2, 1, 3])
        target = self.node("Concat", [*sizes, self.constant([w])], name + "/attn/out/Concat", axis=0)
        joined = self.node("Reshape", [mixed, target], name + "/attn/out/Reshape")
        y = self.norm(name + "/norm1", self.node("Add", [x, self.linear(name + "/attn/out_proj", joined, w, w)], name + "/Add"))
        hidden = self.node("Relu", [self.linear(name + "/linear1", y, w, 4 * w)], name + "/Relu")
        return self.norm(name + "/norm2", self.node("Add", [y, self.linear(name + "/linear2", hidden, 4 * w, w)], name + "/Add_1"))


def build(layers: int = 29, width: int = 532, heads: int = 14) -> onnx.ModelProto:
    encoder = Encoder(layers, width, heads)
    dims = ["batch", "seq", width]
    graph = helper.make_graph(
        encoder.nodes,
        "encoder",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info(encoder.output, TensorProto.FLOAT, dims)],
        encoder.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
