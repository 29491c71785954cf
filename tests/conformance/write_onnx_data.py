#!/usr/bin/env python3
"""write_onnx_data.py OUT: writes the backend test cases of the installed onnx package as files.

OUT/<kind>/<case>/model.onnx, OUT/<kind>/<case>/test_data_set_<i>/{input,output}_<j>.pb
OUT/manifest.tsv   one line per case: kind, name, rtol, atol, number of data sets
OUT/stamp.txt      versions this was made with; when it is up to date nothing is written
"""
import hashlib
import pathlib
import shutil
import sys
import warnings

import numpy
import onnx
from onnx import TensorProto, numpy_helper

EXPECTED = {"node": 1884, "pytorch-converted": 82, "pytorch-operator": 35, "simple": 26, "light": 9}
EXPECTED_VERSION = "1.23.2"
SHIPPED = ("pytorch-converted", "pytorch-operator")


def stamp_text():
    source = pathlib.Path(__file__).read_bytes()
    return f"onnx {onnx.__version__}\nnumpy {numpy.__version__}\nwriter {hashlib.sha256(source).hexdigest()}\n"


def encode(value, info):
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    if isinstance(value, TensorProto):
        return value
    return numpy_helper.from_array(numpy.asarray(value), info.name)


def write_values(folder, prefix, values, infos):
    """Inputs without a value are the last ones: they have an initializer."""
    for j, (value, info) in enumerate(zip(values, infos)):
        (folder / f"{prefix}_{j}.pb").write_bytes(encode(value, info).SerializeToString())


def write_built_cases(out):
    numpy.random.seed(0)
    import onnx.backend.test.case.model as model
    import onnx.backend.test.case.node as node

    simple = [case for case in model.collect_testcases() if case.kind == "simple"]
    for case in [*node.collect_testcases(None), *simple]:
        folder = out / case.kind / case.name
        folder.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        graph = case.model.graph
        for i, (inputs, outputs) in enumerate(case.data_sets):
            data = folder / f"test_data_set_{i}"
            data.mkdir()
            write_values(data, "input", inputs, graph.input)
            write_values(data, "output", outputs, graph.output)
        yield case.kind, case.name, case.rtol, case.atol, len(case.data_sets)


def write_shipped_cases(out, source):
    from onnx.backend.test.loader import load_model_tests

    for kind in SHIPPED:
        for case in sorted(load_model_tests(kind=kind), key=lambda c: c.name):
            target = out / kind / case.name
            shutil.copytree(source / kind / case.name, target)
            yield kind, case.name, case.rtol, case.atol, len(list(target.glob("test_data_set_*")))


def write_light_cases(out, source):
    """The networks without weights; their input is the one the shipped output was made with."""
    from onnx.backend.test.loader import load_model_tests
    from onnx.backend.test.runner import Runner

    for case in sorted(load_model_tests(kind="real"), key=lambda c: c.name):
        model = source / "light" / pathlib.Path(case.url).name
        data = out / "light" / case.name / "test_data_set_0"
        data.mkdir(parents=True)
        shutil.copy(model, data.parent / "model.onnx")
        shutil.copy(model.with_name(model.stem + "_output_0.pb"), data / "output_0.pb")
        graph = onnx.load(model).graph
        constants = {tensor.name for tensor in graph.initializer}
        inputs = [info for info in graph.input if info.name not in constants]
        values = [Runner.generate_dummy_data(info, seed=0, name=case.model_name, random=False) for info in inputs]
        write_values(data, "input", values, inputs)
        yield "light", case.name, case.rtol, case.atol, 1


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    stamp = out / "stamp.txt"
    if stamp.exists() and stamp.read_text() == stamp_text():
        return
    warnings.simplefilter("ignore")
    if out.exists():
        shutil.rmtree(out)
    out.mkdir(parents=True)
    source = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    rows = [*write_built_cases(out), *write_shipped_cases(out, source), *write_light_cases(out, source)]
    (out / "manifest.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    counts = {kind: sum(row[0] == kind for row in rows) for kind in EXPECTED}
    if onnx.__version__ == EXPECTED_VERSION and counts != EXPECTED:
        sys.exit(f"onnx {onnx.__version__} gave {counts}, expected {EXPECTED}")
    stamp.write_text(stamp_text())
    print(f"{len(rows)} cases written: {counts}")


if __name__ == "__main__":
    main()
