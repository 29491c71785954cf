#!/usr/bin/env python3
"""hostile_test.py CLI PROGRAMS: what a file controls cannot break what is printed.

Every text of a model or program becomes one that ends lines, commands terminals, closes quotes, turns the direction of
writing or is no UTF-8. Then every command prints UTF-8 without a hidden character, no line that its own text did not
begin, valid JSON; what it writes has the bytes of the names, and lies where it was told to."""

import json
import subprocess
import sys
import tempfile
import unicodedata
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import models
from models import F32, info, ints, model, node

FORGED = "error[forged.code]"
TEXT = f'"\n{FORGED} x: "\\ \x1b[2J\r\x9b1m\x7f\u2028{FORGED}\u202e\u2066\u200f\u061c\ufeff\U000e0041'
# Bytes that are no UTF-8: alone, overlong, a surrogate, beyond the last, cut.
BYTES = b'"\n' + FORGED.encode() + b"\x85\xff\xc0\x8a\xed\xa0\x80\xf4\x90\x80\x80\x1b[2J\n\xe2\x80"


def texts_of(message):
    """(message, field, index or None) of every text in a protobuf message."""
    for field, value in message.ListFields():
        many = not isinstance(value, (str, bytes, int, float)) and not hasattr(value, "ListFields")
        for i, one in enumerate(value) if many else [(None, value)]:
            if hasattr(one, "ListFields"):
                yield from texts_of(one)
            elif isinstance(one, str) or (isinstance(one, bytes) and field.name in ("s", "strings", "string_data")):
                yield message, field.name, i


def get(place):
    message, field, i = place
    value = getattr(message, field)
    value = value if i is None else value[i]
    return value.decode() if isinstance(value, bytes) else value


def put(place, text):
    message, field, i = place
    old = getattr(message, field) if i is None else getattr(message, field)[i]
    new = text.encode() if isinstance(old, bytes) else text
    if i is None:
        setattr(message, field, new)
    else:
        getattr(message, field)[i] = new


def hostile(proto, chosen, ending):
    """The bytes of the model with the ending after each of these texts, wherever it occurs."""
    out = onnx.ModelProto()
    out.CopyFrom(proto)
    stand_in = "~" * len(ending)
    for place in list(texts_of(out)):
        if get(place) in chosen:
            put(place, get(place) + stand_in)
    return out.SerializeToString().replace(stand_in.encode(), ending)


def names_of(proto):
    """What may be called anything: not operators and their attributes, sizes of external data, and the like."""
    fixed = {"op_type", "domain", "s", "strings", "key", "location", "equation"}
    attributes = {id(a) for n in proto.graph.node for a in n.attribute}
    return {get(p) for p in texts_of(proto) if p[1] not in fixed and id(p[0]) not in attributes and get(p)}


