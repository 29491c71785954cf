#include <cmath>
#include <limits>

#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kClipIn1[] = {{"input"}};
constexpr Port kIn11[] = {{"input"}, {"min", Port::optional}, {"max", Port::optional}};
constexpr Port kClipOut[] = {{"output"}};
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr AttributeDef kClipAttributes[] = {
    {"max", kLargest},
    {"min", -kLargest},
};

Ratio extreme(InferContext& context, const Ratio& a, const Ratio& b, bool larger) {
  if (!exact(a) || !exact(b)) return unknown_ratio();
  const int64_t den = std::max(a.den, b.den);
  const Dim x = a.num * Dim(den / a.den), y = b.num * Dim(den / b.den);
  return {context.simplify(larger ? max(x, y) : min(x, y)), den};
}

// One limit is one number. Code "clip.limit".
Status require_limit(const Call& call, InferContext& context, size_t input) {
  if (!call.has(input) || !call.in(input).dims) return {};
  return context.require(Condition::eq(product(*call.in(input).dims), 1), "clip.limit",
                         "a limit of Clip must be one number, it has the shape {}", text(*call.in(input).dims));
}

void clip_bounds(const Call& call, InferContext& context, Fact& out) {
  if (out.elements || !is_integer(out.dtype)) return;
  const auto [least, greatest] = integer_limits(out.dtype);
  Bounds b = bounds_of(call, 0).value_or(Bounds{least, greatest});
  const auto low = bounds_of(call, 1), high = bounds_of(call, 2);
  // A limit of a single value is monotone: the ends stay taken.
  const auto single = [](const std::optional<Bounds>& limit) { return limit && limit->lo == limit->hi; };
  if (low) b = {max(b.lo, low->lo), max(b.hi, low->hi), b.attained && single(low)};
  if (high) b = {min(b.lo, high->lo), min(b.hi, high->hi), b.attained && single(high)};
  if ((call.has(1) && !low) || (call.has(2) && !high)) b.attained = false;
  if (b.lo != Dim(least) && b.hi != Dim(greatest)) set_bounds(context, out, b.lo, b.hi, b.attained);
}

Result<Facts> infer1_clip(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, kMaskFloat));
  return Facts{typed(call.in(0).dtype, call.in(0).dims)};
}

Result<Facts> infer11(const Call& call, InferContext& context) {
  for (size_t i = 0; i < call.inputs(); ++i) TRY_OK(require_tensor(call, i, kMaskNumber));
  TRY(const DType dtype, common_dtype(call, 0, 2));
  TRY_OK(require_limit(call, context, 1));
  TRY_OK(require_limit(call, context, 2));
  Fact out = typed(dtype, call.in(0).dims);
  map_ratios(
      call, context,
      [&](std::span<const Ratio> in) {
        Ratio r = in[0];
        if (call.has(1)) r = extreme(context, r, in[1], true);
        if (call.has(2)) r = extreme(context, r, in[2], false);
        return r;
      },
      out);
  clip_bounds(call, context, out);
  return Facts{out};
}

template <class C>
C clipped(C x, std::optional<C> low, std::optional<C> high) {
  if constexpr (std::is_floating_point_v<C>)
    if (std::isnan(x)) return x;
  if (low && x < *low) x = *low;
  if (high && x > *high) x = *high;
  return x;
}

template <class T>
Status run_clip(const Tensor& in, Tensor& out, std::optional<kernels::Compute<T>> low,
                std::optional<kernels::Compute<T>> high) {
  kernels::apply<T, T>(in, out, [&](T x) { return kernels::narrow<T>(clipped(kernels::widen(x), low, high)); });
  return {};
}

Status reference1(const Call& call, KernelArgs& args) {
  return kernels::visit_type<kernels::kFloats>(args.in(0).dtype(), [&]<class T>(T) -> Status {
    using C = kernels::Compute<T>;
    return run_clip<T>(args.in(0), args.out(0), static_cast<C>(call.f("min")), static_cast<C>(call.f("max")));
  });
}

Status reference11(const Call& call, KernelArgs& args) {
  const auto usable = [&](size_t i) { return args.in(i) && args.in(i).count() == 1; };
  for (size_t i = 1; i < args.inputs.size(); ++i)
    if (usable(i) && args.in(i).dtype() != args.in(0).dtype())
      return unknown("dtype", "{} with limits of type {}", call.type(), name(args.in(i).dtype()));
  return kernels::visit_type<kernels::kNumbers>(args.in(0).dtype(), [&]<class T>(T) -> Status {
    std::optional<kernels::Compute<T>> low, high;
    if (usable(1)) low = kernels::widen(args.in(1).at<T>(0));
    if (usable(2)) high = kernels::widen(args.in(2).at<T>(0));
    return run_clip<T>(args.in(0), args.out(0), low, high);
  });
}

constexpr Kernel kKernels1[] = {{"reference", reference1}};
constexpr Kernel kKernels11[] = {{"reference", reference11}};

}  // namespace

constexpr OpDef kClip1{.name = "Clip",
                       .since = 1,
                       .sig = {kClipIn1, kClipOut, "entries limited to a range", kClipAttributes},
                       .infer = infer1_clip,
                       .kernels = kKernels1};
constexpr OpDef kClip11{.name = "Clip",
                        .since = 11,
                        .sig = {kIn11, kClipOut, "entries limited to a range"},
                        .infer = infer11,
                        .kernels = kKernels11};

}  // namespace anyshape::ops
