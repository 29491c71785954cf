#include "ops/elementwise.h"
#include "ops/records.h"

// Random tensors: RandomNormal, RandomUniform, their Like forms, Bernoulli, Multinomial.
namespace anyshape::ops {
namespace {

constexpr Port kIn[] = {{"input"}};
constexpr Port kOut[] = {{"output"}};

Result<DType> dtype_of(const Call& call, DType fallback) {
  if (!call.has_attr("dtype")) return fallback;
  const auto dtype = dtype_from_onnx(call.i("dtype", 0));
  if (!dtype) return refuse("random.dtype", "dtype {} is no element type", call.i("dtype", 0));
  return *dtype;
}

Result<Facts> infer_shape(const Call& call, InferContext&) {
  TRY(const DType dtype, dtype_of(call, DType::f32));
  const auto* shape = call.ints("shape");
  if (!shape) return refuse("attr.missing", "{} needs the attribute \"shape\"", call.type());
  for (int64_t d : *shape)
    if (d < 0) return refuse("random.shape", "the size {} is negative", d);
  return Facts{Fact::tensor(dtype, Dims(shape->begin(), shape->end()))};
}

Result<Facts> infer_like(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0));
  TRY(const DType dtype, dtype_of(call, call.in(0).dtype));
  return Facts{typed(dtype, call.in(0).dims)};
}

Result<Facts> infer_multinomial(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskFloat));
  TRY(const DType dtype, dtype_of(call, DType::i32));
  if (dtype != DType::i32 && dtype != DType::i64)
    return refuse("multinomial.dtype", "Multinomial gives i32 or i64, not {}", name(dtype));
  const int64_t samples = call.i("sample_size", 1);
  if (samples < 1) return refuse("multinomial.samples", "sample_size is {}, it must be at least 1", samples);
  TRY_OK(require_rank(call, 0, 2));
  const Dims& in = *call.in(0).dims;
  for (size_t i : {0u, 1u})
    TRY_OK(context.require(Condition::ge(in[i], 1), "multinomial.empty", "Multinomial over the empty tensor {}",
                           text(in)));
  Fact out = Fact::tensor(dtype, {in[0], samples});
  set_bounds(context, out, 0, in[1] - 1);
  return Facts{out};
}

constexpr OpDef by_shape(std::string_view op_name, std::string_view doc) {
  return {.name = op_name, .since = 1, .sig = {{}, kOut, doc}, .infer = infer_shape, .pure = false};
}
constexpr OpDef like(std::string_view op_name, int since, std::string_view doc) {
  return {.name = op_name, .since = since, .sig = {kIn, kOut, doc}, .infer = infer_like, .pure = false};
}

}  // namespace

constexpr OpDef kBernoulli15 = like("Bernoulli", 15, "0 or 1, drawn with the given probabilities");
constexpr OpDef kMultinomial7{.name = "Multinomial",
                              .since = 7,
                              .sig = {kIn, kOut, "classes drawn from the given distributions"},
                              .infer = infer_multinomial,
                              .pure = false};
constexpr OpDef kRandomNormal1 = by_shape("RandomNormal", "normally distributed numbers");
constexpr OpDef kRandomNormalLike1 = like("RandomNormalLike", 1, "normally distributed numbers, shape of the input");
constexpr OpDef kRandomUniform1 = by_shape("RandomUniform", "uniformly distributed numbers");
constexpr OpDef kRandomUniformLike1 = like("RandomUniformLike", 1, "uniformly distributed numbers, shape of the input");

}  // namespace anyshape::ops
