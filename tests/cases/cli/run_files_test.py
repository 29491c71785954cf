#!/usr/bin/env python3
"""run_files_test.py CLI: what `anyshape run` writes is what NumPy, json and onnx read: outputs as npy, json, npz and pb,
and the profile. Names are those of the model, with all their letters."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

X = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)


def two_outputs():
    nodes = [helper.make_node("Abs", ["in put/0"], ["a=b"], name="/abs"),
             helper.make_node("Shape", ["in put/0"], ["y:0"], name="/shape")]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("in put/0", TensorProto.FLOAT, ["n", "m"])],
        [helper.make_tensor_value_info("a=b", TensorProto.FLOAT, ["n", "m"]),
         helper.make_tensor_value_info("y:0", TensorProto.INT64, [2])])
    out = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    out.ir_version = 8
    return out


def run(cli, folder, *arguments, model="model.onnx"):
    done = subprocess.run([cli, "run", model, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def containers():
    """A sequence of maps, as classifiers give it, and one of tensors; an optional without content."""
    node, typed = helper.make_node, helper.make_tensor_type_proto
    nodes = [node("ZipMap", ["in put/0"], ["maps"], domain="ai.onnx.ml", classlabels_strings=["no", "y\"es", "z"]),
             node("SequenceConstruct", ["in put/0", "in put/0"], ["pair"]),
             node("Optional", [], ["none"], type=typed(TensorProto.FLOAT, None))]
    row = helper.make_map_type_proto(TensorProto.STRING, typed(TensorProto.FLOAT, []))
    none = helper.make_optional_type_proto(typed(TensorProto.FLOAT, None))
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("in put/0", TensorProto.FLOAT, ["n", 3])],
        [helper.make_value_info("maps", helper.make_sequence_type_proto(row)),
         helper.make_tensor_sequence_value_info("pair", TensorProto.FLOAT, None), helper.make_value_info("none", none)])
    out = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)])
    out.ir_version = 8
    return out


def check_containers(cli, folder):
    onnx.save(containers(), folder / "containers.onnx")
    for style in "npy", "npz":
        run(cli, folder, "--input", "in put/0=x.npy", "-o", "held", "--output-format", style, model="containers.onnx")
    held = folder / "held"
    assert sorted(p.name for p in held.iterdir()) == ["output_0.json", "output_1.json", "output_2.json", "outputs.npz"]
    maps, pair, none = (json.loads((held / f"output_{i}.json").read_text()) for i in range(3))
    assert [list(row) for row in maps] == [["no", 'y"es', "z"]] * 2
    assert np.array_equal(np.array([list(row.values()) for row in maps], np.float32), X)
    assert np.array_equal(np.array(pair, np.float32), [X, X]) and none is None
    archive = np.load(held / "outputs.npz")
    assert archive["maps.keys"].tolist() == ["no", 'y"es', "z"] and np.array_equal(archive["maps.values"], X)
    assert archive["pair.length"] == 2 and np.array_equal(archive["pair.1"], X) and archive["none.length"] == 0


def from_pb(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return tensor.name, numpy_helper.to_array(tensor)


def check_outputs(cli, folder):
    given = ["--input", "in put/0=x.npy", "-o", "out", "--output-format"]
    for style in "npy", "npz", "pb":
        run(cli, folder, *given, style)
    out = folder / "out"
    assert sorted(p.name for p in out.iterdir()) == ["output_0.npy", "output_0.pb", "output_1.npy", "output_1.pb",
                                                     "outputs.npz"]
    archive = np.load(out / "outputs.npz")
    assert archive.files == ["a=b", "y:0"]
    for i, (name, want) in enumerate((("a=b", np.abs(X)), ("y:0", np.array([2, 3], np.int64)))):
        pb_name, pb = from_pb(out / f"output_{i}.pb")
        assert pb_name == name
        for got in np.load(out / f"output_{i}.npy"), archive[name], pb:
            assert got.dtype == want.dtype and np.array_equal(got, want), (name, got)


def check_profile(cli, folder):
    run(cli, folder, "--input", "in put/0=x.npy", "--profile", "trace.json", "--repeat", "2")
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    assert "/abs" in [event["name"] for event in events]
    assert len({event["name"] for event in events}) == len(events), "only the last run is in the profile"
    for event in events:
        assert event["ph"] == "X" and event["ts"] >= 0 and event["dur"] >= 0
        assert event["args"]["type"] and event["args"]["kernel"]


def check_seed(cli, folder):
    texts = {seed: run(cli, folder, "--random", "in put/0=4x4", "--seed", seed) for seed in ("1", "2")}
    assert texts["1"] == run(cli, folder, "--random", "in put/0=4x4", "--seed", "1")
    assert texts["1"].splitlines()[1] != texts["2"].splitlines()[1]


def main():
    cli = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        onnx.save(two_outputs(), folder / "model.onnx")
        np.save(folder / "x.npy", X)
        check_outputs(cli, folder)
        check_containers(cli, folder)
        check_profile(cli, folder)
        check_seed(cli, folder)
    print("outputs, profile and seeds as expected")


if __name__ == "__main__":
    main()
