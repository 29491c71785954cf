#pragma once

#include <type_traits>
#include <utility>

#include "base/error.h"
#include "tensor/half.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

// The type arithmetic is done in: 16-bit floats widen to float, all others are their own.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<Compute<T>>;

template <class T>
Compute<T> widen(T value) {
  return static_cast<Compute<T>>(value);
}
template <class T>
T narrow(Compute<T> value) {
  return static_cast<T>(value);
}

enum Types : unsigned { kBool = 1, kInts = 2, kFloats = 4, kNumbers = kInts | kFloats, kAll = kBool | kNumbers };

// Calls visit(T{}) with the C++ type of `dtype` when it is among `allowed`; error "dtype" otherwise. bool is `bool`,
// 16-bit floats are Half and BFloat16; types of 8 bits and less that are no integers of C++ are never visited.
template <unsigned allowed, class Visit>
Status visit_type(DType dtype, Visit visit) {
  if constexpr ((allowed & kBool) != 0)
    if (dtype == DType::boolean) return visit(bool{});
  if constexpr ((allowed & kInts) != 0) {
    switch (dtype) {
      case DType::i8:
        return visit(int8_t{});
      case DType::u8:
        return visit(uint8_t{});
      case DType::i16:
        return visit(int16_t{});
      case DType::u16:
        return visit(uint16_t{});
      case DType::i32:
        return visit(int32_t{});
      case DType::u32:
        return visit(uint32_t{});
      case DType::i64:
        return visit(int64_t{});
      case DType::u64:
        return visit(uint64_t{});
      default:
        break;
    }
  }
  if constexpr ((allowed & kFloats) != 0) {
    switch (dtype) {
      case DType::f32:
        return visit(float{});
      case DType::f64:
        return visit(double{});
      case DType::f16:
        return visit(Half{});
      case DType::bf16:
        return visit(BFloat16{});
      default:
        break;
    }
  }
  return unknown("dtype", "no kernel for elements of type {}", name(dtype));
}

}  // namespace anyshape::kernels
