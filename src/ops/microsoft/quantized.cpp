#include <algorithm>

#include "ops/microsoft/ports.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kBinaryIn[] = {{"A"},       {"A_scale"},           {"A_zero_point", kOpt},
                              {"B"},       {"B_scale"},           {"B_zero_point", kOpt},
                              {"C_scale"}, {"C_zero_point", kOpt}};
constexpr Port kUnaryIn[] = {{"X"}, {"X_scale"}, {"X_zero_point", kOpt}, {"Y_scale"}, {"Y_zero_point", kOpt}};
constexpr Port kConcatIn[] = {{"Y_scale"}, {"Y_zero_point"}, {"inputs", Port::variadic}};
constexpr Port kWhereIn[] = {{"condition"},    {"X"},       {"x_scale"},     {"x_zero_point"}, {"Y"}, {"y_scale"},
                             {"y_zero_point"}, {"z_scale"}, {"z_zero_point"}};
constexpr Port kQuantizedGemmIn[] = {{"A"},       {"a_scale"},       {"a_zero_point"},
                                     {"B"},       {"b_scale"},       {"b_zero_point"},
                                     {"C", kOpt}, {"y_scale", kOpt}, {"y_zero_point", kOpt}};
constexpr Port kConvIn[] = {{"x"},
                            {"x_scale"},
                            {"x_zero_point", kOpt},
                            {"w"},
                            {"w_scale"},
                            {"w_zero_point", kOpt},
                            {"y_scale"},
                            {"y_zero_point", kOpt},
                            {"B", kOpt}};
constexpr Port kLinearIn[] = {{"x"}, {"scale"}, {"zero_point", kOpt}};
constexpr Port kReduceIn[] = {{"data"}};
constexpr Port kLstmIn[] = {{"X"},
                            {"W"},
                            {"R"},
                            {"B", kOpt},
                            {"sequence_lens", kOpt},
                            {"initial_h", kOpt},
                            {"initial_c", kOpt},
                            {"P", kOpt},
                            {"W_scale"},
                            {"W_zero_point"},
                            {"R_scale"},
                            {"R_zero_point"}};
constexpr Port kLstmOut[] = {{"Y", kOpt}, {"Y_h", kOpt}, {"Y_c", kOpt}};
constexpr AttributeDef kDequantizeLinearAttributes[] = {
    {"axis", AttributeDef::integer},
};
constexpr AttributeDef kDynamicQuantizeLSTMAttributes[] = {
    {"activation_alpha", AttributeDef::reals},
    {"activation_beta", AttributeDef::reals},
    {"activations", AttributeDef::strings},
    {"clip", AttributeDef::real},
    {"direction", "forward"},
    {"hidden_size", AttributeDef::integer},
    {"input_forget", 0},
};
constexpr AttributeDef kQGemmAttributes[] = {
    {"alpha", 1.0f},
    {"transA", 0},
    {"transB", 0},
};
constexpr AttributeDef kQLinearAveragePoolAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"ceil_mode", 0},
    {"channels_last", 0},
    {"count_include_pad", 0},
    {"kernel_shape", AttributeDef::integers, AttributeDef::required},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kQLinearConcatAttributes[] = {
    {"axis", AttributeDef::integer, AttributeDef::required},
};
constexpr AttributeDef kQLinearConvAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"channels_last", 0},
    {"dilations", AttributeDef::integers},
    {"group", 1},
    {"kernel_shape", AttributeDef::integers},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kQLinearGlobalAveragePoolAttributes[] = {
    {"channels_last", 0},
};
constexpr AttributeDef kQLinearLeakyReluAttributes[] = {
    {"alpha", 0.01f},
};
constexpr AttributeDef kQLinearReduceMeanAttributes[] = {
    {"axes", AttributeDef::integers, AttributeDef::required},
    {"keepdims", AttributeDef::integer, AttributeDef::required},
};
constexpr AttributeDef kQLinearSoftmaxAttributes[] = {
    {"axis", -1},
    {"opset", 13},
};

