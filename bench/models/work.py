"""What one run of a model with fixed sizes has to do: floating-point operations of its products and convolutions, and the
bytes of weights, inputs and outputs, each moved once."""

import math

from onnx import helper

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def size(shape):
    return math.prod(shape)


def sizes_of(graph):
    """Name -> sizes of every value whose sizes are known."""
    shapes = {t.name: list(t.dims) for t in graph.initializer}
    for value in [*graph.input, *graph.output, *graph.value_info]:
        shapes[value.name] = [d.dim_value for d in value.type.tensor_type.shape.dim]
    return shapes


def attribute(node, name, default):
    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def recurrent(node, shapes):
    steps, batch, inputs = shapes[node.input[0]]
    directions, hidden = shapes[node.input[2]][0], shapes[node.input[2]][2]
    return 2 * steps * batch * directions * GATES[node.op_type] * hidden * (hidden + inputs)


def products(node, shapes):
    """Floating-point (or integer) operations of the node; 0 for what is not a product."""
    kind, inputs = node.op_type, node.input
    if kind in GATES:
        return recurrent(node, shapes)
    if kind == "Gemm":
        return 2 * size(shapes[node.output[0]]) * shapes[inputs[0]][0 if attribute(node, "transA", 0) else 1]
    if kind in ("MatMul", "MatMulInteger", "DynamicQuantizeMatMul", "QLinearMatMul"):
        return 2 * size(shapes[node.output[0]]) * shapes[inputs[0]][-1]
    if kind in ("Conv", "ConvInteger", "QLinearConv"):
        weights = shapes[inputs[3 if kind == "QLinearConv" else 1]]
        return 2 * size(shapes[node.output[0]]) * size(weights[1:])
    if kind == "ConvTranspose":
        return 2 * size(shapes[inputs[0]]) * size(shapes[inputs[1]][1:])
    if kind == "LinearClassifier":
        return 2 * shapes[inputs[0]][0] * len(attribute(node, "coefficients", []))
    return 0


def of_model(model):
    """(operations, bytes). Integer models count one byte per weight, as their files do."""
    graph = model.graph
    shapes = sizes_of(graph)
    operations = sum(products(node, shapes) for node in graph.node)
    weights = sum(helper.tensor_dtype_to_np_dtype(t.data_type).itemsize * size(t.dims) for t in graph.initializer)
    attributes = sum(4 * (len(a.floats) + len(a.ints)) for node in graph.node for a in node.attribute)
    given = {t.name for t in graph.initializer}
    ends = [*(v for v in graph.input if v.name not in given), *graph.output]
    return operations, weights + attributes + sum(4 * size(shapes[value.name]) for value in ends)
