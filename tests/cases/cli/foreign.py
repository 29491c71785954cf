"""Files that are no ONNX models, as programs of other kinds write them: their first bytes, or the members of an archive."""

import gzip
import io
import json
import struct
import tarfile
import zipfile


def zipped(*names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), b"x")
    return out.getvalue()


def field(number, content):
    return bytes([number << 3 | 2, len(content)]) + content


def safetensors():
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(4)


def tarred():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("model.onnx"))
    return out.getvalue()


FILES = {
    "empty.onnx": b"",
    "pointer.onnx": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    "page.onnx": b"<!DOCTYPE html>\n<html><head><title>Not found</title></head></html>\n",
    "packed.onnx.gz": gzip.compress(b"x", mtime=0),
    "packed.tar": tarred(),
    "weights.safetensors": safetensors(),
    "weights.gguf": b"GGUF" + struct.pack("<IQQ", 3, 0, 0),
    "model.tflite": struct.pack("<I", 28) + b"TFL3" + bytes(24),
    "model.h5": b"\x89HDF\r\n\x1a\n" + bytes(24),
    "model.keras": zipped("metadata.json", "config.json", "model.weights.h5"),
    "state dict.pt": zipped("state/data.pkl", "state/data/0", "state/version"),
    "old_state.pt": b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.",
    "program.pt2": zipped("program/archive_format", "program/models/model.json"),
    "script.pt": zipped("script/data.pkl", "script/constants.pkl", "script/code/__torch__.py"),
    "graph.pb": field(1, field(1, b"x") + field(2, b"Placeholder")),
    "saved/saved_model.pb": b"\x08\x01" + field(2, field(1, field(2, b"ops"))),
    "model.ort": struct.pack("<I", 32) + b"ORTM" + bytes(24),
    "model.engine": b"ftrt" + bytes(24),
    "model.json": b'{"modelTopology": {}}',
    "nothing.bin": b"\xff\xfe\xfd\xfc no format of any kind",
}


def write_all(folder):
    for name, content in FILES.items():
        path = folder / "foreign" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
