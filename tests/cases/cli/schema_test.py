#!/usr/bin/env python3
"""schema_test.py CLI EXAMPLES SCHEMA: the JSON of `check` fits the schema for a hundred models and every question, SARIF
that of sarif.schema.json, for all models and for each question; the same command prints the same bytes."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import models

TYPES = {"null": type(None), "object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


def problems(value, schema, root, place="$"):
    """Why the value does not fit; covers the keywords docs/check.schema.json uses and refuses others."""
    unknown = set(schema) - {"$ref", "oneOf", "const", "enum", "type", "properties", "required", "additionalProperties",
                             "items", "minimum", "description", "$schema", "title", "$defs"}
    if unknown:
        return [f"{place}: the schema uses {unknown}, which this test does not know"]
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return problems(value, target, root, place)
    if "oneOf" in schema:
        fits = [not problems(value, one, root, place) for one in schema["oneOf"]]
        if sum(fits) == 1:
            return []
        detail = [p for one in schema["oneOf"] for p in problems(value, one, root, place)]
        return [f"{place}: fits {sum(fits)} alternatives", *detail]
    if "const" in schema and value != schema["const"]:
        return [f"{place}: {value!r} is not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{place}: {value!r} is not one of {schema['enum']}"]
    if "type" in schema:
        kind = TYPES[schema["type"]]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            return [f"{place}: {value!r} is no {schema['type']}"]
    if "minimum" in schema and value < schema["minimum"]:
        return [f"{place}: {value} is too small"]
    out = []
    if isinstance(value, dict):
        known, more = schema.get("properties", {}), schema.get("additionalProperties", {})
        out += [f"{place}: {key} is missing" for key in schema.get("required", []) if key not in value]
        for key, entry in value.items():
            if key in known or more is not False:
                out += problems(entry, known.get(key, more), root, f"{place}.{key}")
            else:
                out.append(f"{place}: {key} is not in the schema")
    if isinstance(value, list):
        for i, entry in enumerate(value):
            out += problems(entry, schema.get("items", {}), root, f"{place}[{i}]")
    return out


def main():
    cli, examples, schema_file = sys.argv[1:]
    schema = json.loads(Path(schema_file).read_text(encoding="utf-8"))
    assert problems({"version": 2}, schema, schema), "a wrong document must not fit"
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        models.write_all(folder)
        files = sorted(Path(folder).glob("*.onnx")) + sorted(Path(examples).glob("*.onnx"))
        pinned = str(Path(folder) / "pinned.onnx")

        def check(*arguments):
            command = [cli, "check", *map(str, arguments)]
            first, second = (subprocess.run(command, capture_output=True, timeout=120).stdout for _ in range(2))
            assert first == second, f"{command} prints something else each time"
            return json.loads(first.decode("utf-8"))

        documents = {str(f): check(f, "--format", "json", "--policy", "batch-only") for f in files}
        documents["two models"] = check(pinned, files[0], "--format", "json")
        documents["accept"] = check(pinned, "--format", "json", "--shape", "x=1x120")
        documents["refuse"] = check(pinned, "--format", "json", "--shape", "x=1x119")
        documents["lines"] = check(pinned, "--format", "json", "--shapes-file", Path(folder) / "good.jsonl")
        documents["require"] = check(pinned, "--format", "json", "--require", "x=[1..4, 120]", "--against", pinned)
        documents["refuted"] = check(pinned, "--format", "json", "--require", "x=[1..4, 1..120]")
        for name, document in documents.items():
            for problem in problems(document, schema, schema):
                failures += 1
                print(f"{name}: {problem}")
        assert len(documents["two models"]) == 2 and len(documents["lines"]["answers"]) == 4

        assert len(files) >= 100, f"only {len(files)} models"

        sarif_schema = json.loads((Path(__file__).parent / "sarif.schema.json").read_text(encoding="utf-8"))
        logs = {
            "all": check(*files, "--format", "sarif"),
            "refuse": check(pinned, "--format", "sarif", "--shape", "x=1x119"),
            "refuted": check(pinned, "--format", "sarif", "--require", "x=[1..4, 1..120]"),
            "nothing": check(Path(folder) / "every.onnx", "--format", "sarif"),
        }
        for name, log in logs.items():
            for problem in problems(log, sarif_schema, sarif_schema):
                failures += 1
                print(f"SARIF of {name}: {problem}")
            run = log["runs"][0]
            known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
            assert len(known) == len(run["tool"]["driver"]["rules"]) and bool(run["results"]) == (name != "nothing")
    print(f"{len(documents)} documents, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
