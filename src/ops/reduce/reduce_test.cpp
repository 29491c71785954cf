#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Reduce, Shapes) {
  check_rows({
      {"ReduceSum", 13, "f32[b, s, 4]; i64[1] = [1]", "", "f32[b, 1, 4]"},
      {"ReduceSum", 13, "f32[b, s, 4]; i64[2] = [1, -1]", "keepdims=0", "f32[b]"},
      {"ReduceSum", 13, "f32[b, s]", "", "f32[1, 1]"},
      {"ReduceSum", 13, "f32[b, s]; i64[0] = []", "noop_with_empty_axes=1", "f32[b, s]"},
      {"ReduceSum", 13, "f32[b, s]; i64[0] = []", "keepdims=0", "f32[]"},
      {"ReduceSum", 13, "f32[...]", "keepdims=0", "f32[]"},
      {"ReduceSum", 13, "f32[...]", "", "unknown[infer.rank]"},
      {"ReduceMean", 13, "f32[b, s]", "axes=[-1] keepdims=0", "f32[b]"},
      {"ReduceMean", 18, "f32[b, s]; i64[1] = [2]", "", "error[axis.range]"},
      {"ReduceMean", 1, "f32[b, s]", "axes=[-9223372036854775808]", "error[axis.range]"},
      {"ReduceMean", 13, "f32[b, s]; i64[1] = [1]", "", "error[node.arity]"},
      {"ReduceSum", 13, "f32[b, s]; i64[]", "", "error[reduce.axes]"},
      {"ReduceMax", 20, "bool[b]", "", "bool[1]"},
      {"ReduceL2", 18, "f32[]", "", "f32[]"},
      {"ReduceSum", 13, "f32[0, 3]; i64[1] = [0]", "", "f32[1, 3]"},
      {"ReduceSum", 13, "f32[b, s]; i64[1]", "keepdims=0", "f32[reduced]", "data[reduce.axes]"},
  });
}

TEST(Reduce, Entries) {
  check_rows({
      {"ReduceProd", 13, "i64[3] = [b, s, 2]", "keepdims=0", "i64[] = [2*b*s]"},
      {"ReduceSum", 13, "i64[2, 2] = [b, 1, s, 2]; i64[1] = [1]", "keepdims=0", "i64[2] = [b + 1, s + 2]"},
      {"ReduceMax", 13, "i64[2] = [s, 4]", "keepdims=0", "i64[] = [max(s, 4)]"},
      {"ReduceMin", 13, "i64[2] = [s, 0]", "keepdims=0", "i64[] = [0]"},
      {"ReduceSumSquare", 13, "i64[2] = [3, 4]", "keepdims=0", "i64[] = [25]"},
      {"ReduceSum", 13, "i64[s] in 0..1", "keepdims=0", "i64[] in 0..s"},
      {"ReduceMax", 13, "i64[4] in 0..s", "keepdims=0", "i64[] in 0..s"},
      {"ArgMax", 13, "f32[b, s]", "axis=1 keepdims=0", "i64[b] in 0..s - 1", "s >= 1 or b == 0"},
      {"ArgMax", 13, "f32[b, 8]", "axis=1", "i64[b, 1] in 0..7"},
      {"ArgMin", 13, "f32[0, 3]", "axis=0", "error[arg.empty]"},
      {"ArgMax", 13, "f32[]", "", "error[axis.range]"},
      {"CumSum", 14, "i64[3] = [1, s, 2]; i64[] = [0]", "", "i64[3] = [1, s + 1, s + 3]"},
      {"CumSum", 14, "i64[3] = [1, s, 2]; i64[] = [0]", "exclusive=1 reverse=1", "i64[3] = [s + 2, 2, 0]"},
      {"CumSum", 14, "i64[b, s] in 0..1; i64[] = [1]", "", "i64[b, s] in 0..max(s, 1)"},
      {"CumSum", 14, "f32[b, s]; i64[] = [2]", "", "error[axis.range]"},
      {"CumSum", 14, "f32[b, s]; i64[2]", "", "error[cumsum.axis]"},
      {"CumSum", 14, "f32[]; i64[] = [0]", "", "error[rank]"},
      {"CumSum", 14, "f32[b]; i64[]", "", "f32[b]", "data[cumsum.axis]"},
      {"CumProd", 26, "i64[3] = [2, s, 3]; i64[] = [-1]", "", "i64[3] = [2, 2*s, 6*s]"},
  });
}

