#include "target/lower_steps.h"

#include <algorithm>

#include "target/edits.h"
#include "target/rewrites.h"

namespace anyshape::target {
namespace {

using enum DType;

constexpr std::string_view kLowerStepsMl = "ai.onnx.ml";

std::string dilated(const Call& call) {
  const auto* dilations = call.ints("dilations");
  const bool ones = !dilations || std::all_of(dilations->begin(), dilations->end(), [](int64_t d) { return d == 1; });
  return ones ? "" : " with dilations";
}

std::string blocked(const Call& call) { return call.i("block_size") != 0 ? " with a block_size" : ""; }

std::string other_precision(const Call& call) {
  const auto precision = call.i("precision");
  return precision == 0 || precision == static_cast<int64_t>(f32) ? "" : " with a precision other than f32";
}

std::string other_output(const Call& call) {
  const auto dtype = call.i("output_dtype");
  return dtype == 0 || dtype == static_cast<int64_t>(f32) ? "" : " with an output_dtype other than f32";
}

std::string wrapped(const Call& call) { return call.s("mode") == "wrap" ? " with the mode wrap" : ""; }

std::string symmetric(const Call& call) {
  return call.s("coordinate_transformation_mode") == "half_pixel_symmetric" ? " with half_pixel_symmetric" : "";
}

std::string column_first(const Call& call) { return call.s("mode") == "DCR" ? "" : " with the mode CRD"; }

std::string real_inverse(const Call& call) {
  return call.i("inverse") != 0 && call.i("onesided") != 0 ? " with inverse and onesided" : "";
}

std::string volumetric(const Call& call) {
  return call.has(0) && call.in(0).dims && call.in(0).rank() != 4 ? " of other than 4 axes" : "";
}

// What differs between opset 18 (3 of ai.onnx.ml) and the newest, by operator and version. Versions that only brought
// element types which no operator of opset 18 knows are not listed: a node with such a type is refused before.
constexpr LowerStep kSteps[] = {
    {.op = "Acos", .since = 22, .lacks = {bf16}},
    {.op = "Acosh", .since = 22, .lacks = {bf16}},
    {.op = "AffineGrid", .since = 20, .no_equal = true},
    {.op = "Asin", .since = 22, .lacks = {bf16}},
    {.op = "Asinh", .since = 22, .lacks = {bf16}},
    {.op = "Atan", .since = 22, .lacks = {bf16}},
    {.op = "Atanh", .since = 22, .lacks = {bf16}},
    {.op = "Attention", .since = 23, .rewrite = rewrites::attention},
    {.op = "AveragePool", .since = 22, .lacks = {bf16}},
    {.op = "AveragePool", .since = 19, .refuses = dilated, .drop = {"dilations"}},
    {.op = "Bernoulli", .since = 22, .lacks = {bf16}},
    {.op = "BitCast", .since = 26, .no_equal = true},
    {.op = "BitShift", .since = 28, .lacks = {i8, i16, i32, i64}},
    {.op = "Cast", .since = 19, .drop = {"saturate", "round_mode"}},
    {.op = "CastLike", .since = 19, .drop = {"saturate", "round_mode"}},
    {.op = "CausalConvWithState", .since = 27, .no_equal = true},
    {.op = "Celu", .since = 28, .lacks = {f64, f16, bf16}},
    {.op = "Compress", .since = 28, .lacks = {bf16}},
    {.op = "ConstantOfShape", .since = 20, .lacks = {bf16}},
    {.op = "Conv", .since = 22, .lacks = {bf16}},
    {.op = "ConvTranspose", .since = 22, .lacks = {bf16}},
    {.op = "Cos", .since = 22, .lacks = {bf16}},
    {.op = "Cosh", .since = 22, .lacks = {bf16}},
    {.op = "CumProd", .since = 26, .no_equal = true},
    {.op = "DFT", .since = 20, .refuses = real_inverse, .edit = edits::dft_axis},
    {.op = "DeformConv", .since = 19, .no_equal = true},
    {.op = "DequantizeLinear", .since = 23, .refuses = other_output, .drop = {"output_dtype"}},
    {.op = "DequantizeLinear", .since = 21, .lacks = {i16, u16}, .refuses = blocked, .drop = {"block_size"}},
    {.op = "DequantizeLinear", .since = 19, .lacks = {f16, bf16}},
    {.op = "Det", .since = 22, .lacks = {bf16}},
    {.op = "Einsum", .since = 28, .lacks = {bf16}},
    {.op = "Elu", .since = 22, .lacks = {bf16}},
    {.op = "Equal", .since = 19, .lacks = {string}},
    {.op = "EyeLike", .since = 22, .lacks = {bf16}},
    {.op = "GRU", .since = 22, .lacks = {bf16}},
    {.op = "Gelu", .since = 20, .rewrite = rewrites::gelu},
    {.op = "GlobalAveragePool", .since = 22, .lacks = {bf16}},
    {.op = "GlobalLpPool", .since = 22, .lacks = {bf16}},
    {.op = "GlobalMaxPool", .since = 22, .lacks = {bf16}},
    {.op = "GridSample", .since = 22, .lacks = {bf16}},
    {.op = "GridSample", .since = 20, .refuses = volumetric, .edit = edits::grid_sample_mode},
    {.op = "GroupNormalization", .since = 21, .rewrite = rewrites::group_normalization},
    {.op = "HardSigmoid", .since = 22, .lacks = {bf16}},
    {.op = "HardSwish", .since = 22, .lacks = {bf16}},
    {.op = "ImageDecoder", .since = 20, .no_equal = true},
    {.op = "InstanceNormalization", .since = 22, .lacks = {bf16}},
    {.op = "IsInf", .since = 20, .rewrite = rewrites::is_inf},
    {.op = "LSTM", .since = 22, .lacks = {bf16}},
    {.op = "LinearAttention", .since = 27, .no_equal = true},
    {.op = "LpNormalization", .since = 22, .lacks = {bf16}},
    {.op = "LpPool", .since = 22, .lacks = {bf16}},
    {.op = "MaxPool", .since = 22, .lacks = {bf16}},
    {.op = "MaxRoiPool", .since = 22, .lacks = {bf16}},
    {.op = "MaxUnpool", .since = 22, .lacks = {bf16}},
    {.op = "Mish", .since = 22, .lacks = {bf16}},
    {.op = "Mod", .since = 28, .rewrite = rewrites::mod},
    {.op = "Multinomial", .since = 22, .lacks = {bf16}},
    {.op = "NegativeLogLikelihoodLoss", .since = 22, .lacks = {bf16}},
    {.op = "OneHot", .since = 28, .lacks = {bf16}},
    {.op = "Optional", .since = 28, .lacks = {bf16}},
    {.op = "OptionalGetElement", .since = 28, .lacks = {bf16}},
    {.op = "OptionalHasElement", .since = 28, .lacks = {bf16}},
    {.op = "Pad", .since = 19, .refuses = wrapped},
    {.op = "QLinearMatMul", .since = 21, .lacks = {f16, bf16}},
    {.op = "QuantizeLinear", .since = 23, .refuses = other_precision, .drop = {"precision"}},
    {.op = "QuantizeLinear",
     .since = 21,
     .lacks = {i16, u16},
     .refuses = blocked,
     .drop = {"block_size", "output_dtype"},
     .rewrite = rewrites::quantize},
    {.op = "QuantizeLinear", .since = 19, .lacks = {f16, bf16}, .drop = {"saturate"}},
    {.op = "RMSNormalization", .since = 23, .rewrite = rewrites::rms_normalization},
    {.op = "RNN", .since = 22, .lacks = {bf16}},
    {.op = "RandomNormal", .since = 22, .lacks = {bf16}},
    {.op = "RandomNormalLike", .since = 22, .lacks = {bf16}},
    {.op = "RandomUniform", .since = 22, .lacks = {bf16}},
    {.op = "RandomUniformLike", .since = 22, .lacks = {bf16}},
    {.op = "Range", .since = 27, .lacks = {f16, bf16}, .drop = {"stash_type"}},
    {.op = "ReduceMax", .since = 20, .rewrite = rewrites::extreme_of_bools},
    {.op = "ReduceMin", .since = 20, .rewrite = rewrites::extreme_of_bools},
    {.op = "RegexFullMatch", .since = 20, .no_equal = true},
    {.op = "Resize", .since = 19, .refuses = symmetric},
    {.op = "ReverseSequence", .since = 28, .lacks = {bf16}},
    {.op = "RoiAlign", .since = 22, .lacks = {bf16}},
    {.op = "RotaryEmbedding", .since = 23, .rewrite = rewrites::rotary_embedding},
    {.op = "Round", .since = 22, .lacks = {bf16}},
    {.op = "Selu", .since = 22, .lacks = {bf16}},
    {.op = "Sin", .since = 22, .lacks = {bf16}},
    {.op = "Sinh", .since = 22, .lacks = {bf16}},
    {.op = "Softplus", .since = 22, .lacks = {bf16}},
    {.op = "Softsign", .since = 22, .lacks = {bf16}},
    {.op = "SpaceToDepth", .since = 28, .refuses = column_first, .drop = {"mode"}},
    {.op = "SplitToSequence", .since = 24, .lacks = {bf16}},
    {.op = "StringConcat", .since = 20, .no_equal = true},
    {.op = "StringSplit", .since = 20, .no_equal = true},
    {.op = "SwiGLU", .since = 28, .no_equal = true},
    {.op = "Swish", .since = 24, .rewrite = rewrites::swish},
    {.op = "Tan", .since = 22, .lacks = {bf16}},
    {.op = "TensorScatter", .since = 24, .no_equal = true},
    {.op = "ThresholdedRelu", .since = 22, .lacks = {bf16}},
    {.op = "TopK", .since = 24, .lacks = {bf16}},
    {.op = "Unique", .since = 28, .lacks = {bf16}},
    {.domain = kLowerStepsMl, .op = "LabelEncoder", .since = 4, .lacks = {f64, i16, i32}, .edit = edits::label_lists},
    {.domain = kLowerStepsMl, .op = "TreeEnsemble", .since = 5, .edit = edits::tree_regressor},
};

}  // namespace

std::span<const LowerStep> lower_steps() { return kSteps; }

}  // namespace anyshape::target
