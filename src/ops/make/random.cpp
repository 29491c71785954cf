#include "kernels/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ops/elementwise/elementwise.h"
#include "ops/records.h"
#include "tensor/real.h"

// Random tensors: RandomNormal, RandomUniform, their Like forms, Bernoulli, Multinomial.
namespace anyshape::ops {
namespace {

constexpr Port kRandomIn[] = {{"input"}};
constexpr Port kRandomOut[] = {{"output"}};
constexpr AttributeDef kBernoulliAttributes[] = {{"dtype", AttributeDef::integer}, {"seed", AttributeDef::real}};
constexpr AttributeDef kNormalAttributes[] = {{"dtype", 1},
                                              {"mean", 0.0f},
                                              {"scale", 1.0f},
                                              {"seed", AttributeDef::real},
                                              {"shape", AttributeDef::integers, AttributeDef::required}};
constexpr AttributeDef kNormalLikeAttributes[] = {
    {"dtype", AttributeDef::integer}, {"mean", 0.0f}, {"scale", 1.0f}, {"seed", AttributeDef::real}};
constexpr AttributeDef kUniformAttributes[] = {{"dtype", 1},
                                               {"high", 1.0f},
                                               {"low", 0.0f},
                                               {"seed", AttributeDef::real},
                                               {"shape", AttributeDef::integers, AttributeDef::required}};
constexpr AttributeDef kUniformLikeAttributes[] = {
    {"dtype", AttributeDef::integer}, {"high", 1.0f}, {"low", 0.0f}, {"seed", AttributeDef::real}};
constexpr AttributeDef kMultinomialAttributes[] = {
    {"dtype", 6},
    {"sample_size", 1},
    {"seed", AttributeDef::real},
};

Result<DType> dtype_of(const Call& call, DType fallback) {
  if (!call.has_attr("dtype")) return fallback;
  const auto dtype = dtype_from_onnx(call.i("dtype"));
  if (!dtype) return refuse("random.dtype", "dtype {} is no element type", call.i("dtype"));
  return *dtype;
}

Result<Facts> infer_given_shape(const Call& call, InferContext&) {
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
  const int64_t samples = call.i("sample_size");
  if (samples < 1) return refuse("multinomial.samples", "sample_size is {}, it must be at least 1", samples);
  TRY_OK(require_rank(call, 0, 2));
  const Dims& in = *call.in(0).dims;
  for (size_t i : {0u, 1u})
    TRY_OK(context.require(Condition::ge(in[i], 1), "multinomial.empty",
                           "Multinomial needs entries, not the empty tensor {}", text(in)));
  Fact out = Fact::tensor(dtype, {in[0], samples});
  set_bounds(context, out, 0, in[1] - 1);
  return Facts{out};
}

// A seed of the node gives the same numbers at every run.
kernels::Random random_of(const Call& call, const KernelArgs& args) {
  if (!call.has_attr("seed")) return kernels::Random(args.seed);
  return kernels::Random(std::bit_cast<uint32_t>(call.f("seed")));
}

template <class Draw>
Status fill(Tensor& out, Draw draw) {
  for (int64_t i = 0; i < out.count(); ++i)
    if (!set_real(out, i, draw(static_cast<uint64_t>(i))))
      return unknown("dtype", "random numbers of type {}", name(out.dtype()));
  return {};
}

Status uniform(const Call& call, KernelArgs& args) {
  const double low = call.f("low"), high = call.f("high");
  const kernels::Random random = random_of(call, args);
  return fill(args.out(0), [&](uint64_t i) { return low + random.uniform(i) * (high - low); });
}

Status normal(const Call& call, KernelArgs& args) {
  const double mean = call.f("mean"), scale = call.f("scale");
  const kernels::Random random = random_of(call, args);
  return fill(args.out(0), [&](uint64_t i) { return mean + random.normal(i) * scale; });
}

Status bernoulli(const Call& call, KernelArgs& args) {
  const kernels::Random random = random_of(call, args);
  Tensor& out = args.out(0);
  const bool whole = is_integer(out.dtype()) || out.dtype() == DType::boolean;
  for (int64_t i = 0; i < out.count(); ++i) {
    const auto probability = real_at(args.in(0), i);
    if (!probability) return unknown("dtype", "Bernoulli of {}", name(args.in(0).dtype()));
    const bool one = random.uniform(static_cast<uint64_t>(i)) < *probability;
    if (whole)
      out.set_int(i, one);
    else if (!set_real(out, i, one))
      return unknown("dtype", "Bernoulli as {}", name(out.dtype()));
  }
  return {};
}

// One row: classes drawn with probabilities proportional to exp(x).
void draw_row(const Tensor& x, int64_t first, int64_t classes, const kernels::Random& random, int64_t at,
              int64_t samples, Tensor& out) {
  Temporary<double> sums(static_cast<size_t>(classes));
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < classes; ++i) top = std::fmax(top, *real_at(x, first + i));
  for (int64_t i = 0; i < classes; ++i) {
    const double weight = std::exp(*real_at(x, first + i) - top);
    sums[static_cast<size_t>(i)] = sum += std::isnan(weight) ? 0 : weight;
  }
  for (int64_t i = 0; i < samples; ++i) {
    const double goal = random.uniform(static_cast<uint64_t>(at + i)) * sum;
    const auto found = std::upper_bound(sums.begin(), sums.end() - 1, goal) - sums.begin();
    out.set_int(at + i, found);
  }
}

Status multinomial(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  if (!is_float(x.dtype()) || x.rank() != 2 || x.count() == 0)
    return refuse("multinomial.input", "Multinomial takes a matrix of floats that is not empty");
  const kernels::Random random = random_of(call, args);
  const int64_t rows = x.dims()[0], classes = x.dims()[1], samples = args.out(0).dims()[1];
  for (int64_t row = 0; row < rows; ++row)
    draw_row(x, row * classes, classes, random, row * samples, samples, args.out(0));
  return {};
}

constexpr Kernel kUniform[] = {{"reference", uniform}};
constexpr Kernel kNormal[] = {{"reference", normal}};
constexpr Kernel kBernoulli[] = {{"reference", bernoulli}};
constexpr Kernel kMultinomial[] = {{"reference", multinomial}};

constexpr OpDef by_shape(std::string_view op_name, std::span<const Kernel> kernels, std::string_view doc,
                         std::span<const AttributeDef> attributes) {
  return {.name = op_name,
          .since = 1,
          .sig = {{}, kRandomOut, doc, attributes},
          .infer = infer_given_shape,
          .kernels = kernels,
          .pure = false};
}
constexpr OpDef like(std::string_view op_name, int since, std::span<const Kernel> kernels, std::string_view doc,
                     std::span<const AttributeDef> attributes) {
  return {.name = op_name,
          .since = since,
          .sig = {kRandomIn, kRandomOut, doc, attributes},
          .infer = infer_like,
          .kernels = kernels,
          .pure = false};
}

}  // namespace

constexpr OpDef kBernoulli15 =
    like("Bernoulli", 15, kBernoulli, "0 or 1, drawn with the given probabilities", kBernoulliAttributes);
constexpr OpDef kMultinomial7{
    .name = "Multinomial",
    .since = 7,
    .sig = {kRandomIn, kRandomOut, "classes drawn from the given distributions", kMultinomialAttributes},
    .infer = infer_multinomial,
    .kernels = kMultinomial,
    .pure = false};
constexpr OpDef kRandomNormal1 = by_shape("RandomNormal", kNormal, "normally distributed numbers", kNormalAttributes);
constexpr OpDef kRandomNormalLike1 =
    like("RandomNormalLike", 1, kNormal, "normally distributed numbers, shape of the input", kNormalLikeAttributes);
constexpr OpDef kRandomUniform1 =
    by_shape("RandomUniform", kUniform, "uniformly distributed numbers", kUniformAttributes);
constexpr OpDef kRandomUniformLike1 =
    like("RandomUniformLike", 1, kUniform, "uniformly distributed numbers, shape of the input", kUniformLikeAttributes);

}  // namespace anyshape::ops
