"""sound_ops_body.py: for sound_draw.py: Loop, If and Scan with drawn bodies, and sequences."""

import contextlib

import numpy as np
from onnx import helper

from graph_draw import BOOL, F32, F64, I64, Refused, elem
from sound_ops_size import any_size, scalar, size_in, sized

STEPS = []  # what bodies are drawn from; sound_live.py fills it


@contextlib.contextmanager
def body_of(d, inputs):
    """Draws into a body: gives the list of its nodes. inputs: (name, dtype, arrays) of values only the body sees."""
    outside = d.nodes, list(d.values), list(d.sizes)
    d.bodies.append(d.nodes)
    d.nodes = []
    d.values = d.values[-3:] + [d.seen(name, arrays, dtype, None if dtype in (F32, F64) else 0)
                                for name, dtype, arrays in inputs]
    yield d.nodes
    d.bodies.pop()
    d.nodes, d.values, d.sizes = outside


def info(d, name, dtype, rank):
    dims = None if d.rng.random() < 0.3 else [None] * rank
    return helper.make_tensor_value_info(name, elem(dtype), dims)


def handed_on(d, value):
    """The name of a copy: what a body gives is made in it."""
    name = d.fresh("b")
    d.nodes.append(helper.make_node("Identity", [value.name if hasattr(value, "name") else value], [name]))
    return name


def some_steps(d, least=1):
    for _ in range(d.rng.randint(least, 3)):
        if not d.step(STEPS):
            raise Refused


def result(d, dtype, rank, inner):
    """A value of this type that the body made, or one that it was given."""
    fit = [v for v in d.values if v.dtype == dtype and v.rank == rank]
    made = [v for v in fit if any(v.name in n.output for n in inner)]
    if not fit:
        raise Refused
    return d.rng.choice(made or fit)


def condition(d):
    """A bool scalar: of sizes, of data, given by the caller."""
    draw = d.rng.random()
    if draw < 0.6:
        op = d.rng.choice(["Less", "Greater", "Equal"])
        c = d.put(op, [any_size(d), scalar(d, d.rng.randint(1, 8)) if d.rng.random() < 0.7 else any_size(d)], BOOL, grain=0)
    elif draw < 0.8:
        return d.add_input(BOOL, [])
    else:
        x = d.pick((F32, I64), ranks=range(1, 4), exact=True, where=lambda v: 0 not in v.shape)
        top = d.put("ReduceMax", [x], x.dtype, grain=x.grain, keepdims=0)
        c = d.put("Greater", [top, scalar(d, d.rng.randint(0, 2), x.dtype)], BOOL, grain=0)
        d.hide(top)
    d.hide(c)
    return c


@sized(4)
def if_(d):
    c, bodies, kept = condition(d), {}, None
    for key in ("then_branch", "else_branch"):
        with body_of(d, []) as inner:
            some_steps(d, 0)
            if kept is None:
                kept = d.rng.choice([v for v in d.values if v.dtype in (F32, F64, I64)] or [None])
                if kept is None:
                    raise Refused
                value = kept
            else:
                value = result(d, kept.dtype, kept.rank, inner)
            out = handed_on(d, value)
            bodies[key] = helper.make_graph(list(inner), key, [], [info(d, out, kept.dtype, kept.rank)])
    d.put("If", [c], kept.dtype, grain=None if kept.dtype in (F32, F64) else 0, **bodies)


def trips(d):
    """How often: a number, a size, what the caller says."""
    draw = d.rng.random()
    if draw < 0.4:
        return scalar(d, d.rng.randint(0, 3) if d.rng.random() < 0.2 else d.rng.randint(1, 3))
    if draw < 0.8:
        return size_in(d, 1, 5)
    return d.add_input(I64, [], 1, 4)


