#include <cmath>
#include <numbers>

#include "kernels/random.h"
#include "ops/microsoft/kernel.h"
#include "ops/microsoft/ports.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kXBias[] = {{"X"}, {"bias", Port::optional}};
constexpr Port kDropoutIn[] = {
    {"data"}, {"bias"}, {"residual", Port::optional}, {"ratio", Port::optional}, {"training_mode", Port::optional}};
constexpr Port kXBiasSkip[] = {{"X"}, {"bias"}, {"skip"}};
constexpr Port kYMask[] = {{"output"}, {"mask", Port::optional}};
constexpr AttributeDef kBiasDropoutAttributes[] = {
    {"seed", AttributeDef::integer},
};
constexpr AttributeDef kQuickGeluAttributes[] = {
    {"alpha", 1.702f},
};

Result<Facts> infer_same(const Call& call, InferContext&) { return Facts{like(call.in(0))}; }

// One bias per entry of the last axis.
Status check_bias(const Call& call, InferContext& context, size_t input) {
  if (!call.has(input) || !call.in(0).dims) return {};
  TRY_OK(require_min_rank(call, 0, 1));
  return require_entries(call, context, input, call.in(0).dims->back(), "bias.size");
}

Result<Facts> infer_biased(const Call& call, InferContext& context) {
  TRY_OK(check_bias(call, context, 1));
  return Facts{like(call.in(0))};
}

Result<Facts> infer_split_gelu(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 3));
  TRY_OK(check_bias(call, context, 1));
  Dims dims = *call.in(0).dims;
  TRY_OK(context.require(Condition::divisible(dims[2], 2), "biassplitgelu.size",
                         "the last axis of {} must be even: it is cut in two", text(dims)));
  dims[2] = floordiv(dims[2], 2);
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

Result<Facts> infer_bias_add(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 3));
  TRY_OK(check_bias(call, context, 1));
  TRY(const Dims skip, call.dims(2));
  TRY_OK(require_same_dims(context, *call.in(0).dims, skip, "X and skip"));
  return Facts{like(call.in(0))};
}

Result<Facts> infer_bias_dropout(const Call& call, InferContext& context) {
  TRY_OK(check_bias(call, context, 1));
  if (call.has(2) && call.in(0).dims && call.in(2).dims)
    TRY_OK(require_same_dims(context, *call.in(0).dims, *call.in(2).dims, "data and residual"));
  return Facts{like(call.in(0)), like(call.in(0), DType::boolean)};
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }

