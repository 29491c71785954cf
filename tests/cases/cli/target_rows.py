"""The rows of target_test.py, at least one for each row of src/target/lower_steps.cpp."""

from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto, helper

F32, F64, F16, BF16 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16
I8, U8, I16, I32, I64, BOOL = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.INT32,
                               TensorProto.INT64, TensorProto.BOOL)
STRING = TensorProto.STRING
OPSET, TYPE = "error[target.opset]", "error[target.type]"


@dataclass
class Row:
    op: str
    opset: int
    inputs: list  # (dtype, dims): an input; an array or TensorProto: a constant; None: absent
    outputs: list
    becomes: str = ""  # the operators of the result but for Constant
    refused: str = ""
    attributes: dict = field(default_factory=dict)
    domain: str = ""
    place: str = "main"  # body, function
    verify: list = field(default_factory=list)


def kept(op, opset, inputs, outputs, **attributes):
    return Row(op, opset, inputs, outputs, becomes=op, attributes=attributes)


def refused(op, opset, inputs, outputs, code=OPSET, **attributes):
    return Row(op, opset, inputs, outputs, refused=code, attributes=attributes)


def written(op, opset, inputs, outputs, becomes, place="main", **attributes):
    return Row(op, opset, inputs, outputs, becomes=becomes, place=place, attributes=attributes)


def bf16(*dims):
    return BF16, list(dims)


def f32(*dims):
    return F32, list(dims)


UNARY_22 = ("Acos Acosh Asin Asinh Atan Atanh Cos Cosh Det Elu EyeLike GlobalAveragePool GlobalLpPool GlobalMaxPool "
            "HardSigmoid HardSwish LpNormalization Mish RandomNormalLike RandomUniformLike Round Selu Sin Sinh Softplus "
            "Softsign Tan ThresholdedRelu Bernoulli").split()


def dims_of(op):
    return {"Det": [3, 3], "EyeLike": [3, 3]}.get(op, [2, 3, 4])


# A type that only came later: the node is refused. In f32 it is kept.
TYPES = [refused(op, 22, [(BF16, dims_of(op))], [BF16]) for op in UNARY_22]
TYPES += [kept(op, 22, [(F32, dims_of(op))], [F32]) for op in UNARY_22
          if op not in ("Acosh", "RandomNormalLike", "RandomUniformLike", "Bernoulli")]