def still_going(d, i, going):
    """Whether the loop goes on: always, or while the number of the round is below a size."""
    if d.rng.random() < 0.7:
        return handed_on(d, going)
    limit = any_size(d)
    name = d.fresh("b")
    d.nodes.append(helper.make_node("Less", [i, limit.name], [name]))
    return name


@sized(5)
def loop(d):
    count = trips(d)
    states = [d.pick((F32, F64, I64), ranks=range(0, 4)) for _ in range(d.rng.randint(1, 2))]
    i, going, *names = (d.fresh("b") for _ in range(2 + len(states)))
    given = [(i, I64, [np.array(0)] * d.count), *[(n, s.dtype, d.arrays[s.name]) for n, s in zip(names, states)]]
    d.types[going] = (BOOL, 0)
    with body_of(d, given) as inner:
        some_steps(d)
        after = [result(d, s.dtype, s.rank, inner) for s in states]
        scans = [v for v in d.values if v not in after and v.rank < 4 and v.dtype in (F32, F64, I64)]
        scans = d.rng.sample(scans, min(len(scans), d.rng.choice([0, 1, 1, 2])))
        still = still_going(d, i, going)
        outs = [handed_on(d, v) for v in [*after, *scans]]
        infos = [info(d, n, v.dtype, v.rank) for n, v in zip(outs, [*after, *scans])]
        inputs = [helper.make_tensor_value_info(i, elem(I64), []), helper.make_tensor_value_info(going, elem(BOOL), []),
                  *[info(d, n, s.dtype, s.rank) for n, s in zip(names, states)]]
        body = helper.make_graph(list(inner), "body", inputs, [helper.make_tensor_value_info(still, elem(BOOL), []), *infos])
    d.emit("Loop", [count, scalar(d, True, bool) if d.rng.random() < 0.7 else "", *states],
           [(v.dtype, (), 0.0, None if v.dtype in (F32, F64) else 0) for v in [*after, *scans]], body=body)


@sized(2)
def grow(d):
    """A loop whose state becomes longer with every round."""
    x = d.pick((F32, I64), ranks=range(1, 4))
    axis = d.rng.randrange(x.rank)
    i, going, state, more, still = (d.fresh("b") for _ in range(5))
    nodes = [helper.make_node("Concat", [state, x.name], [more], axis=axis), helper.make_node("Identity", [going], [still])]
    body = helper.make_graph(nodes, "body", [helper.make_tensor_value_info(i, elem(I64), []),
                                             helper.make_tensor_value_info(going, elem(BOOL), []),
                                             info(d, state, x.dtype, x.rank)],
                             [helper.make_tensor_value_info(still, elem(BOOL), []), info(d, more, x.dtype, x.rank)])
    d.put("Loop", [trips(d), scalar(d, True, bool), x], x.dtype, grain=x.grain, body=body)


@sized(4)
def scan(d):
    x = d.pick((F32, F64, I64), ranks=range(1, 4), where=lambda v: v.shape[0] > 0)
    state = d.pick((F32, F64, I64), ranks=range(0, 3))
    s, entry = d.fresh("b"), d.fresh("b")
    first = [None if a is None or not a.shape[0] else a[0] for a in d.arrays[x.name]]
    with body_of(d, [(s, state.dtype, d.arrays[state.name]), (entry, x.dtype, first)]) as inner:
        some_steps(d)
        after = result(d, state.dtype, state.rank, inner)
        seen = d.rng.choice([v for v in d.values if v.rank < 4 and v.dtype in (F32, F64, I64)] or [after])
        outs = [handed_on(d, v) for v in (after, seen)]
        given = [info(d, s, state.dtype, state.rank), info(d, entry, x.dtype, x.rank - 1)]
        infos = [info(d, n, v.dtype, v.rank) for n, v in zip(outs, (after, seen))]
        body = helper.make_graph(list(inner), "body", given, infos)
    d.put("Scan", [state, x], after.dtype, seen.dtype, body=body, num_scan_inputs=1,
          scan_input_directions=[d.rng.randint(0, 1)], scan_output_directions=[d.rng.randint(0, 1)])


