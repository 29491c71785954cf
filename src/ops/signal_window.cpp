#include "ops/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn[] = {{"size", Port::value}};
constexpr Port kMelIn[] = {{"num_mel_bins", Port::value},
                           {"dft_length", Port::value},
                           {"sample_rate"},
                           {"lower_edge_hertz"},
                           {"upper_edge_hertz"}};
constexpr Port kOut[] = {{"output"}};

Result<DType> output_dtype(const Call& call) {
  const int64_t code = call.i("output_datatype", 1);
  const auto dtype = dtype_from_onnx(code);
  if (!dtype || *dtype == DType::undefined) return refuse("window.dtype", "{} is no element type", code);
  return *dtype;
}

// One size given as a scalar input, not negative.
Result<Dim> size_input(const Call& call, InferContext& context, size_t input) {
  const Fact& fact = call.in(input);
  TRY_OK(require_integers(call, input));
  if (fact.dims)
    TRY_OK(context.require(Condition::eq(product(*fact.dims), 1), "window.size",
                           "input {} must be one number, it is {}", input, print(fact)));
  const auto known = fact.single();
  const Dim size = known ? *known : context.fresh(fact, "size");
  TRY_OK(context.require(Condition::ge(size, 0), "window.size", "a size of {} is negative", print(size)));
  return size;
}

Result<Facts> infer_window(const Call& call, InferContext& context) {
  TRY(const DType dtype, output_dtype(call));
  TRY(const Dim size, size_input(call, context, 0));
  return Facts{Fact::tensor(dtype, {size})};
}

Result<Facts> infer_mel(const Call& call, InferContext& context) {
  TRY(const DType dtype, output_dtype(call));
  TRY(const Dim bins, size_input(call, context, 0));
  TRY(const Dim length, size_input(call, context, 1));
  return Facts{Fact::tensor(dtype, {floordiv(length, 2) + 1, bins})};
}

}  // namespace

constexpr OpDef kBlackmanWindow17{
    .name = "BlackmanWindow", .since = 17, .sig = {kIn, kOut, "a Blackman window"}, .infer = infer_window};
constexpr OpDef kHammingWindow17{
    .name = "HammingWindow", .since = 17, .sig = {kIn, kOut, "a Hamming window"}, .infer = infer_window};
constexpr OpDef kHannWindow17{
    .name = "HannWindow", .since = 17, .sig = {kIn, kOut, "a Hann window"}, .infer = infer_window};
constexpr OpDef kMelWeightMatrix17{.name = "MelWeightMatrix",
                                   .since = 17,
                                   .sig = {kMelIn, kOut, "weights from a spectrum to mel bins"},
                                   .infer = infer_mel};

}  // namespace anyshape::ops
