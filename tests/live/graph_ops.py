"""graph_ops.py: the operators graph_draw.py draws from: functions that add one node (or a small idiom) to a Drawer."""

import math

import numpy as np
from onnx import helper

from graph_draw import ANY, BOOL, F16, F32, F64, FLOATS, I32, I64, INTS, LIMIT, NUMBERS, U8, Refused, elem

OPERATORS = []


def drawn(weight=1):
    def add(function):
        OPERATORS.extend([function] * weight)
        return function
    return add


def broadcast(*shapes):
    return np.broadcast_shapes(*shapes)


def as_axis(d, axis, rank):
    """The axis, or the same axis counted from the back."""
    return axis - rank if d.rng.random() < 0.4 else axis


# Entry by entry.

# name -> (types, bound of the result, grain of the result, exact input needed)
UNARY = {
    "Relu": ((F32, F64, F16, I32), lambda b: b, lambda g: g, False),
    "Neg": (NUMBERS, lambda b: b, lambda g: g, False),
    "Abs": (NUMBERS + (U8,), lambda b: b, lambda g: g, False),
    "Identity": (ANY, lambda b: b, lambda g: g, False),
    "Floor": (FLOATS, lambda b: b + 1, lambda g: 0, True),
    "Ceil": (FLOATS, lambda b: b + 1, lambda g: 0, True),
    "Round": (FLOATS, lambda b: b + 1, lambda g: 0, True),
    "Sign": (NUMBERS, lambda b: 1.0, lambda g: 0, True),
    "Sigmoid": (FLOATS, lambda b: 1.0, lambda g: None, False),
    "Tanh": (FLOATS, lambda b: 1.0, lambda g: None, False),
    "Exp": (FLOATS, lambda b: math.exp(min(b, 50)), lambda g: None, False),
    "Erf": ((F32,), lambda b: 1.0, lambda g: None, False),
    "Sin": ((F32, F64), lambda b: 1.0, lambda g: None, False),
    "Cos": ((F32, F64), lambda b: 1.0, lambda g: None, False),
    "Atan": ((F32,), lambda b: 1.6, lambda g: None, False),
    "Softplus": ((F32, F64), lambda b: b + 1, lambda g: None, False),
    "Softsign": ((F32,), lambda b: 1.0, lambda g: None, False),
    "Elu": ((F32,), lambda b: b + 1, lambda g: None, False),
    "Selu": ((F32,), lambda b: 2 * b + 2, lambda g: None, False),
    "HardSwish": ((F32,), lambda b: b, lambda g: None, False),
}


@drawn(6)
def unary(d):
    op = d.rng.choice(list(UNARY))
    types, bound, grain, exact = UNARY[op]
    x = d.pick(types, exact=exact)
    if op == "HardSwish" and d.opset < 14:
        raise Refused
    d.emit(op, [x], [(x.dtype, x.shape, bound(x.bound), None if x.grain is None else grain(x.grain))])


@drawn()
def root(d):
    x = d.pick(FLOATS)
    (a,) = d.like("Abs", x)
    if not x.exact:  # the root of noise about zero is larger than the noise
        (a,) = d.emit("Add", [a, d.constant(np.array(1, x.dtype))], [(x.dtype, x.shape, x.bound + 1, None)])
    d.emit("Sqrt", [a], [(x.dtype, x.shape, math.sqrt(x.bound) + 1, None)])


@drawn()
def slope(d):
    x = d.pick((F32,))
    op = d.rng.choice(["LeakyRelu", "HardSigmoid", "ThresholdedRelu"])
    if op == "ThresholdedRelu" and not x.exact:
        raise Refused
    d.emit(op, [x], [(x.dtype, x.shape, max(x.bound, 1.0), None)], alpha=d.rng.choice([0.1, 0.25]))


@drawn(6)
def arithmetic(d):
    op = d.rng.choice(["Add", "Sub", "Mul"])
    x = d.pick(NUMBERS + ((U8,) if op == "Mul" and d.opset >= 14 else ()))
    y = d.partner(x)
    if d.rng.random() < 0.5:
        x, y = y, x
    both = x.grain is not None and y.grain is not None
    if op == "Mul":
        bound, grain = x.bound * y.bound, x.grain + y.grain if both else None
    else:
        bound, grain = x.bound + y.bound, max(x.grain, y.grain) if both else None
    d.emit(op, [x, y], [(x.dtype, broadcast(x.shape, y.shape), bound, grain)])


