#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"

namespace anyshape::cpu {
namespace {

TEST(CpuKernels, PadInEveryMode) {
  for (const std::string mode : {"constant", "edge", "reflect", "wrap"})
    for (const std::string type : {"f32", "f64", "i64", "i32", "u8", "bool", "f16", "c128"})
      for (const std::string shape :
           {"[3, 4, 5]; const i64[6] = [0, 0, 1, 0, 0, 2]", "[3, 4, 5]; const i64[6] = [1, 2, 0, 2, 1, 0]",
            "[3, 4, 5]; const i64[6] = [2, 0, 0, 1, 0, 0]", "[3, 4, 5]; const i64[6] = [0, 3, 0, 0, 0, 0]",
            "[3, 4, 5]; const i64[6] = [0, 0, 0, 0, 0, 0]", "[3, 4, 5]; const i64[6] = [1, -1, 2, -1, 1, -2]",
            "[3, 4, 5]; const i64[6] = [-1, 0, 0, 0, -1, 0]", "[17]; const i64[2] = [16, 3]",
            "[2, 3, 30, 40]; const i64[8] = [0, 0, 2, 3, 0, 0, 1, 5]",
            "[8, 3, 90, 70]; const i64[8] = [0, 0, 1, 1, 0, 0, 1, 1]"})
        check_kernels({{"Pad", 19, type + shape, "mode=" + mode, 1, 0}});
}

TEST(CpuKernels, PadWithAValue) {
  check_kernels({
      {"Pad", 13, "f32[3, 4, 5]; const i64[6] = [1, 0, 2, 0, 3, 1]; f32[] = [7.5]", "", 1, 0},
      {"Pad", 13, "f32[3, 4, 5]; const i64[6] = [1, 0, 0, 2, 0, 0]; f32[1] = [7.5]", "", 1, 0},
      {"Pad", 13, "i64[3, 4]; const i64[4] = [0, 1, 5, 0]; i64[] = [-3]"},
      {"Pad", 13, "u8[3, 400]; const i64[4] = [9, 1, 5, 0]; const u8[] = [128]"},
      {"Pad", 2, "f32[3, 4]", "pads=[1,0,2,3] value=-1.5", 1, 0},
      {"Pad", 2, "f64[3, 4]", "pads=[0,1,0,3] value=-1.5"},
      {"Pad", 2, "f32[3, 4]", "pads=[1,0,2,3] mode=reflect", 1, 0},
  });
}

TEST(CpuKernels, PadOfNamedAxes) {
  check_kernels({
      {"Pad", 18, "f32[3, 4, 5]; const i64[4] = [1, 2, 3, 4]; f32[] = [2]; const i64[2] = [-1, 0]", "", 1, 0},
      {"Pad", 18, "f32[3, 4, 5]; const i64[2] = [1, 2]; ; const i64[1] = [1]", "mode=edge", 1, 0},
      {"Pad", 18, "f32[3, 4]; const i64[0]; ; const i64[0]", "", 1, 0},
  });
}

TEST(CpuKernels, PadOfNothing) {
  check_kernels({
      {"Pad", 13, "f32[0, 4]; const i64[4] = [1, 0, 2, 3]; f32[] = [2]", "", 1, 0},
      {"Pad", 13, "f32[3, 0]; const i64[4] = [1, 0, 2, 0]", "", 1, 0},
      {"Pad", 13, "f32[3, 0]; const i64[4] = [0, 2, 0, 1]", "", 1, 0},
      {"Pad", 13, "f32[3, 4]; const i64[4] = [-2, 0, -1, 5]", "", 1, 0},
      {"Pad", 13, "f32[3, 0]; const i64[4] = [1, 0, 2, 0]", "mode=edge", 1, 0},
  });
}

TEST(CpuKernels, PadRefusals) {
  EXPECT_EQ(refusal_of({"Pad", 13, "f32[3]; i64[2]"}), "its pads are not known before it runs");
  EXPECT_EQ(refusal_of({"Pad", 13, "string[3]; const i64[2] = [1, 1]"}), "its elements are no whole bytes");
  EXPECT_EQ(refusal_of({"Pad", 18, "f32[3, 4]; const i64[2] = [1, 1]; ; i64[1]"}), "its axes are not constant");
}

}  // namespace
}  // namespace anyshape::cpu
