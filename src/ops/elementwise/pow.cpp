#include <cmath>

#include "kernels/convert.h"
#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kPowIn[] = {{"X"}, {"Y"}};
constexpr Port kPowOut[] = {{"Z"}};

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

Result<Facts> infer_pow(const Call& call, InferContext& context) {
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

// The type exponents of that type are computed in.
DType exponent_type(DType dtype) {
  if (is_integer(dtype)) return dtype == DType::u64 ? DType::u64 : DType::i64;
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

template <class E>
Status raise_all(const Tensor& x, const Tensor& y, Tensor& out) {
  return kernels::visit_type<kernels::kNumbers>(x.dtype(), [&]<class T>(T) -> Status {
    return kernels::apply<T, E, T>(x, y, out, [](T a, E b) { return kernels::narrow<T>(raise(kernels::widen(a), b)); });
  });
}

Status reference_pow(const Call& call, KernelArgs& args) {
  const Tensor &x = args.in(0), &given = args.in(1);
  if (x.dtype() != args.out(0).dtype()) return unknown("dtype", "Pow of {}", name(x.dtype()));
  Tensor y = given;
  if (const DType wide = exponent_type(given.dtype()); wide != given.dtype()) {
    TRY(y, Tensor::allocate(wide, given.dims()));
    TRY_OK(kernels::convert(given, y));
  }
  y = y.reshaped(legacy_dims(call, x.rank(), temporary(given.dims())));
  switch (y.dtype()) {
    case DType::u64:
      return raise_all<uint64_t>(x, y, args.out(0));
    case DType::i64:
      return raise_all<int64_t>(x, y, args.out(0));
    case DType::f64:
      return raise_all<double>(x, y, args.out(0));
    default:
      return raise_all<float>(x, y, args.out(0));
  }
}

constexpr Kernel kPowKernels[] = {{"reference", reference_pow}};

}  // namespace

constexpr OpDef kPow1{.name = "Pow",
                      .since = 1,
                      .sig = {kPowIn, kPowOut, "x to the power y, with broadcasting", kOldBroadcast},
                      .infer = infer_pow,
                      .kernels = kPowKernels};

}  // namespace anyshape::ops