@drawn()
def divide(d):
    x = d.pick(NUMBERS)
    shape = x.shape[d.rng.randint(0, x.rank):]
    by = d.array(x.dtype, shape, 1, 5)
    if x.dtype in INTS:
        by = np.where(d.array(BOOL, shape), by, -by).astype(x.dtype)
    name = d.constant(by)
    d.emit("Div", [x, name], [(x.dtype, x.shape, x.bound * 4, None if x.dtype in FLOATS else 0)])


@drawn()
def modulo(d):
    x = d.pick((I32, I64, F32, F64), exact=True)
    by = d.array(x.dtype, x.shape[d.rng.randint(0, x.rank):], 1, 9)
    fmod = 1 if x.dtype in FLOATS else d.rng.randint(0, 1)
    d.emit("Mod", [x, d.constant(by)], [(x.dtype, x.shape, 12.0, x.grain)], fmod=fmod)


@drawn()
def power(d):
    x = d.pick((F32, F64))
    to = d.rng.choice([2.0, 3.0, 0.0, 1.0])
    d.emit("Pow", [x, d.constant(np.array(to, d.rng.choice([F32, I32, I64, x.dtype])))],
           [(x.dtype, x.shape, max(1.0, x.bound) ** to, None)])


@drawn(2)
def variadic(d):
    op = d.rng.choice(["Max", "Min", "Sum", "Mean"])
    x = d.pick((F32, F64, F16, I32, I64) if op in ("Max", "Min") else (F32, F64, F16))
    xs = [x] + [d.partner(x) for _ in range(d.rng.randint(0, 2))]
    try:
        shape = broadcast(*(v.shape for v in xs))
    except ValueError:
        raise Refused from None
    d.rng.shuffle(xs)
    grains = [v.grain for v in xs]
    grain = None if None in grains or op == "Mean" else max(grains)
    d.emit(op, xs, [(x.dtype, shape, sum(v.bound for v in xs), grain)])


@drawn(2)
def compare(d):
    x = d.pick((F32, F64, I32, I64), exact=True)
    y = d.partner(x)
    if not y.exact:
        raise Refused
    ops = ["Equal", "Less", "Greater"] + (["LessOrEqual", "GreaterOrEqual"] if d.opset >= 16 else [])
    d.emit(d.rng.choice(ops), [x, y], [(BOOL, broadcast(x.shape, y.shape), 1.0, 0)])


@drawn()
def logic(d):
    x = d.pick((BOOL,))
    if d.rng.random() < 0.3:
        return d.like("Not", x)
    y = d.partner(x)
    return d.emit(d.rng.choice(["And", "Or", "Xor"]), [x, y], [(BOOL, broadcast(x.shape, y.shape), 1.0, 0)])


@drawn(2)
def where(d):
    x = d.pick((F32, F64, I32, I64, U8))
    y = d.partner(x)
    shape = broadcast(x.shape, y.shape)
    fit = [v for v in d.values if v.dtype == BOOL and all(a == b or 1 in (a, b)
                                                          for a, b in zip(reversed(v.shape), reversed(shape)))]
    c = d.rng.choice(fit) if fit else d.input(BOOL, shape[d.rng.randint(0, len(shape)):])
    grain = None if None in (x.grain, y.grain) else max(x.grain, y.grain)
    d.emit("Where", [c, x, y], [(x.dtype, broadcast(shape, c.shape), max(x.bound, y.bound), grain)])


@drawn()
def clip(d):
    x = d.pick((F32, F64, F16, I32, I64))
    low, high = (d.constant(np.array(v, x.dtype)) for v in sorted(d.rng.sample(range(-6, 7), 2)))
    names = d.rng.choice([[low, high], [low], ["", high], [low, high]])
    d.emit("Clip", [x, *names], [(x.dtype, x.shape, max(x.bound, 6.0), x.grain)])


@drawn(2)
def cast(d):
    x = d.pick(exact=True)
    to = d.rng.choice(ANY)
    if to == U8 and x.dtype != BOOL or x.bound > LIMIT[to]:
        raise Refused
    grain = 0 if to not in FLOATS else x.grain
    if grain and to == F16 and x.bound * 2**grain >= 1024:
        raise Refused
    d.emit("Cast", [x], [(to, x.shape, 1.0 if to == BOOL else x.bound, grain or 0)], to=elem(to))


# Reductions and what goes along an axis.

REDUCE = {"ReduceSum": 0, "ReduceMean": None, "ReduceMax": 0, "ReduceMin": 0, "ReduceProd": None, "ReduceL1": 0,
          "ReduceL2": None, "ReduceSumSquare": None, "ReduceLogSumExp": None}