TYPES += [
    refused("AveragePool", 22, [bf16(1, 2, 8, 8)], [BF16], kernel_shape=[2, 2]),
    refused("LpPool", 22, [bf16(1, 2, 8, 8)], [BF16], kernel_shape=[2, 2]),
    refused("MaxPool", 22, [bf16(1, 2, 8, 8)], [BF16], kernel_shape=[2, 2]),
    refused("MaxRoiPool", 22, [bf16(1, 2, 8, 8), bf16(1, 5)], [BF16], pooled_shape=[2, 2]),
    refused("MaxUnpool", 22, [bf16(1, 1, 2, 2), (I64, [1, 1, 2, 2])], [BF16], kernel_shape=[2, 2]),
    refused("Conv", 22, [bf16(1, 2, 8, 8), bf16(2, 2, 3, 3)], [BF16]),
    refused("ConvTranspose", 22, [bf16(1, 2, 8, 8), bf16(2, 2, 3, 3)], [BF16]),
    refused("GridSample", 22, [bf16(1, 2, 8, 8), bf16(1, 4, 4, 2)], [BF16]),
    refused("InstanceNormalization", 22, [bf16(1, 2, 8), bf16(2), bf16(2)], [BF16]),
    refused("RoiAlign", 22, [bf16(1, 2, 8, 8), bf16(1, 4), np.zeros(1, np.int64)], [BF16]),
    refused("Multinomial", 22, [bf16(1, 8)], [I32]),
    refused("NegativeLogLikelihoodLoss", 22, [bf16(2, 8), (I64, [2])], [BF16]),
    refused("LSTM", 22, [bf16(4, 1, 3), bf16(1, 8, 3), bf16(1, 8, 2)], [BF16], hidden_size=2),
    refused("GRU", 22, [bf16(4, 1, 3), bf16(1, 6, 3), bf16(1, 6, 2)], [BF16], hidden_size=2),
    refused("RNN", 22, [bf16(4, 1, 3), bf16(1, 2, 3), bf16(1, 2, 2)], [BF16], hidden_size=2),
    refused("RandomNormal", 22, [], [BF16], shape=[2], dtype=BF16),
    refused("RandomUniform", 22, [], [BF16], shape=[2], dtype=BF16),
    refused("ConstantOfShape", 20, [(I64, [2])], [BF16], value=helper.make_tensor("v", BF16, [1], [1.0])),
    refused("TopK", 24, [bf16(8), np.array([2])], [BF16, I64]),
    refused("SplitToSequence", 24, [bf16(8), np.array([4, 4])], [BF16]),
    refused("Optional", 28, [bf16(8)], [BF16]),
    refused("OptionalGetElement", 28, [bf16(8)], [BF16]),
    refused("OptionalHasElement", 28, [bf16(8)], [BOOL]),
    refused("Compress", 28, [bf16(8), (BOOL, [8])], [BF16]),
    refused("Einsum", 28, [bf16(2, 3), bf16(3, 4)], [BF16], equation="ij,jk->ik"),
    refused("OneHot", 28, [(I64, [3]), np.array(4), bf16(2)], [BF16]),
    refused("ReverseSequence", 28, [bf16(4, 2), (I64, [2])], [BF16]),
    refused("Unique", 28, [bf16(4)], [BF16]),
    refused("Celu", 28, [(F64, [4])], [F64]),
    refused("BitShift", 28, [(I32, [4]), (I32, [4])], [I32], direction="LEFT"),
    refused("Equal", 19, [(STRING, [4]), (STRING, [4])], [BOOL]),
    refused("Range", 27, [(F16, []), (F16, []), (F16, [])], [F16]),
    refused("Cast", 19, [f32(4)], [TensorProto.FLOAT8E4M3FN], code=TYPE, to=TensorProto.FLOAT8E4M3FN),
    refused("Identity", 21, [(TensorProto.INT4, [4])], [TensorProto.INT4], code=TYPE),
    kept("Dropout", 22, [f32(2, 3)], [F32]),
    kept("Conv", 22, [f32(1, 2, 8, 8), f32(2, 2, 3, 3)], [F32]),
    kept("LSTM", 22, [f32(4, 1, 3), f32(1, 8, 3), f32(1, 8, 2)], [F32], hidden_size=2),
    kept("TopK", 24, [f32(8), np.array([2])], [F32, I64]),
    kept("Reshape", 25, [f32(2, 6), np.array([3, 4])], [F32]),
    kept("Range", 27, [np.float32(0), np.float32(8), np.float32(2)], [F32], stash_type=1),
]

