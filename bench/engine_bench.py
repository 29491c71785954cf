"""`anyshape bench` over the shipped models, with ONNX Runtime as peer where it is installed: both engines in one process,
in turns, outputs compared first.

engine_bench.py [CLI]      default: the variable ANYSHAPE, else build/release/bin/anyshape"""
import os
import pathlib
import subprocess
import sys

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHAPES = {
    "lstm_baked": ["x=1x120x1", "x=16x120x1"],
    "lstm_batch": ["x=1x120x1", "x=16x120x1"],
    "unet": ["x=1x3x64x64", "x=1x3x224x224", "x=4x3x128x96"],
}


def main() -> int:
    cli = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("ANYSHAPE", "build/release/bin/anyshape")
    peer = []
    if onnxruntime:
        peer = ["--peer", "onnxruntime", "--ort-lib", str(pathlib.Path(onnxruntime.__file__).parent / "capi")]
    models = sorted((ROOT / "examples").glob("*.onnx"))
    unknown = [model.name for model in models if model.stem not in SHAPES]
    if unknown:
        sys.exit(f"no shapes are listed for {', '.join(unknown)}")
    codes = []
    for model in models:
        shapes = [word for shape in SHAPES[model.stem] for word in ("--shape", shape)]
        codes.append(subprocess.run([cli, "bench", os.path.relpath(model), *shapes, *peer]).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