@drawn(4)
def reduce(d):
    op = d.rng.choice(list(REDUCE))
    x = d.pick((F32, F64, I32, I64) if op in ("ReduceSum", "ReduceMax", "ReduceMin") else (F32,), ranks=range(1, 9))
    axes = sorted(d.rng.sample(range(x.rank), d.rng.randint(1, x.rank)))
    n = math.prod(x.shape[a] for a in axes)
    if 0 in x.shape:  # ONNX Runtime keeps axes then that should go
        raise Refused
    keep = d.rng.randint(0, 1)
    shape = [1 if i in axes else s for i, s in enumerate(x.shape) if keep or i not in axes]
    if op == "ReduceProd":
        bound = max(1.0, x.bound) ** min(n, 60)
    elif op == "ReduceSumSquare":
        bound = x.bound**2 * n
    else:
        bound = x.bound * max(n, 1) + 8
    written = [as_axis(d, a, x.rank) for a in axes]
    if len(axes) == x.rank and d.rng.random() < 0.3:
        written = None
    inputs, more = [x], {}
    if written is not None and (d.opset >= 18 or op == "ReduceSum"):
        inputs.append(d.ints(*written))
    elif written is not None:
        more["axes"] = written
    grain = x.grain if REDUCE[op] == 0 else None
    d.emit(op, inputs, [(x.dtype, shape, bound, grain)], keepdims=keep, **more)


@drawn()
def arg_extreme(d):
    x = d.pick((F32, F64, I32), ranks=range(1, 9), exact=True)
    axis, keep = d.rng.randrange(x.rank), d.rng.randint(0, 1)
    if 0 in x.shape:
        raise Refused
    shape = [1 if i == axis else s for i, s in enumerate(x.shape) if keep or i != axis]
    d.emit(d.rng.choice(["ArgMax", "ArgMin"]), [x], [(I64, shape, 8.0, 0)], axis=as_axis(d, axis, x.rank),
           keepdims=keep, select_last_index=d.rng.randint(0, 1))


@drawn(2)
def softmax(d):
    x = d.pick((F32, F64), ranks=range(1, 9))
    op = d.rng.choice(["Softmax", "LogSoftmax"])
    d.emit(op, [x], [(x.dtype, x.shape, 1.0 if op == "Softmax" else 2 * x.bound + 5, None)],
           axis=as_axis(d, d.rng.randrange(x.rank), x.rank))


@drawn()
def cumulative(d):
    x = d.pick((F32, F64, I32, I64), ranks=range(1, 9))
    axis = d.rng.randrange(x.rank)
    d.emit("CumSum", [x, d.constant(np.array(as_axis(d, axis, x.rank), np.int64))],
           [(x.dtype, x.shape, x.bound * max(1, x.shape[axis]), x.grain)], exclusive=d.rng.randint(0, 1),
           reverse=d.rng.randint(0, 1))


@drawn()
def top(d):
    x = d.pick((F32, F64, I32, I64), ranks=range(1, 9), exact=True)
    axis = d.rng.randrange(x.rank)
    k = d.rng.randint(0, x.shape[axis])
    shape = tuple(k if i == axis else s for i, s in enumerate(x.shape))
    d.emit("TopK", [x, d.ints(k)], [(x.dtype, shape, x.bound, x.grain), (I64, shape, 8.0, 0)],
           axis=as_axis(d, axis, x.rank), largest=d.rng.randint(0, 1), sorted=1)


@drawn(2)
def layer_norm(d):
    x = d.pick((F32, F64), ranks=range(1, 9))
    if d.opset < 17:
        raise Refused
    axis = d.rng.randrange(x.rank)
    if 0 in x.shape:
        raise Refused
    scale, bias = d.weight(x.dtype, x.shape[axis:]), d.weight(x.dtype, x.shape[axis:])
    d.emit("LayerNormalization", d.rng.choice([[x, scale, bias], [x, scale]]),
           [(x.dtype, x.shape, 10.0, None)], axis=as_axis(d, axis, x.rank), epsilon=0.01)


# Products and windows.

@drawn(4)
def matmul(d):
    x = d.pick((F32, F64, I32, I64), ranks=range(1, 5))
    inner = x.shape[-1]
    if inner == 0:  # ONNX Runtime may leave the result as it finds it
        raise Refused
    shape = (inner, d.rng.choice([1, 2, 3, 8, 17])) if d.rng.random() < 0.8 else (inner,)
    if len(shape) == 2 and x.rank > 2 and d.rng.random() < 0.3:
        shape = (*x.shape[:-2], *shape)
    y = d.weight(x.dtype, shape) if d.rng.random() < 0.7 else d.input(x.dtype, shape)
    out = (*x.shape[:-1], shape[-1]) if len(shape) > 1 else x.shape[:-1]
    if x.rank == 1 and len(shape) == 1:
        out = ()
    grain = None if None in (x.grain, y.grain) else x.grain + y.grain
    d.emit("MatMul", [x, y], [(x.dtype, out, max(1, inner) * x.bound * y.bound, grain)])


