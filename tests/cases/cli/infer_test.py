#!/usr/bin/env python3
"""infer_test.py CLI EXAMPLES: `anyshape infer` changes nothing but types, gives every value one, and the result passes
onnx.checker; where ONNX Runtime is installed it loads there too."""

import subprocess
import sys
import tempfile
from pathlib import Path

import onnx

import models

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

# Models that are refused, hold an operator without a rule, or a type or an operator that ONNX Runtime does not have.
REFUSED = {"never", "broken", "rounds_of_refusal", "types_of_branches"}
UNTYPED = {"unranked_list", "opaque", "hard", "claimed", "refused_branch", "unread_in_rounds"}
NOT_IN_RUNTIME = {"identity_c64", "mql5_complex", "target_batch_first", "target_decoder", "target_where_bool"}
UNRANKED = {"hard", "no_rank", "unranked_list"}  # onnx.checker wants a shape for every declared type


def without_types(model):
    out = onnx.ModelProto()
    out.CopyFrom(model)
    graphs = [out.graph]
    while graphs:
        graph = graphs.pop()
        del graph.value_info[:]
        for output in graph.output:
            output.ClearField("type")
        graphs += [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return out


def missing(graph):
    """The values of a graph, bodies included, that have no element type."""
    typed = {v.name for v in [*graph.value_info, *graph.output] if v.type.WhichOneof("value")}
    names = [name for node in graph.node for name in node.output if name and name not in typed]
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                names += missing(attribute.g)
    return names


def dims_of(model, value):
    for info in [*model.graph.value_info, *model.graph.output]:
        if info.name == value:
            return [d.dim_param or d.dim_value for d in info.type.tensor_type.shape.dim]
    return None


def check_one(cli, path, out, style):
    done = subprocess.run([cli, "infer", path, "-o", out, "--dims", style], capture_output=True, text=True, timeout=120)
    assert (done.returncode == 0) == (path.stem not in REFUSED), f"{path.name}: exit {done.returncode}: {done.stderr}"
    if path.stem in REFUSED:
        return None
    before, after = onnx.load(path), onnx.load(out)
    assert without_types(before) == without_types(after), f"{path.name}: more than types changed"
    if path.stem not in UNRANKED:
        onnx.checker.check_model(after)
    if path.stem not in UNTYPED:
        assert not missing(after.graph), f"{path.name}: no type for {missing(after.graph)}"
        if onnxruntime and path.stem not in NOT_IN_RUNTIME:
            onnxruntime.InferenceSession(str(out), providers=["CPUExecutionProvider"])
    return after


def main():
    cli, examples = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        models.write_all(folder)
        files = sorted(Path(folder).glob("*.onnx")) + sorted(Path(examples).glob("*.onnx"))
        out = Path(folder) / "inferred" / "model.onnx"
        out.parent.mkdir()
        results = {}
        for style in "names", "expressions":
            for path in files:
                results[path.stem, style] = check_one(cli, path, out, style)
        conv = results["conv", "expressions"]
        assert dims_of(conv, "c") == ["batch", 8, "(h + 1)//2", "(w + 1)//2"], dims_of(conv, "c")
        conv = results["conv", "names"]
        assert dims_of(conv, "c")[0:2] == ["batch", 8] and dims_of(conv, "c")[2] != dims_of(conv, "c")[3]
        assert dims_of(conv, "y") == ["batch", 8, "h2", "w2"], "a declared name that is right stays"
        assert dims_of(results["wrong_number", "names"], "y") == ["batch", 3]
        assert dims_of(results["wrong_inner", "names"], "r") == ["batch", 3]
    print(f"{len(files)} models, {'with' if onnxruntime else 'without'} ONNX Runtime")
    return 0


if __name__ == "__main__":
    sys.exit(main())