double fast_gelu(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

// Input 0 and what of inputs 1 and 2 is there, added up. One bias per entry of the last axis.
Result<Temporary<double>> sum_of(const KernelArgs& args, std::initializer_list<size_t> addends) {
  TRY(Temporary<double> values, kernels::to_reals(args.in(0)));
  for (size_t i : addends) {
    if (!args.in(i)) continue;
    TRY(const Temporary<double> more, kernels::to_reals(args.in(i)));
    if (more.empty() && !values.empty()) return refuse("kernel.shape", "input {} is empty", i);
    for (size_t k = 0; k < values.size(); ++k) values[k] += more[k % more.size()];
  }
  return values;
}

template <class Fn>
Status run_elementwise(KernelArgs& args, Fn fn) {
  TRY(Temporary<double> values, sum_of(args, {1}));
  for (double& value : values) value = fn(value);
  return kernels::from_reals(values, args.out(0));
}

Status run_gelu(const Call&, KernelArgs& args) { return run_elementwise(args, gelu); }
Status run_fast_gelu(const Call&, KernelArgs& args) { return run_elementwise(args, fast_gelu); }
Status run_quick_gelu(const Call& call, KernelArgs& args) {
  const auto alpha = static_cast<double>(call.f("alpha"));
  return run_elementwise(args, [=](double x) { return x / (1 + std::exp(-alpha * x)); });
}
Status run_sample(const Call&, KernelArgs& args) {
  return run_elementwise(args, [](double x) { return x; });
}

Status run_split_gelu(const Call&, KernelArgs& args) {
  TRY(const Temporary<double> values, sum_of(args, {1}));
  const auto half = static_cast<size_t>(args.out(0).dims()[2]);
  Temporary<double> out;
  for (size_t start = 0; start < values.size(); start += 2 * half)
    for (size_t k = 0; k < half; ++k) out.push_back(values[start + k] * gelu(values[start + half + k]));
  return kernels::from_reals(out, args.out(0));
}

Status run_bias_add(const Call&, KernelArgs& args) {
  TRY(const Temporary<double> values, sum_of(args, {1, 2}));
  return kernels::from_reals(values, args.out(0));
}

// A dropped entry is 0 before the residual is added.
Status run_bias_dropout(const Call& call, KernelArgs& args) {
  const bool training = args.in(4).dtype() == DType::boolean && args.in(4).count() == 1 && args.in(4).int_at(0) != 0;
  double ratio = 0.5;
  if (args.in(3)) {
    TRY(const auto given, kernels::to_reals(args.in(3)));
    if (given.size() != 1) return refuse("dropout.ratio", "the ratio is {} numbers", given.size());
    ratio = given[0];
  }
  if (!(ratio >= 0 && ratio < 1)) return refuse("dropout.ratio", "the ratio is {}", ratio);
  TRY(Temporary<double> values, sum_of(args, {1}));
  const kernels::Random random(call.has_attr("seed") ? static_cast<uint64_t>(call.i("seed")) : args.seed);
  Temporary<double> kept(values.size(), 1);
  for (size_t i = 0; training && i < values.size(); ++i) {
    kept[i] = random.uniform(i) < ratio ? 0 : 1;
    values[i] *= kept[i] / (1 - ratio);
  }
  TRY_OK(kernels::from_reals(values, args.out(0)));
  if (args.in(2)) TRY_OK(add_to(args.out(0), args.in(2)));
  return kernels::from_reals(kept, args.out(1));
}

constexpr Kernel kGeluKernels[] = {{"reference", run_gelu}};
constexpr Kernel kFastGeluKernels[] = {{"reference", run_fast_gelu}};
constexpr Kernel kQuickGeluKernels[] = {{"reference", run_quick_gelu}};
constexpr Kernel kSampleKernels[] = {{"reference", run_sample}};
constexpr Kernel kSplitGeluKernels[] = {{"reference", run_split_gelu}};
constexpr Kernel kBiasAddKernels[] = {{"reference", run_bias_add}};
constexpr Kernel kBiasDropoutKernels[] = {{"reference", run_bias_dropout}};

}  // namespace

constexpr OpDef kMsBiasAdd1{.name = "BiasAdd",
                            .domain = kMs,
                            .sig = {kXBiasSkip, kY, "X + bias + skip"},
                            .infer = infer_bias_add,
                            .kernels = kBiasAddKernels};
constexpr OpDef kMsBiasDropout1{.name = "BiasDropout",
                                .domain = kMs,
                                .sig = {kDropoutIn, kYMask, "Dropout(data + bias) + residual", kBiasDropoutAttributes},
                                .infer = infer_bias_dropout,
                                .kernels = kBiasDropoutKernels,
                                .pure = false};
constexpr OpDef kMsBiasGelu1{
    .name = "BiasGelu", .domain = kMs, .sig = {kAB, kY, "Gelu(A + B)"}, .infer = infer_biased, .kernels = kGeluKernels};
constexpr OpDef kMsBiasSplitGelu1{.name = "BiasSplitGelu",
                                  .domain = kMs,
                                  .sig = {kXBias, kY, "one half times Gelu of the other"},
                                  .infer = infer_split_gelu,
                                  .kernels = kSplitGeluKernels};
constexpr OpDef kMsFastGelu1{.name = "FastGelu",
                             .domain = kMs,
                             .sig = {kXBias, kY, "Gelu by tanh of X + bias"},
                             .infer = infer_biased,
                             .kernels = kFastGeluKernels};
constexpr OpDef kMsGelu1{.name = "Gelu",
                         .domain = kMs,
                         .sig = {kX, kY, "Gaussian error unit"},
                         .infer = infer_same,
                         .kernels = kGeluKernels};
constexpr OpDef kMsQuickGelu1{.name = "QuickGelu",
                              .domain = kMs,
                              .sig = {kX, kY, "x * sigmoid(alpha * x)", kQuickGeluAttributes},
                              .infer = infer_same,
                              .kernels = kQuickGeluKernels};
constexpr OpDef kMsSampleOp1{
    .name = "SampleOp", .domain = kMs, .sig = {kX, kY, "its input"}, .infer = infer_same, .kernels = kSampleKernels};

}  // namespace anyshape::ops
