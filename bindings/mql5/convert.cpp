#include "convert.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "anyshape/mql5/types.h"

namespace anyshape::mql5 {
namespace {

struct Half {
  uint16_t bits;
};
struct Complex64 {
  float real, imag;
};

bool is_real(DType type) {
  switch (type) {
    case DType::f32:
    case DType::f64:
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::u16:
    case DType::i32:
    case DType::u32:
    case DType::i64:
    case DType::u64:
      return true;
    default:
      return false;
  }
}

template <class T>
T whole(double value) {
  if (std::is_unsigned_v<T> && value >= 0x1p63 && value < 0x1p64) return static_cast<T>(static_cast<uint64_t>(value));
  const bool fits = value >= -0x1p63 && value < 0x1p63;
  return static_cast<T>(fits ? static_cast<int64_t>(value) : INT64_MIN);
}

// Every type as the one that holds all its values and can be worked with.
double widened(Half x) { return from_half(x.bits); }
complex widened(Complex64 x) { return {double{x.real}, double{x.imag}}; }
template <class T>
T widened(T x) {
  return x;
}

template <class To, class From>
To narrowed(From x) {
  constexpr bool from_complex = std::is_same_v<From, complex>;
  if constexpr (std::is_same_v<To, bool>)
    return !(x == From(0));
  else if constexpr (std::is_same_v<To, complex> && from_complex)
    return x;
  else if constexpr (std::is_same_v<To, complex>)
    return complex(static_cast<double>(x));
  else if constexpr (std::is_same_v<To, Complex64> && from_complex)
    return {static_cast<float>(x.real), static_cast<float>(x.imag)};
  else if constexpr (std::is_same_v<To, Complex64> || from_complex)
    return {};  // convertible() knows no such pair
  else if constexpr (std::is_same_v<To, Half>)
    return {half_of(static_cast<double>(x))};
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return whole<To>(static_cast<double>(x));
  else
    return static_cast<To>(x);
}

// Calls f with a value of the C++ type that stands for it.
template <class F>
void with_type(DType type, F f) {
  switch (type) {
    case DType::boolean:
      return f(bool{});
    case DType::i8:
      return f(int8_t{});
    case DType::u8:
      return f(uint8_t{});
    case DType::i16:
      return f(int16_t{});
    case DType::u16:
      return f(uint16_t{});
    case DType::i32:
      return f(int32_t{});
    case DType::u32:
      return f(uint32_t{});
    case DType::i64:
      return f(int64_t{});
    case DType::u64:
      return f(uint64_t{});
    case DType::f16:
      return f(Half{});
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::c64:
      return f(Complex64{});
    case DType::c128:
      return f(complex{});
    default:
      return;
  }
}

// Rounds a number to `bits` behind the leading one of the exponent that `unit` has, to even in the middle.
double rounded_to(double value, double unit) { return std::nearbyint(value / unit) * unit; }

}  // namespace

bool convertible(DType container, DType tensor) {
  switch (tensor) {
    case DType::f16:
      return container == DType::f32 || container == DType::f64;
    case DType::c64:
    case DType::c128:
      return container == DType::c128;
    case DType::boolean:
      return container == DType::boolean || container == DType::c128 || (is_real(container) && container != DType::u64);
    default:
      return is_real(tensor) && is_real(container);
  }
}

void convert(DType from, const void* source, DType to, void* target, size_t count) {
  with_type(from, [&](auto from_one) {
    with_type(to, [&](auto to_one) {
      using From = decltype(from_one);
      using To = decltype(to_one);
      const auto* in = static_cast<const From*>(source);
      auto* out = static_cast<To*>(target);
      for (size_t i = 0; i < count; ++i) out[i] = narrowed<To>(widened(in[i]));
    });
  });
}

uint16_t half_of(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
  const double size = std::abs(value);
  if (size >= 65520) return static_cast<uint16_t>(sign | 0x7c00);
  if (size < 0x1p-14) return static_cast<uint16_t>(sign | static_cast<uint16_t>(rounded_to(size, 0x1p-24) * 0x1p24));
  int exponent = std::ilogb(size);
  double mantissa = rounded_to(std::ldexp(size, -exponent), 0x1p-10);
  if (mantissa >= 2) mantissa /= 2, ++exponent;
  return static_cast<uint16_t>(sign | (exponent + 15) << 10 | static_cast<int>((mantissa - 1) * 1024));
}

double from_half(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 0x1f) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * fraction * 0x1p-24;
  return sign * std::ldexp(1 + fraction / 1024.0, exponent - 15);
}

uint16_t bfloat_of(double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double from_bfloat(uint16_t bits) { return double{std::bit_cast<float>(static_cast<uint32_t>(bits) << 16)}; }

}  // namespace anyshape::mql5
