"""Small graphs about which something wrong was said once, as text of onnx.parser; sound.case says what is right."""

import onnx
from onnx import parser

HEAD = '<ir_version: 8, opset_import: ["": 18]>\n'

GRAPHS = {
    # Rounds are as many as a slice from the end has entries; what they stack has one size, if there are two at all.
    "rounds_that_are_not": """
g (float[batch] x, int64[12, 5] w) => (int64[r, a, b] y)
<int64[1] start = {-6}, int64[1] end = {-2147483648}, int64[1] axis = {0}, int64[1] back = {-2}, bool yes = {1}> {
  late = Slice (x, start, end, axis, back)
  size = Shape (late)
  rounds = Squeeze (size)
  rows = CenterCropPad <axes: ints = [0]> (w, size)
  last, y = Loop (rounds, yes, w) <body = body (int64 i, bool more, int64[p, q] before) => (bool go_on, int64[s, t] after, int64[u, v] row) {
    go_on = Identity (more)
    after = Identity (rows)
    row = Identity (rows)
  }>
}""",
    # A round takes five entries away, but there is more than one round from m == 4 on only.
    "round_that_shrinks": """
g (float[8, 9] x, float[m] z) => (int64[n] y)
<int64 five = {5}, int64[1] first = {0}, int64 none = {0}, bool yes = {1}, float half = {0.5}> {
  u, where, back, count = Unique <sorted = 1> (x)
  sizes = Shape (z)
  size = Gather (sizes, none)
  real = Cast <to = 1> (size)
  scaled = Mul (real, half)
  rounded = Round (scaled)
  rounds = Cast <to = 7> (rounded)
  y, all = Loop (rounds, yes, where) <body = body (int64 i, bool more, int64[p] before) => (bool go_on, int64[q] after, int64[r] row) {
    length = Shape (before)
    left = Sub (length, five)
    head = Unsqueeze (five, first)
    parts = Concat <axis = 0> (head, left)
    dropped, after = Split <axis = 0> (before, parts)
    go_on = Identity (more)
    row = Identity (before)
  }>
}""",
    # Whether there is a second round is not certain, so nothing is known of the rank of what is carried: the rule of Concat
    # cannot answer, and nobody reads the node.
    "unread_in_rounds": """
g (float[n] x, float[2, 1, 3] w, float[2, 5, 3] v) => (float[a, b, c] y)
<int64[1] first = {0}, int64[1] end = {9}, int64[1] start = {8}, bool yes = {1}> {
  size = Shape (x)
  rounds = Squeeze (size)
  y = Loop (rounds, yes, v) <body = body (int64 i, bool more, float[p, q, r] before) => (bool go_on, float[] after) {
    joined = Concat <axis = 1> (w, before)
    go_on = Identity (more)
    after = Slice (w, start, end, first)
  }>
}""",
    # How many axes are left, and how many entries a rank of its own has, follows from sizes.
    "rank_by_sizes": """
g (float[n, m, 8] x) => (int64 y)
<int64 third = {-3}> {
  squeezed = Squeeze (x)
  sizes = Shape (squeezed)
  y = Gather <axis = 0> (sizes, third)
}""",
    # The operators would run on a value of any rank but for an attribute.
    "any_rank": """
g (float[n, m, 8] x) => (float y, float z) {
  squeezed = Squeeze (x)
  y = Softmax <axis = 1> (squeezed)
  relu = Relu (squeezed)
  z = Exp (relu)
}""",
    # What an axis of two entries or more is expanded to is its own size, whatever the data.
    "expanded_by_data": """
g (float[h] x, int64[1] s) => (float[k] y, int64[k] where)
<int64[1] six = {6}> {
  wide = Expand (x, s)
  y, where = TopK (wide, six)
}""",
    # That y is no longer than n//2 rests on a condition that MatMul asks about data.
    "asked_later": """
g (float[n] x, float[6] v, int64[m] w, float[2, 6] u) => (float[k] y, float[2, c] z)
<int64[1] two = {2}, int64[1] zero = {0}, int64[1] one = {1}> {
  places = NonZero (w)
  flat = Squeeze (places, zero)
  picked = Cast <to = 1> (flat)
  size = Shape (x)
  half = Div (size, two)
  top, where = TopK (picked, half)
  column = Unsqueeze (picked, one)
  z = MatMul (u, column)
  y = Slice (v, zero, half)
}""",
    # Nothing, however often, takes no memory.
    "nothing_tiled": """
g (int64[n] w, float[e, 1] x) => (float[a, b] y)
<int64[1] one = {1}, int64 part = {16}, int64[1] zero = {0}> {
  least = ReduceMin <keepdims = 0> (w)
  some = Div (least, part)
  often = Unsqueeze (some, zero)
  repeats = Concat <axis = 0> (one, often)
  y = Tile (x, repeats)
}""",
    # Of what data chooses between, MatMul takes the second, and that has too few entries for Reshape at most sizes.
    "taken_by_none": """
g (float[n, 3] x, float[m, 4] z, bool c, float[4, 2] w) => (float[a, b] y, float[d, e] p)
<int64[2] target = {-1, 5}> {
  v = If (c) <then_branch = one () => (float[n, 3] of_x) { of_x = Identity (x) },
              else_branch = other () => (float[m, 4] of_z) { of_z = Identity (z) }>
  p = Reshape (v, target)
  y = MatMul (v, w)
}""",
    # With no round at all, the body could not run: nodes that nobody reads count, too.
    "rounds_of_nothing": """
g (float[3] x, float[r, n] z, float[3] state, int64[1] at) => (float[p, q] y)
<int64[1] zero = {0}, int64 one = {1}, float[2] values = {0.0, 1.0}> {
  sizes = Shape (z)
  size = Gather (sizes, one)
  rows = Unsqueeze (size, zero)
  last = Unsqueeze (one, zero)
  target = Concat <axis = 0> (rows, last)
  wide = Expand (x, target)
  end, y = Scan (state, wide) <num_scan_inputs = 1, body = body (float[s] before, float[t] row) => (float[u] after, float[v] kept) {
    unread = OneHot <axis = 0> (at, size, values)
    after = Neg (before)
    kept = Identity (before)
  }>
}""",
    # One size of the target follows from the shape of v, the other one is data.
    "resized_by_both": """
g (float[2, 2, h, 3] x, int64[1] w, float[n] v) => (float[a, b, c, d] y)
<int64[1] first = {0}, int64[1] second = {2}, float third = {0.3333}> {
  sizes = Shape (x)
  kept = Slice (sizes, first, second)
  size = Shape (v)
  real = Cast <to = 1> (size)
  scaled = Mul (real, third)
  whole = Cast <to = 7> (scaled)
  last = Concat <axis = 0> (whole, w)
  target = Concat <axis = 0> (kept, last)
  y = Resize <mode = "nearest"> (x, , , target)
}""",
    # The file declares one axis for an item of which the rules know four.
    "declared_item": """
g (float[2, 2, 1] x, float[2, 2, 2] v) => (float[n] y)
<int64 none = {0}, bool yes = {1}> {
  last, items = Loop (none, yes, v) <body = body (int64 i, bool more, float[p, q, r] before) => (bool go_on, float[s, t, u] after, float[a, b, c] item) {
    go_on = Identity (more)
    after = Identity (before)
    item = Identity (x)
  }>
  list = SequenceConstruct (items)
  y = SequenceAt (list, none)
}""",
    # A size of the target may be 0, and then it copies an axis that is not empty.
    "copied_by_nothing": """
g (float[3, 6, 1] x, float[n] v) => (float[a, b] y)
<int64[1] first = {0}, int64[1] axis = {2}, int64[1] rest = {-1}, float half = {0.5}> {
  size = Shape (v)
  real = Cast <to = 1> (size)
  scaled = Mul (real, half)
  rounded = Ceil (scaled)
  whole = Cast <to = 7> (rounded)
  part = Slice (x, first, whole, axis)
  width = Shape <start = 2> (part)
  target = Concat <axis = 0> (rest, width)
  y = Reshape (part, target)
}""",
    # At most n - 1 is never over 2 where n is at most 3: the other branch runs, and takes 1 or 4 rows only.
    "branch_by_bounds": """
g (float[n, 4] x) => (float[a, b] y)
<int64 two = {2}, float[4, 2] w = {1, 1, 1, 1, 1, 1, 1, 1}, float[4, 1] bias = {1, 1, 1, 1}> {
  where = ArgMax <axis = 0> (x)
  most = ReduceMax <keepdims = 0> (where)
  over = Greater (most, two)
  y = If (over) <then_branch = then () => (float[c, d] yes) {
    yes = MatMul (x, w)
  }, else_branch = otherwise () => (float[e, f] no) {
    no = Gemm (x, w, bias)
  }>
}""",
    # m is 1 because of the product, but nobody holds the two axes called m against each other when it runs.
    "one_by_condition": """
g (float[n, m, m] x) => (float[a, b, c] y)
<float[1, 1] w = {2}> {
  y = MatMul (x, w)
}""",
    # An input that adds nothing, and sizes that agree with it: the other one may be empty, too.
    "joined_with_nothing": """
g (float[n, 5] x, float[m, k] z) => (float[a, 5] y, float[b, c] w)
<float[0, 5] none = {}> {
  y = Concat <axis = 0> (none, x)
  w = Concat <axis = 0> (none, z)
}""",
    # The sizes of a branch that may not be taken need not broadcast.
    "broadcast_in_branch": """
g (float[n] x, float[k] z, bool c) => (float[a] y)
<int64[1] five = {5}> {
  y = If (c) <then_branch = then () => (float[d] most) {
    most, places = TopK (x, five)
  }, else_branch = otherwise () => (float[e] sum) {
    sum = Add (x, z)
  }>
}""",
    # No round takes place, and the body would refuse its values: what it collects has no axes but that of the rounds.
    "rounds_of_refusal": """
g (float[n, 1] x) => (int64 y)
<int64 never = {0}, bool yes = {1}, float[2, 2] w = {1, 1, 1, 1}, int64 last = {-2}> {
  after, rows = Loop (never, yes, x) <body = body (int64 i, bool more, float[p, q] before) => (bool go_on, float[r, s] next, float[] row) {
    go_on = Identity (more)
    next = MatMul (before, w)
    row = Identity (before)
  }>
  sizes = Shape (rows)
  y = Gather (sizes, last)
}""",
    # How many axes the rows have depends on data; the file declares one, a run gives two.
    "declared_otherwise": """
g (float[n, 1] x, int64 place) => (float[a] y)
<int64 never = {0}, bool yes = {1}, bool[1] all = {1}> {
  after, rows = Loop (never, yes, x) <body = body (int64 i, bool more, float[p, q] before) => (bool go_on, float[r, s] next, float[] row) {
    go_on = Identity (more)
    next = Identity (before)
    row = Gather <axis = 0> (before, place)
  }>
  y = Compress <axis = 0> (rows, all)
}""",
    # The branches give other element types, whichever the shape takes.
    "types_of_branches": """
g (float[n, 4] x) => (float[a] y)
<int64 five = {5}> {
  sizes = Shape <end = 1> (x)
  first = Squeeze (sizes)
  few = Less (first, five)
  y = If (few) <then_branch = then () => (float[c] yes) {
    shape = Shape (x)
    yes = Cast <to = 1> (shape)
  }, else_branch = otherwise () => (int64[d] no) {
    no = Shape (x)
  }>
}""",
    # Data says how often the body runs at most, a size when it ends: an empty x lets no data make two rounds.
    "rounds_by_both": """
g (float[1, 1, n] x, int64 times) => (float[a, b, c] y)
<float part = {0.185}, int64[1] less = {-1}, int64[1] one = {1}, bool yes = {1}> {
  after, rows = Loop (times, yes, x) <body = body (int64 i, bool more, float[p, q, r] before) => (bool go_on, float[s, t, u] next, int64[v] row) {
    size = Shape <start = 2, end = 3> (before)
    number = Squeeze (size)
    real = Cast <to = 1> (number)
    scaled = Mul (real, part)
    up = Ceil (scaled)
    most = Cast <to = 7> (up)
    go_on = Less (i, most)
    next = Identity (before)
    row = Identity (one)
  }>
  count = Shape <start = 0, end = 1> (rows)
  fewer = Add (count, less)
  scale = ConstantOfShape <value = float[1] {1}> (fewer)
  y = InstanceNormalization (x, scale, scale)
}""",
    # Both branches refuse an empty x; what a 0 of the target means is told apart beside that.
    "refused_either_way": """
g (float[p, q, r] x, bool c) => (float[a, b] y, float[d, e, f] z)
<int64[6] pads = {2, 1, 2, 1, 1, 1}, int64[5, 5, 1] places = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, int64[1] copy = {0}> {
  z = If (c) <then_branch = then () => (float[g, h, i] yes) {
    picked = GatherElements <axis = 2> (x, places)
    yes = Identity (picked)
  }, else_branch = otherwise () => (float[j, k, l] no) {
    no = Pad <mode = "edge"> (x, pads)
  }>
  rows = Shape <start = 1, end = 2> (x)
  columns = Shape <start = 2, end = 3> (x)
  both = Mul (rows, columns)
  target = Concat <axis = 0> (copy, both)
  y = Reshape (x, target)
}""",
}


def write_all(folder):
    for name, text in GRAPHS.items():
        onnx.save(parser.parse_model(HEAD + text), folder / f"{name}.onnx")
