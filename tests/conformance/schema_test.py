#!/usr/bin/env python3
"""schema_test.py TOOL: the messages of format/onnx have the fields of the installed onnx package, no more, no fewer.

TOOL is anyshape_onnx_schema. A round trip cannot see a missing field: it would survive as an unknown one.
"""
import subprocess
import sys

import onnx


def messages(descriptor, seen):
    if descriptor.full_name not in seen:
        seen[descriptor.full_name] = descriptor
        for field in descriptor.fields:
            if field.message_type:
                messages(field.message_type, seen)
    return seen


def type_of(field):
    names = {
        field.TYPE_INT64: "int64",
        field.TYPE_INT32: "int32",
        field.TYPE_ENUM: "int32",
        field.TYPE_FLOAT: "float",
        field.TYPE_DOUBLE: "double",
        field.TYPE_UINT64: "uint64",
        field.TYPE_STRING: "bytes",
        field.TYPE_BYTES: "bytes",
    }
    name = names.get(field.type) or name_of(field.message_type)
    return ("repeated " if field.is_repeated else "") + ("packed " if field.is_packed else "") + name


def name_of(descriptor):
    return descriptor.full_name.removeprefix("onnx.").replace(".", "::")


def expected():
    seen = {}
    for root in (onnx.ModelProto, onnx.SequenceProto, onnx.OptionalProto):
        messages(root.DESCRIPTOR, seen)
    for descriptor in seen.values():
        for field in descriptor.fields:
            others = len(field.containing_oneof.fields) - 1 if field.containing_oneof else 0
            yield name_of(descriptor), str(field.number), field.name, type_of(field), str(others)


def main():
    lines = subprocess.run([sys.argv[1]], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    ours, theirs = {tuple(line.split("\t")) for line in lines}, set(expected())
    for row in sorted(theirs - ours):
        print("FAIL missing", *row)
    for row in sorted(ours - theirs):
        print("FAIL not in the schema", *row)
    print(f"{len(ours & theirs)} passed, {len(ours ^ theirs)} failed")
    sys.exit(1 if ours != theirs else 0)


if __name__ == "__main__":
    main()
