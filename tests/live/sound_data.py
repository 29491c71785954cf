"""sound_data.py: which nodes of a graph see more than shapes: entries of inputs, or sizes that depend on them. What those
refuse is no matter of shapes alone."""

import dataclasses
import functools

# The inputs of an operator whose entries decide about sizes, or may be refused.
ENTRIES = {
    "Reshape": (1,), "Expand": (1,), "Slice": (1, 2, 3, 4), "Range": (0, 1, 2), "Tile": (1,), "ConstantOfShape": (0,),
    "Pad": (1, 3), "TopK": (1,), "Split": (1,), "OneHot": (1,), "Resize": (1, 2, 3), "NonZero": (0,), "Unique": (0,),
    "Compress": (1,), "Gather": (1,), "GatherND": (1,), "GatherElements": (1,), "ScatterND": (1,), "ScatterElements": (1,),
    "CumSum": (1,), "ReverseSequence": (1,), "SplitToSequence": (1,), "SequenceAt": (1,), "SequenceInsert": (2,),
    "Squeeze": (1,), "Unsqueeze": (1,), "CenterCropPad": (1,), "HannWindow": (0,), "HammingWindow": (0,),
    "BlackmanWindow": (0,), "Div": (1,), "Mod": (1,), "Trilu": (1,), "LSTM": (4,), "GRU": (4,), "RNN": (4,), "If": (0,),
    "Loop": (0, 1), "ReduceSum": (1,), "ReduceMax": (1,), "ReduceMin": (1,), "ReduceMean": (1,),
    "NonMaxSuppression": (0, 1, 2, 3, 4),
}

# The input whose shape says how many axes the result has. Elsewhere the ranks of the inputs do.
RANKED_BY = {"Reshape": 1, "ConstantOfShape": 0, "Expand": 1, "Squeeze": 0}


@dataclasses.dataclass(frozen=True)
class Known:
    """What follows from the shapes of the inputs: how many axes the value has, its own shape, its entries."""

    rank: bool
    shape: bool
    entries: bool

    def __and__(self, other):
        return Known(self.rank and other.rank, self.shape and other.shape, self.entries and other.entries)


ALL, SHAPE, NOTHING = Known(True, True, True), Known(True, True, False), Known(False, False, False)


def together(many):
    return functools.reduce(Known.__and__, many, ALL)


def bodies_of(node):
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def names_in(graph):
    for node in graph.node:
        yield node.name
        for inner in bodies_of(node):
            yield from names_in(inner)


class Seen:
    """`nodes`: name -> whether the node sees data."""

    def __init__(self, case):
        self.nodes, self.known = {}, dict.fromkeys(case.constants, ALL) | dict.fromkeys(case.inputs, SHAPE)
        self.walk(case.nodes)

    def walk(self, nodes):
        for node in nodes:
            self.known |= dict.fromkeys(node.output, self.outcome(node))

    def of(self, name):
        return self.known.get(name, ALL)

    def outcome(self, node):
        inputs = [self.of(name) for name in node.input]
        read = all(inputs[i].entries for i in ENTRIES.get(node.op_type, ()) if i < len(inputs))
        clear = read and all(known.shape for known in inputs)
        by = RANKED_BY.get(node.op_type)
        rank = all(known.rank for known in inputs) and (by is None or by >= len(inputs) or inputs[by].shape)
        result = Known(rank and (read or node.op_type != "If"), clear, clear and all(known.entries for known in inputs))
        if node.op_type in ("Shape", "Size", "SequenceLength"):
            result = Known(True, inputs[0].rank, inputs[0].shape)
        for graph in bodies_of(node):
            inner = BODIES[node.op_type](self, graph, inputs)
            clear, result = clear and inner is not None, result & (inner or NOTHING)
        self.nodes[node.name] = self.nodes.get(node.name, False) or not clear
        if not clear:  # whether a body runs at all depends on data
            self.nodes |= dict.fromkeys((name for graph in bodies_of(node) for name in names_in(graph)), True)
        return result

    def results(self, graph, given):
        self.known |= dict(zip((i.name for i in graph.input), given))
        self.walk(graph.node)
        return [self.of(o.name) for o in graph.output]

    def branch(self, graph, _):
        return together(self.results(graph, []))

    def loop(self, graph, inputs):
        """None where data decides how often it runs, or what sizes it collects, which must be equal. States are what they are
        after any number of rounds."""
        given = [ALL, *inputs[1:]]
        while True:
            results = self.results(graph, given)
            after = [ALL, *(old & new for old, new in zip(given[1:], results))]
            if after == given:
                collected = results[len(given) - 1:]
                return together(results) if given[1].entries and all(known.shape for known in collected) else None
            given = after

    def scan(self, graph, inputs):
        given, states = [known & SHAPE for known in inputs], len(graph.input) - 1  # one input is scanned
        while True:
            results = self.results(graph, given)
            after = [old & new for old, new in zip(given[:states], results)] + given[states:]
            if after == given:  # states and what is collected keep their sizes
                return together(results) if all(known.shape for known in results) else None
            given = after

    def data(self, names):
        """Whether one of these nodes sees data; unknown ones do not. In a function, the call's name comes first."""
        return any(self.nodes.get(name.rpartition("/")[2], False) for name in names)


BODIES = {"If": Seen.branch, "Loop": Seen.loop, "Scan": Seen.scan}
