"""The models and scalers of mql5.case: mql5_models.write_all(folder)."""

import json

import onnx
from onnx import TensorProto
from target_models import F32, I64, info, model, node, one, weighted

SCALERS = {
    "good": {"x": {"mean": [1, 2, 3, 4, 5, 6, 7, 8], "std": [1, 2, 1, 2, 1, 2, 1, 2]},
             "outputs": {"y": {"mean": 0.5, "std": 2}}},
    "flat": {"mean": [0] * 8, "scale": [1, 1, 0, 1, 1, 1, 1, 1]},
    "short": {"mean": [0, 0], "std": [1, 1]},
    "uneven": {"mean": [0, 0], "std": [1]},
    "stranger": {"z": {"mean": [0], "std": [1]}},
    "axis": {"x": {"mean": [0], "std": [1], "axis": 2}},
    "word": {"x": {"mean": ["a"], "std": [1]}},
    "huge": {"x": {"mean": [1e300], "std": [1]}},
    "plain": {"mean": [0], "std": [1]},
}


def rooted():
    """As many entries as the root of a size."""
    nodes = [node("Shape", ["x"], ["sizes"], start=1), node("Cast", ["sizes"], ["real"], name="/real", to=F32),
             node("Sqrt", ["real"], ["root"]), node("Cast", ["root"], ["whole"], name="/whole", to=I64),
             node("ConstantOfShape", ["whole"], ["y"])]
    return model(nodes, [info("x", ["batch", "seq"])], [info("y", None)])


def write_all(folder):
    models = {
        "weighted": weighted(),
        "static": one("Relu", F32, dims=(2, 8)),
        "random": model([node("RandomNormalLike", ["x"], ["y"])], [info("x", ["batch", 4])], [info("y", None)]),
        "complex": one("Identity", TensorProto.COMPLEX128),
        "two": model([node("Add", ["x", "z"], ["y"])], [info(name, ["batch", 8]) for name in "xz"], [info("y", None)]),
        "twins": model([node("Add", ["a.b", "a:b"], ["A_B"])], [info(name, ["batch", 8]) for name in ("a.b", "a:b")],
                       [info("A_B", None)]),
        "integers": one("Neg", I64),
        "rooted": rooted(),
    }
    for name, made in models.items():
        onnx.save(made, f"{folder}/mql5_{name}.onnx")
    # Its ending keeps it from tests that hand every model to onnx's checker, which wants shapes of inputs.
    onnx.save(model([node("Neg", ["x"], ["y"])], [info("x", None)], [info("y", None)]), f"{folder}/mql5_rankless.bin")
    for name, scaler in SCALERS.items():
        with open(f"{folder}/{name}.json", "w", encoding="utf-8") as file:
            json.dump(scaler, file)
    with open(f"{folder}/nan.json", "w", encoding="utf-8") as file:
        file.write('{"mean": [NaN], "std": [1]}')
