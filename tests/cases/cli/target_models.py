"""The models of target.case: target_models.write_all(folder)."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, dims, dtype=F32):
    return helper.make_tensor_value_info(name, dtype, dims)


def model(nodes, inputs, outputs, initializers=(), opset=17, ml_opset=3, ir_version=8):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", ml_opset)]
    out = helper.make_model(graph, opset_imports=opsets)
    out.ir_version = ir_version
    return out


def node(op, inputs, outputs, name=None, **attributes):
    return helper.make_node(op, inputs, outputs, name=name or f"/{op.lower()}", **attributes)


def one(op, dtype, dims=("batch", 8), out=None, **attributes):
    return model([node(op, ["x"], ["y"], **attributes)], [info("x", list(dims), dtype)], [info("y", None, out or dtype)])


def newer(dims):
    """Gelu of opset 20, in a file of a newer format."""
    return model([node("Gelu", ["x"], ["g"]), node("Relu", ["g"], ["y"])], [info("x", dims)], [info("y", None)], opset=20,
                 ir_version=9)


def classifier(**labels):
    linear = {"classlabels_ints" if key == "classlabels_int64s" else key: value for key, value in labels.items()}
    nodes = [node("LinearClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", coefficients=[1.0, -1.0, 2.0, 0.5],
                  intercepts=[0.0, 0.1], multi_class=1, post_transform="SOFTMAX", **linear),
             node("ZipMap", ["scores"], ["probabilities"], domain="ai.onnx.ml", **labels)]
    key = TensorProto.STRING if "classlabels_strings" in labels else I64
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(key, helper.make_tensor_type_proto(F32, [])))
    return model(nodes, [info("x", ["batch", 2])],
                 [info("label", ["batch"], key), helper.make_value_info("probabilities", maps)])


def weighted():
    weights = numpy_helper.from_array(np.arange(64, dtype=np.float32).reshape(8, 8), "w")
    return model([node("MatMul", ["x", "w"], ["y"])], [info("x", ["batch", 8])], [info("y", ["batch", 8])], [weights])


def where_bool():
    return model([node("Where", ["c", "x", "z"], ["y"])],
                 [info(name, ["batch", 8], BOOL) for name in "cxz"], [info("y", ["batch", 8], BOOL)])


def batch_first():
    weights = [numpy_helper.from_array(np.ones(dims, np.float32), name)
               for name, dims in (("w", (1, 16, 3)), ("r", (1, 16, 4)))]
    return model([node("LSTM", ["x", "w", "r"], ["y"], hidden_size=4, layout=1)], [info("x", ["batch", 120, 3])],
                 [info("y", None)], weights)


def write_all(folder):
    models = {
        "ready": one("Relu", F32),
        "newer": newer(["batch", 8]),
        "newer_seq": newer(["batch", "seq", 8]),
        "decoder": model([node("ImageDecoder", ["x"], ["y"])], [info("x", [100], TensorProto.UINT8)],
                         [info("y", None, TensorProto.UINT8)], opset=20),
        "where_bool": where_bool(),
        "text": one("Identity", TensorProto.STRING),
        "halves": one("Relu", TensorProto.FLOAT16),
        "brain": one("Identity", TensorProto.BFLOAT16),
        "picked": one("NonZero", F32, out=I64),
        "classifier": classifier(classlabels_int64s=[0, 1]),
        "named_classes": classifier(classlabels_strings=["down", "up"]),
        "batch_first": batch_first(),
        "weighted": weighted(),
    }
    for name, proto in models.items():
        onnx.save(proto, folder / f"target_{name}.onnx")
    onnx.save(weighted(), folder / "target_outside.onnx", save_as_external_data=True, location="target_outside.data",
              size_threshold=0)