Result<Facts> infer_binary(const Call& call, InferContext& context) {
  TRY(const Dims a, call.dims(0));
  TRY(const Dims b, call.dims(3));
  const Dims both[] = {a, b};
  TRY(Dims out, broadcast_dims(context, both));
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

Result<Facts> infer_unary(const Call& call, InferContext&) { return Facts{like(call.in(0))}; }

Result<Facts> infer_softmax(const Call& call, InferContext&) {
  TRY(const Dims dims, call.dims(0));
  TRY_OK(normalize_axis(call.i("axis"), dims.size()));
  return Facts{like(call.in(0))};
}

// Triples of tensor, scale and zero point after the two of the output.
Result<Facts> infer_concat(const Call& call, InferContext& context) {
  if (call.inputs() < 5 || (call.inputs() - 2) % 3 != 0)
    return refuse("qlinearconcat.inputs", "QLinearConcat takes 2 + 3*n inputs, this node has {}", call.inputs());
  std::vector<const Fact*> in;
  for (size_t i = 2; i < call.inputs(); i += 3) {
    if (!call.has(i)) return refuse("qlinearconcat.inputs", "input {} is missing", i);
    in.push_back(&call.in(i));
  }
  return kConcat1.infer(Call(call, kConcat1, 13, in), context);
}

Result<Facts> infer_where(const Call& call, InferContext& context) {
  TRY(const Dims condition, call.dims(0));
  TRY(const Dims x, call.dims(1));
  TRY(const Dims y, call.dims(4));
  const Dims all[] = {condition, x, y};
  TRY(Dims out, broadcast_dims(context, all));
  return Facts{Fact::tensor(call.in(1).dtype, std::move(out))};
}

Result<Facts> infer_gemm(const Call& call, InferContext& context) {
  const Fact a = like(call.in(0), DType::f32), b = like(call.in(3), DType::f32);
  std::vector<const Fact*> in{&a, &b};
  const Fact c = call.has(6) ? like(call.in(6), DType::f32) : Fact();
  if (call.has(6)) in.push_back(&c);
  TRY(Facts out, kGemm11.infer(Call(call, kGemm11, 13, in), context));
  out[0].dtype = call.has(8) ? call.in(8).dtype : DType::f32;
  return out;
}

Fact moved_channels(const Fact& fact, bool to_front) {
  Fact out = like(fact);
  if (!out.dims || out.dims->size() < 3) return out;
  Dims& dims = *out.dims;
  if (to_front)
    std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  else
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  return out;
}

// A rule for channels first, on an input that may have them last.
Result<Facts> with_channels_quantized(const OpDef& op, int64_t version, const Call& call, InferContext& context,
                                      std::vector<const Fact*> in) {
  if (call.i("channels_last") == 0) return op.infer(Call(call, op, version, in), context);
  const Fact x = moved_channels(*in[0], true);
  in[0] = &x;
  TRY(Facts out, op.infer(Call(call, op, version, in), context));
  out[0] = moved_channels(out[0], false);
  return out;
}

Result<Facts> infer_conv(const Call& call, InferContext& context) {
  const Fact x = like(call.in(0), DType::f32), w = like(call.in(3), DType::f32);
  std::vector<const Fact*> in{&x, &w};
  const Fact bias = call.has(8) ? like(call.in(8), DType::f32) : Fact();
  if (call.has(8)) in.push_back(&bias);
  TRY(Facts out, with_channels_quantized(kConv1, 11, call, context, std::move(in)));
  out[0].dtype = call.has(7) ? call.in(7).dtype : call.in(0).dtype;
  return out;
}

Result<Facts> infer_pool(const Call& call, InferContext& context, const OpDef& op, int64_t version) {
  const Fact x = like(call.in(0), DType::f32);
  TRY(Facts out, with_channels_quantized(op, version, call, context, {&x}));
  out[0].dtype = call.in(0).dtype;
  return out;
}
Result<Facts> infer_average(const Call& call, InferContext& context) {
  return infer_pool(call, context, kAveragePool1, 11);
}
Result<Facts> infer_global(const Call& call, InferContext& context) {
  return infer_pool(call, context, kGlobalAveragePool1, 1);
}

Result<Facts> infer_reduce(const Call& call, InferContext& context) {
  const Fact x = like(call.in(0), DType::f32);
  const std::vector<const Fact*> in{&x};
  TRY(Facts out, kReduceMean1.infer(Call(call, kReduceMean1, 13, in), context));
  out[0].dtype = call.type() == "ReduceSumInteger" ? DType::i32 : call.in(0).dtype;
  return out;
}

Result<Facts> infer_quantize(const Call& call, InferContext& context) {
  return rule_of(kQuantizeLinear10, 21, call, context, {0, 1, 2});
}
Result<Facts> infer_dequantize(const Call& call, InferContext& context) {
  return rule_of(kDequantizeLinear10, 21, call, context, {0, 1, 2});
}

// Weights are [directions, inputs, 4 * hidden], the other way round than those of LSTM.
Result<Facts> infer_lstm(const Call& call, InferContext& context) {
  const auto turned = [](const Fact& fact) {
    Fact out = like(fact, DType::f32);
    if (out.dims && out.dims->size() == 3) std::swap((*out.dims)[1], (*out.dims)[2]);
    return out;
  };
  const Fact w = turned(call.in(1)), r = turned(call.in(2));
  std::vector<const Fact*> in{&call.in(0), &w, &r};
  for (size_t i = 3; i < 8; ++i) in.push_back(call.has(i) ? &call.in(i) : nullptr);
  while (!in.back()) in.pop_back();
  return kLSTM1.infer(Call(call, kLSTM1, 7, in), context);
}

constexpr Kernel kDequantizeLinearKernels[] = {{"reference", run_ms_dequantize_linear}};
constexpr Kernel kDynamicLstmKernels[] = {{"reference", run_ms_dynamic_lstm}};
constexpr Kernel kQAveragePoolKernels[] = {{"reference", run_ms_q_average_pool}};
constexpr Kernel kQBinaryKernels[] = {{"reference", run_ms_q_binary}};
constexpr Kernel kQConcatKernels[] = {{"reference", run_ms_q_concat}};
constexpr Kernel kQConvKernels[] = {{"reference", run_ms_q_conv}};
constexpr Kernel kQGemmKernels[] = {{"reference", run_ms_q_gemm}};
constexpr Kernel kQGlobalPoolKernels[] = {{"reference", run_ms_q_global_pool}};
constexpr Kernel kQLeakyReluKernels[] = {{"reference", run_ms_q_leaky_relu}};
constexpr Kernel kQReduceMeanKernels[] = {{"reference", run_ms_q_reduce_mean}};
constexpr Kernel kQSigmoidKernels[] = {{"reference", run_ms_q_sigmoid}};
constexpr Kernel kQSoftmaxKernels[] = {{"reference", run_ms_q_softmax}};
constexpr Kernel kQWhereKernels[] = {{"reference", run_ms_q_where}};
constexpr Kernel kQuantizeLinearKernels[] = {{"reference", run_ms_quantize_linear}};
constexpr Kernel kReduceSumIntegerKernels[] = {{"reference", run_ms_reduce_sum_integer}};

}  // namespace