@drawn(2)
def gemm(d):
    x = d.pick((F32, F64), ranks=[2])
    a, b = d.rng.randint(0, 1), d.rng.randint(0, 1)
    m, k = x.shape[::-1] if a else x.shape
    n = d.rng.choice([1, 2, 5, 16, 19])
    if k == 0:  # ONNX Runtime leaves beta out then
        raise Refused
    w = d.weight(x.dtype, (n, k) if b else (k, n))
    inputs = [x, w]
    if d.rng.random() < 0.7:
        inputs.append(d.weight(x.dtype, d.rng.choice([(n,), (1, n), (m, 1), (m, n), ()])))
    d.emit("Gemm", inputs, [(x.dtype, (m, n), 2 * max(1, k) * x.bound + 2, None)], transA=a, transB=b,
           alpha=d.rng.choice([1.0, 0.5]), beta=d.rng.choice([1.0, 2.0]))


def window(d, sizes):
    """Attributes of windows over axes of these sizes, and the sizes of the result."""
    kernel = [d.rng.randint(1, 3) for _ in sizes]
    strides = [d.rng.randint(1, 2) for _ in sizes]
    dilations = [d.rng.randint(1, 2) for _ in sizes]
    begin, end = [[d.rng.randint(0, k - 1) for k in kernel] for _ in range(2)]
    out = [(s + b + e - (k - 1) * dl - 1) // st + 1 for s, b, e, k, dl, st in
           zip(sizes, begin, end, kernel, dilations, strides)]
    if any(o < 1 for o in out) or 0 in sizes:
        raise Refused
    return {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": begin + end}, out


@drawn(3)
def conv(d):
    x = d.pick((F32,), ranks=range(3, 6))
    if x.shape[1] == 0:
        raise Refused
    groups = d.rng.choice([g for g in range(1, x.shape[1] + 1) if x.shape[1] % g == 0])
    more, out = window(d, x.shape[2:])
    channels = groups * d.rng.choice([1, 2, 3])
    w = d.weight(F32, (channels, x.shape[1] // groups, *more["kernel_shape"]))
    inputs = [x, w] + ([d.weight(F32, (channels,))] if d.rng.random() < 0.5 else [])
    bound = x.bound * math.prod(w.shape[1:]) + 1
    d.emit("Conv", inputs, [(F32, (x.shape[0], channels, *out), bound, None)], group=groups, **more)


@drawn()
def conv_transpose(d):
    x = d.pick((F32,), ranks=range(3, 5))
    if 0 in x.shape:
        raise Refused
    channels, kernel, stride = d.rng.choice([1, 2, 3]), d.rng.randint(1, 3), d.rng.randint(1, 2)
    spatial = x.rank - 2
    w = d.weight(F32, (x.shape[1], channels, *[kernel] * spatial))
    out = [(s - 1) * stride + kernel for s in x.shape[2:]]
    d.emit("ConvTranspose", [x, w], [(F32, (x.shape[0], channels, *out), x.bound * x.shape[1] * kernel**spatial, None)],
           strides=[stride] * spatial)


@drawn(2)
def pool(d):
    x = d.pick((F32,), ranks=range(3, 6))
    op = d.rng.choice(["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"])
    if op.startswith("Global"):
        if 0 in x.shape:
            raise Refused
        return d.emit(op, [x], [(F32, (*x.shape[:2], *[1] * (x.rank - 2)), x.bound, None)])
    more, out = window(d, x.shape[2:])
    if op == "AveragePool":
        del more["dilations"]
        more["count_include_pad"] = d.rng.randint(0, 1)
        k, s, p = more["kernel_shape"], more["strides"], more["pads"]
        out = [(size + p[i] + p[i + len(k)] - k[i]) // s[i] + 1 for i, size in enumerate(x.shape[2:])]
        if any(o < 1 for o in out):
            raise Refused
    return d.emit(op, [x], [(F32, (*x.shape[:2], *out), x.bound, x.grain if op == "MaxPool" else None)], **more)


@drawn()
def batch_norm(d):
    x = d.pick((F32, F64), ranks=range(2, 6))
    c = x.shape[1]
    scale, bias, mean = (d.weight(x.dtype, (c,)) for _ in range(3))
    var = d.constant(np.abs(d.array(x.dtype, (c,))) + 1)
    d.emit("BatchNormalization", [x, scale, bias, mean, var], [(x.dtype, x.shape, 2 * x.bound + 4, None)])


@drawn()
def instance_norm(d):
    x = d.pick((F32,), ranks=range(3, 6))
    if 0 in x.shape:
        raise Refused
    scale, bias = (d.weight(F32, (x.shape[1],)) for _ in range(2))
    d.emit("InstanceNormalization", [x, scale, bias], [(F32, x.shape, 12.0, None)], epsilon=0.01)


@drawn()
def lstm(d):
    x = d.pick((F32,), ranks=[3])
    if 0 in x.shape:
        raise Refused
    op = d.rng.choice(["LSTM", "GRU", "RNN"])
    gates, hidden = {"LSTM": 4, "GRU": 3, "RNN": 1}[op], d.rng.choice([1, 3, 8])
    direction = d.rng.choice(["forward", "reverse", "bidirectional"])
    dirs = 2 if direction == "bidirectional" else 1
    steps, batch, width = x.shape
    w = d.weight(F32, (dirs, gates * hidden, width))
    r = d.weight(F32, (dirs, gates * hidden, hidden))
    inputs = [x, w, r] + ([d.weight(F32, (dirs, 2 * gates * hidden))] if d.rng.random() < 0.5 else [])
    results = [(F32, (steps, dirs, batch, hidden), 1.0, None)]
    results += [(F32, (dirs, batch, hidden), 9.0, None)] * (2 if op == "LSTM" else 1)
    more = {"linear_before_reset": d.rng.randint(0, 1)} if op == "GRU" else {}
    d.emit(op, inputs, results, direction=direction, hidden_size=hidden, **more)


# Bodies.

def info(name, dtype, rank):
    return helper.make_tensor_value_info(name, elem(dtype), [f"{name}_{axis}" for axis in range(rank)])


@drawn(2)
def if_(d):
    """One of two ways from values outside to a result of one shape."""
    x = d.pick((F32, F64, I64))
    y = d.partner(x)
    grain = None if None in (x.grain, y.grain) else max(x.grain, y.grain)
    fit = [v for v in d.values if v.dtype == BOOL and v.shape == ()]
    c = d.rng.choice(fit) if fit and d.rng.random() < 0.5 else d.input(BOOL, ())
    shape = broadcast(x.shape, y.shape)
    bodies = {}
    for key, ops in (("then_branch", ["Add", "Neg"]), ("else_branch", ["Sub", "Abs"])):
        inner, out = d.fresh("b"), d.fresh("b")
        nodes = [helper.make_node(ops[0], [x.name, y.name], [inner]), helper.make_node(ops[1], [inner], [out])]
        bodies[key] = helper.make_graph(nodes, key, [], [info(out, x.dtype, len(shape))])
    d.emit("If", [c], [(x.dtype, shape, x.bound + y.bound, grain)], **bodies)


@drawn(2)
def loop(d):
    """Adds a value from outside a few times and collects halves of the way there."""
    x = d.pick((F32, F64))
    by = d.weight(x.dtype, x.shape[d.rng.randint(0, x.rank):])
    times = d.rng.choice([1, 2, 3])  # what a loop that never runs collects has no defined shape
    i, going, state, more, half, still = (d.fresh("b") for _ in range(6))
    factor = d.constant(np.array(0.5, x.dtype))
    nodes = [helper.make_node("Add", [state, by.name], [more]), helper.make_node("Mul", [more, factor], [half]),
             helper.make_node("Identity", [going], [still])]
    body = helper.make_graph(nodes, "body", [info(i, I64, 0), info(going, BOOL, 0), info(state, x.dtype, x.rank)],
                             [info(still, BOOL, 0), info(more, x.dtype, x.rank), info(half, x.dtype, x.rank)])
    count = d.constant(np.array(times, np.int64)) if d.rng.random() < 0.5 else ""
    if not count:
        # As a caller of the model gives it.
        value = d.known(d.fresh("n"), I64, (), 3.0, 0)
        d.inputs[value.name] = np.array(times, np.int64)
        count = value.name
    bound = x.bound + times * by.bound
    d.emit("Loop", [count, d.constant(np.array(True)), x],
           [(x.dtype, x.shape, bound, None), (x.dtype, (times, *x.shape), bound, None)], body=body)
