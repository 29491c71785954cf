"""`anyshape check` against onnx's shape inference and ONNX Runtime's symbolic_shape_infer.py on the same transformer
(about 1,000 nodes, 400 MB of weights), interleaved, best of several. CPU time of a fresh process for anyshape; for the
Python tools only the inference call itself, the model already loaded.

check_bench.py [CLI]      default: build/release/bin/anyshape"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import onnx
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import transformer  # noqa: E402

ROUNDS = 5


def children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def anyshape(cli: str, path: str) -> float:
    before = children_cpu()
    subprocess.run([cli, "check", path, "--fail-on", "never"], check=True, stdout=subprocess.DEVNULL)
    return children_cpu() - before


def timed(work) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def main() -> None:
    cli = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/anyshape"
    model = transformer.build()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "transformer.onnx")
        onnx.save(model, path)
        size = os.path.getsize(path) / 1e6
        rows = {"anyshape check": [], "onnx.shape_inference": [], "symbolic_shape_infer": []}
        for _ in range(ROUNDS):
            rows["anyshape check"].append(anyshape(cli, path))
            rows["onnx.shape_inference"].append(timed(lambda: onnx.shape_inference.infer_shapes(model, data_prop=True)))
            rows["symbolic_shape_infer"].append(timed(lambda: SymbolicShapeInference.infer_shapes(model, auto_merge=True)))
    print(f"transformer: {len(model.graph.node)} nodes, {size:.0f} MB")
    base = min(rows["anyshape check"])
    for name, seconds in rows.items():
        print(f"  {name:22} {min(seconds) * 1e3:9.1f} ms CPU   {min(seconds) / base:7.1f}x")


if __name__ == "__main__":
    main()
