"""sound_draw.py: random graphs for sound_live.py, drawn with eyes open.

As graph_draw.py, but every node is run by ONNX Runtime as it is added, at several bindings of the symbols at once. So the
drawer sees what a node does at each: one that the first binding refuses is not added, and few of the others may be lost
on the way, so that most graphs take some of the bindings and refuse the rest somewhere deep inside.
"""

import dataclasses
import math

import numpy as np
from onnx import helper

from graph_draw import ANY, BITS, BOOL, F32, I64, LIMIT, U8, Drawer, Refused, Value, reads
from sound_case import Bench, Case, Run, captures, session_of
from sound_lax import doubt_of, not_asked

LARGEST = 20000
NAMES = ("batch", "seq", "h", "w", "n", "m")


@dataclasses.dataclass
class Axis:
    """An axis of an input: what the file says of it (a name, a number, None), and its size at each binding."""

    label: str | int | None
    sizes: tuple


class Symbols:
    """The sizes of the symbols at each binding; the first is the one at which the graph must be legal."""

    def __init__(self, rng):
        self.names = rng.sample(NAMES, rng.randint(2, 4))
        base = dict(zip(self.names, rng.sample([2, 3, 4, 5, 6, 7, 8, 9, 12], len(self.names))))
        one, two = rng.choice(self.names), rng.choice(self.names)
        drawn = [
            ("base", base),
            ("ones", {n: 1 if rng.random() < 0.7 else base[n] for n in self.names}),
            ("zero", base | {two: 0}),
            ("odd", {n: rng.choice([1, 3, 5, 7, 11, 13]) for n in self.names}),
            ("large", {n: rng.randint(8, 26) for n in self.names}),
            ("one changed", base | {one: rng.choice([s for s in (1, 2, 3, 4, 5, 8, 10, 16, 17) if s != base[one]])}),
            ("small", {n: rng.randint(1, 4) for n in self.names}),
            ("untied", base),
        ]
        self.kinds = [kind for kind, _ in drawn]
        self.sizes = {n: tuple(sizes[n] for _, sizes in drawn) for n in self.names}


