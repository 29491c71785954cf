#!/usr/bin/env python3
"""dtype_test.py ANYSHAPE DATA EXPECTED OUT: every operator runs with every type its schema allows.

Takes ONNX's own single-node cases from DATA (write_onnx_data.py), turns the inputs of one type parameter into each type
that the schema allows for it, and runs the node. Where the case has floats, it also runs as it is on the values that
the other type can hold: both results must agree as far as that type is exact. A combination passes when one of the
first CASES cases of the operator does. EXPECTED lists the combinations that cannot, "operator parameter type  reason";
a line that is no longer true is a failure, too.
"""
import collections
import concurrent.futures
import copy
import os
import pathlib
import re
import shutil
import subprocess
import sys

import ml_dtypes
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CASES = 3
# As a part of the largest entry: what a few roundings amount to.
TOLERANCE = {
    TensorProto.DOUBLE: 1e-5,
    TensorProto.FLOAT: 1e-5,
    TensorProto.FLOAT16: 1e-2,
    TensorProto.BFLOAT16: 6e-2,
}


def type_of(text):
    """The number of "tensor(float16)"; None for sequences and the like."""
    match = re.fullmatch(r"tensor\((\w+)\)", text)
    return TensorProto.DataType.Value(match[1].upper()) if match else None


def limits_of(dtype):
    """The lowest and the highest value."""
    if dtype == numpy.bool_:
        return 0, 1
    limits = ml_dtypes.iinfo(dtype) if "int" in dtype.name else ml_dtypes.finfo(dtype)
    return float(limits.min), float(limits.max)


def converted(tensor, dtype):
    """The tensor as that type, values cut to what it holds."""
    if tensor.data_type == dtype:
        return tensor
    values = numpy_helper.to_array(tensor)
    if dtype == TensorProto.STRING:
        texts = [str(value).encode() for value in values.reshape(-1)]
        return helper.make_tensor(tensor.name, dtype, values.shape, texts)
    if values.dtype.kind in "OSU":
        values = numpy.ones(values.shape, numpy.float32)
    target = helper.tensor_dtype_to_np_dtype(dtype)
    if target.kind != "c":
        wide = values if values.dtype.kind in "iu" else values.real.astype(numpy.float64)
        values = numpy.clip(numpy.nan_to_num(wide), *limits_of(target))
    with numpy.errstate(invalid="ignore"):  # the highest float64 below 2**63 is not the highest int64
        return numpy_helper.from_array(values.astype(target), tensor.name)


def entries(tensor):
    """As numbers that can be compared; None for strings."""
    values = numpy_helper.to_array(tensor)
    if values.dtype.kind in "OSU":
        return None
    return values.astype(numpy.complex128 if values.dtype.kind == "c" else numpy.float64)


def read_tensor(path, name=""):
    tensor = onnx.load_tensor(path)
    tensor.name = name
    return tensor


class Case:
    """A case of one node whose inputs and outputs are tensors."""

    def __init__(self, folder, model):
        self.model, self.node = model, model.graph.node[0]
        self.inputs = {
            value.name: read_tensor(folder / "test_data_set_0" / f"input_{i}.pb", value.name)
            for i, value in enumerate(model.graph.input)
        }

    def values_of(self, schema, parameter):
        """The names of inputs and outputs that have the type of this parameter."""
        def names(given, formal):
            return {
                name for i, name in enumerate(given) if name and formal[min(i, len(formal) - 1)].type_str == parameter
            }
        inputs = names(self.node.input, schema.inputs) & self.inputs.keys()
        return inputs, names(self.node.output, schema.outputs)

    def typed(self, names, dtype):
        """The model and its inputs with those values of that type."""
        model = copy.deepcopy(self.model)
        for value in (*model.graph.input, *model.graph.output):
            if value.name in names:
                value.type.tensor_type.elem_type = dtype
        inputs = {name: converted(x, dtype) if name in names else x for name, x in self.inputs.items()}
        return model, inputs


def cases_of(data):
    """For each operator (domain, name, version) its first cases."""
    out = collections.defaultdict(list)
    for folder in sorted((data / "node").iterdir()):
        model = onnx.load(folder / "model.onnx")
        values = (*model.graph.input, *model.graph.output)
        if len(model.graph.node) != 1 or not all(value.type.HasField("tensor_type") for value in values):
            continue
        node = model.graph.node[0]
        if any(attribute.type == onnx.AttributeProto.GRAPH for attribute in node.attribute):
            continue
        version = {opset.domain: opset.version for opset in model.opset_import}[node.domain]
        if len(out[node.domain, node.op_type, version]) < CASES:
            out[node.domain, node.op_type, version].append(Case(folder, model))
    return out


