#!/usr/bin/env python3
"""target_test.py CLI: rows of models of newer opsets that `fix --target mql5` lowers or refuses.

A row that is lowered passes onnx's checker at opset 18, has the operators that the row says, and gives on the engine the
values that the model gave. A row that is refused has its code, and nothing is written.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from target_rows import ROWS, Row

ML_OPSET = 5
LIMITS = {"": 18, "ai.onnx.ml": 3}
OLD_TYPES = ("float double float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string complex64 "
             "complex128").split()


def value_info(name, value):
    dtype, dims = value
    return helper.make_tensor_value_info(name, dtype, dims)


def constant(name, value):
    if isinstance(value, TensorProto):
        out = TensorProto()
        out.CopyFrom(value)
        out.name = name
        return out
    return numpy_helper.from_array(np.array(value), name)


def model_of(row: Row):
    names, inputs, constants = [], [], []
    for i, value in enumerate(row.inputs):
        name = "" if value is None else f"x{i}"
        names.append(name)
        if isinstance(value, tuple):
            inputs.append(value_info(name, value))
        elif value is not None:
            constants.append(constant(name, value))
    outputs = [f"y{i}" if dtype else "" for i, dtype in enumerate(row.outputs)]
    node = helper.make_node(row.op, names, outputs, name="/node", domain=row.domain, **row.attributes)
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info(name, dtype, None)
                                                    for name, dtype in zip(outputs, row.outputs) if dtype], constants)
    opsets = [helper.make_opsetid("", row.opset), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    made = helper.make_model(graph, opset_imports=opsets)
    made.ir_version = 10 if row.opset < 23 else 13
    if row.place == "body":
        return in_body(made)
    if row.place == "function":
        return in_function(made)
    return made


def in_body(model):
    """The node in both branches of an If."""
    graph = model.graph
    branches = {}
    for which in ("then_branch", "else_branch"):
        node = onnx.NodeProto()
        node.CopyFrom(graph.node[0])
        del node.output[:]
        outputs = [f"{which}_{value.name}" for value in graph.output]
        node.output.extend(outputs)
        infos = [helper.make_tensor_value_info(name, value.type.tensor_type.elem_type, None)
                 for name, value in zip(outputs, graph.output)]
        branches[which] = helper.make_graph([node], which, [], infos)
    choose = helper.make_node("If", ["c"], [value.name for value in graph.output], name="/if", **branches)
    inputs = list(graph.input) + [helper.make_tensor_value_info("c", TensorProto.BOOL, [])]
    body = helper.make_graph([choose], "g", inputs, list(graph.output), list(graph.initializer))
    made = helper.make_model(body, opset_imports=list(model.opset_import))
    made.ir_version = model.ir_version
    return made


def in_function(model):
    """The node in a function that is called twice, one call behind the other."""
    graph = model.graph
    inner = onnx.NodeProto()
    inner.CopyFrom(graph.node[0])
    function = helper.make_function("local", "F", list(inner.input), list(inner.output), [inner],
                                    opset_imports=list(model.opset_import))
    rest = list(inner.input)[1:]
    calls = [helper.make_node("F", list(inner.input), ["between"], name="/first", domain="local"),
             helper.make_node("F", ["between"] + rest, list(inner.output), name="/second", domain="local")]
    body = helper.make_graph(calls, "g", list(graph.input), list(graph.output), list(graph.initializer))
    made = helper.make_model(body, opset_imports=list(model.opset_import) + [helper.make_opsetid("local", 1)],
                             functions=[function])
    made.ir_version = model.ir_version
    return made


def operators(model):
    found = []

    def walk(nodes):
        for node in nodes:
            if node.op_type != "Constant":
                found.append(node.op_type)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    walk(attribute.g.node)

    walk(model.graph.node)
    for function in model.functions:
        walk(function.node)
    return found


def changed_operators():
    """Every operator that is another one after opset 18 (3 of ai.onnx.ml), but for types that no opset until then has."""
    history = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in LIMITS:
            history.setdefault((schema.domain, schema.name), []).append(schema)

    def face(schema):
        types = {kind for one in schema.type_constraints for kind in one.allowed_type_strs
                 if kind.removeprefix("tensor(").removesuffix(")") in OLD_TYPES}
        return [len(schema.inputs), len(schema.outputs), sorted(schema.attributes)], types

    out = set()
    for (domain, name), schemas in history.items():
        schemas.sort(key=lambda schema: schema.since_version)
        old = [schema for schema in schemas if schema.since_version <= LIMITS[domain]]
        for before, after in zip(old[-1:] + schemas[len(old):], schemas[len(old):]):
            if not old or face(before)[0] != face(after)[0] or face(after)[1] - face(before)[1]:
                out.add(name)
    return out


def problem(cli, row, folder):
    source, result = folder / "m.onnx", folder / "out.onnx"
    result.unlink(missing_ok=True)
    onnx.save(model_of(row), source)
    done = subprocess.run([cli, "fix", source, "--target", "mql5", "-o", result, "--quiet"], capture_output=True,
                          text=True, timeout=120)
    if row.refused:
        if done.returncode != 3 or row.refused not in done.stderr or 'node "/node' not in done.stderr:
            return f"exit {done.returncode}, not refused with {row.refused!r}: {done.stderr}"
        return "refused, but written" if result.exists() else None
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr}"
    lowered = onnx.load(result)
    versions = {one.domain: one.version for one in lowered.opset_import}
    if lowered.ir_version > 8 or versions[""] > 18 or versions.get("ai.onnx.ml", 1) > 3:
        return f"IR {lowered.ir_version}, opsets {versions}"
    onnx.checker.check_model(lowered)
    if " ".join(operators(lowered)) != row.becomes:
        return f"became {' '.join(operators(lowered))!r}, not {row.becomes!r}"
    compared = subprocess.run([cli, "verify", source, result, *row.verify], capture_output=True, text=True, timeout=120)
    return None if compared.returncode == 0 else f"other values: {compared.stdout}{compared.stderr}"


def main():
    failures = 0
    for op in sorted(changed_operators() - {row.op for row in ROWS}):
        failures += 1
        print(f"{op} has changed, and no row is about it")
    with tempfile.TemporaryDirectory() as folder:
        for row in ROWS:
            try:
                wrong = problem(str(Path(sys.argv[1]).resolve()), row, Path(folder))
            except onnx.checker.ValidationError as error:
                wrong = str(error)
            if wrong:
                failures += 1
                print(f"{row.op} of opset {row.opset} {row.attributes}: {wrong}")
    print(f"{len(ROWS) - failures} of {len(ROWS)} rows as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
