"""graph_draw.py: random ONNX graphs that are legal by construction, for graphs_live.py.

A value is drawn with its type, its shape, a bound of its magnitude and its grain: the entries are multiples of
2**-grain, or nothing is known (None). Only exact values, whose entries every engine computes alike, go into operators
that jump (Floor, ArgMax, casts to integers, comparisons).
"""

import dataclasses
import math

import numpy as np
from onnx import TensorProto, helper, numpy_helper

F16, F32, F64 = np.dtype("f2"), np.dtype("f4"), np.dtype("f8")
I32, I64, U8, BOOL = np.dtype("i4"), np.dtype("i8"), np.dtype("u1"), np.dtype("?")
FLOATS, INTS = (F32, F64, F16), (I32, I64)
NUMBERS = (*FLOATS, *INTS)
ANY = (*NUMBERS, U8, BOOL)
BITS = {F16: 10, F32: 23, F64: 52}
LIMIT = {F16: 500.0, F32: 1e4, F64: 1e6, I32: 1e8, I64: 1e12, U8: 255.0, BOOL: 1.0}
SIZES, SIZE_WEIGHTS = (0, 1, 2, 3, 4, 5, 7, 16, 33), (1, 6, 8, 10, 5, 4, 2, 1, 1)


@dataclasses.dataclass
class Value:
    name: str
    dtype: np.dtype
    shape: tuple
    bound: float
    grain: int | None = None

    @property
    def rank(self):
        return len(self.shape)

    @property
    def exact(self):
        if self.dtype not in BITS:
            return True
        return self.grain is not None and self.bound * 2**self.grain < 2 ** BITS[self.dtype]


def reads(node):
    """The names a node reads, those that its bodies take from outside among them."""
    names = set(node.input)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            inner = {name for child in attribute.g.node for name in reads(child)}
            names |= inner | {o.name for o in attribute.g.output}
    return names


@dataclasses.dataclass
class Case:
    """A model and what it is run on; the inputs' symbols are named by size, so equal sizes share one."""

    opset: int
    inputs: dict  # name -> array
    symbolic: dict  # name -> set of axes
    constants: dict  # name -> array
    nodes: list
    outputs: list  # names
    types: dict  # name -> (dtype, rank) of every tensor

    def model(self):
        def info(name, dims):
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(self.types[name][0]), dims)

        inputs = [info(name, [f"n{d}" if axis in self.symbolic[name] else d for axis, d in enumerate(array.shape)])
                  for name, array in self.inputs.items()]
        outputs = [info(name, [f"{name}_{axis}" for axis in range(self.types[name][1])]) for name in self.outputs]
        constants = [numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        graph = helper.make_graph(self.nodes, "drawn", inputs, outputs, constants)
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8 if self.opset < 21 else 10)

    def pruned(self):
        """Without the nodes, inputs and constants that no output needs."""
        needed, nodes = set(self.outputs), []
        for node in reversed(self.nodes):
            if needed & set(node.output):
                nodes.insert(0, node)
                needed |= reads(node)
        return dataclasses.replace(
            self, nodes=nodes, inputs={k: v for k, v in self.inputs.items() if k in needed},
            constants={k: v for k, v in self.constants.items() if k in needed})


class Refused(Exception):
    """This operator has nothing to work on here; draw another."""