class Runner:
    def __init__(self, program, out):
        self.program, self.out = program, out

    def run(self, folder, model, inputs):
        """The outputs, or the error."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        onnx.save(model, folder / "model.onnx")
        command = [self.program, "run", folder / "model.onnx", "-o", folder, "--output-format", "pb", "--threads", "1"]
        for i, (name, tensor) in enumerate(inputs.items()):
            onnx.save_tensor(tensor, folder / f"input_{i}.pb")
            command += ["--input", f"{name}={folder / f'input_{i}.pb'}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            return None, (done.stderr.strip() or f"exit {done.returncode}").replace(str(folder), "")
        return [read_tensor(folder / f"output_{i}.pb") for i in range(len(model.graph.output))], ""

    def failure(self, folder, case, dtype, inputs, outputs):
        """Why the case does not work with that type; empty when it does."""
        model, given = case.typed(inputs | outputs, dtype)
        results, error = self.run(folder / "typed", model, given)
        if error:
            return error
        for value, result in zip(model.graph.output, results):
            if value.name in outputs and result.data_type != dtype:
                return f"output {value.name} has type {TensorProto.DataType.Name(result.data_type)}"
        if dtype not in TOLERANCE or any(case.inputs[name].data_type not in TOLERANCE for name in inputs):
            return ""
        plain = dict(case.inputs)
        plain.update({name: converted(given[name], case.inputs[name].data_type) for name in inputs})
        expected, error = self.run(folder / "plain", case.model, plain)
        return error or next(filter(None, map(difference, results, expected)), "")


def difference(ours, expected):
    a, b = entries(ours), entries(expected)
    if a is None or b is None:
        return "" if ours.string_data == expected.string_data else "other strings"
    if a.shape != b.shape:
        return f"shape {a.shape} against {b.shape}"
    types = {ours.data_type, expected.data_type}
    tolerance = max(TOLERANCE.get(dtype, 0) for dtype in types) if len(types) > 1 else 1e-5
    largest = numpy.max(numpy.abs(b[numpy.isfinite(b)]), initial=1)
    if numpy.allclose(a, b, rtol=0, atol=tolerance * largest, equal_nan=True):
        return ""
    return f"differs by {numpy.nanmax(numpy.abs(a - b)):.3g}, the largest entry is {largest:.3g}"


def combinations(data):
    """Name of the combination, and (case, type, inputs, outputs) for each case to try."""
    out = {}
    for (domain, operator, version), cases in cases_of(data).items():
        schema = onnx.defs.get_schema(operator, version, domain)
        for constraint in schema.type_constraints:
            for text in constraint.allowed_type_strs:
                dtype = type_of(text)
                for case in cases if dtype else ():
                    inputs, outputs = case.values_of(schema, constraint.type_param_str)
                    if inputs:
                        name = f"{domain}.{operator}".lstrip("."), constraint.type_param_str, text[7:-1]
                        out.setdefault(name, []).append((case, dtype, inputs, outputs))
    return out


def main():
    program, data, expected_file, out = sys.argv[1], *map(pathlib.Path, sys.argv[2:5])
    expected = {}
    for line in expected_file.read_text().splitlines():
        if line and not line.startswith("#"):
            *name, reason = line.split(maxsplit=3)
            expected[tuple(name)] = reason
    runner, tried = Runner(program, out), combinations(data)

    def failure(name):
        reasons = []
        for case, *how in tried[name]:
            reason = runner.failure(out / "-".join(name), case, *how)
            if not reason:
                return ""
            reasons.append(reason)
        return reasons[0]

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = {name: reason for name, reason in zip(tried, pool.map(failure, tried)) if reason}
    shutil.rmtree(out, ignore_errors=True)
    wrong = [f"FAIL {' '.join(name)}: {reason}" for name, reason in failures.items() if name not in expected]
    wrong += [f"FAIL {' '.join(name)}: expected to fail" for name in expected.keys() - failures.keys()]
    print(*sorted(wrong), sep="\n")
    operators = len({name[0] for name in tried})
    print(f"{operators} operators: {len(tried) - len(failures)} combinations passed, "
          f"{len(failures.keys() & expected.keys())} expected to fail, {len(wrong)} failed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