# Attributes that are new.
ATTRIBUTES = [
    kept("AveragePool", 19, [f32(1, 2, 8, 8)], [F32], kernel_shape=[2, 2], dilations=[1, 1]),
    refused("AveragePool", 19, [f32(1, 2, 8, 8)], [F32], kernel_shape=[2, 2], dilations=[2, 2]),
    kept("Cast", 24, [f32(4)], [I32], to=I32, saturate=1, round_mode="up"),
    kept("CastLike", 24, [f32(4), np.zeros(1, np.int32)], [I32], saturate=0),
    kept("Pad", 19, [f32(4), np.array([1, 1])], [F32], mode="edge"),
    refused("Pad", 19, [f32(4), np.array([1, 1])], [F32], mode="wrap"),
    kept("Resize", 19, [f32(1, 1, 4, 4), None, np.array([1, 1, 2, 2], np.float32)], [F32], mode="linear"),
    refused("Resize", 19, [f32(1, 1, 4, 4), None, np.array([1, 1, 2, 2], np.float32)], [F32], mode="linear",
            coordinate_transformation_mode="half_pixel_symmetric"),
    kept("SpaceToDepth", 28, [f32(1, 1, 4, 4)], [F32], blocksize=2, mode="DCR"),
    refused("SpaceToDepth", 28, [f32(1, 1, 4, 4)], [F32], blocksize=2, mode="CRD"),
    kept("QuantizeLinear", 25, [f32(4), np.float32(0.1), np.int8(3)], [I8], saturate=1, block_size=0, precision=0),
    written("QuantizeLinear", 21, [f32(4), np.float32(0.1)], [I8], "QuantizeLinear", output_dtype=I8),
    written("QuantizeLinear", 21, [f32(2, 4), np.array([0.1, 0.2], np.float32)], [I8], "QuantizeLinear", axis=0,
            output_dtype=I8),
    kept("QuantizeLinear", 21, [f32(4), np.float32(0.1)], [U8], output_dtype=U8),
    refused("QuantizeLinear", 21, [f32(4), np.float32(0.1), np.int16(0)], [I16]),
    refused("QuantizeLinear", 21, [f32(4), np.array([0.1, 0.2], np.float32)], [U8], block_size=2, axis=0),
    refused("QuantizeLinear", 19, [(F16, [4]), np.float16(0.1)], [U8]),
    refused("QuantizeLinear", 23, [f32(4), np.float32(0.1)], [U8], precision=F16),
    kept("DequantizeLinear", 25, [(U8, [4]), np.float32(0.1), np.uint8(3)], [F32], block_size=0, output_dtype=F32),
    refused("DequantizeLinear", 23, [(U8, [4]), np.float32(0.1)], [F16], output_dtype=F16),
    refused("DequantizeLinear", 21, [(I16, [4]), np.float32(0.1)], [F32]),
    refused("DequantizeLinear", 21, [(U8, [4]), np.array([0.1, 0.2], np.float32)], [F32], block_size=2, axis=0),
    refused("DequantizeLinear", 19, [(U8, [4]), np.float16(0.1)], [F16]),
    refused("QLinearMatMul", 21, [(U8, [2, 2]), np.float16(1), np.uint8(0), (U8, [2, 2]), np.float16(1), np.uint8(0),
                                  np.float16(1), np.uint8(0)], [U8]),
    kept("GridSample", 20, [f32(1, 2, 4, 4), f32(1, 3, 3, 2)], [F32], mode="linear"),
    kept("GridSample", 20, [f32(1, 2, 4, 4), f32(1, 3, 3, 2)], [F32], mode="cubic"),
    kept("GridSample", 20, [f32(1, 2, 4, 4), f32(1, 3, 3, 2)], [F32], mode="nearest"),
    refused("GridSample", 20, [f32(1, 2, 4, 4, 4), f32(1, 3, 3, 3, 3)], [F32]),
    kept("DFT", 20, [f32(1, 8, 3, 1)], [F32]),
    kept("DFT", 20, [f32(1, 8, 3, 1), None, np.array(1)], [F32]),
    kept("DFT", 20, [f32(1, 8, 3, 1), np.array(5), np.array(-2)], [F32]),
    refused("DFT", 20, [f32(1, 8, 3, 1), None, (I64, [])], [F32]),
    refused("DFT", 20, [f32(1, 5, 3, 2)], [F32], inverse=1, onesided=1),
]

NO_EQUAL = [
    refused("AffineGrid", 20, [f32(1, 2, 3), np.array([1, 1, 4, 4])], [F32]),
    refused("BitCast", 26, [f32(4)], [I32], to=I32),
    refused("CumProd", 26, [f32(4), np.array(0)], [F32]),
    refused("DeformConv", 19, [f32(1, 1, 4, 4), f32(1, 1, 2, 2), f32(1, 8, 3, 3)], [F32]),
    refused("ImageDecoder", 20, [(U8, [100])], [U8]),
    refused("RegexFullMatch", 20, [(STRING, [4])], [BOOL], pattern="a"),
    refused("StringConcat", 20, [(STRING, [4]), (STRING, [4])], [STRING]),
    refused("StringSplit", 20, [(STRING, [4])], [STRING, I64]),
    refused("CausalConvWithState", 27, [f32(1, 2, 8), f32(2, 1, 3)], [F32, F32]),
    refused("LinearAttention", 27, [f32(1, 4, 8), f32(1, 4, 8), f32(1, 4, 8)], [F32, F32], q_num_heads=2, kv_num_heads=2,
            update_rule="linear"),
    refused("SwiGLU", 28, [f32(2, 8), f32(2, 8)], [F32]),
    refused("TensorScatter", 24, [f32(1, 1, 4, 2), f32(1, 1, 1, 2)], [F32]),
]

