"""sound_shrink.py: makes a case that fails smaller, as long as it fails in the same way."""

import dataclasses

from onnx import NodeProto

from sound_case import captures, replay, replayed


def plain(case):
    """The case before anything is known of its runs."""
    runs = [dataclasses.replace(run, doubt=run.doubt if run.kind == run.doubt else "") for run in case.runs]
    return dataclasses.replace(case, runs=runs)


def with_outputs(case, names):
    return dataclasses.replace(case, outputs=names).pruned()


def made(case):
    """Tensors that nodes make, the last first."""
    return [o for n in reversed(case.nodes) for o in n.output
            if o in case.types and o not in case.hidden and n.op_type != "Constant"]


def cut_at(case, name, arrays):
    """The case with a value as an input in place of the node that makes it; None where a run never reached it."""
    if any(a is None for a in arrays) or name in case.outputs:
        return None
    nodes = [n for n in case.nodes if name not in n.output]
    left = {o for n in case.nodes if name in n.output for o in n.output}
    if left - {name} & {r for n in nodes for r in captures(n)} or left & set(case.outputs):
        return None
    runs = [dataclasses.replace(run, inputs=run.inputs | {name: array}) for run, array in zip(case.runs, arrays)]
    labels = [arrays[0].shape[i] if len({a.shape[i] for a in arrays}) == 1 else None for i in range(arrays[0].ndim)]
    return dataclasses.replace(case, nodes=nodes, inputs=case.inputs | {name: labels}, runs=runs).pruned()


def renamed(node, old, new):
    copy = NodeProto()
    copy.CopyFrom(node)
    copy.input[:] = [new if n == old else n for n in node.input]
    for attribute in copy.attribute:
        if attribute.HasField("g"):
            inner = [renamed(n, old, new) for n in attribute.g.node]
            del attribute.g.node[:]
            attribute.g.node.extend(inner)
    return copy


def passed_by(case, node):
    """The cases in which an input of the node takes the place of its output."""
    used = {n for other in case.nodes for n in captures(other)} | set(case.outputs)
    for name in node.output:
        if name not in case.types or name in case.outputs or used & set(node.output) - {name}:
            continue
        for other in captures(node):
            if case.types.get(other) == case.types[name]:
                nodes = [renamed(n, name, other) for n in case.nodes if n is not node]
                yield dataclasses.replace(case, nodes=nodes).pruned()


def fewer_runs(case):
    """The base binding stays: the model is to take some shape."""
    if len(case.runs) > 1:
        yield dataclasses.replace(case, runs=case.runs[:1])
    if len(case.runs) > 2:
        yield from (dataclasses.replace(case, runs=[case.runs[0], run]) for run in case.runs[1:])


def fewer_outputs(case):
    if len(case.outputs) > 1:
        yield from (with_outputs(case, [name]) for name in case.outputs)
    yield from (with_outputs(case, [name]) for name in reversed(made(case)))


def fewer_nodes(case):
    arrays, _ = replay(case)
    yield from (cut_at(case, name, arrays[name]) for name in made(case) if name in arrays)
    for node in reversed(case.nodes):
        yield from passed_by(case, node)


def fewer_labels(case):
    yield dataclasses.replace(case, folded=frozenset())
    yield dataclasses.replace(case, defaults=frozenset())
    for name, labels in case.inputs.items():
        shapes = {run.inputs[name].shape for run in case.runs}
        for axis, label in enumerate(labels):
            sizes = {shape[axis] for shape in shapes}
            new = sizes.pop() if len(sizes) == 1 else None
            if isinstance(label, str) or label is None and new is not None:
                yield dataclasses.replace(case, inputs=case.inputs | {name: [*labels[:axis], new, *labels[axis + 1:]]})


def weight(case):
    labels = [0 if isinstance(x, int) else 1 if x is None else 2 for labels in case.inputs.values() for x in labels]
    return len(case.runs), len(case.nodes), len(case.outputs), sum(labels) + bool(case.folded) + bool(case.defaults)


def one_way(case, told, ways, fails):
    going = True
    while going:
        going = False
        for smaller in ways(case):
            if smaller is None or not smaller.nodes or not smaller.outputs or weight(smaller) >= weight(case):
                continue
            smaller, _ = replayed(plain(smaller))
            still = not smaller.runs[0].error and fails(smaller)
            if still:
                case, told, going = smaller, still, True
                break
    return case, told


def shrunk(case, fails):
    """The smallest case found for which fails(case) gives something true; that."""
    told, old = fails(case), None
    while told and weight(case) != old:
        old = weight(case)
        for ways in (fewer_runs, fewer_outputs, fewer_nodes, fewer_labels):
            case, told = one_way(case, told, ways, fails)
    return case, told
