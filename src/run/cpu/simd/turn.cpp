#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/turn.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/gemm_micro-inl.h"
#include "run/cpu/simd/turn.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {
namespace {

void turned(const float* from, int64_t from_row, int64_t rows, int64_t columns, float* to, int64_t to_row) {
  transpose(from, from_row, rows, columns, to, to_row);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(turned);

void turn(const float* from, int64_t from_row, int64_t rows, int64_t columns, float* to, int64_t to_row) {
  HWY_DYNAMIC_DISPATCH(turned)(from, from_row, rows, columns, to, to_row);
}

}  // namespace anyshape::simd
#endif
