#!/usr/bin/env python3
"""stop_test.py CLI FIXTURES: a signal ends what anyshape is doing: exit code 128 + its number, one line on standard
error, nothing half-written left behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
ROUNDS = 10**9
NODES = 100_000


def save(path, nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)


def write_loop(path):
    """A loop whose body has no node at all."""
    info = helper.make_tensor_value_info
    body = helper.make_graph([], "b", [info("i", I64, []), info("more", BOOL, []), info("v", F32, ["n"])],
                             [info("more", BOOL, []), info("v", F32, ["n"])])
    save(path, [helper.make_node("Loop", ["rounds", "", "x"], ["y"], body=body)], [info("x", F32, ["n"])],
         [info("y", F32, ["n"])], [numpy_helper.from_array(np.array(ROUNDS, np.int64), "rounds")])


def write_chain(path):
    info = helper.make_tensor_value_info
    nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(NODES)]
    save(path, nodes, [info("v0", F32, ["n"])], [info(f"v{NODES}", F32, ["n"])])


def write_program(path, like):
    """A TorchScript program of more steps than it is worth while to wait for."""
    source = ["class Smooth(Module):", "  training : bool", "  def forward(self: __torch__.make_export_cli.Smooth,",
              "    x: Tensor) -> Tensor:", "    for i in range(4000):", "      for j in range(4000):",
              "        x = torch.add(x, 1)", "    return x", ""]
    with zipfile.ZipFile(like) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, "\n".join(source) if name.endswith(".py") else old.read(name))


def begin(cli, folder, *arguments):
    # A shell that starts this in the background has made Ctrl-C ignored.
    def heed():
        for number in signal.SIGINT, signal.SIGTERM:
            signal.signal(number, signal.SIG_DFL)

    return subprocess.Popen([cli, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=heed)


def wait_until(process, under_way):
    while process.poll() is None and not under_way(process.pid):
        time.sleep(0.001)
    assert process.poll() is None, process.communicate()


def has_mapped(name):
    return lambda pid: name in Path(f"/proc/{pid}/maps").read_text()


def status_of(pid):
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def has_computed(pid):
    """For a tenth of a second."""
    return int(status_of(pid)[11]) >= os.sysconf("SC_CLK_TCK") / 10


def catches(pid):
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt"))
    return int(line.split()[1], 16) >> (signal.SIGINT - 1) & 1


def expect_stop(cli, folder, number, under_way, *arguments):
    before = sorted(folder.rglob("*"))
    process = begin(cli, folder, *arguments)
    wait_until(process, under_way)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 128 + number, (arguments, process.returncode, out, err)
    assert out == "", out
    assert err.startswith("error[work.cancelled] ") and err.count("\n") == 1, err
    assert sorted(folder.rglob("*")) == before, sorted(folder.rglob("*"))


def expect_end(cli, folder):
    """The second signal ends the process by itself: both are there before the process goes on."""
    process = begin(cli, folder, "run", "loop.onnx", "--random", "x=2")
    wait_until(process, has_computed)
    process.send_signal(signal.SIGSTOP)
    wait_until(process, lambda pid: status_of(pid)[0] == "T")
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGCONT:
        process.send_signal(number)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGTERM, process.returncode


def expect_stop_without_reader(cli, folder):
    """A pipe that nobody reads."""
    os.mkfifo(folder / "pipe")
    process = begin(cli, folder, "check", "loop.onnx", "-o", "pipe")
    wait_until(process, lambda pid: catches(pid) and status_of(pid)[0] == "S")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130, process.returncode
    (folder / "pipe").unlink()


def main():
    cli, fixtures = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_loop(folder / "loop.onnx")
        write_chain(folder / "chain.onnx")
        write_program(folder / "program.pt", fixtures / "export_cli" / "custom.pt")
        for number in signal.SIGINT, signal.SIGTERM:
            expect_stop(cli, folder, number, has_computed, "run", "loop.onnx", "--random", "x=2", "-o", "one/two")
        expect_stop(cli, folder, signal.SIGINT, has_computed, "run", "loop.onnx", "--random", "x=2", "--reference")
        expect_stop(cli, folder, signal.SIGINT, has_computed, "verify", "loop.onnx", "loop.onnx")
        expect_stop(cli, folder, signal.SIGINT, has_mapped("chain.onnx"), "check", "chain.onnx", "-o", "report.txt")
        expect_stop(cli, folder, signal.SIGINT, has_mapped("chain.onnx"), "infer", "chain.onnx", "-o", "inferred.onnx")
        expect_stop(cli, folder, signal.SIGINT, has_mapped("chain.onnx"), "fix", "chain.onnx", "--simplify", "-o",
                    "fixed.onnx")
        expect_stop(cli, folder, signal.SIGINT, has_computed, "export", "program.pt", "--input", "x=f32[n]", "-o",
                    "out.onnx", "--external-data", "data/out.bin")
        expect_end(cli, folder)
        expect_stop_without_reader(cli, folder)
    print("signals end the work")


if __name__ == "__main__":
    main()