def problems(out, formatted):
    """What is wrong with the bytes a command printed."""
    try:
        text = out.decode("utf-8")
    except UnicodeDecodeError as wrong:
        return [f"no UTF-8: {wrong}"]
    found = [f"U+{ord(c):04X} is printed" for c in sorted(set(text) - {"\n"})
             if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
    found += [f"a forged line: {line}" for line in text.split("\n") if line.lstrip().startswith(FORGED)]
    if formatted and text:
        try:
            json.loads(text)
        except ValueError as wrong:
            found.append(f"no JSON: {wrong}")
    return found


class Commands:
    def __init__(self, cli, folder):
        self.cli, self.folder = cli, folder
        self.count = self.failures = 0

    def run(self, *arguments, expected=(0, 2, 3)):
        done = subprocess.run([self.cli, *arguments], cwd=self.folder, capture_output=True, timeout=120)
        found = problems(done.stdout, "json" in arguments or "sarif" in arguments)
        found += problems(done.stderr, False)
        if done.returncode not in expected:
            found.append(f"exit {done.returncode}")
        self.count += 1
        self.failures += bool(found)
        for problem in found:
            print(f"{arguments}: {problem}\n  {done.stdout[:300]}\n  {done.stderr[:300]}")
        return done

    def battery(self, file, inputs, values):
        """Every command that reads a model; names are bytes."""
        given = [b"--random=" + name for name in inputs]
        for form in "text", "json", "sarif":
            self.run("check", file, "--format", form, "--policy", "batch-only", "--fail-on", "warning")
        self.run("check", file, *(b"--shape=" + name + b"=1x119" for name in inputs))
        self.run("check", file, b"--require", b"nothing > 1")
        self.run("info", file)
        self.run("plan", file)
        self.run("plan", file, "--dump", "all")
        self.run("run", file)
        self.run("run", file, *given, "--profile", "trace.json")
        trace = self.folder / "trace.json"
        if trace.exists():
            for problem in problems(trace.read_bytes().replace(b"\t", b""), True):
                self.failures += 1
                print(f"the profile of {file}: {problem}")
            trace.unlink()
        self.run("verify", file, file)
        self.run("infer", file, "-o", "inferred.onnx", "--dims", "expressions")
        self.run("fix", file, "-o", "fixed.onnx", "--simplify")
        for name in inputs[:1]:
            self.run("fix", file, "-o", "fixed.onnx", b"--dynamic", name + b":0=n")
        for value in values:
            self.run("explain", file, value)


def more_models():
    """Sentences that the models of the other cases do not make."""
    x, y = [info("x", ["batch", 4])], [info("y", None)]
    odd = model([node("DepthToSpace", ["x"], ["y"], blocksize=2, mode="CRD")], [info("x", [1, 4, 2, 2])], y)
    odd.graph.node[0].attribute[1].s = b"neither"
    strings = model([node("Identity", ["c"], ["y"])], [], [info("y", None, TensorProto.STRING)],
                    [numpy_helper.from_array(np.array(["one", "two"], object), "c")])
    cast = model([node("Cast", ["c"], ["y"], to=F32)], [], y, [numpy_helper.from_array(np.array(["1.5"], object), "c")])
    outside = model([node("Add", ["x", "w"], ["y"])], x, y, [TensorProto(name="w", data_type=F32, dims=[4], data_location=1)])
    outside.graph.initializer[0].external_data.add(key="location", value="missing.bin")
    called = model([helper.make_node("Twice", ["x"], ["y"], name="/call", domain="own")], x, y)
    called.opset_import.append(helper.make_opsetid("own", 1))
    called.functions.append(helper.make_function("own", "Twice", ["in"], ["out"], [node("MatMul", ["in", "in"], ["out"])],
                                                 called.opset_import[:1]))
    return {
        "odd_mode": odd,
        "strings": strings,
        "cast": cast,
        "outside": outside,
        "called": called,
        "twice": model([node("Relu", ["x"], ["y"])], x, y, [ints("c", 1), ints("c", 2)]),
        "nowhere": model([node("Add", ["x", "other"], ["y"])], x, y),
        "einsum": model([node("Einsum", ["x", "x"], ["y"], equation="ab,ab->a")], x, y),
        "symbols": model([node("Concat", ["x", "z"], ["y"], axis=1)], [info("x", ["a", "b"]), info("z", ["c", "d"])], y),
        "mixed": model([node("MatMul", ["x", "w"], ["y"])], x, y, [numpy_helper.from_array(np.ones((5, 2), np.float32), "w")]),
    }


def try_names(commands):
    """All names of a model at once, in every command."""
    known = models.all_models() | more_models()
    known["opaque"].opset_import.append(helper.make_opsetid("custom", 1))
    ending = TEXT.encode() + BYTES
    for proto in known.values():
        (commands.folder / "model.onnx").write_bytes(hostile(proto, names_of(proto), ending))
        inputs = [i.name.encode() + ending for i in proto.graph.input]
        values = [v.encode() + ending for n in proto.graph.node[-1:] for v in n.output]
        commands.battery("model.onnx", inputs, values)


def try_every_text(commands):
    """One text after the other, operators and attributes too."""
    for proto in more_models().values():
        for text in sorted({get(p) for p in texts_of(proto)} - {""}):
            (commands.folder / "model.onnx").write_bytes(hostile(proto, {text}, TEXT.encode()))
            for arguments in ("check", "model.onnx"), ("check", "model.onnx", "--format", "json"), ("info", "model.onnx"), \
                             ("run", "model.onnx", "--random=x"), ("run", "model.onnx"):
                commands.run(*arguments)


def try_programs(commands, programs):
    """Every text of a captured program, one after the other."""
    def walk(value, place=()):
        if isinstance(value, str):
            yield place
        for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
            yield from walk(one, (*place, key))

    def changed(value, place):
        if not place:
            return value + TEXT
        out = value.copy()
        out[place[0]] = changed(value[place[0]], place[1:])
        return out

    for path in sorted(programs.glob("*.pt2"))[:2]:
        with zipfile.ZipFile(path) as archive:
            members = {i: archive.read(i) for i in archive.infolist()}
        main = next(i for i in members if i.filename.endswith("models/model.json"))
        program = json.loads(members[main])
        for place in walk(program):
            with zipfile.ZipFile(commands.folder / "program.pt2", "w") as archive:
                for member, content in members.items():
                    archive.writestr(member, json.dumps(changed(program, place)) if member is main else content)
            commands.run("export", "program.pt2", "-o", "exported.onnx", "--verify", "--dynamic", "x:0=n")


def try_scripts(commands, programs):
    """The source of a scripted program with the text at many places: in names, in strings, between words."""
    with zipfile.ZipFile(programs / "loop.pt") as archive:
        members = {i: archive.read(i) for i in archive.infolist()}
    sources = [i for i in members if i.filename.endswith(".py")]
    for source in sources:
        content = members[source]
        for at in range(0, len(content), max(1, len(content) // 60)):
            with zipfile.ZipFile(commands.folder / "script.pt", "w") as archive:
                for member, old in members.items():
                    archive.writestr(member, old[:at] + BYTES + old[at:] if member is source else old)
            commands.run("export", "script.pt", "-o", "exported.onnx", "--input", "x=f32[n,3]")


def try_arrays(commands):
    """What the files of inputs say about themselves."""
    onnx.save(models.matmul(3), commands.folder / "model.onnx")
    x = np.ones((2, 3), np.float32)
    np.savez(commands.folder / "other.npz", **{TEXT.replace("/", ""): x})
    np.save(commands.folder / "x.npy", x)
    content = (commands.folder / "x.npy").read_bytes()
    for old in b"<f4", b"shape", b"True", b"False":
        (commands.folder / "odd.npy").write_bytes(content.replace(old, old + BYTES))
        commands.run("run", "model.onnx", "--input=x=odd.npy")
    commands.run("run", "model.onnx", "--npz", "other.npz", expected=(2,))
    with zipfile.ZipFile(commands.folder / "odd.npz", "w") as archive:
        archive.writestr(f"{TEXT}.npy", b"no array")
    commands.run("run", "model.onnx", "--npz", "odd.npz")


def check_lines(commands):
    """Lines that begin with a name or a shape."""
    for op in "Relu", "Neg":
        onnx.save(model([node(op, [TEXT], [FORGED], TEXT)], [info(TEXT, ["n"])], [info(FORGED, ["n"])]), commands.folder / f"{op}.onnx")
    commands.run("verify", "Relu.onnx", "Neg.onnx", expected=(3,))
    commands.run("bench", "Relu.onnx", f"--shape={TEXT}=3", "--threads", "1", expected=(0,))
    printed = commands.run("run", "Relu.onnx", f"--random={TEXT}=3", expected=(0,)).stdout.decode()
    assert f'\n"{FORGED}"  f32[3]' in printed, printed


def try_paths(commands):
    """Names of files, and names given on the command line."""
    path = f"a\n{FORGED} \x1b[2J\u202eb.onnx"
    onnx.save(models.matmul(120), commands.folder / path)
    commands.battery(path, [b"x"], [b"y", b"y:7", TEXT.encode(), BYTES])
    for option in "--random", "--input":
        commands.run("run", path, f"{option}={TEXT}=3", expected=(2,))
    commands.run("check", path, f"--shape={TEXT}=3", expected=(2,))
    commands.run("check", path, f"--require={TEXT}", expected=(2,))
    (commands.folder / "shapes.jsonl").write_text(json.dumps({TEXT: [1, 2]}) + "\n" + json.dumps({"x": [1, 119]}) + "\n")
    commands.run("check", path, "--shapes-file", "shapes.jsonl", expected=(0, 3))
    commands.run(TEXT, expected=(2,))
    commands.run("check", f"--{TEXT}", expected=(2,))


def check_quotes(commands):
    """A name stands between its quotes: undoing the escapes gives it back."""
    name = 'n" (Relu): fine\\'
    proto = model([node("MatMul", ["x", "w"], ["y"], name)], [info("x", ["batch", 3])], [info("y", None)],
                  [numpy_helper.from_array(np.ones((5, 4), np.float32), "w")])
    onnx.save(proto, commands.folder / "quoted.onnx")
    printed = commands.run("check", "quoted.onnx", expected=(3,)).stderr.decode()
    assert f'quoted.onnx: node {json.dumps(name)}: the inner sizes' in printed, printed


def check_files(commands):
    """The names in files are the bytes they were; no name leads out of the folder."""
    for ending in TEXT.encode(), BYTES:
        proto = models.baked([-1, 120, 2, 4], ["batch", 120, 8])
        (commands.folder / "model.onnx").write_bytes(hostile(proto, names_of(proto), ending))
        for arguments in (["infer"], ["fix", "--simplify"], ["fix", b"--dynamic", b"x" + ending + b":1=seq"]):
            commands.run(arguments[0], "model.onnx", "-o", "written.onnx", *arguments[1:], expected=(0,))
            written = (commands.folder / "written.onnx").read_bytes()
            for name in (b"x", b"y", b"batch"):
                assert name + ending in written, f"{arguments}: {name} has lost bytes"
    outputs = ["../../up", "/absolute", "a/b", "..", "x\0y", TEXT]
    proto = model([node("Relu", ["x"], [name], f"/{i}") for i, name in enumerate(outputs)], [info("x", [2])],
                  [info(name, [2]) for name in outputs])
    inner = commands.folder / "one" / "two"
    inner.mkdir(parents=True)
    onnx.save(proto, inner / "model.onnx")
    for style in "npy", "npz", "pb":
        commands.run("run", "one/two/model.onnx", "--random=x", "-o", "one/two/out", "--output-format", style, expected=(0,))
    kept = {f"output_{i}.{style}" for i in range(len(outputs)) for style in ("npy", "pb")} | {"outputs.npz"}
    assert {str(p.relative_to(inner)) for p in (commands.folder / "one").rglob("*") if p.is_file()} == \
        {"model.onnx"} | {f"out/{name}" for name in kept}
    written = onnx.TensorProto.FromString((inner / "out" / "output_0.pb").read_bytes())
    assert written.name == outputs[0]


def check_tests(commands):
    """The folders of `anyshape test`: their names, those of outputs and operators."""
    x = np.array([-1, 2], np.float32)
    proto = model([node("Relu", ["x"], [TEXT])], [info("x", [2])], [info(TEXT, [2])])
    for folder in "good", f"bad\n{FORGED} \x1b[2J":
        models.write_test(commands.folder / "tests" / folder, proto, [x], [np.maximum(x, 0) if folder == "good" else x])
    proto.graph.node[0].op_type += TEXT
    models.write_test(commands.folder / "tests" / "unknown", proto, [x], [x])
    commands.run("test", "tests", expected=(3,))


def main():
    cli, programs = (Path(argument).resolve() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        commands = Commands(str(cli), Path(name))
        check_quotes(commands)
        check_files(commands)
        check_tests(commands)
        check_lines(commands)
        try_paths(commands)
        try_arrays(commands)
        try_scripts(commands, programs)
        try_every_text(commands)
        try_programs(commands, programs)
        try_names(commands)
    print(f"{commands.count} commands, {commands.failures} broken")
    return 1 if commands.failures or commands.count < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