class Drawer:
    def __init__(self, rng):
        self.rng = rng
        self.opset = rng.choice([13, 15, 17, 18, 20, 21, 22])
        self.values, self.inputs, self.constants, self.nodes, self.types = [], {}, {}, [], {}
        self.fixed = set()  # inputs whose entries the shapes of later values were taken from
        self.hidden = set()  # values that engines may round differently: no outputs
        self.made = 0

    # Names and arrays.

    def fresh(self, stem):
        self.made += 1
        return f"{stem}{self.made}"

    def array(self, dtype, shape, low=-12, high=12):
        rng = np.random.default_rng(self.rng.getrandbits(64))
        entries = rng.integers(low, high + 1, shape)
        if dtype == BOOL:
            entries = entries % 2 == 0
        elif dtype in BITS:
            entries = entries / 4
        elif dtype == U8:
            entries = np.abs(entries)
        return np.asarray(entries, dtype)

    def shape(self, rank=None):
        rank = self.rng.choice([0, 1, 2, 2, 3, 3, 4]) if rank is None else rank
        return tuple(self.rng.choices(SIZES, SIZE_WEIGHTS, k=rank))

    def known(self, name, dtype, shape, bound, grain):
        value = Value(name, np.dtype(dtype), tuple(int(d) for d in shape), bound, grain)
        self.types[name] = (value.dtype, value.rank)
        return value

    def input(self, dtype, shape):
        value = self.known(self.fresh("x"), dtype, shape, 3.0 if dtype in BITS else 12.0, 2)
        self.inputs[value.name] = self.array(dtype, shape)
        self.values.append(value)
        return value

    def constant(self, array):
        """The name of a constant: an initializer, or the output of a Constant node."""
        array, name = np.asarray(array), self.fresh("c")
        self.types[name] = (array.dtype, array.ndim)
        if self.rng.random() < 0.2:
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        else:
            self.constants[name] = array
        return name

    def weight(self, dtype, shape):
        name = self.constant(self.array(dtype, shape, -4, 4))
        return self.known(name, dtype, shape, 1.0 if dtype in BITS else 4.0, 2)

    def ints(self, *entries):
        return self.constant(np.array(entries, np.int64))

    # Values to work on.

    def pick(self, dtypes=ANY, ranks=range(0, 9), exact=False, where=lambda value: True):
        fit = [v for v in self.values if v.dtype in dtypes and v.rank in ranks and (v.exact or not exact) and where(v)]
        if not fit:
            raise Refused
        # The latest are preferred: graphs should be deep.
        return self.rng.choice(fit[-4:] if self.rng.random() < 0.6 else fit)

    def partner(self, value):
        """A value or constant of the same type that broadcasts with this one."""
        def fits(other):
            pairs = zip(reversed(value.shape), reversed(other.shape))
            return other.dtype == value.dtype and all(a == b or 1 in (a, b) for a, b in pairs)

        fit = [v for v in self.values if fits(v)]
        if fit and self.rng.random() < 0.6:
            return self.rng.choice(fit)
        shape = [d if self.rng.random() < 0.7 else 1 for d in value.shape]
        shape = tuple(shape[self.rng.randint(0, len(shape)):]) if self.rng.random() < 0.4 else tuple(shape)
        return self.weight(value.dtype, shape) if self.rng.random() < 0.6 else self.input(value.dtype, shape)

    # Nodes.

    def emit(self, op, inputs, results, **attributes):
        """results: (dtype, shape, bound, grain) of each output."""
        values = [self.known(self.fresh("v"), *result) for result in results]
        for value in values:
            if value.bound > LIMIT[value.dtype] or math.prod(value.shape) > 20000:
                raise Refused
        names = [i.name if isinstance(i, Value) else i for i in inputs]
        self.nodes.append(helper.make_node(op, names, [v.name for v in values], **attributes))
        self.values += values
        return values

    def like(self, op, value, *more, **attributes):
        """A node whose result is as the value in every respect."""
        return self.emit(op, [value, *more], [(value.dtype, value.shape, value.bound, value.grain)], **attributes)

    def step(self, operators):
        for _ in range(60):
            marks = len(self.nodes), len(self.values), dict(self.constants), dict(self.inputs)
            try:
                return self.rng.choice(operators)(self)
            except (Refused, OverflowError):  # a bound beyond every float is as refused as one beyond LIMIT
                del self.nodes[marks[0]:], self.values[marks[1]:]
                self.constants, self.inputs = marks[2], marks[3]
        return None

    def draw(self, operators):
        main = self.rng.choices([F32, F64, F16, I32, I64, U8, BOOL], [12, 2, 2, 2, 4, 1, 1])[0]
        for _ in range(self.rng.randint(1, 3)):
            self.input(main if self.rng.random() < 0.8 else self.rng.choice(ANY), self.shape())
        if main == F32 and self.rng.random() < 0.4:  # something for windows and recurrent layers
            self.input(F32, [max(1, size) for size in self.shape(self.rng.choice([3, 4, 4, 5]))])
        wanted = self.rng.randint(2, 12)
        for _ in range(wanted):
            self.step(operators)
        return self.case()

    def case(self):
        used = {name for node in self.nodes for name in reads(node)}
        made = [name for node in self.nodes for name in node.output if node.op_type != "Constant"]
        made = [name for name in made if name in self.types and name not in self.hidden]
        outputs = [name for name in made if name not in used or self.rng.random() < 0.15]
        symbolic = {name: {axis for axis in range(array.ndim) if self.rng.random() < 0.6 and not self.fixed}
                    for name, array in self.inputs.items()}
        return Case(self.opset, self.inputs, symbolic, self.constants, self.nodes, outputs, self.types).pruned()


def elem(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


assert elem(F32) == TensorProto.FLOAT