TEST(Reduce, Kernels) {
  check_kernel_rows({
      {"ReduceSum", 13, "i32[2, 2] = [1, 2, 3, 4]; i64[1] = [0]", "", "i32[1, 2] = [4, 6]"},
      {"ReduceMean", 18, "f32[2, 2] = [1, 2, 3, 5]; i64[1] = [1]", "keepdims=0", "f32[2] = [1.5, 4]"},
      {"ReduceMean", 13, "i64[2] = [-1, -2]", "", "i64[1] = [-1]"},
      {"ReduceMax", 20, "f32[0, 2] = []; i64[1] = [0]", "keepdims=0", "f32[2] = [-inf, -inf]"},
      {"ReduceMin", 20, "bool[3] = [1, 0, 1]", "", "bool[1] = [0]"},
      {"ReduceMax", 20, "bool[2, 2] = [1, 0, 0, 0]; i64[1] = [1]", "keepdims=0", "bool[2] = [1, 0]"},
      {"ReduceProd", 18, "f32[0] = []", "keepdims=0", "f32[] = [1]"},
      {"ReduceL1", 18, "f32[2] = [-3, 4]", "keepdims=0", "f32[] = [7]"},
      {"ReduceL2", 18, "f32[2] = [-3, 4]", "keepdims=0", "f32[] = [5]"},
      {"ReduceL2", 18, "i64[2] = [3, 5]", "keepdims=0", "i64[] = [5]"},
      {"ReduceLogSum", 18, "f32[2] = [0.5, 0.5]", "keepdims=0", "f32[] = [0]"},
      {"ReduceLogSumExp", 18, "f32[2] = [1000, -inf]", "keepdims=0", "f32[] = [1000]"},
      {"ReduceLogSumExp", 18, "f32[0] = []", "keepdims=0", "f32[] = [-inf]"},
      {"ReduceSumSquare", 18, "f16[2] = [1, 2]; i64[0] = []", "noop_with_empty_axes=1", "f16[2] = [1, 4]"},
      {"ReduceMean", 13, "i8[2, 2] = [1, 3, -1, -4]", "axes=[1] keepdims=0", "i8[2] = [2, -2]"},
      {"ReduceLogSum", 18, "i32[1] = [-1]", "keepdims=0", "i32[] = [0]"},
      {"ArgMax", 13, "f32[4] = [1, 3, 3, 2]", "", "i64[1] = [1]"},
      {"ArgMax", 13, "f32[4] = [1, 3, 3, 2]", "select_last_index=1", "i64[1] = [2]"},
      {"ArgMin", 13, "i32[2, 2] = [4, 3, 1, 9]", "axis=1 keepdims=0", "i64[2] = [1, 0]"},
      {"ArgMax", 13, "f32[3] = [1, nan, 2]", "", "i64[1] = [1]"},
      {"CumSum", 14, "f32[2, 2] = [1, 2, 3, 4]; i64[] = [0]", "", "f32[2, 2] = [1, 2, 4, 6]"},
      {"CumSum", 14, "i32[3] = [1, 2, 3]; i32[] = [0]", "exclusive=1", "i32[3] = [0, 1, 3]"},
      {"CumProd", 26, "f64[3] = [1, 2, 3]; i64[] = [0]", "reverse=1", "f64[3] = [6, 6, 3]"},
  });
}

TEST(Reduce, InfinityAndNoNumber) {
  check_kernel_rows({
      {"ReduceLogSumExp", 18, "f32[4, 2] = [1000, 1000, inf, 1, -inf, -inf, nan, 1]; i64[1] = [1]", "keepdims=0",
       "f32[4] = [1000.69, inf, -inf, nan]"},
      {"ReduceMax", 18, "f32[2, 2] = [1, nan, -inf, -inf]; i64[1] = [1]", "keepdims=0", "f32[2] = [nan, -inf]"},
      {"ReduceSum", 13, "f16[3] = [60000, 60000, -60000]", "", "f16[1] = [60000]"},
      {"Pow", 15, "i64[3] = [3, -2, 2]; i64[3] = [35, 63, 64]", "",
       "i64[3] = [50031545098999707, -9223372036854775808, 0]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
