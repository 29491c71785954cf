#pragma once

#include "run/cpu/kernels/common.h"

// What kernels on bytes share.
namespace anyshape::cpu {

inline bool is_byte(DType dtype) { return dtype == DType::u8 || dtype == DType::i8; }
inline bool is_byte(const Call& call, size_t input) {
  return call.has(input) && call.in(input).is_tensor() && is_byte(call.in(input).dtype);
}

// The input is absent, or has one entry at all sizes.
inline bool is_single(const Call& call, size_t input) {
  if (!call.has(input)) return true;
  if (!call.in(input).dims) return false;
  for (Dim dim : *call.in(input).dims)
    if (dim != Dim(1)) return false;
  return true;
}

// At most this many products of bytes without their zero points sum up within 32 bits.
inline constexpr int64_t kMostProducts = (int64_t{1} << 31) / (255 * 255) - 1;

// Entry i of a view of integers of 8 or 32 bits; 0 of an absent one.
inline int32_t integer_at(const View& view, int64_t i) {
  if (!view) return 0;
  if (view.dtype == DType::u8) return view.as<const uint8_t>()[i];
  return view.dtype == DType::i8 ? view.as<const int8_t>()[i] : view.as<const int32_t>()[i];
}

inline View view_at(std::span<const View> views, int i) {
  return i >= 0 && static_cast<size_t>(i) < views.size() ? views[static_cast<size_t>(i)] : View();
}

}  // namespace anyshape::cpu
