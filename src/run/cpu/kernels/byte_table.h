#pragma once

#include <algorithm>
#include <cmath>

#include "run/cpu/kernels/quantized_common.h"

// Functions of quantised bytes as tables of their 256 results.
namespace anyshape::cpu {

inline constexpr int64_t kByteTable = 256;

// Scale and zero point of a whole tensor.
struct ByteParameters {
  float scale = 1;
  int32_t zero = 0;

  float real(int32_t byte) const {
    return static_cast<float>(static_cast<double>(byte - zero) * static_cast<double>(scale));
  }
  // clamp(round(x / scale) + zero), to even; what is no number becomes the least byte.
  std::byte byte(float x, bool is_signed) const {
    const double low = is_signed ? -128 : 0;
    const double value = std::nearbyint(static_cast<double>(x / scale)) + zero;
    const double whole = std::isnan(value) ? low : std::clamp(value, low, low + 255);
    return static_cast<std::byte>(static_cast<int32_t>(whole) & 255);
  }
};

// One scale of f32; the zero point is one byte, or absent.
inline std::string_view accepts_parameters(const Call& call, size_t scale, size_t zero) {
  if (!is_f32(call, scale)) return "a scale is not f32";
  if (!is_single(call, scale) || !is_single(call, zero)) return "it may have several scales or zero points";
  return !call.has(zero) || is_byte(call, zero) ? "" : "a zero point has not 8 bits";
}

inline ByteParameters parameters_at(const ViewArgs& args, int scale, int zero) {
  return {*args.in[static_cast<size_t>(scale)].as<const float>(), integer_at(view_at(args.in, zero), 0)};
}

// table[x] = the byte of fn(the number that byte x stands for), fn in double.
template <class Fn>
void fill_table(const ByteParameters& from, const ByteParameters& to, bool is_signed, Fn fn, std::byte* table) {
  for (int32_t i = 0; i < 256; ++i) {
    const int32_t value = is_signed ? static_cast<int8_t>(static_cast<uint8_t>(i)) : i;
    table[i] = to.byte(static_cast<float>(fn(static_cast<double>(from.real(value)))), is_signed);
  }
}

inline void by_table(const std::byte* table, const std::byte* in, int64_t n, std::byte* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = table[static_cast<size_t>(in[i])];
}

}  // namespace anyshape::cpu
