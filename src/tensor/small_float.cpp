#include "tensor/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace anyshape {
namespace {

enum class Specials : uint8_t {
  ieee,      // the highest exponent holds infinity and NaN
  one_nan,   // all ones is NaN
  zero_nan,  // the code of -0 is NaN
  none,
};

struct Format {
  int exponent_bits, mantissa_bits, bias;
  Specials specials;
  uint8_t largest;  // code of the largest finite value
  uint8_t nan;
};

constexpr Format kE4M3FN{4, 3, 7, Specials::one_nan, 0x7e, 0x7f};
constexpr Format kE4M3FNUZ{4, 3, 8, Specials::zero_nan, 0x7f, 0x80};
constexpr Format kE5M2{5, 2, 15, Specials::ieee, 0x7b, 0x7e};
constexpr Format kE5M2FNUZ{5, 2, 16, Specials::zero_nan, 0x7f, 0x80};
constexpr Format kE2M1{2, 1, 1, Specials::none, 0x7, 0x8};
constexpr Format kE2M3{2, 3, 1, Specials::none, 0x1f, 0x20};
constexpr Format kE3M2{3, 2, 3, Specials::none, 0x1f, 0x20};

constexpr int kPowerBias = 127;
constexpr uint8_t kPowerNan = 0xff, kPowerLargest = 0xfe;

const Format* format_of(DType dtype) {
  switch (dtype) {
    case DType::f8e4m3fn:
      return &kE4M3FN;
    case DType::f8e4m3fnuz:
      return &kE4M3FNUZ;
    case DType::f8e5m2:
      return &kE5M2;
    case DType::f8e5m2fnuz:
      return &kE5M2FNUZ;
    case DType::f4e2m1:
      return &kE2M1;
    case DType::f6e2m3:
      return &kE2M3;
    case DType::f6e3m2:
      return &kE3M2;
    default:
      return nullptr;
  }
}

uint8_t sign_bit(const Format& f) { return static_cast<uint8_t>(1u << (f.exponent_bits + f.mantissa_bits)); }

double decode(const Format& f, uint8_t code) {
  const double sign = code & sign_bit(f) ? -1 : 1;
  const int magnitude = code & (sign_bit(f) - 1);
  if (f.specials == Specials::zero_nan && code == f.nan) return std::numeric_limits<double>::quiet_NaN();
  if (f.specials == Specials::one_nan && magnitude == f.nan) return std::numeric_limits<double>::quiet_NaN();
  if (f.specials == Specials::ieee && magnitude > f.largest)
    return magnitude == f.largest + 1 ? sign * std::numeric_limits<double>::infinity()
                                      : std::numeric_limits<double>::quiet_NaN();
  const int exponent = magnitude >> f.mantissa_bits, mantissa = magnitude & ((1 << f.mantissa_bits) - 1);
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << f.mantissa_bits), exponent - f.bias - f.mantissa_bits);
}

uint8_t overflowed(const Format& f, uint8_t sign, bool saturate) {
  if (saturate || f.specials == Specials::none) return sign | f.largest;
  if (f.specials == Specials::ieee) return static_cast<uint8_t>(sign | (f.largest + 1));
  return f.specials == Specials::zero_nan ? f.nan : sign | f.nan;
}

uint8_t encode(const Format& f, double value, bool saturate) {
  const bool unsigned_nan = f.specials == Specials::zero_nan || f.specials == Specials::none;
  const uint8_t sign = std::signbit(value) ? sign_bit(f) : uint8_t{0};
  if (std::isnan(value)) return unsigned_nan ? f.nan : sign | f.nan;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return f.specials == Specials::zero_nan ? uint8_t{0} : sign;
  if (magnitude >= 0x1p30) return overflowed(f, sign, saturate);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int lowest = 1 - f.bias;
  const int quantum = std::max(exponent - 1, lowest) - f.mantissa_bits;
  const int steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -quantum)));
  // With exponent field quantum + mantissa_bits + bias the hidden one of `steps` adds the last 1 to it.
  const int code = ((quantum + f.mantissa_bits + f.bias - 1) << f.mantissa_bits) + steps;
  if (code > f.largest) return overflowed(f, sign, saturate);
  if (code == 0 && f.specials == Specials::zero_nan) return 0;
  return static_cast<uint8_t>(sign | code);
}

uint8_t encode_power(double value, bool saturate, PowerRounding rounding) {
  if (std::isnan(value)) return kPowerNan;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return saturate ? kPowerLargest : kPowerNan;
  if (magnitude < 0x1p-127) return saturate ? uint8_t{0} : kPowerNan;
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // 0.5 <= fraction < 1
  int power = exponent - 1;
  if (rounding == PowerRounding::up && fraction > 0.5) ++power;
  if (rounding == PowerRounding::nearest && fraction >= 0.75) ++power;
  if (power + kPowerBias > kPowerLargest) return saturate ? kPowerLargest : kPowerNan;
  return static_cast<uint8_t>(power + kPowerBias);
}

}  // namespace

bool has_nan(DType dtype) {
  const Format* format = format_of(dtype);
  return !format || format->specials != Specials::none;
}

bool is_small_float(DType dtype) { return dtype == DType::f8e8m0 || format_of(dtype) != nullptr; }

double small_float_value(DType dtype, uint8_t code) {
  if (dtype == DType::f8e8m0)
    return code == kPowerNan ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - kPowerBias);
  const Format* format = format_of(dtype);
  return format ? decode(*format, code) : 0;
}

uint8_t small_float_code(DType dtype, double value, bool saturate, PowerRounding rounding) {
  if (dtype == DType::f8e8m0) return encode_power(value, saturate, rounding);
  const Format* format = format_of(dtype);
  return format ? encode(*format, value, saturate) : uint8_t{0};
}

}  // namespace anyshape