NORM = "Mul ReduceMean Add Sqrt Div Mul"
ATTEND = "Mul Transpose MatMul Softmax MatMul"
TURN = "Mul Mul Sub Mul Mul Add"
# Each operator of the result rounds to 11 bits.
HALF = ["--rtol", "4e-3"]
Q4, K4 = f32(2, 3, 4, 8), f32(2, 3, 6, 8)

REWRITTEN = [
    written("Gelu", 20, [f32("batch", 8)], [F32], "Div Erf Add Mul Mul"),
    written("Gelu", 20, [f32("batch", 8)], [F32], "Mul Mul Mul Add Mul Tanh Add Mul Mul", approximate="tanh"),
    Row("Gelu", 20, [(F16, [2, 8])], [F16], becomes="Div Erf Add Mul Mul", verify=HALF),
    written("Gelu", 20, [f32("batch", 8)], [F32], "If Div Erf Add Mul Mul Div Erf Add Mul Mul", place="body"),
    written("Gelu", 20, [f32("batch", 8)], [F32], "F F Div Erf Add Mul Mul", place="function"),
    written("Swish", 24, [f32("batch", 8)], [F32], "Sigmoid Mul"),
    written("Swish", 24, [f32("batch", 8)], [F32], "Mul Sigmoid Mul", alpha=1.5),
    written("IsInf", 20, [(F16, [4])], [BOOL], "Cast IsInf", detect_negative=0),
    kept("IsInf", 20, [f32(4)], [BOOL]),
    written("Mod", 28, [f32(4), np.float32(0.3)], [F32], "Mod Less Xor Equal Not And Add Where"),
    kept("Mod", 28, [f32(4), np.float32(0.3)], [F32], fmod=1),
    written("ReduceMax", 20, [(BOOL, [2, 8]), np.array([1])], [BOOL], "Cast ReduceMax Cast", keepdims=0),
    written("ReduceMin", 20, [(BOOL, [2, 8])], [BOOL], "Cast ReduceMin Cast"),
    kept("ReduceMax", 20, [f32(2, 8), np.array([1])], [F32]),
    written("RMSNormalization", 23, [f32("batch", 4, 8), np.arange(8, dtype=np.float32)], [F32], NORM),
    written("RMSNormalization", 23, [f32("batch", 4, 8), np.ones((4, 8), np.float32)], [F32], NORM, axis=1, epsilon=0.1),
    written("RMSNormalization", 23, [(F16, [2, 8]), np.arange(8, dtype=np.float16)], [F16],
            "Cast Mul ReduceMean Add Sqrt Div Cast Mul"),
    written("GroupNormalization", 21, [f32("batch", 6, 5), np.arange(6, dtype=np.float32), np.ones(6, np.float32)], [F32],
            "Reshape ReduceMean Sub Mul ReduceMean Add Sqrt Div Reshape Mul Add", num_groups=3),
    written("Attention", 23, [Q4, K4, K4], [F32], ATTEND),
    written("Attention", 23, [f32("batch", 4, 24), f32("batch", 6, 24), f32("batch", 6, 24)], [F32],
            "Reshape Transpose Reshape Transpose Reshape Transpose Mul Transpose MatMul Softmax MatMul Transpose Reshape",
            q_num_heads=3, kv_num_heads=3),
    written("Attention", 23, [Q4, Q4, Q4], [F32], "Mul Transpose MatMul Where Softmax MatMul", is_causal=1),
    written("Attention", 23, [Q4, K4, K4, (BOOL, [4, 6])], [F32],
            "Mul Transpose MatMul Where Softmax IsNaN Where MatMul"),
    written("Attention", 23, [Q4, K4, K4, f32(4, 6)], [F32],
            "Mul Transpose MatMul Add Softmax IsNaN Where MatMul", scale=0.5),
    written("Attention", 23, [Q4, f32(2, 1, 6, 8), f32(2, 1, 6, 8), None, f32(2, 1, 5, 8), f32(2, 1, 5, 8)],
            [F32, F32, F32], "Concat Concat Unsqueeze Expand Squeeze Mul Transpose MatMul Div Tanh Mul Where Softmax "
            "Unsqueeze Expand Squeeze MatMul", is_causal=1, softcap=2.0),
    refused("Attention", 23, [(F16, [2, 3, 4, 8])] * 3, [F16], code="error[target.operator]"),
    refused("Attention", 24, [Q4, K4, K4, None, None, None, (I64, [2])], [F32]),
    refused("Attention", 24, [Q4, K4, K4, (BOOL, [4, 5])], [F32]),
    refused("Attention", 23, [Q4, K4, K4], [F32, 0, 0, F32]),
    refused("Attention", 25, [Q4, K4, K4], [F32], left_window_size=2),
    written("RotaryEmbedding", 23, [f32("batch", 2, 4, 8), f32("batch", 4, 4), f32("batch", 4, 4)], [F32],
            "Unsqueeze Unsqueeze Slice Slice " + TURN + " Concat"),
    written("RotaryEmbedding", 23, [f32("batch", 4, 16), np.ones((9, 2), np.float32), np.full((9, 2), 0.5, np.float32),
                                    np.arange(4).reshape(1, 4)], [F32],
            f"Reshape Transpose Slice Slice Slice {TURN} Unsqueeze Unsqueeze Concat Reshape Slice Concat Transpose Reshape",
            num_heads=2, rotary_embedding_dim=4, interleaved=1),
]

