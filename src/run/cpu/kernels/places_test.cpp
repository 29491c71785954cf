#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"

namespace anyshape::cpu {
namespace {

TEST(CpuKernels, Scatter) {
  check_kernels({
      {"ScatterElements", 18, "f32[4, 6]; i64[2, 3] = [0, 1, 3, -1, 2, 0]; f32[2, 3]"},
      {"ScatterElements", 18, "f32[4, 6]; i32[4, 3] = [0, 1, 5, -1, 2, 0, 1, 2, 3, -6, 0, 4]; f32[4, 3]", "axis=1"},
      {"ScatterElements", 18, "f64[2, 3, 2]; i64[2, 2, 2] = [0, 1, 2, 0, -1, -2, 0, 0]; f64[2, 2, 2]", "axis=1"},
      {"ScatterElements", 18, "f32[3, 2]; i64[4, 2] = [0, 1, 0, 1, 2, 2, 0, 0]; f32[4, 2]", "reduction=add"},
      {"ScatterElements", 18, "i64[3]; i64[5] = [0, 1, 0, 1, -1]; i64[5]", "reduction=add"},
      {"ScatterElements", 18, "u8[5]; i64[2] = [4, 1]; u8[2]"},
      {"ScatterElements", 11, "bool[5]; i64[0]; bool[0]"},
      {"Scatter", 9, "f32[5]; i64[2] = [4, 1]; f32[2]"},
      {"ScatterND", 18, "f32[4, 5]; i64[3, 1] = [2, -1, 0]; f32[3, 5]"},
      {"ScatterND", 18, "f32[4, 5]; i64[3, 2] = [2, -1, 0, 0, 3, 4]; f32[3]"},
      {"ScatterND", 18, "i32[2, 3, 4]; i64[2, 1, 2] = [0, 1, 1, 2]; i32[2, 1, 4]", "reduction=add"},
      {"ScatterND", 18, "f32[2, 3]; i64[2, 1] = [1, 1]; f32[2, 3]", "reduction=add"},
      {"ScatterND", 11, "f32[2, 3]; i64[2, 0]; f32[2, 2, 3]"},
  });
  EXPECT_NE(refusal_of({"ScatterND", 18, "f32[2, 3]; i64[2, 1]; f32[2, 3]", "reduction=max"}), "");
  EXPECT_NE(refusal_of({"ScatterElements", 18, "f16[3]; i64[2]; f16[2]", "reduction=add"}), "");
}

TEST(CpuKernels, MatMulF64) {
  check_kernels({
      {"MatMul", 13, "f64[5, 7]; f64[7, 9]"},
      {"MatMul", 13, "f64[33, 70]; const f64[70, 50]"},
      {"MatMul", 13, "f64[2, 1, 9, 5]; f64[3, 5, 17]"},
      {"MatMul", 13, "f64[5]; f64[2, 5, 3]"},
      {"MatMul", 13, "f64[2, 4, 5]; f64[5]"},
      {"MatMul", 13, "f64[5]; f64[5]"},
      {"MatMul", 13, "f64[4, 0]; f64[0, 3]"},
      {"MatMul", 13, "f64[0, 4]; f64[4, 3]"},
      {"Gemm", 13, "f64[5, 7]; const f64[9, 7]; f64[9]", "transB=1 alpha=0.5 beta=2.0"},
      {"Gemm", 13, "f64[5, 7]; f64[7, 40]; f64[5, 1]"},
      {"Gemm", 13, "f64[5, 7]; f64[7, 4]; f64[5, 4]", "beta=0.25"},
      {"Gemm", 13, "f64[5, 7]; f64[7, 4]; f64[]"},
      {"Gemm", 13, "f64[5, 7]; f64[7, 4]"},
  });
}

TEST(CpuKernels, GridSample) {
  for (const char* more : {"", " align_corners=1", " padding_mode=border", " align_corners=1 padding_mode=border"})
    check_kernels({
        {"GridSample", 16, "f32[2, 3, 5, 7]; f32[2, 4, 6, 2]", std::string("mode=bilinear") + more},
        {"GridSample", 20, "f32[1, 2, 30, 20]; f32[1, 40, 30, 2]", std::string("mode=linear") + more},
        {"GridSample", 20, "f32[1, 1, 1, 1]; f32[1, 1, 3, 2] = [-1, 1, 0, 0, 5, -9]",
         std::string("mode=linear") + more},
        {"GridSample", 20, "f32[1, 2, 2, 3]; f32[1, 1, 4, 2] = [nan, 0, inf, 1, 0, -inf, 3e38, -1e9]",
         std::string("mode=linear") + more},
        {"GridSample", 20, "f32[1, 1, 2, 2] = [inf, 1, nan, 2]; f32[1, 1, 3, 2] = [-1, -1, 1, 1, 0.5, -0.5]",
         std::string("mode=linear") + more},
        {"GridSample", 20, "f32[0, 1, 2, 2]; f32[0, 1, 3, 2]", std::string("mode=linear") + more},
    });
  EXPECT_NE(refusal_of({"GridSample", 20, "f32[1, 1, 2, 2]; f32[1, 1, 3, 2]", "mode=nearest"}), "");
  EXPECT_NE(refusal_of({"GridSample", 20, "f32[1, 1, 2, 2]; f32[1, 1, 3, 2]", "padding_mode=reflection"}), "");
}

}  // namespace
}  // namespace anyshape::cpu
