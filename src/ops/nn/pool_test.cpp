#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Pool, Sizes) {
  check_rows({
      {"MaxPool", 22, "f32[b, 3, h, w]", "kernel_shape=[2, 2] strides=[2, 2]", "f32[b, 3, h//2, w//2]",
       "h >= 2; w >= 2"},
      {"MaxPool", 12, "f32[b, 3, h]", "kernel_shape=[2] strides=[2] ceil_mode=1", "f32[b, 3, (h + 1)//2]", "h >= 1"},
      {"MaxPool", 8, "f32[b, 3, h]", "kernel_shape=[3] strides=[2] pads=[1, 1]",
       "f32[b, 3, (h + 1)//2]; i64[b, 3, (h + 1)//2] in 0..3*b*h - 1", "h >= 1"},
      {"AveragePool", 19, "f32[1, 1, 7]", "kernel_shape=[3] dilations=[2] strides=[2]", "f32[1, 1, 2]"},
      {"AveragePool", 22, "f32[b, 1, h]", "kernel_shape=[3] strides=[2] auto_pad=SAME_UPPER", "f32[b, 1, (h + 1)//2]",
       "h >= 1"},
      {"LpPool", 18, "f32[1, 1, 6]", "kernel_shape=[2] strides=[3] ceil_mode=1", "f32[1, 1, 2]"},
      {"GlobalAveragePool", 1, "f32[b, c, 4, 5]", "", "f32[b, c, 1, 1]", "c >= 1 or b == 0"},
      {"MaxUnpool", 11, "f32[b, 1, h]; i64[b, 1, h]", "kernel_shape=[2] strides=[2]", "f32[b, 1, 2*h]",
       "h >= 1; data[maxunpool.index]"},
  });
}

// A window that would start in the right padding is dropped.
TEST(Pool, CeilMode) {
  check_rows({
      {"MaxPool", 22, "f32[1, 1, 4]", "kernel_shape=[1] strides=[2] ceil_mode=1", "f32[1, 1, 2]"},
      {"MaxPool", 22, "f32[1, 1, 5]", "kernel_shape=[2] strides=[3] pads=[1, 1] ceil_mode=1", "f32[1, 1, 2]"},
      {"MaxPool", 22, "f32[1, 1, 6]", "kernel_shape=[2] strides=[3] pads=[1, 1] ceil_mode=1", "f32[1, 1, 3]"},
      {"MaxPool", 22, "f32[1, 1, 1]", "kernel_shape=[2] strides=[1] ceil_mode=1", "error[lenient.pool]"},
  });
}

TEST(Pool, Refusals) {
  check_rows({
      {"MaxPool", 22, "f32[1, 1, 1]", "kernel_shape=[2] strides=[2]", "error[lenient.pool]"},
      {"MaxPool", 22, "f32[1, 1, 0]", "kernel_shape=[2]", "error[pool.empty]"},
      {"MaxPool", 22, "f32[1, 0, 4]", "kernel_shape=[2]", "error[pool.empty]"},
      {"MaxPool", 22, "f32[0, 1, 4]", "kernel_shape=[2]", "f32[0, 1, 3]"},
      {"MaxPool", 22, "f32[1, 1, 4]", "kernel_shape=[2] pads=[2, 0]", "error[pool.pads]"},
      {"MaxPool", 22, "f32[1, 1, 6]", "kernel_shape=[1] strides=[2] auto_pad=SAME_UPPER", "error[pool.pads]"},
      {"AveragePool", 22, "f32[1, 1, 6]", "kernel_shape=[1] strides=[2] auto_pad=SAME_UPPER", "f32[1, 1, 3]"},
      {"MaxPool", 22, "f32[1, 1, 4]", "kernel_shape=[2] auto_pad=VALID pads=[1, 0]", "error[lenient.pads]"},
      {"MaxPool", 22, "f32[1, 1, 4]", "", "error[pool.kernel]"},
      {"MaxPool", 22, "f32[1, 1, 4]", "kernel_shape=[0]", "error[window.attribute]"},
      {"MaxPool", 22, "f32[1, 1, 4]", "kernel_shape=2", "error[attr.type]"},
      {"MaxPool", 22, "f32[1, 4]", "kernel_shape=[2]", "error[rank]"},
      {"GlobalMaxPool", 1, "f32[1, 2, 0]", "", "error[pool.empty]"},
      {"MaxUnpool", 11, "f32[1, 1, 2]; i64[1, 1, 3]", "kernel_shape=[2]", "error[maxunpool.indices]"},
      {"MaxUnpool", 11, "f32[1, 1, 2]; i64[1, 1, 2]; i64[3] = [1, 1, 2]", "kernel_shape=[2] strides=[2]",
       "error[maxunpool.output_shape]"},
  });
}

TEST(Regions, Rows) {
  check_rows({
      {"RoiAlign", 16, "f32[n, c, h, w]; f32[r, 4]; i64[s]", "output_height=7 output_width=5", "f32[r, c, 7, 5]",
       "r == s; data[roi.batch]"},
      {"RoiAlign", 16, "f32[1, 2, 4, 4]; f32[3, 4]; i64[3] = [0, 1, 0]", "", "error[roi.batch]"},
      {"MaxRoiPool", 1, "f32[n, c, h, w]; f32[r, 5]", "pooled_shape=[2, 3]", "f32[r, c, 2, 3]", "data[roi.batch]"},
      {"GridSample", 20, "f32[n, c, 4, 5, 6]; f32[m, p, q, r, 3]", "", "f32[n, c, p, q, r]", "n == m"},
      {"GridSample", 16, "f32[1, 2, 0, 4]; f32[1, 3, 5, 2]", "", "error[gridsample.empty]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
