#include <cmath>

#include "kernels/convert.h"
#include "kernels/elementwise.h"
#include "ops/elementwise.h"
#include "ops/planned.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn[] = {{"X"}, {"Y"}};
constexpr Port kOut[] = {{"Z"}};

// Powers with a float exponent are computed in double: exact below 2^53.
constexpr int64_t kExact = int64_t{1} << 53;

Ratio power(InferContext& context, DType dtype, const Ratio& x, const Ratio& y) {
  const auto exponent = y.den == 1 ? y.num.constant() : std::nullopt;
  if (!exponent || *exponent < 0 || *exponent > 16 || !exact(x)) return unknown_ratio();
  Ratio r{1};
  for (int64_t i = 0; i < *exponent; ++i) {
    if (x.den > 1 && r.den > int64_t{1} << 30) return unknown_ratio();
    r = settle_ratio(context, dtype, {r.num * x.num, r.den * x.den});
    if (r.num.is_unknown()) return r;
  }
  if (is_integer(dtype) && !context.fits(r.num, -kExact, kExact)) return unknown_ratio();
  return r;
}

Result<Facts> infer(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskNumber));
  TRY_OK(require_tensor(call, 1, kMaskNumber));
  const DType dtype = call.in(0).dtype;
  if (call.version() < 12) TRY_OK(common_dtype(call, 0, 1));
  TRY(auto dims, elementwise_dims(call, context));
  Fact out = typed(dtype, std::move(dims));
  map_ratios(
      call, context, [&](std::span<const Ratio> in) { return power(context, dtype, in[0], in[1]); }, out);
  return Facts{out};
}

// x to the power y >= 0; the product wraps.
template <class T>
T whole_power(T x, uint64_t y) {
  T result = 1;
  for (; y != 0; y >>= 1) {
    if ((y & 1u) != 0) result = kernels::wrapping(result, x, std::multiplies<>());
    x = kernels::wrapping(x, x, std::multiplies<>());
  }
  return result;
}

template <class T, class E>
T raise(T x, E y) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<E>)
    if (!(y < 0)) return whole_power(x, static_cast<uint64_t>(y));
  if constexpr (std::is_integral_v<T>) {
    const double r = std::pow(static_cast<double>(x), static_cast<double>(y));
    if constexpr (sizeof(T) == 8) return static_cast<T>(kernels::truncate_to_int64(r));
    if (!(std::fabs(r) < 0x1p31)) return std::is_same_v<T, int32_t> ? std::numeric_limits<T>::min() : T(0);
    return static_cast<T>(static_cast<int64_t>(r));
  } else if constexpr (std::is_integral_v<E>) {
    return static_cast<T>(std::pow(static_cast<double>(x), static_cast<double>(y)));
  } else {
    return static_cast<T>(std::pow(x, y));
  }
}

Status reference(const Call& call, KernelArgs& args) {
  const Tensor& a = args.in(0);
  const Tensor b = args.in(1).reshaped(legacy_dims(call, a.rank(), temporary(args.in(1).dims())));
  if (a.dtype() != args.out(0).dtype()) return unknown("dtype", "Pow of {}", name(a.dtype()));
  return kernels::visit_type<kernels::kNumbers>(a.dtype(), [&]<class T>(T) -> Status {
    return kernels::visit_type<kernels::kNumbers>(b.dtype(), [&]<class E>(E) -> Status {
      return kernels::apply<T, E, T>(
          a, b, args.out(0), [](T x, E y) { return kernels::narrow<T>(raise(kernels::widen(x), kernels::widen(y))); });
    });
  });
}

constexpr Kernel kKernels[] = {{"reference", reference}};

}  // namespace

constexpr OpDef kPow1{.name = "Pow",
                      .since = 1,
                      .sig = {kIn, kOut, "x to the power y, with broadcasting"},
                      .infer = infer,
                      .kernels = kKernels,
                      .planned = kElementwisePlanned};

}  // namespace anyshape::ops
