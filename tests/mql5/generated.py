#!/usr/bin/env python3
"""generated.py CLI FOLDER: makes the class of each model of MODELS in FOLDER, and models.mqh, which tests them all.

models.mqh includes every class. For each there is a function that runs SelfTest() and compares what Predict() gives for
other inputs with what `anyshape run` makes of the model. Controls are classes whose model was exchanged.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
TYPES = {"float16": "float", "float32": "float", "float64": "double", "int8": "char", "uint8": "uchar",
         "int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint", "int64": "long", "uint64": "ulong", "bool": "bool"}

SCALERS = {
    "closes": {"mean": [1.1], "scale": [0.02], "outputs": {"output": {"mean": [1.1], "std": [0.02]}}},
    "columns": {"x": {"mean": [1, 2, 3, 4, 5], "std": [0.5, 1, 2, 4, 8]}},
    "channels": {"x": {"mean": [0.25], "std": [0.5], "axis": 1}},
}

# The class, the model below tests/fixtures, options of mql5, options of export, sizes of axes that stay dynamic.
MODELS = [
    ("Lstm", "mql5/lstm120.onnx", "", "", {}),
    ("LstmRows", "mql5/lstm120.onnx", "--batch 8", "", {}),
    ("LstmScaled", "mql5/lstm120.onnx", "--scaler closes.json", "", {}),
    ("LstmTorch", "export/lstm_batch_seq/lstm_batch_seq.pt2", "--freeze x.1=16", "", {}),
    ("LstmLoop", "tf2onnx/lstm_loop/model.onnx", "--freeze x.1=7", "", {}),
    ("LstmState", "shapes/lstm_dynamic_state.onnx", "--freeze seq=9 --freeze features=2", "", {}),
    ("Gru", "export/gru/gru.traced.pt", "--freeze seq=12", "--dynamic x:0=batch,1=seq", {}),
    ("GruLengths", "export/gru/gru.pt2", "--allow x:1", "--dynamic x:0=batch,1=seq", {"seq": 5}),
    ("Rnn", "shapes/rnn_two_layers_baked.onnx", "--freeze seq=6", "", {}),
    ("Cnn", "run/cnn.onnx", "--freeze h=10 --freeze w=12", "", {}),
    ("CnnSizes", "run/cnn.onnx", "--allow x:2 --allow x:3", "", {"h": 9, "w": 14}),
    ("CnnScaled", "run/cnn.onnx", "--freeze h=30 --freeze w=30 --scaler channels.json", "", {}),
    ("Causal", "tf2onnx/conv_1d_causal/model.onnx", "--freeze x.1=11", "", {}),
    ("Pooled", "tf2onnx/average_pool/model.onnx", "--freeze x.1=8 --freeze x.2=8", "", {}),
    ("Mlp", "run/mlp.onnx", "", "", {}),
    ("MlpRows", "run/mlp.onnx", "--batch 5", "", {}),
    ("Dense", "tf2onnx/dense/model.onnx", "", "", {}),
    ("Transformer", "export/transformer_encoder/transformer_encoder.pt2", "--freeze x.1=10", "", {}),
    ("Heads", "shapes/attention_heads.onnx", "--freeze seq=10", "", {}),
    ("Attention", "tf2onnx/attention/model.onnx", "--freeze x.1=6", "", {}),
    ("Forest", "sklearn/random_forest_3/model.onnx", "", "", {}),
    ("ForestDouble", "sklearn/random_forest_double_3/model.onnx", "--batch 3", "", {}),
    ("Boosting", "sklearn/gradient_boosting_regressor/model.onnx", "--scaler columns.json", "", {}),
    ("Logistic", "sklearn/logistic_3/model.onnx", "", "", {}),
    ("LogisticDouble", "sklearn/logistic_double_2/model.onnx", "", "", {}),
    ("Bayes", "sklearn/gaussian_bayes_3/model.onnx", "", "", {}),
    ("ZipMap", "mql5/zipmap.onnx", "", "", {}),
    ("Pair", "mql5/pair.onnx", "", "", {}),
    ("PairRows", "mql5/pair.onnx", "--batch 4", "", {}),
    ("State", "run/state.onnx", "", "", {}),
    ("Table", "mql5/table.onnx", "--freeze n=6", "", {}),
    ("Ids", "shapes/ids_lookup.onnx", "--freeze seq=4", "", {}),
    ("Tokens", "shapes/ids_lookup.onnx", "--freeze seq=300 --batch 2", "", {}),
    ("Blocks", "mql5/blocks.onnx", "--allow x:1", "", {"seq": 20}),
    ("Halved", "shapes/bit_shift_sizes.onnx", "--allow x:1", "", {"seq": 10}),
    ("Outputs", "shapes/several_outputs.onnx", "--freeze seq=6", "", {}),
    ("Bools", "mql5/same_bool.onnx", "--freeze n=5", "", {}),
    ("Doubles", "mql5/same_double.onnx", "--allow x:0", "", {"n": 3}),
    ("Halves", "mql5/same_float16.onnx", "--freeze n=4", "", {}),
    ("Bytes", "mql5/same_uint8.onnx", "--freeze n=4", "", {}),
    ("Shorts", "mql5/same_int16.onnx", "--freeze n=4", "", {}),
    ("Scalar", "mql5/scalar.onnx", "", "", {}),
    ("Hostile", "mql5/hostile.onnx", "--freeze n=3", "", {}),
]


def shell(*words, folder):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")


def make_class(cli, folder, row):
    stem, source, options, exporting, _ = row
    path = FIXTURES / source
    if path.suffix in (".pt", ".pt2"):
        path = folder / f"{stem}.exported.onnx"
        shell(cli, "export", str(FIXTURES / source), "-o", str(path), "--quiet", *exporting.split(), folder=folder)
    shell(cli, "mql5", str(path), "-o", f"{stem}.mqh", "--quiet", *options.split(), folder=folder)


def shape_of(value, sizes):
    return [dim.dim_value or sizes[dim.dim_param] for dim in value.type.tensor_type.shape.dim]


def drawn(random, value, sizes):
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    shape = shape_of(value, sizes)
    if dtype.kind == "f":
        return random.normal(size=shape).astype(dtype)
    return random.integers(0, 2 if dtype.kind == "b" else 3, shape).astype(dtype)


def run(cli, folder, stem, sizes, random):
    """Inputs and outputs of a run of the embedded model, in order."""
    graph = onnx.load(folder / f"{stem}.onnx").graph
    inputs = {value.name: drawn(random, value, sizes) for value in graph.input}
    np.savez(folder / f"{stem}.npz", **inputs)
    shell(cli, "run", f"{stem}.onnx", "--npz", f"{stem}.npz", "-o", f"{stem}.out", folder=folder)
    outputs = [np.load(folder / f"{stem}.out" / f"output_{i}.npy") for i in range(len(graph.output))]
    return list(inputs.values()), outputs


def numbers(array):
    return ",".join(repr(float(x)) for x in array.reshape(-1))


def is_real(array):
    return array.dtype.kind == "f"


def vector(array):
    return "vector" if array.dtype == np.float64 else "vectorf"


def test_function(row, inputs, outputs):
    """A function that compares Predict() of arrays and of vectors with the outputs."""
    stem, sizes = row[0], row[4]
    lines = [f"void Test{stem}(void)", "  {", f"   C{stem} model;"]
    lines.append(f'   Expect(model.SelfTest(),"{stem}: the stored pair");')
    if sizes:
        lines.append(f'   Expect(model.SetSizes({",".join(map(str, sizes.values()))}),"{stem}: sizes");')
    arrays, vectors = [], []
    for i, array in enumerate(inputs):
        lines.append(f"   const double x{i}[]={{{numbers(array)}}};")
        lines.append(f"   {TYPES[array.dtype.name]} in{i}[];\n   LoadEntries(x{i},in{i});")
        if is_real(array):
            lines.append(f"   {vector(array)} v{i};\n   v{i}.Assign(in{i});")
        arrays.append(f"in{i}")
        vectors.append(f"v{i}" if is_real(array) else f"in{i}")
    for i, array in enumerate(outputs):
        lines.append(f"   {TYPES[array.dtype.name]} out{i}[];")
        lines.append(f"   {vector(array)} w{i};" if is_real(array) else f"   {TYPES[array.dtype.name]} w{i}[];")
        arrays.append(f"out{i}")
        vectors.append(f"w{i}")
    lines.append(f'   Expect(model.Predict({",".join(arrays)}),"{stem}: "+model.Error());')
    lines.append(f'   Expect(model.Predict({",".join(vectors)}),"{stem}: "+model.Error());')
    for i, array in enumerate(outputs):
        lines.append(f"   const double y{i}[]={{{numbers(array)}}};")
        lines.append(f'   ExpectNear("{stem} output {i}",out{i},y{i},{1e-5 if is_real(array) else 0});')
        size = f"w{i}.Size()" if is_real(array) else f"ArraySize(w{i})"
        lines.append(f'   Expect({size}=={array.size},"{stem}: size");')
        lines.append(f"   for(int i=0; i<{array.size}; i++)")
        lines.append(f'      Expect(w{i}[i]==out{i}[i],"{stem}: vectors give what arrays give");')
    return "\n".join(lines + ["  }", ""])


def nudged(path):
    """The model with one weight a hundredth larger."""
    model = onnx.load(path)
    weight = next(t for t in model.graph.initializer if t.name == "wo")
    weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * np.float32(1.01), "wo"))
    return model.SerializeToString()


def make_controls(cli, folder):
    """Exchanged: another file. Forged: another file under its own hash, so that only its values tell."""
    for stem in ("Exchanged", "Forged"):
        shell(cli, "mql5", str(FIXTURES / "mql5/lstm120.onnx"), "-o", f"{stem}.mqh", "--quiet", folder=folder)
        old = hash_of(folder / f"{stem}.mqh")
        (folder / f"{stem}.onnx").write_bytes(nudged(folder / f"{stem}.onnx"))
        if stem == "Forged":
            new = hashlib.sha256((folder / f"{stem}.onnx").read_bytes()).hexdigest()
            text = (folder / f"{stem}.mqh").read_text(encoding="ascii")
            (folder / f"{stem}.mqh").write_text(text.replace(old, new), encoding="ascii")


def hash_of(mqh):
    return mqh.read_text(encoding="ascii").split("SHA-256 of ")[1].split()[1]


def main():
    cli, folder = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, scaler in SCALERS.items():
        (folder / f"{name}.json").write_text(json.dumps(scaler), encoding="utf-8")
    random = np.random.default_rng(5)
    tests = []
    for row in MODELS:
        make_class(cli, folder, row)
        tests.append(test_function(row, *run(cli, folder, row[0], row[4], random)))
    make_controls(cli, folder)
    includes = [f'#include "{row[0]}.mqh"' for row in MODELS] + ['#include "Exchanged.mqh"', '#include "Forged.mqh"']
    calls = [f"   Test{row[0]}();" for row in MODELS] + [f"   return({len(MODELS)});"]
    lines = includes + tests + ["int TestModels(void)", "  {", *calls, "  }", ""]
    (folder / "models.mqh").write_text("\n".join(lines), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
