#!/usr/bin/env python3
"""lenient_test.py CLI: what ONNX Runtime runs though no text promises it: taken with a warning and its values;
refused with --strict."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
rng = np.random.default_rng(11)


def f32(*shape):
    return rng.normal(size=shape).astype(np.float32)


def info(name, dtype, dims):
    return helper.make_tensor_value_info(name, dtype, dims)


def model(nodes, dims, constants, outputs=("y",), opset=18):
    graph = helper.make_graph(nodes, "g", [info("x", F32, dims)], [info(o, F32, None) for o in outputs],
                              [numpy_helper.from_array(value, name) for name, value in constants.items()])
    out = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    out.ir_version = 10 if opset > 20 else 8
    return out


def one(kind, dims, constants, outputs=("y",), first=(), opset=18, **attributes):
    names = [*first, "x", *(name for name in constants if name not in first)]
    return model([helper.make_node(kind, names, list(outputs), name="/node", **attributes)], dims, constants, outputs, opset)


def shadowed():
    """A body that calls its own values as the graph around it does, as paddle2onnx writes loops."""
    nodes = [helper.make_node("Add", ["x", "one"], ["u"]), helper.make_node("Mul", ["u", "t"], ["w"]),
             helper.make_node("Identity", ["c"], ["c2"])]
    body = helper.make_graph(nodes, "body", [info("i", I64, []), info("c", BOOL, []), info("x", F32, None)],
                             [info("c2", BOOL, []), info("w", F32, None)],
                             [numpy_helper.from_array(np.float32([2]), "one")])
    outer = [helper.make_node("Abs", ["x"], ["t"]),
             helper.make_node("Loop", ["count", "", "t"], ["y"], name="/loop", body=body)]
    return model(outer, ["n", 3], {"one": np.float32([1]), "count": np.int64(3)})


def three_rounds(x):
    value = np.abs(x)
    for _ in range(3):
        value = (value + 2) * np.abs(x)
    return value


def spectra(x):
    """Frames of 4 samples, every 2."""
    frames = np.stack([x[:, i:i + 4] for i in range(0, x.shape[1] - 3, 2)], 1)
    parts = np.fft.rfft(frames)
    return np.stack([parts.real, parts.imag], -1)


SLOPE, WEIGHT = f32(4), f32(5, 4)
# Code: the model, the sizes it is run at, its output, and what that is of x.
MODELS = {
    "lenient.shadow": (shadowed(), (2, 3), "f32[n, 3]", three_rounds),
    "lenient.prelu": (one("PRelu", ["n", 1], {"s": SLOPE}), (3, 1), "f32[n, 4]",
                      lambda x: np.where(x < 0, SLOPE * x, x)),
    "lenient.einsum": (one("Einsum", ["n", 1], {"w": WEIGHT}, equation="ij,jk->ik"), (3, 1), "f32[n, 4]",
                       lambda x: x * WEIGHT.sum(0)),
    "lenient.concat": (one("Concat", [2, "n"], {"none": f32(0, 7)}, first=("none",), axis=0), (2, 5), "f32[2, n]",
                       lambda x: x),
    "lenient.stft": (model([helper.make_node("STFT", ["x", "step", "", "length"], ["y"], name="/node")], ["n", 12],
                           {"step": np.int64(2), "length": np.int64(4)}), (3, 12), "f32[n, 5, 3, 2]", spectra),
}


def call(cli, folder, *arguments):
    done = subprocess.run([cli, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def check(cli, folder, code, proto, sizes, kind):
    onnx.save(proto, folder / "model.onnx")
    shape = "x=" + "x".join(map(str, sizes))
    status, answer, _ = call(cli, folder, "check", "model.onnx", "--shape", shape)
    assert status == 0 and f"warning[{code}]" in answer, (code, answer)
    status, report, _ = call(cli, folder, "check", "model.onnx")
    assert status == 0 and f"warning[{code}]" in report, (code, report)
    got = [line.split("  ")[-1].strip() for line in report.splitlines() if line.startswith("  out  ")]
    assert got == [kind], (code, got)
    commands = [["check", "model.onnx", "--shape", shape], ["run", "model.onnx", "--random", shape]]
    # Taken strictly, it takes the sizes of the constant alone.
    if code != "lenient.concat":
        commands += [["check", "model.onnx"], ["infer", "model.onnx", "-o", "i.onnx"], ["plan", "model.onnx"]]
    for command in commands:
        status, out, wrong = call(cli, folder, *command, "--strict")
        assert status == 3 and f"error[{code}]" in wrong + out, (code, command, out, wrong)


def check_values(cli, folder, code, sizes, wanted):
    x = f32(*sizes)
    np.save(folder / "x.npy", x)
    status, out, wrong = call(cli, folder, "run", "model.onnx", "--input", "x=x.npy", "-o", "out")
    assert status == 0, (code, out, wrong)
    np.testing.assert_allclose(np.load(folder / "out" / "output_0.npy"), wanted(x), rtol=1e-4, atol=1e-5, err_msg=code)


def main():
    cli = str(Path(sys.argv[1]).resolve())
    for code, (proto, sizes, kind, wanted) in MODELS.items():
        with tempfile.TemporaryDirectory() as name:
            check(cli, Path(name), code, proto, sizes, kind)
            check_values(cli, Path(name), code, sizes, wanted)
    print(f"{len(MODELS)} kinds of models as expected")


if __name__ == "__main__":
    main()