class SoundDrawer(Drawer):
    def __init__(self, rng):
        super().__init__(rng)
        self.symbols = Symbols(rng)
        self.count = len(self.symbols.kinds)
        self.arrays, self.axes = {}, {}  # by name: an array per binding; the Axis list of an input
        self.errors, self.doubts = [""] * self.count, [""] * self.count
        self.losses = rng.choice([0, 1, 2, 3, 4, self.count])
        self.sizes = []  # integers that follow from shapes
        self.rough = set()  # floats that engines may round differently
        self.bodies = []  # nodes outside the body that is being drawn
        self.anonymous = rng.random() < 0.5

    # Inputs and constants.

    def plan(self, size):
        """An axis of this size at the base binding: that of a symbol where one has it, else a number."""
        names = [n for n in self.symbols.names if self.symbols.sizes[n][0] == size]
        if not names or self.rng.random() < 0.1:
            return self.number(size) if self.rng.random() < 0.6 else Axis(None, (size,) * self.count)
        return self.axis(self.rng.choice(names))

    def number(self, size):
        return Axis(size, (size,) * self.count)

    def axis(self, name):
        """An axis as long as the symbol: under its name, without any, or under a name of its own."""
        draw = self.rng.random()
        label = None if draw < 0.2 and self.anonymous else f"{name}{self.rng.randint(2, 3)}" if draw > 0.93 else name
        return Axis(label, self.symbols.sizes[name])

    def input(self, dtype, shape):
        return self.add_input(np.dtype(dtype), [self.plan(int(size)) for size in shape])

    def add_input(self, dtype, axes, low=-12, high=12):
        name = self.fresh("x")
        untied = [a.sizes[-1] for a in axes]
        if axes and self.rng.random() < 0.3:
            untied[self.rng.randrange(len(axes))] = self.rng.choice([0, 1, 2, 3, 5])
        shapes = [tuple(a.sizes[b] for a in axes) for b in range(self.count - 1)] + [tuple(untied)]
        self.feed(name, [self.array(dtype, shape, low, high) for shape in shapes], axes)
        value = self.known(name, dtype, shapes[0], 3.0 if dtype in BITS else float(max(abs(low), abs(high))), 2)
        self.values.append(value)
        return value

    def feed(self, name, arrays, axes):
        self.arrays[name], self.axes[name], self.inputs[name] = arrays, axes, arrays[0]

    def constant(self, array):
        name = super().constant(array)
        self.arrays[name] = [np.asarray(array)] * self.count
        return name

    # What is known of values.

    def live(self):
        return [b for b in range(self.count) if not self.errors[b]]

    def of(self, value):
        """(binding, array) where it is known; the bindings that are lost are not."""
        name = value.name if isinstance(value, Value) else value
        return [(b, self.arrays[name][b]) for b in self.live() if self.arrays[name][b] is not None]

    def varies(self, value, axis):
        return len({a.shape[axis] for _, a in self.of(value)}) > 1

    def agree(self, x, y, fits):
        """2 where fits(shape of x, shape of y) at every binding, 1 at the base one only, else 0."""
        ours, theirs = dict(self.of(x)), dict(self.of(y))
        told = [fits(ours[b].shape, theirs[b].shape) for b in ours if b in theirs]
        return 0 if not told or not told[0] else 2 if all(told) else 1

    def fellow(self, x, fits, dtypes=None, lax=0.2):
        """A value that fits, mostly one that does at every binding."""
        ranked = {v.name: self.agree(x, v, fits) for v in self.values if v.dtype in (dtypes or (x.dtype,))}
        found = [v for v in self.values if ranked.get(v.name) == 2]
        if not found or self.rng.random() < lax:
            found = [v for v in self.values if ranked.get(v.name)]
        if not found:
            raise Refused
        return self.rng.choice(found)

    def partner(self, value):
        def broadcasts(xs, ys):
            return all(a == b or 1 in (a, b) for a, b in zip(reversed(xs), reversed(ys)))

        if self.rng.random() < 0.7:
            try:
                return self.fellow(value, broadcasts)
            except Refused:
                pass
        shape = [1 if self.varies(value, i) and self.rng.random() < 0.95 or self.rng.random() < 0.3 else d
                 for i, d in enumerate(value.shape)]
        shape = tuple(shape[self.rng.randint(0, len(shape)):]) if self.rng.random() < 0.4 else tuple(shape)
        return self.weight(value.dtype, shape)

    # Nodes.

    def emit(self, op, inputs, results, **attributes):
        """results: (dtype, shape, bound, grain) of each output; shape and bound are seen."""
        names = [i.name if isinstance(i, Value) else i for i in inputs]
        for name in names:
            if name in self.inputs and name not in self.arrays:  # an operator made an input of its own
                self.feed(name, [self.inputs[name]] * self.count, [])
        outs = [self.fresh("v") for _ in results]
        node = helper.make_node(op, names, outs, name=f"{op}_{self.made}", **attributes)
        self.name_inner(node)
        seen = self.evaluate(node, [np.dtype(r[0]) for r in results])
        values = [self.seen(name, arrays, np.dtype(result[0]), result[3])
                  for name, arrays, result in zip(outs, seen, results)]
        self.nodes.append(node)
        self.values += values
        return values

    def name_inner(self, node):
        """An error that names a node of a body is to be found again."""
        for attribute in node.attribute:
            for inner in attribute.g.node if attribute.HasField("g") else ():
                inner.name = inner.name or self.fresh(f"{inner.op_type}_")
                self.name_inner(inner)

    def seen(self, name, arrays, dtype, grain):
        self.arrays[name] = arrays
        alive = [a for _, a in self.of(name)]
        bound = max(float(np.abs(a.astype("f8")).max(initial=0)) for a in alive)
        if bound > LIMIT.get(dtype, 1e9) or not math.isfinite(bound):
            raise Refused
        if any(a.size > LARGEST or a.ndim != alive[0].ndim for a in alive):
            raise Refused
        return self.known(name, dtype, arrays[0].shape, bound, grain)

    def put(self, op, inputs, *dtypes, grain=None, **attributes):
        """emit for those that leave the shapes to see; the values, or the one."""
        values = self.emit(op, inputs, [(np.dtype(t), (), 0.0, grain) for t in dtypes], **attributes)
        return values[0] if len(values) == 1 else values

    def hide(self, *values):
        """Values no other operator works on."""
        gone = {v.name for v in values}
        self.values = [v for v in self.values if v.name not in gone]

    def evaluate(self, node, dtypes):
        """An array per output and binding; notes the bindings that are lost, raises Refused where they are too many."""
        before = [n for nodes in self.bodies for n in nodes] + self.nodes
        model, fed = Bench(self.opset, self.types, self.constants).alone(node, dtypes, self.arrays, before)
        try:
            session = session_of(model)
        except Exception:  # noqa: BLE001: the operator's own check of its types
            raise Refused from None
        rows, errors = [[None] * self.count for _ in dtypes], {}
        for b in self.live():
            feed = {n: self.arrays[n][b] for n in fed}
            if any(a is None for a in feed.values()):
                continue
            if not_asked(node, feed):
                self.doubts[b] = self.doubts[b] or not_asked(node, feed)
                continue
            try:
                for row, array in zip(rows, session.run(None, feed)):
                    row[b] = array
            except Exception as wrong:  # noqa: BLE001: the node does not take this binding
                errors[b] = f"{node.name}: {str(wrong)[:300]}"
        if any(row[0] is None for row in rows):
            raise Refused
        self.lose(errors)
        self.doubt(node, rows)
        return rows

    def doubt(self, node, rows):
        known = {n: self.arrays[n] for n in captures(node) if n in self.arrays} | dict(zip(node.output, rows))
        for b in self.live():
            row = doubt_of(node, {n: a[b] for n, a in known.items()}) if rows[0][b] is not None else None
            if row and row.forbidden and b == 0:
                raise Refused
            self.doubts[b] = self.doubts[b] or (row.why if row else "")

    def lose(self, errors):
        if self.bodies:  # whether a body runs at all is another question
            return
        lost = {b for b in errors if self.symbols.kinds[b] not in ("zero", "untied")}
        gone = sum(bool(text) for text in self.errors)
        if lost and gone + len(lost) > self.losses or errors and not lost and self.rng.random() < 0.7:
            raise Refused
        for b, text in errors.items():
            self.errors[b] = text

    def step(self, operators):
        for _ in range(60):
            kept = (list(self.nodes), list(self.values), dict(self.constants), dict(self.inputs), list(self.sizes),
                    list(self.errors), list(self.doubts), list(self.bodies))
            try:
                self.rng.choice(operators)(self)
                return True
            except (Refused, OverflowError, ZeroDivisionError):
                (self.nodes, self.values, self.constants, self.inputs, self.sizes, self.errors, self.doubts,
                 self.bodies) = kept
        return False

    # Whole graphs.

    def first_inputs(self):
        """A few inputs as models have them: images, sequences, tables, all over the same symbols."""
        pick = self.rng.choice
        for _ in range(self.rng.randint(2, 4)):
            rank = pick([1, 2, 2, 3, 3, 3, 4, 4])
            axes = [self.axis(pick(self.symbols.names)) for _ in range(rank)]
            if rank >= 3 or self.rng.random() < 0.4:
                axes[1 if rank == 4 else rank - 1] = self.number(pick([1, 2, 3, 4, 6, 8]))
            self.add_input(self.rng.choices([F32, I64, U8, BOOL, *ANY], [12, 2, 1, 0.5] + [0.3] * len(ANY))[0], axes)
        if self.rng.random() < 0.35:
            image = [self.axis(name) for name in self.rng.sample(self.symbols.names, 2)]
            self.add_input(F32, [self.number(pick([1, 2])), self.number(pick([2, 4, 8])), *image])

    def draw(self, operators):
        self.first_inputs()
        wanted = self.rng.choice([10, 12, 15, 18, 22, 27, 33, 40, 50, 58])
        while len(self.nodes) < wanted and self.step(operators):
            pass
        return self.case()

    def case(self):
        used = {name for node in self.nodes for name in reads(node)}
        made = [name for node in self.nodes for name in node.output if node.op_type != "Constant"]
        made = [name for name in made if name in self.types and name not in self.hidden]
        names = [name for name in made if name not in used or self.rng.random() < 0.08]
        runs = [Run(kind, {n: self.arrays[n][b] for n in self.inputs}, error=self.errors[b],
                    outputs=None if self.errors[b] else {n: self.arrays[n][b] for n in names},
                    doubt=kind if kind == "untied" else self.doubts[b]) for b, kind in enumerate(self.symbols.kinds)]
        runs = [run if run.judged else dataclasses.replace(run, outputs=None) for run in runs]
        labels = {n: [a.label for a in self.axes[n]] for n in self.inputs}
        case = Case(self.opset, labels, self.types, self.constants, self.nodes, names, runs, self.rough, self.hidden)
        case = case.pruned()
        return dataclasses.replace(case, folded=self.folded(case), defaults=self.defaults(case))

    def folded(self, case):
        if self.rng.random() > 0.1 or not case.nodes:
            return frozenset()
        first = self.rng.randrange(len(case.nodes))
        return frozenset(node.name for node in case.nodes[first:first + self.rng.randint(1, 6)] if node.name)

    def defaults(self, case):
        names = sorted(case.constants)
        return frozenset(self.rng.sample(names, 1)) if names and self.rng.random() < 0.05 else frozenset()

    def known(self, name, dtype, shape, bound, grain):
        value = super().known(name, dtype, shape, bound, grain)
        if not value.exact:
            self.rough.add(name)
        return value