constexpr OpDef kMsDequantizeLinear1{.name = "DequantizeLinear",
                                     .domain = kMs,
                                     .sig = {kLinearIn, kY, "(x - zero point) * scale", kDequantizeLinearAttributes},
                                     .infer = infer_dequantize,
                                     .kernels = kDequantizeLinearKernels};
constexpr OpDef kMsDynamicQuantizeLSTM1{
    .name = "DynamicQuantizeLSTM",
    .domain = kMs,
    .sig = {kLstmIn, kLstmOut, "LSTM with quantised weights", kDynamicQuantizeLSTMAttributes},
    .infer = infer_lstm,
    .kernels = kDynamicLstmKernels};
constexpr OpDef kMsQGemm1{.name = "QGemm",
                          .domain = kMs,
                          .sig = {kQuantizedGemmIn, kY, "quantised Gemm", kQGemmAttributes},
                          .infer = infer_gemm,
                          .kernels = kQGemmKernels};
constexpr OpDef kMsQLinearAdd1{.name = "QLinearAdd",
                               .domain = kMs,
                               .sig = {kBinaryIn, kY, "quantised sum"},
                               .infer = infer_binary,
                               .kernels = kQBinaryKernels};
constexpr OpDef kMsQLinearAveragePool1{.name = "QLinearAveragePool",
                                       .domain = kMs,
                                       .sig = {kUnaryIn, kY, "quantised AveragePool", kQLinearAveragePoolAttributes},
                                       .infer = infer_average,
                                       .kernels = kQAveragePoolKernels};
