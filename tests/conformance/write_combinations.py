#!/usr/bin/env python3
"""write_combinations.py OUT: every row of combinations.py with what ONNX's reference evaluator makes of it, as files.

OUT/node/<group>/model.onnx, OUT/node/<group>/test_data_set_0/{input,output}_<j>.pb
OUT/manifest.tsv   one line per group: kind, name, rtol, atol, number of data sets
OUT/stamp.txt      what this was made with; when it is up to date nothing is written
"""
import hashlib
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

import combinations

LEAST_ROWS = 2100


def stamp_text():
    sources = b"".join(Path(f).read_bytes() for f in (__file__, combinations.__file__))
    return f"onnx {onnx.__version__}\nnumpy {np.__version__}\nwriter {hashlib.sha256(sources).hexdigest()}\n"


def write(out, group):
    model = group.model()
    folder = out / "node" / group.name
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    outputs = ReferenceEvaluator(model).run(None, group.inputs)
    values = {"input": group.inputs.values(), "output": outputs}
    for stem, list_ in values.items():
        for i, value in enumerate(list_):
            (data / f"{stem}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(value)).SerializeToString())


def main():
    warnings.filterwarnings("ignore")
    out = Path(sys.argv[1])
    stamp = out / "stamp.txt"
    if stamp.exists() and stamp.read_text() == stamp_text():
        return
    shutil.rmtree(out, ignore_errors=True)
    rows, lines = 0, []
    for group in combinations.groups():
        write(out, group)
        rows += len(group.rows)
        lines.append(f"node\t{group.name}\t1e-4\t1e-5\t1\n")
    if rows < LEAST_ROWS:
        sys.exit(f"{rows} rows are left of at least {LEAST_ROWS}")
    (out / "manifest.tsv").write_text("".join(lines))
    stamp.write_text(stamp_text())
    print(f"{rows} rows in {len(lines)} graphs")


if __name__ == "__main__":
    main()
