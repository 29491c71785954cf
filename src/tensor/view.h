#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace anyshape {

// A strided window on elements somewhere in memory; owns nothing. Strides count elements and may be 0 or negative;
// data points at the element of index 0. Elements are aligned for their type. Types under 8 bits and strings never
// appear in a View.
struct View {
  DType dtype = DType::undefined;  // undefined: absent
  std::span<const int64_t> dims, strides;
  std::byte* data = nullptr;

  explicit operator bool() const { return dtype != DType::undefined; }
  size_t rank() const { return dims.size(); }
  int64_t count() const {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    return n;
  }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  // Row-major without gaps. Axes of size 1 may have any stride.
  bool dense() const {
    int64_t step = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      if (dims[i] != 1 && strides[i] != step) return false;
      step *= dims[i];
    }
    return true;
  }
};

}  // namespace anyshape
