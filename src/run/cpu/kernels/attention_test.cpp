#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"

namespace anyshape::cpu {
namespace {

TEST(CpuKernels, Attention) {
  check_kernels({
      {"anyshape:Attention", 1, "f32[2, 3, 30, 8]; f32[2, 3, 8, 21]; f32[2, 3, 21, 16]", "scale=0.5 perm=[0, 2, 1, 3]"},
      {"anyshape:Attention", 1, "f32[5, 7]; f32[7, 40]; f32[40, 3]", ""},
      {"anyshape:Attention", 1, "f32[2, 3, 5, 8]; f32[3, 8, 9]; f32[1, 1, 9, 4]; f32[2, 1, 1, 9]", "perm=[2, 0, 1, 3]"},
      {"anyshape:Attention", 1, "f32[2, 9, 8]; f32[2, 8, 9]; f32[2, 9, 4]; ; bool[9, 9]", "fill=-3 keep=0"},
      {"anyshape:Attention", 1, "f32[2, 9, 8]; f32[2, 8, 9]; f32[2, 9, 4]; f32[9, 1]; bool[2, 1, 9]",
       "fill=-inf where_first=0 nan_to_zero=1"},
      {"anyshape:Attention", 1, "f32[2, 0, 8]; f32[2, 8, 9]; f32[2, 9, 4]", ""},
      {"anyshape:Attention", 1, "f32[2, 4, 8]; f32[2, 8, 0]; f32[2, 0, 4]", ""},
      {"anyshape:Attention", 1, "f32[0, 4, 8]; f32[0, 8, 5]; f32[0, 5, 4]", ""},
  });
  EXPECT_NE(refusal_of({"anyshape:Attention", 1, "f32[2, 9, 8]; f32[2, 8, 9]; f32[2, 9, 4]", "perm=[0, 2, 1]"}), "");
}

TEST(CpuKernels, ConstantOfShapeAndTriluAndRange) {
  check_kernels({
      {"ConstantOfShape", 9, "const i64[2] = [7, 300]", ""},
      {"ConstantOfShape", 9, "const i64[2] = [0, 3]", "value=i64[1]=[5]"},
      {"ConstantOfShape", 9, "const i64[1] = [33]", "value=bool[1]=[1]"},
      {"Trilu", 14, "f32[3, 9, 7]", ""},
      {"Trilu", 14, "f32[3, 9, 7]; const i64[] = [2]", "upper=0"},
      {"Trilu", 14, "bool[9, 9]; i64[] = [-3]", "upper=1"},
      {"Trilu", 14, "i64[4, 9]; i64[] = [-99]", "upper=0"},
      {"Trilu", 14, "f32[0, 4]", ""},
      {"Trilu", 14, "f32[4, 0]", ""},
      {"Range", 11, "const i64[] = [3]; const i64[] = [40]; const i64[] = [7]", ""},
      {"Range", 11, "const i32[] = [3]; const i32[] = [-40]; const i32[] = [-3]", ""},
  });
}

TEST(CpuKernels, Cast) {
  for (const char* from : {"f32[3, 50]", "f64[3, 50]", "i32[70]", "i64[70]", "u8[70]", "bool[70]"})
    for (const char* to : {"to=1", "to=11", "to=9"}) check_kernels({{"Cast", 13, from, to}});
  for (const char* from : {"i32[70]", "i64[70]", "u8[70]", "bool[70]", "i64[3] = [-1, 4294967297, 300]"})
    for (const char* to : {"to=6", "to=7", "to=2"}) check_kernels({{"Cast", 13, from, to}});
  EXPECT_NE(refusal_of({"Cast", 13, "f32[3]", "to=7"}), "");
}

}  // namespace
}  // namespace anyshape::cpu