# Sequences: their nodes are seen when a tensor comes out.

def sequence(d, op, inputs, **attributes):
    name = d.fresh("s")
    names = [i if isinstance(i, str) else i.name for i in inputs]
    node = helper.make_node(op, names, [name], name=f"{op}_{d.made}", **attributes)
    d.name_inner(node)
    d.nodes.append(node)
    return name


@sized(2)
def cut(d):
    """A tensor cut into parts of a computed size."""
    x = d.pick((F32, I64), ranks=range(1, 4), where=lambda v: 0 not in v.shape)
    axis = d.rng.randrange(x.rank)
    parts = sequence(d, "SplitToSequence", [x, size_in(d, 1, x.shape[axis])], axis=axis)
    if d.rng.random() < 0.5:
        d.put("ConcatFromSequence", [parts], x.dtype, grain=x.grain, axis=d.rng.randrange(x.rank))
    else:
        d.put("SequenceAt", [parts, scalar(d, d.rng.choice([0, -1, 1]))], x.dtype, grain=x.grain)


@sized(2)
def gathered(d):
    """Values put into a sequence, and out again."""
    x = d.pick((F32, I64), ranks=range(0, 4))
    y = d.fellow(x, lambda xs, ys: xs == ys)
    many = sequence(d, "SequenceConstruct", [x, y, x][:d.rng.randint(1, 3)])
    if d.rng.random() < 0.3:
        many = sequence(d, "SequenceInsert", [many, y])
    draw = d.rng.random()
    if draw < 0.4:
        d.put("ConcatFromSequence", [many], x.dtype, grain=x.grain, axis=0, new_axis=1)
    elif draw < 0.6 and x.rank:
        d.put("ConcatFromSequence", [many], x.dtype, grain=x.grain, axis=0)
    elif draw < 0.8:
        n = d.put("SequenceLength", [many], I64, grain=0)
        d.hide(n)
        d.sizes.append(n)
        d.put("Range", [scalar(d, 0), n, scalar(d, 1)], I64, grain=0)
    else:
        d.put("SequenceAt", [many, scalar(d, 0)], x.dtype, grain=x.grain)


@sized(2)
def collect(d):
    """A loop that puts one value after the other into a sequence."""
    x = d.pick((F32, I64), ranks=range(1, 4), where=lambda v: 0 not in v.shape)
    i, going, many, more, still = (d.fresh("b") for _ in range(5))
    nodes, value = [helper.make_node("Identity", [going], [still])], x.name
    if d.rng.random() < 0.4:  # one row longer with every round
        value, end, one = (d.fresh("b") for _ in range(3))
        nodes += [helper.make_node("Add", [i, scalar(d, 1)], [one]), helper.make_node("Reshape", [one, d.ints(1)], [end]),
                  helper.make_node("Slice", [x.name, d.ints(0), end, d.ints(0)], [value])]
    nodes.append(helper.make_node("SequenceInsert", [many, value], [more]))
    kind, scalars = helper.make_tensor_sequence_value_info, helper.make_tensor_value_info
    given = [scalars(i, elem(I64), []), scalars(going, elem(BOOL), []), kind(many, elem(x.dtype), None)]
    body = helper.make_graph(nodes, "body", given, [scalars(still, elem(BOOL), []), kind(more, elem(x.dtype), None)])
    start = sequence(d, "SequenceEmpty", [], dtype=elem(x.dtype))
    joined = sequence(d, "Loop", [trips(d), scalar(d, True, bool), start], body=body)
    if d.rng.random() < 0.3:
        joined = sequence(d, "SequenceErase", [joined, scalar(d, 0)])
    new = {"new_axis": 1} if d.rng.random() < 0.4 else {}
    d.put("ConcatFromSequence", [joined], x.dtype, grain=x.grain, axis=0, **new)
