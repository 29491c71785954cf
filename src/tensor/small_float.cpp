#include "tensor/small_float.h"

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

// Where the codes differ that are not plain numbers.
enum class Special {
  none,         // all codes are numbers
  nan_only,     // all ones is a NaN, there is no infinity
  ieee,         // the highest exponent is infinity and NaNs
  nan_is_sign,  // the code of -0 is the NaN
};

struct Form {
  int mantissa = 0, width = 8, bias = 0;
  Special special = Special::none;
};

Form form_of(DType dtype) {
  switch (dtype) {
    case DType::f8e4m3fn:
      return {3, 8, 7, Special::nan_only};
    case DType::f8e4m3fnuz:
      return {3, 8, 8, Special::nan_is_sign};
    case DType::f8e5m2:
      return {2, 8, 15, Special::ieee};
    case DType::f8e5m2fnuz:
      return {2, 8, 16, Special::nan_is_sign};
    default:
      return {1, 4, 1, Special::none};
  }
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

bool is_small_float(DType dtype) { return is_float(dtype) && bits(dtype) <= 8; }

float small_float_value(DType dtype, unsigned code) {
  if (dtype == DType::f8e8m0) return code == 255 ? kNan : std::ldexp(1.0F, static_cast<int>(code) - 127);
  const Form form = form_of(dtype);
  const unsigned sign = 1U << (form.width - 1), magnitude = code & (sign - 1);
  const unsigned fraction = magnitude & ((1U << form.mantissa) - 1);
  const int exponent = static_cast<int>(magnitude >> form.mantissa);
  if (form.special == Special::nan_is_sign && code == sign) return kNan;
  if (form.special == Special::nan_only && magnitude == sign - 1) return kNan;
  const bool negative = (code & sign) != 0;
  if (form.special == Special::ieee && magnitude >> form.mantissa == (sign - 1) >> form.mantissa)
    return fraction != 0 ? kNan : negative ? -kInfinity : kInfinity;
  const unsigned digits = exponent == 0 ? fraction : fraction | 1U << form.mantissa;
  const int scale = (exponent == 0 ? 1 : exponent) - form.bias - form.mantissa;
  const float value = std::ldexp(static_cast<float>(digits), scale);
  return negative ? -value : value;
}

std::optional<unsigned> nearest_small_float(DType dtype, double value) {
  const unsigned codes = 1U << bits(dtype);
  if (dtype == DType::f8e8m0 && !std::isnan(value) && !(value > 0)) return std::nullopt;
  // Far beyond the largest value and near enough for distances to differ.
  const double limit = dtype == DType::f8e8m0 ? 0x1p128 : 0x1p17;
  const double aim = std::abs(value) > limit ? std::copysign(limit, value) : value;
  std::optional<unsigned> best;
  double best_distance = 0;
  for (unsigned code = 0; code < codes; ++code) {
    const float candidate = small_float_value(dtype, code);
    if (std::isnan(value) != std::isnan(candidate)) continue;
    if (std::isinf(candidate) && candidate != value) continue;
    const bool same = std::isnan(value) || candidate == value;
    // -0 and 0 are equally far from everything; the sign decides.
    if (same && std::signbit(candidate) == std::signbit(value)) return code;
    const double distance = same ? 0 : std::abs(candidate - aim);
    const bool wins_ties = code % 2 == 0 || dtype == DType::f8e8m0;
    const bool sign_fits = candidate != 0 || std::signbit(candidate) == std::signbit(value);
    if (!best || distance < best_distance || (distance == best_distance && sign_fits && wins_ties)) best = code;
    if (best == code) best_distance = distance;
  }
  return best;
}

}  // namespace anyshape
