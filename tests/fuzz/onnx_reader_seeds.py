#!/usr/bin/env python3
"""onnx_reader_seeds.py OUT: small models of the onnx package and messages with every field set, as a seed corpus."""
import hashlib
import pathlib
import sys

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "conformance"))
import onnx_samples as samples  # noqa: E402

LARGEST = 4096


def seeds():
    for path in sorted((pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data").rglob("*")):
        if path.suffix in (".onnx", ".pb"):
            yield path.read_bytes()
    for kind in (onnx.ModelProto, onnx.SequenceProto, onnx.OptionalProto):
        for seed in range(300):
            yield samples.filled(seed, 0.15, kind).SerializeToString()
    for _, tensor in samples.every_dtype():
        yield samples.small_model([tensor]).SerializeToString()


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for data in seeds():
        if 0 < len(data) <= LARGEST:
            (out / hashlib.sha1(data).hexdigest()).write_bytes(data)


if __name__ == "__main__":
    main()
