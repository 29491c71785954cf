#include <cmath>
#include <limits>

#include "kernels/dispatch.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kRangeIn[] = {{"start", Port::value}, {"limit", Port::value}, {"delta", Port::value}};
constexpr Port kRangeOut[] = {{"output"}};
constexpr AttributeDef kRangeAttributes[] = {
    {"stash_type", 1, {27}},
};

// The three inputs as numerators over one denominator; the count depends on the numerators only.
struct Steps {
  std::optional<Dim> start, limit, delta;
  int64_t denominator = 1;
};

Steps steps_of(const Call& call) {
  std::optional<Rationals> parts[3];
  Steps out;
  for (size_t i = 0; i < 3; ++i) {
    parts[i] = rationals_of(call.in(i));
    if (parts[i] && parts[i]->numerators.size() != 1) parts[i].reset();
    const auto next = parts[i] ? common_multiple(out.denominator, parts[i]->denominator) : std::nullopt;
    if (next) out.denominator = *next;
    if (!next) parts[i].reset();
  }
  const auto scaled = [&](size_t i) {
    return parts[i] ? std::optional(over(*parts[i], out.denominator)[0]) : std::nullopt;
  };
  out.start = scaled(0);
  out.limit = scaled(1);
  out.delta = scaled(2);
  return out;
}

// 1 or -1 when the sign of the step is known, 0 otherwise.
int sign_of(InferContext& context, const Steps& steps) {
  if (!steps.delta) return 0;
  if (context.proves(Condition::ge(*steps.delta, 1))) return 1;
  return context.proves(Condition::le(*steps.delta, -1)) ? -1 : 0;
}

std::optional<double> number_of(const Fact& fact) {
  if (!fact.constant || fact.constant->count() != 1) return std::nullopt;
  std::optional<double> out;
  (void)kernels::visit_type<kernels::kNumbers>(fact.constant->dtype(), [&]<class T>(T) -> Status {
    out = static_cast<double>(kernels::widen(fact.constant->at<T>(0)));
    return {};
  });
  return out;
}

// Constants of a float type that are no short binary fractions: the count as the kernel computes it.
Result<std::optional<Dim>> rounded_count(const Call& call) {
  const auto start = number_of(call.in(0)), limit = number_of(call.in(1)), delta = number_of(call.in(2));
  if (!start || !limit || !delta) return std::optional<Dim>();
  if (*delta == 0) return refuse("range.delta", "the step must not be 0");
  const double span =
      call.in(0).dtype == DType::f64 ? *limit - *start : static_cast<double>(static_cast<float>(*limit - *start));
  const double count = std::ceil(span / *delta);
  if (!(count < 1e15)) return refuse("range.count", "the range has no finite number of entries");
  return std::optional<Dim>(static_cast<int64_t>(std::max(count, 0.0)));
}

Result<Dim> count_of(const Call& call, InferContext& context, const Steps& steps, int sign) {
  if (steps.start && steps.limit && sign != 0) {
    const Dim span = sign > 0 ? *steps.limit - *steps.start : *steps.start - *steps.limit;
    const Dim step = sign > 0 ? *steps.delta : -*steps.delta;
    return context.simplify(at_least_zero(context, context.simplify(ceildiv(span, step))));
  }
  if (is_float(call.in(0).dtype)) {
    TRY(const auto rounded, rounded_count(call));
    if (rounded) return *rounded;
  }
  std::optional<Dim> hi;
  const auto start = call.in(0).value_bounds(), limit = call.in(1).value_bounds();
  if (start && limit && sign > 0 && is_integer(call.in(0).dtype))
    hi = ceildiv(at_least_zero(context, limit->hi - start->lo), *steps.delta);
  if (hi && hi->is_unknown()) hi.reset();
  return context.fresh(source_of(call, {0, 1, 2}), "range", 0, hi);
}

void set_entries(InferContext& context, const Steps& steps, int sign, Dim count, Fact& out) {
  if (!steps.start || !steps.delta) return;
  const bool integers = is_integer(out.dtype);
  const auto number = count.constant();
  if (number && *number >= 0 && *number <= static_cast<int64_t>(Fact::kMaxElements)) {
    Dims values;
    for (int64_t i = 0; i < *number; ++i) {
      const Dim entry = *steps.start + *steps.delta * Dim(i);
      values.push_back(integers ? fit(context, out.dtype, entry) : entry);
      if (values.back().is_unknown()) return;
    }
    out.elements = std::make_shared<const Dims>(std::move(values));
    out.denominator = steps.denominator;
    return;
  }
  if (!integers || sign == 0) return;
  const Dim last = *steps.start + *steps.delta * (count - 1);
  const Dim lo = sign > 0 ? *steps.start : last, hi = sign > 0 ? last : *steps.start;
  if (fit(context, out.dtype, lo).is_unknown() || fit(context, out.dtype, hi).is_unknown()) return;
  out.bounds = Bounds{context.simplify(lo), context.simplify(hi), true};
}