constexpr OpDef kMsQLinearConcat1{.name = "QLinearConcat",
                                  .domain = kMs,
                                  .sig = {kConcatIn, kY, "quantised Concat", kQLinearConcatAttributes},
                                  .infer = infer_concat,
                                  .kernels = kQConcatKernels};
constexpr OpDef kMsQLinearConv1{.name = "QLinearConv",
                                .domain = kMs,
                                .sig = {kConvIn, kY, "quantised Conv", kQLinearConvAttributes},
                                .infer = infer_conv,
                                .kernels = kQConvKernels};
constexpr OpDef kMsQLinearGlobalAveragePool1{
    .name = "QLinearGlobalAveragePool",
    .domain = kMs,
    .sig = {kUnaryIn, kY, "quantised GlobalAveragePool", kQLinearGlobalAveragePoolAttributes},
    .infer = infer_global,
    .kernels = kQGlobalPoolKernels};
constexpr OpDef kMsQLinearLeakyRelu1{.name = "QLinearLeakyRelu",
                                     .domain = kMs,
                                     .sig = {kUnaryIn, kY, "quantised LeakyRelu", kQLinearLeakyReluAttributes},
                                     .infer = infer_unary,
                                     .kernels = kQLeakyReluKernels};
constexpr OpDef kMsQLinearMul1{.name = "QLinearMul",
                               .domain = kMs,
                               .sig = {kBinaryIn, kY, "quantised product"},
                               .infer = infer_binary,
                               .kernels = kQBinaryKernels};
constexpr OpDef kMsQLinearReduceMean1{.name = "QLinearReduceMean",
                                      .domain = kMs,
                                      .sig = {kUnaryIn, kY, "quantised ReduceMean", kQLinearReduceMeanAttributes},
                                      .infer = infer_reduce,
                                      .kernels = kQReduceMeanKernels};
constexpr OpDef kMsQLinearSigmoid1{.name = "QLinearSigmoid",
                                   .domain = kMs,
                                   .sig = {kUnaryIn, kY, "quantised Sigmoid"},
                                   .infer = infer_unary,
                                   .kernels = kQSigmoidKernels};
constexpr OpDef kMsQLinearSoftmax1{.name = "QLinearSoftmax",
                                   .domain = kMs,
                                   .sig = {kUnaryIn, kY, "quantised Softmax", kQLinearSoftmaxAttributes},
                                   .infer = infer_softmax,
                                   .kernels = kQSoftmaxKernels};
constexpr OpDef kMsQLinearWhere1{.name = "QLinearWhere",
                                 .domain = kMs,
                                 .sig = {kWhereIn, kY, "quantised Where"},
                                 .infer = infer_where,
                                 .kernels = kQWhereKernels};
constexpr OpDef kMsQuantizeLinear1{
    .name = "QuantizeLinear",
    .domain = kMs,
    .sig = {kLinearIn, kY, "x / scale + zero point, rounded", kDequantizeLinearAttributes},
    .infer = infer_quantize,
    .kernels = kQuantizeLinearKernels};
constexpr OpDef kMsReduceSumInteger1{.name = "ReduceSumInteger",
                                     .domain = kMs,
                                     .sig = {kReduceIn, kY, "sums of small integers", kQLinearReduceMeanAttributes},
                                     .infer = infer_reduce,
                                     .kernels = kReduceSumIntegerKernels};

}  // namespace anyshape::ops
