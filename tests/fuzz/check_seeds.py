"""check_seeds.py OUT: small models as seeds for check_fuzz: the shape fixtures, and node cases of the onnx package."""
import pathlib
import shutil
import sys

import numpy as np
from onnx.backend.test.case.node import collect_testcases

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 4096


def main() -> None:
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "tests/fixtures/shapes").glob("*.onnx")):
        if path.stat().st_size <= LARGEST:
            shutil.copy(path, out / path.name)
    np.random.seed(0)
    for case in collect_testcases(None):
        data = case.model.SerializeToString()
        if len(data) <= LARGEST:
            (out / f"{case.name}.onnx").write_bytes(data)


if __name__ == "__main__":
    main()
