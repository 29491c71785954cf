#pragma once

#include <bit>
#include <cstdint>

namespace anyshape {

// 16-bit floats as stored in tensors. Conversions round to nearest, ties to even.

namespace half_detail {

// The top bits of `value` after rounding away the lowest `drop` bits to nearest even.
constexpr uint32_t round_shift(uint32_t value, int drop) {
  const uint32_t half = 1u << (drop - 1), odd = value >> drop & 1u;
  return (value + half - 1 + odd) >> drop;
}

constexpr uint16_t to_f16(float value) {
  const auto raw = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(raw >> 16 & 0x8000u);
  const uint32_t magnitude = raw & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u | static_cast<uint16_t>(magnitude >> 13 & 0x3ffu);
  if (magnitude >= 0x47800000u) return sign | 0x7c00u;
  if (magnitude < 0x33000000u) return sign;
  const uint32_t exponent = magnitude >> 23;
  if (exponent < 113) {
    const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    return sign | static_cast<uint16_t>(round_shift(mantissa, static_cast<int>(126 - exponent)));
  }
  return sign | static_cast<uint16_t>(round_shift(magnitude - (112u << 23), 13));
}

constexpr float from_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = bits >> 10 & 0x1fu, mantissa = bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float tiny = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -tiny : tiny;
}

constexpr uint16_t to_bf16(float value) {
  const auto raw = std::bit_cast<uint32_t>(value);
  if ((raw & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(raw >> 16 | 0x40u);
  return static_cast<uint16_t>((raw + 0x7fffu + (raw >> 16 & 1u)) >> 16);
}

}  // namespace half_detail

struct Half {
  uint16_t bits = 0;

  constexpr Half() = default;
  explicit constexpr Half(float value) : bits(half_detail::to_f16(value)) {}
  // By way of float, as the kernels of ONNX Runtime do.
  explicit constexpr Half(double value) : Half(static_cast<float>(value)) {}
  explicit constexpr operator float() const { return half_detail::from_f16(bits); }
};

struct BFloat16 {
  uint16_t bits = 0;

  constexpr BFloat16() = default;
  explicit constexpr BFloat16(float value) : bits(half_detail::to_bf16(value)) {}
  explicit constexpr BFloat16(double value) : BFloat16(static_cast<float>(value)) {}
  explicit constexpr operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

}  // namespace anyshape
