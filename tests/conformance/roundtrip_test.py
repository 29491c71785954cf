#!/usr/bin/env python3
"""roundtrip_test.py TOOL DATA WORK: what anyshape reads it writes back unchanged in meaning.

TOOL is anyshape_roundtrip, DATA what write_onnx_data.py wrote, WORK a folder for the results.
"""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import onnx
import onnx_samples as samples
from onnx import numpy_helper

MESSAGES = {
    "model": onnx.ModelProto,
    "tensor": onnx.TensorProto,
    "sequence": onnx.SequenceProto,
    "optional": onnx.OptionalProto,
}


class Suite:
    """Jobs for the tool, each with a check of its result; a check gives a sentence when it fails."""

    def __init__(self, tool, work):
        self.tool, self.work = tool, work
        self.jobs = []
        self.counts = {}

    def path(self, suffix):
        return self.work / f"{len(self.jobs)}{suffix}"

    def add(self, group, name, kind, source, target, check, *options):
        self.jobs.append((group, name, [kind, str(source), str(target), *options], check))

    def run(self):
        jobs = self.work / "jobs.tsv"
        jobs.write_text("".join("\t".join(fields) + "\n" for _, _, fields, _ in self.jobs))
        answer = subprocess.run([self.tool, jobs], stdout=subprocess.PIPE, text=True, errors="replace")
        lines = answer.stdout.splitlines()
        if answer.returncode != 0 or len(lines) != len(self.jobs):
            group, name, _, _ = self.jobs[min(len(lines), len(self.jobs) - 1)]
            sys.exit(f"the tool ended with {answer.returncode} at {group} {name}")
        for (group, name, fields, check), line in zip(self.jobs, lines):
            problem = check(line, fields[1], fields[2])
            passed, failed = self.counts.get(group, (0, 0))
            self.counts[group] = (passed + (not problem), failed + bool(problem))
            if problem:
                print(f"FAIL {group} {name}: {problem}")


def same_message(kind):
    def check(line, before, after):
        if line != "ok":
            return line
        a, b = (MESSAGES[kind].FromString(pathlib.Path(p).read_bytes()) for p in (before, after))
        # The second comparison is for NaN, which is not equal to itself.
        if a != b and a.SerializeToString(deterministic=True) != b.SerializeToString(deterministic=True):
            return "the message has changed"
        return None

    return check


def passes_checker(path):
    try:
        onnx.checker.check_model(str(path))
    except Exception:  # whatever the checker raises, the file did not pass
        return False
    return True


def same_model(line, before, after):
    problem = same_message("model")(line, before, after)
    if not problem and passes_checker(before) and not passes_checker(after):
        problem = "onnx.checker accepts the model before, but not after"
    return problem


def same_elements(line, before, after):
    if line != "ok":
        return line
    tensor = onnx.TensorProto.FromString(pathlib.Path(before).read_bytes())
    if tensor.data_type == onnx.TensorProto.STRING:
        expected = b"".join(tensor.string_data)
    else:
        expected = numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data
    return None if pathlib.Path(after).read_bytes() == expected else "the elements differ"


def refused(code):
    return lambda line, before, after: None if line.startswith(f"error[{code}]") else f"expected {code}, got: {line}"


def add_backend_cases(suite, data):
    for model in sorted(data.glob("*/*/model.onnx")):
        job = "proto" if model.parent.parent.name == "node" else "model"
        suite.add("models", model.parent.name, job, model, suite.path(".onnx"), same_model)
        graph = onnx.load(model).graph
        for prefix, infos in (("input", graph.input), ("output", graph.output)):
            for file in sorted(model.parent.glob(f"test_data_set_*/{prefix}_*.pb")):
                kind = infos[int(file.stem.split("_")[1])].type.WhichOneof("value").split("_")[0]
                suite.add("data", file, kind, file, suite.path(".pb"), same_message(kind))
                if kind == "tensor":
                    suite.add("elements", file, "bytes", file, suite.path(".raw"), same_elements)