TREES = dict(n_targets=1, aggregate_function=1, post_transform=0, tree_roots=[0, 2], nodes_featureids=[0, 1, 0],
             nodes_splits=helper.make_tensor("s", F32, [3], [0.5, -0.25, 0.1]),
             nodes_modes=helper.make_tensor("m", U8, [3], [0, 1, 3]),
             nodes_truenodeids=[1, 0, 3], nodes_trueleafs=[0, 1, 1], nodes_falsenodeids=[2, 1, 4],
             nodes_falseleafs=[1, 1, 1], leaf_targetids=[0, 0, 0, 0, 0],
             leaf_weights=helper.make_tensor("w", F32, [5], [1.0, 2.0, 4.0, 8.0, 16.0]))

ML = [
    Row("TreeEnsemble", 18, [f32("batch", 2)], [F32], becomes="TreeEnsembleRegressor", attributes=TREES,
        domain="ai.onnx.ml"),
    Row("TreeEnsemble", 18, [(F64, [2, 2])], [F64], refused=OPSET, domain="ai.onnx.ml", attributes=TREES | dict(
        nodes_splits=helper.make_tensor("s", F64, [3], [0.5, -0.25, 0.1]),
        leaf_weights=helper.make_tensor("w", F64, [5], [1.0, 2.0, 4.0, 8.0, 16.0]))),
    Row("TreeEnsemble", 18, [f32(2, 2)], [F32], refused=OPSET, domain="ai.onnx.ml", attributes=TREES | dict(
        nodes_modes=helper.make_tensor("m", U8, [3], [0, 6, 3]),
        membership_values=helper.make_tensor("v", F32, [3], [1.0, 2.0, float("nan")]))),
    Row("LabelEncoder", 18, [(I64, [4])], [F32], becomes="LabelEncoder", domain="ai.onnx.ml", attributes=dict(
        keys_tensor=helper.make_tensor("k", I64, [2], [0, 1]), values_tensor=helper.make_tensor("v", F32, [2], [0.5, 1.5]),
        default_tensor=helper.make_tensor("d", F32, [1], [7.0]))),
    Row("LabelEncoder", 18, [(I64, [4])], [F64], refused=OPSET, domain="ai.onnx.ml", attributes=dict(
        keys_tensor=helper.make_tensor("k", I64, [1], [0]), values_tensor=helper.make_tensor("v", F64, [1], [0.5]))),
]

ROWS = TYPES + ATTRIBUTES + NO_EQUAL + REWRITTEN + ML
