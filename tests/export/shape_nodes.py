"""How many nodes of an ONNX model serve its shapes.

A shape node is a Shape or Size, or a node of the arithmetic listed here all of whose non-constant inputs come from shape
nodes: what reads a size at run time, and the arithmetic on it up to the Reshape, Expand, Slice... that takes it.
"""

ARITHMETIC = {"Add", "Sub", "Mul", "Div", "Mod", "Cast", "Concat", "Gather", "Unsqueeze", "Squeeze", "Slice", "Min", "Max",
              "Equal", "Where", "Floor", "Ceil", "Neg", "Identity", "ReduceProd", "Less", "Greater", "Not", "And", "Or",
              "LessOrEqual", "GreaterOrEqual", "Reshape", "ConstantOfShape", "Round", "ReduceSum", "ReduceMax", "Abs",
              "Sqrt", "Split", "GatherElements", "ScatterElements", "ScatterND", "CastLike", "Sign", "Pow"}


def _walk(graph, constants, shapes):
    count = 0
    constants = constants | {tensor.name for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            constants |= set(node.output)
            continue
        inputs = [name for name in node.input if name and name not in constants]
        from_shapes = bool(inputs) and all(name in shapes for name in inputs)
        if node.op_type in ("Shape", "Size") or (from_shapes and node.op_type in ARITHMETIC):
            count += 1
            shapes |= set(node.output)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                count += _walk(attribute.g, constants, shapes)
    return count


def shape_nodes(model):
    """model: an onnx.ModelProto. Nodes of local functions count once each."""
    count = _walk(model.graph, set(), set())
    for function in model.functions:
        count += sum(node.op_type in ("Shape", "Size") for node in function.node)
    return count


def all_nodes(model):
    def inside(nodes):
        return sum(1 + sum(inside(a.g.node) for a in node.attribute if a.HasField("g")) for node in nodes)

    return inside(model.graph.node) + sum(inside(function.node) for function in model.functions)