def add_filled_messages(suite):
    """All fields of the schema at once, then random choices of them, unknown fields included."""
    for kind, message in MESSAGES.items():
        for seed in range(40):
            sample = samples.filled(seed, 1.0 if seed < 3 else 0.4, message)
            source = suite.path(".in")
            source.write_bytes(sample.SerializeToString())
            job = "proto" if kind == "model" else kind
            suite.add("schema", f"{kind} seed {seed}", job, source, suite.path(".out"), same_message(kind))


def add_dtypes(suite):
    for name, tensor in samples.every_dtype():
        source = suite.path(".in")
        source.write_bytes(tensor.SerializeToString())
        suite.add("dtypes", name, "tensor", source, suite.path(".out"), same_message("tensor"))
        suite.add("dtypes", name, "bytes", source, suite.path(".out"), same_elements)


def arrays_of(path):
    model = onnx.load(path)
    return {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}


def same_arrays(*files, location=None):
    """The initializers have the same content, and these files and no others lie beside the model."""

    def check(line, before, after):
        if line != "ok":
            return line
        a, b = arrays_of(before), arrays_of(after)
        if a.keys() != b.keys() or any(not numpy.array_equal(a[k], b[k]) for k in a):
            return "the initializers differ"
        folder = pathlib.Path(after).parent
        found = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
        if found != {*files, pathlib.Path(after).name}:
            return f"found the files {sorted(found)}"
        for tensor in onnx.load(after, load_external_data=False).graph.initializer:
            entries = {e.key: e.value for e in tensor.external_data}
            if location and tensor.name.startswith("big") and entries["location"] != location:
                return f"{tensor.name} lies in {entries}"
            if location and entries and int(entries["offset"]) % 64:
                return f"{tensor.name} is not aligned: {entries}"
        return None if not passes_checker(before) or passes_checker(after) else "onnx.checker refuses the result"

    return check


def external_model(folder):
    """Two files, one of them in a folder and shared by two tensors; an empty tensor; one without a length."""
    folder.mkdir(parents=True)
    (folder / "sub").mkdir()
    big = numpy.arange(1000, dtype=numpy.float32)
    small = numpy.arange(6, dtype=numpy.int64).reshape(2, 3)
    (folder / "sub" / "a.bin").write_bytes(b"\7" * 5 + big.tobytes() + small.tobytes())
    (folder / "b.bin").write_bytes(big[::-1].tobytes())
    tensors = [
        samples.external_tensor("big", big, "sub/a.bin", 5, big.nbytes),
        samples.external_tensor("small", small, "sub/a.bin", 5 + big.nbytes, small.nbytes),
        samples.external_tensor("empty", big[:0], "b.bin", 0, 0),
        samples.external_tensor("big_rest", big[::-1], "b.bin"),
        numpy_helper.from_array(numpy.arange(2000, dtype=numpy.float64), "big_inline"),
        onnx.helper.make_tensor("big_typed", onnx.TensorProto.INT64, [700], range(-350, 350)),
    ]
    onnx.save(samples.small_model(tensors), folder / "m.onnx")
    return folder / "m.onnx"


def add_external(suite):
    source = external_model(suite.work / "external" / "in")
    own = ("sub/a.bin", "b.bin")
    for name, files, location, options in (
        ("kept names", own, None, ()),
        ("one file", ("w.bin",), "w.bin", ("external=w.bin",)),
        ("one file in a folder", ("d/w.bin",), "d/w.bin", ("external=d/w.bin",)),
        ("over the limit", ("m.onnx.data",), "m.onnx.data", ("largest=3000",)),
        ("all embedded", ("w.bin",), None, ("external=w.bin", "threshold=1000000")),
    ):
        target = suite.work / "external" / name.replace(" ", "_") / "m.onnx"
        target.parent.mkdir(parents=True)
        suite.add("external", name, "model", source, target, same_arrays(*files, location=location), *options)
    for name, options in (("in place", ()), ("in place, its own data file", ("external=b.bin",))):
        target = external_model(suite.work / "external" / name.replace(" ", "_").replace(",", ""))
        suite.add("external", name, "model", target, target, same_arrays_as(source), *options)


