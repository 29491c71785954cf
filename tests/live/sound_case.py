"""sound_case.py: the cases of sound_live.py: a graph, and what ONNX Runtime makes of it at several bindings of its symbols.

ONNX Runtime runs one node at a time, without its optimizer: so the values in between are seen, and where a binding ends.
"""

import dataclasses

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

from graph_draw import BITS, elem, reads
from sound_lax import doubt_of, not_asked


def options():
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 4
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return settings


OPTIONS = options()


def session_of(model):
    return onnxruntime.InferenceSession(model.SerializeToString(), OPTIONS, providers=["CPUExecutionProvider"])


@dataclasses.dataclass
class Run:
    """One binding: the inputs, and what ONNX Runtime makes of them: outputs, or the error of the node that refuses."""

    kind: str
    inputs: dict
    outputs: dict | None = None
    error: str = ""
    doubt: str = ""  # why ONNX Runtime is no judge here

    def shapes(self):
        return {name: list(array.shape) for name, array in self.inputs.items()}

    @property
    def judged(self):
        return self.outputs is not None and not self.error and not self.doubt


def wrapped(graph, opset):
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 21 else 10)


@dataclasses.dataclass
class Case:
    opset: int
    inputs: dict  # name -> labels of its axes: a name, a number, None
    types: dict  # of all tensors: name -> (dtype, rank)
    constants: dict  # name -> array
    nodes: list
    outputs: list  # names
    runs: list
    rough: set = dataclasses.field(default_factory=set)  # floats that engines may round differently
    hidden: set = dataclasses.field(default_factory=set)  # values that may be others altogether
    folded: frozenset = frozenset()  # names of neighbouring nodes that are a local function
    defaults: frozenset = frozenset()  # constants that the file lists as inputs, too

    def model(self):
        def info(name, dims):
            return helper.make_tensor_value_info(name, elem(self.types[name][0]), dims)

        inputs = [info(name, labels) for name, labels in self.inputs.items()]
        inputs += [info(name, array.shape) for name, array in self.constants.items() if name in self.defaults]
        outputs = [info(name, [None] * self.types[name][1]) for name in self.outputs]
        constants = [numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        nodes, functions = with_function(self)
        model = wrapped(helper.make_graph(nodes, "drawn", inputs, outputs, constants), self.opset)
        if functions:
            model.functions.extend(functions)
            model.opset_import.append(helper.make_opsetid("local", 1))
        return model

    def pruned(self):
        """Without the nodes, inputs and constants that no output needs."""
        needed, nodes = set(self.outputs), []
        for node in reversed(self.nodes):
            if needed & set(node.output):
                nodes.insert(0, node)
                needed |= reads(node)
        runs = [dataclasses.replace(run, inputs={k: v for k, v in run.inputs.items() if k in needed}) for run in self.runs]
        return dataclasses.replace(
            self, nodes=nodes, inputs={k: v for k, v in self.inputs.items() if k in needed},
            constants={k: v for k, v in self.constants.items() if k in needed}, runs=runs)


def with_function(case):
    """The nodes with a call in place of the folded ones, and the function."""
    inside = [node for node in case.nodes if node.name and node.name in case.folded]
    if not inside:
        return case.nodes, []
    first, last = case.nodes.index(inside[0]), case.nodes.index(inside[-1])
    inside, outside = case.nodes[first:last + 1], case.nodes[:first] + case.nodes[last + 1:]
    made = [o for node in inside for o in node.output if o]
    taken = sorted({name for node in inside for name in captures(node)} - set(made))
    needed = {name for node in outside for name in captures(node)} | set(case.outputs)
    given = [name for name in made if name in needed]
    function = helper.make_function("local", "Folded", taken, given, inside, [helper.make_opsetid("", case.opset)])
    call = helper.make_node("Folded", taken, given, name="Folded_0", domain="local")
    return [*case.nodes[:first], call, *case.nodes[last + 1:]], [function]


def free(graph):
    """The names a body takes from outside."""
    inner = {i.name for i in graph.input} | {i.name for i in graph.initializer}
    names = set()
    for node in graph.node:
        names |= captures(node) - inner
        inner |= set(node.output)
    return names | {o.name for o in graph.output} - inner


def captures(node):
    """The names a node needs, what its bodies take from outside among them."""
    names = {name for name in node.input if name}
    for attribute in node.attribute:
        if attribute.HasField("g"):
            names |= free(attribute.g)
    return names


class Bench:
    """Runs nodes one by one. Sequences are never seen: their nodes run with the one that makes a tensor of them."""

    def __init__(self, opset, types, constants):
        self.opset, self.types, self.constants = opset, types, constants

    def makers(self, names, known, nodes):
        needed, out = {n for n in names if n not in known}, []
        for node in reversed(nodes):
            if needed & set(node.output):
                out.insert(0, node)
                needed |= {n for n in captures(node) if n not in known}
        return out

    def alone(self, node, dtypes, known, nodes):
        """(model of the one node, names of its inputs); nodes: those before it."""
        some = [*self.makers(captures(node), known, nodes), node]
        names = sorted({n for each in some for n in captures(each) if n in known})
        fed = [n for n in names if n not in self.constants]
        info = helper.make_tensor_value_info
        graph = helper.make_graph(some, "one", [info(n, elem(self.types[n][0]), None) for n in fed],
                                  [info(n, elem(t), None) for n, t in zip(node.output, dtypes) if n],
                                  [numpy_helper.from_array(self.constants[n], n) for n in names if n in self.constants])
        return wrapped(graph, self.opset), fed


def shaken(array, rng):
    """The array with its last bits changed."""
    bits = BITS.get(array.dtype)
    if not bits or not rng:
        return array
    noise = 1 + 4 * 2.0**-bits * rng.uniform(-1, 1, array.shape)
    return np.asarray(array * noise, array.dtype)


def replay(case, rng=None):
    """Name -> array of every tensor at each run, None where it is not reached; with rng, rough values are shaken.
    Notes errors and doubts in the runs it gives back: (arrays, runs)."""
    bench, done = Bench(case.opset, case.types, case.constants), []
    known = {n: [a] * len(case.runs) for n, a in case.constants.items()}
    known |= {n: [run.inputs[n] for run in case.runs] for n in case.inputs}
    runs = [dataclasses.replace(run, error="", outputs=None) for run in case.runs]
    for node in case.nodes:
        names = [n for n in node.output if n in case.types]
        if names:
            run_node(bench, node, names, known, done, runs, case, rng)
        done.append(node)
    for b, run in enumerate(runs):
        outputs = {name: known[name][b] for name in case.outputs}
        if not run.error and all(a is not None for a in outputs.values()):
            run.outputs = outputs
    return known, runs


def run_node(bench, node, names, known, done, runs, case, rng):
    model, fed = bench.alone(node, [case.types[n][0] for n in node.output], known, done)
    try:
        session, wrong = session_of(model), ""
    except Exception as error:  # noqa: BLE001: the node does not suit its inputs
        session, wrong = None, str(error)
    known |= {name: [None] * len(runs) for name in names}
    for b, run in enumerate(runs):
        feed = {n: known[n][b] for n in fed}
        if any(a is None for a in feed.values()):
            continue
        if not_asked(node, feed):
            run.doubt = run.doubt or not_asked(node, feed)
            continue
        try:
            got = session.run(names, feed) if session else None
        except Exception as error:  # noqa: BLE001: the node does not take this binding
            got, wrong = None, str(error)
        if got is None:
            run.error = run.error or f"{node.name}: {wrong[:300]}"
            continue
        for name, array in zip(names, got):
            known[name][b] = shaken(array, rng if name in case.rough else None)
        row = doubt_of(node, {n: known[n][b] for n in {*captures(node), *names} if n in known})
        run.doubt = run.doubt or (row.why if row else "")


def replayed(case):
    """The case with what ONNX Runtime makes of it; its arrays."""
    arrays, runs = replay(case)
    return dataclasses.replace(case, runs=runs), arrays