Result<Facts> infer_range(const Call& call, InferContext& context) {
  TRY_OK(require_same_dtype(call, {0, 1, 2}));
  for (size_t i = 0; i < 3; ++i) {
    const auto& dims = call.in(i).dims;
    if (!dims) continue;
    if (dims->size() > 1) return refuse("range.scalar", "input {} must be one number, it is {}", i, print(call.in(i)));
    TRY_OK(context.require(Condition::eq(product(*dims), 1), "range.scalar", "input {} must be one number, it is {}", i,
                           print(call.in(i))));
  }
  const Steps steps = steps_of(call);
  if (steps.delta) TRY_OK(context.require(Condition::ne(*steps.delta, 0), "range.delta", "the step must not be 0"));
  const int sign = sign_of(context, steps);
  TRY(const Dim count, count_of(call, context, steps, sign));
  Fact out = Fact::tensor(call.in(0).dtype, {count});
  set_entries(context, steps, sign, count, out);
  return Facts{out};
}

template <class T>
void fill_range(KernelArgs& args, int64_t count) {
  using Wide = kernels::Compute<T>;
  const Wide delta = kernels::widen(args.in(2).at<T>(0));
  Wide value = kernels::widen(args.in(0).at<T>(0));
  auto out = args.out(0).as_mutable<T>();
  for (int64_t i = 0; i < count; ++i) {
    out[static_cast<size_t>(i)] = kernels::narrow<T>(value);
    if constexpr (std::is_integral_v<Wide>)
      value = static_cast<Wide>(static_cast<uint64_t>(value) + static_cast<uint64_t>(delta));
    else
      value = value + delta;
  }
}

// How many entries limit - start allows, as ONNX Runtime counts them for T.
template <class T>
int64_t count_entries(const KernelArgs& args) {
  const auto start = kernels::widen(args.in(0).at<T>(0)), limit = kernels::widen(args.in(1).at<T>(0)),
             delta = kernels::widen(args.in(2).at<T>(0));
  if constexpr (std::is_integral_v<kernels::Compute<T>>) {
    int64_t span = 0;
    if (__builtin_sub_overflow(static_cast<int64_t>(limit), static_cast<int64_t>(start), &span)) return -1;
    const auto step = static_cast<int64_t>(delta);
    if (span == 0 || (span > 0) != (step > 0)) return 0;
    return span > 0 ? (span - 1) / step + 1 : -((span + 1) / -std::max(step, -std::numeric_limits<int64_t>::max())) + 1;
  } else {
    const double count = std::ceil(static_cast<double>(limit - start) / static_cast<double>(delta));
    return count < 1e15 ? static_cast<int64_t>(std::max(count, 0.0)) : -1;
  }
}

Status reference_range(const Call&, KernelArgs& args) {
  for (const Datum& input : args.inputs)
    if (input.tensor().count() != 1) return refuse("range.scalar", "the inputs must be single numbers");
  return kernels::visit_type<kernels::kNumbers>(args.in(0).dtype(), [&]<class T>(T) -> Status {
    if (kernels::widen(args.in(2).at<T>(0)) == 0) return refuse("range.delta", "the step must not be 0");
    const int64_t count = args.out(0) ? args.out(0).count() : count_entries<T>(args);
    if (count < 0) return refuse("range.count", "the range has no finite number of entries");
    if (!args.out(0)) {
      if (count > int64_t{1} << 24) return unknown("range.count", "a range of {} entries is not computed", count);
      TRY(args.out(0), Tensor::allocate(args.in(0).dtype(), {count}));
    }
    fill_range<T>(args, count);
    return {};
  });
}

constexpr Kernel kRangeKernels[] = {{"reference", reference_range}};

}  // namespace

constexpr OpDef kRange11{.name = "Range",
                         .since = 11,
                         .sig = {kRangeIn, kRangeOut, "numbers from start to limit in steps", kRangeAttributes},
                         .infer = infer_range,
                         .kernels = kRangeKernels};

}  // namespace anyshape::ops