def same_arrays_as(reference):
    def check(line, before, after):
        if line != "ok":
            return line
        a, b = arrays_of(reference), arrays_of(after)
        return None if all(numpy.array_equal(a[k], b[k]) for k in a) else "the initializers differ"

    return check


def add_refused_external(suite):
    folder = suite.work / "refused"
    (folder / "in" / "sub").mkdir(parents=True)
    (folder / "out").mkdir()
    array = numpy.zeros(4, numpy.float32)
    (folder / "outside.bin").write_bytes(bytes(16))
    (folder / "in" / "data.bin").write_bytes(bytes(16))
    os.symlink("../outside.bin", folder / "in" / "link.bin")
    os.symlink("..", folder / "in" / "up")
    os.symlink("data.bin", folder / "in" / "good_link.bin")
    rows = (
        ("external.path", "../outside.bin", 0, 16),
        ("external.path", "sub/../../outside.bin", 0, 16),
        ("external.path", str(folder / "in" / "data.bin"), 0, 16),
        ("external.path", "link.bin", 0, 16),
        ("external.path", "up/outside.bin", 0, 16),
        ("external.path", None, 0, 16),
        ("external.path", "", 0, 16),
        ("external.path", "a\0b", 0, 16),
        ("file.open", "missing.bin", 0, 16),
        ("file.open", "sub", 0, 16),
        ("external.range", "data.bin", 1, 16),
        ("external.range", "data.bin", 17, None),
        ("external.range", "data.bin", -1, 16),
        ("external.range", "data.bin", 2**64, 16),
        ("external.range", "data.bin", 2**64 - 1, 16),
        ("external.range", "data.bin", "1x", 16),
        ("external.range", "data.bin", 0, -16),
        ("tensor.length", "data.bin", 0, 12),
    )
    for i, (code, location, offset, length) in enumerate(rows):
        source = folder / "in" / f"m{i}.onnx"
        model = samples.small_model([samples.external_tensor("t", array, location, offset, length)])
        source.write_bytes(model.SerializeToString())
        name = f"{location!r} {offset} {length}"
        suite.add("external", name, "model", source, folder / "out" / "m.onnx", refused(code), "external=w.bin")
    source = folder / "in" / "good.onnx"
    model = samples.small_model([samples.external_tensor("t", array, "good_link.bin", 0, 16)])
    source.write_bytes(model.SerializeToString())
    ok = lambda line, before, after: None if line == "ok" else line
    suite.add("external", "link inside", "model", source, folder / "out" / "good.onnx", ok)
    suite.add("external", "model over data", "model", source, folder / "out" / "good_link.bin", refused("external.path"))
    suite.add("external", "same name", "model", source, folder / "out" / "x", refused("external.path"), "external=x")
    suite.add("external", "option leaves", "model", source, folder / "out" / "x", refused("external.path"), "external=../x")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    tool, data, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    suite = Suite(tool, work)
    add_backend_cases(suite, data)
    add_filled_messages(suite)
    add_dtypes(suite)
    add_external(suite)
    add_refused_external(suite)
    suite.run()
    for group, (passed, failed) in suite.counts.items():
        print(f"{group}: {passed} passed, {failed} failed")
    passed, failed = (sum(c[i] for c in suite.counts.values()) for i in (0, 1))
    print(f"{passed} passed, {failed} failed")
    cases = sum(1 for _ in (data / "manifest.tsv").open())
    if failed or sum(suite.counts["models"]) != cases:
        sys.exit(1)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
