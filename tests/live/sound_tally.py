"""sound_tally.py: what sound_live.py has seen, and whether that was enough to mean something."""

from collections import Counter

from sound_judge import holds
from sound_lax import operators

# From this many graphs on, so many operators must have been drawn, and the shares below must be there.
ENOUGH, VARIETY = 1000, 120
# From this many on, each of these.
MANY = 10000
LISTED = """
Abs Add And ArgMax ArgMin AveragePool BatchNormalization BitShift Cast CastLike Ceil CenterCropPad Clip Compress Concat
ConcatFromSequence ConstantOfShape Conv ConvInteger ConvTranspose CumSum DepthToSpace DequantizeLinear Div Dropout
DynamicQuantizeLinear Einsum Equal Erf Exp Expand EyeLike Flatten Floor GRU Gather GatherElements GatherND Gemm
GlobalAveragePool GlobalMaxPool Greater GridSample HannWindow Identity If InstanceNormalization LSTM LayerNormalization
LeakyRelu Less LogSoftmax Loop LpNormalization MatMul MatMulInteger Max MaxPool Mean Min Mod Mul Neg NonZero Not OneHot Or
PRelu Pad Pow QLinearConv QLinearMatMul QuantizeLinear RNN Range ReduceL2 ReduceLogSumExp ReduceMax ReduceMean ReduceMin
ReduceProd ReduceSum Relu Reshape Resize ReverseSequence Round Scan ScatterElements ScatterND SequenceAt
SequenceConstruct SequenceInsert SequenceLength Shape Sigmoid Sign Size Slice Softmax SpaceToDepth Split SplitToSequence
Sqrt Squeeze Sub Sum Tanh Tile TopK Transpose Trilu Unique Unsqueeze Where
""".split()


def kind_of(report, shapes, verdict):
    """accept, unknown, or what refuses: a declared size, a printed condition, or what only the walk sees."""
    if verdict["answer"] != "refuse":
        return verdict["answer"]
    env = report.sizes(shapes)
    if env is None:
        return "refused by declared sizes"
    return "refused by the walk alone" if holds(report, env) else "refused by a printed condition"


class Tally:
    def __init__(self):
        self.drawn = self.died = self.failed = self.nodes = self.exact = self.judged = 0
        self.operators, self.verdicts, self.kinds, self.more = Counter(), Counter(), Counter(), Counter()

    def draw(self, case):
        self.drawn += 1
        self.died += case is None
        if case:
            self.nodes += len(case.nodes)
            self.more["graphs with a local function"] += bool(case.folded)
            self.more["graphs with a default"] += bool(case.defaults)
            self.operators.update(op for node in case.nodes for op in operators(node))

    def add(self, graph):
        self.failed += bool(graph.found)
        self.kinds.update({found.kind for found in graph.found})
        report = graph.report
        if not report:
            return
        self.exact += report.exact
        self.judged += len(graph.accepted())
        self.verdicts.update(kind_of(report, s, v) for s, v in zip(graph.bindings, report.verdicts))
        if report.proof:
            self.more[f"regions {report.proof['answer']}"] += 1
        for fix in graph.fixes:
            self.more[f"files {fix.how}"] += 1

    def lacking(self):
        """What should have been seen, and was not."""
        if self.drawn < ENOUGH:
            return []
        out = [f"no {op}" for op in LISTED if self.drawn >= MANY and not self.operators[op]]
        out += ["too few operators"] * (len(self.operators) < VARIETY)
        bindings = sum(self.verdicts.values())
        shares = {"accept": 3, "refused by a printed condition": 50, "refused by the walk alone": 100,
                  "refused by declared sizes": 200}
        out += [f"too few: {kind}" for kind, part in shares.items() if self.verdicts[kind] * part < bindings]
        out += [f"too few: {what}" for what in ("regions proved", "regions refuted", "files simplified", "files frozen")
                if self.more[what] * 20 < self.drawn]
        out += ["too few values compared"] * (self.judged * 3 < bindings)
        out += ["too few sets that are not exact"] * ((self.drawn - self.exact) * 10 < self.drawn)
        return out + ["ONNX Runtime dies too often"] * (self.died * 20 > self.drawn)

    def close(self):
        """Prints it; the exit code."""
        print("operators: " + ", ".join(f"{op} {n}" for op, n in sorted(self.operators.items())))
        print("bindings: " + ", ".join(f"{n} {kind}" for kind, n in self.verdicts.most_common()))
        print(", ".join(f"{n} {what}" for what, n in sorted(self.more.items())))
        for kind, n in self.kinds.most_common():
            print(f"{n} graphs: {kind}")
        lacking = self.lacking()
        for what in lacking:
            print(f"FAIL {what}")
        said = f"{self.failed} failed" + (", too little seen" if lacking else "")
        graphs, bindings = self.drawn - self.died, sum(self.verdicts.values())
        print(f"{self.drawn} graphs of {self.nodes // max(1, graphs)} nodes drawn ({self.died} killed ONNX Runtime), "
              f"{len(self.operators)} operators, {bindings} bindings, {self.judged} values compared, "
              f"{self.exact} sets exact: {graphs - self.failed} passed, {said}")
        return 1 if self.failed or lacking or not graphs else 0
