#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"

// Convolutions and pools over three spatial axes.
namespace anyshape::cpu {
namespace {

TEST(CpuKernels, ConvolutionsOfVolumes) {
  check_kernels({
      {"Conv", 11, "f32[2, 3, 4, 8, 9]; const f32[9, 3, 3, 3, 3]; f32[9]", "pads=[1,1,1,1,1,1]"},
      {"Conv", 11, "f32[1, 4, 5, 6, 7]; const f32[6, 2, 2, 3, 1]", "group=2 strides=[2,1,3] dilations=[2,1,1]"},
      {"Conv", 11, "f32[2, 5, 4, 6, 7]; const f32[5, 1, 3, 3, 3]; f32[5]",
       "group=5 auto_pad=SAME_UPPER strides=[2,2,1]"},
      {"Conv", 11, "f32[1, 20, 3, 5, 5]; const f32[40, 20, 1, 1, 1]"},
      {"Conv", 11, "f32[1, 2, 3, 5, 5]; const f32[3, 2, 3, 2, 2]", "pads=[2,0,1,0,1,0]"},
      {"ConvTranspose", 11, "f32[2, 4, 3, 4, 5]; f32[4, 3, 2, 2, 2]; f32[3]", "strides=[2,2,2]"},
      {"ConvTranspose", 11, "f32[1, 4, 3, 4, 5]; f32[4, 2, 3, 2, 3]", "group=2 strides=[1,3,2] pads=[1,0,1,2,0,1]"},
      {"ConvTranspose", 11, "f32[1, 2, 3, 4, 5]; f32[2, 2, 3, 3, 3]", "strides=[2,2,2] auto_pad=SAME_UPPER"},
  });
}

TEST(CpuKernels, PoolsOfVolumes) {
  for (const char* op : {"MaxPool", "AveragePool"})
    check_kernels({
        {op, 19, "f32[2, 3, 4, 9, 11]", "kernel_shape=[2, 3, 2]"},
        {op, 19, "f32[1, 2, 5, 6, 7]", "kernel_shape=[2, 3, 2] strides=[2, 1, 2] pads=[1, 1, 0, 0, 2, 1]"},
        {op, 19, "f32[1, 2, 9, 5, 6]", "kernel_shape=[3, 3, 3] strides=[2, 3, 2] auto_pad=SAME_UPPER"},
        {op, 19, "f32[1, 2, 9, 8, 7]", "kernel_shape=[2, 2, 3] dilations=[3, 2, 1] ceil_mode=1 strides=[2, 2, 2]"},
        {op, 19, "f32[0, 4, 5, 6, 7]", "kernel_shape=[2, 2, 2]"},
    });
  check_kernels({
      {"AveragePool", 19, "f32[1, 2, 5, 6, 7]",
       "kernel_shape=[3, 3, 3] strides=[2, 2, 2] pads=[1, 1, 1, 1, 1, 1] ceil_mode=1 count_include_pad=1"},
      {"MaxPool", 12, "f32[1, 1, 2, 2, 2] = [nan, nan, 1, inf, -inf, 2, nan, -1]", "kernel_shape=[2, 1, 2]", 1, 0},
  });
}

}  // namespace
}  // namespace anyshape::cpu
