"""wheel_tour.py FOLDER: the tour with the anyshape of this interpreter; files are written into FOLDER."""

from __future__ import annotations

import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import anyshape
import numpy

FOLDER = Path(sys.argv[1])
PROGRAM = [str(Path(sysconfig.get_path("scripts")) / "anyshape")]
MODULE = [sys.executable, "-I", "-m", "anyshape"]
DONE, USAGE, REFUSED, INTERRUPTED = 0, 2, 3, 128 + signal.SIGINT


def expect(true: bool, what: str) -> None:
    if not true:
        sys.exit(f"wheel_tour: {what}")


def package() -> None:
    report = anyshape.check("examples/lstm_baked.onnx")
    expect(report.conditions == ["batch >= 1", "seq == 120"], f"check found {report.conditions}")
    expect(not report.accepts(x=(1, 60, 1)), "60 is not refused")
    program = Path("tests/fixtures/export/dynamic_rnn/dynamic_rnn.pt2")
    model = FOLDER / "rnn.onnx"
    anyshape.export(str(program), f=str(model), dynamic_axes={"x": {0: "batch", 1: "seq"}})
    session = anyshape.InferenceSession(str(model))
    for golden in sorted(program.parent.glob("*.npz")):
        arrays = numpy.load(golden)
        (made,) = session.run(None, {"x": arrays["in_x"]})
        expect(numpy.allclose(made, arrays["out_0"], rtol=1e-4, atol=1e-5), f"other numbers than {golden}")
    try:
        session.run(None, {"x": numpy.zeros((2, 0, 10), numpy.float32)})
        expect(False, "an empty sequence is run")
    except anyshape.Error as error:
        expect(error.kind == "refused", f"kind {error.kind}")


def command(run: list[str]) -> None:
    def code(*arguments: str) -> int:
        return subprocess.run([*run, *arguments], capture_output=True).returncode

    version = subprocess.run([*run, "--version"], capture_output=True, text=True, check=True).stdout.split()
    expect(version == ["anyshape", anyshape.__version__], f"{run} says {version}")
    expect(code("check", "examples/lstm_batch.onnx") == DONE, "check does not exit 0")
    expect(code("check", "examples/lstm_baked.onnx", "--shape", "x=1x60x1") == REFUSED, "a refusal does not exit 3")
    expect(code("check", "--no-such-option") == USAGE, "wrong usage does not exit 2")
    expect(interrupted(run) == INTERRUPTED, "an interrupt does not exit 130")


def interrupted(run: list[str]) -> int:
    many = ["run", "examples/unet.onnx", "--random", "x=8x3x256x256", "--repeat", "1000000"]
    with subprocess.Popen([*run, *many], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        return process.wait()


# Shells start what runs in the background deaf to it, and its children with it.
signal.signal(signal.SIGINT, signal.default_int_handler)
package()
for start in (PROGRAM, MODULE):
    command(start)
print(f"anyshape {anyshape.__version__} on Python {sys.version.split()[0]}: all as expected")
