#pragma once

#include "run/cpu/simd/program.h"

namespace anyshape::simd {

// One register of a program over a run of entries: `step` is 1, or 0 when data holds kSplat times one entry.
template <class T>
struct Operand {
  const T* data = nullptr;
  int64_t step = 1;
};
inline constexpr int64_t kSplat = 16;  // floats of the widest vector

// out[i] = op(a[i], b[i], c[i]) for i < n; out may be any of them.
void run_f32(ElementOp op, int64_t n, Operand<float> a, Operand<float> b, Operand<float> c, float* out);

}  // namespace anyshape::simd
