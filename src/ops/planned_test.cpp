#include <gtest/gtest.h>

#include "ops/planned_testing.h"

namespace anyshape::ops {
namespace {

TEST(Planned, MatMul) {
  check_planned_rows({
      {"MatMul", 13, "f32[3, 4]; f32[4, 5]"},
      {"MatMul", 13, "f32[3, 4]; const f32[4, 5]"},
      {"MatMul", 13, "f32[1, 300]; const f32[300, 260]"},
      {"MatMul", 13, "f32[70, 500]; const f32[500, 90]"},
      {"MatMul", 13, "f32[70, 500]; f32[500, 90]"},
      {"MatMul", 13, "f32[2, 3, 4]; const f32[4, 5]"},
      {"MatMul", 13, "f32[2, 3, 4]; f32[4, 5]"},
      {"MatMul", 13, "f32[2, 1, 3, 4]; f32[5, 4, 6]"},
      {"MatMul", 13, "f32[2, 1, 3, 4]; const f32[5, 4, 6]"},
      {"MatMul", 13, "f32[3, 4]; const f32[5, 4, 6]"},
      {"MatMul", 13, "f32[8, 17, 33]; f32[8, 33, 40]"},
      {"MatMul", 13, "f32[64, 64, 64]; f32[64, 64, 64]"},
      {"MatMul", 13, "f32[4]; f32[4]"},
      {"MatMul", 13, "f32[4]; const f32[4]"},
      {"MatMul", 13, "f32[4]; f32[2, 4, 3]"},
      {"MatMul", 13, "f32[2, 3, 4]; f32[4]"},
      {"MatMul", 13, "f32[2, 3, 4]; const f32[4]"},
      {"MatMul", 13, "f32[3, 0]; f32[0, 5]"},
      {"MatMul", 13, "f32[0, 4]; const f32[4, 5]"},
      {"MatMul", 13, "f32[0, 3, 4]; f32[4, 5]"},
      {"MatMul", 13, "f32[3, 4]; f32[4, 0]"},
  });
}

TEST(Planned, Gemm) {
  for (const char* b : {"f32", "const f32"}) {
    const std::string c = std::string(b) + "[7, 9]", t = std::string(b) + "[9, 7]";
    check_planned_rows({
        {"Gemm", 13, "f32[5, 7]; " + c},
        {"Gemm", 13, "f32[5, 7]; " + c + "; f32[9]"},
        {"Gemm", 13, "f32[5, 7]; " + c + "; f32[5, 1]", "alpha=0.5 beta=0.25"},
        {"Gemm", 13, "f32[5, 7]; " + c + "; f32[5, 9]", "beta=2.0"},
        {"Gemm", 13, "f32[5, 7]; " + c + "; f32[]"},
        {"Gemm", 13, "f32[5, 7]; " + c + "; f32[1]"},
        {"Gemm", 13, "f32[7, 5]; " + c + "; f32[9]", "transA=1"},
        {"Gemm", 13, "f32[7, 5]; " + t + "; f32[1, 9]", "transA=1 transB=1 alpha=-1.5"},
        {"Gemm", 13, "f32[1, 7]; " + t + "; f32[9]", "transB=1"},
        {"Gemm", 13, "f32[130, 7]; " + t + "; f32[9]", "transB=1"},
        {"Gemm", 13, "f32[0, 7]; " + t + "; f32[9]", "transB=1"},
    });
  }
  EXPECT_EQ(planned_refusal({"Gemm", 13, "f64[2, 2]; f64[2, 2]"}), "its element type is not f32");
}

}  // namespace
}  // namespace anyshape::ops
