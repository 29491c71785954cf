#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Logic, Rules) {
  check_rows({
      {"Equal", 13, "i64[2] = [s, 3]; i64[2] = [s, 4]", "", "bool[2] = [1, 0]"},
      {"Greater", 13, "i64[] = [s + 1]; i64[] = [0]", "", "bool[] = [1]"},
      {"Less", 13, "i64[] = [s]; i64[] = [0]", "", "bool[] = [0]"},
      {"GreaterOrEqual", 16, "i64[] = [s]; i64[] = [4]", "", "bool[] = [select(s >= 4, 1, 0)]"},
      {"LessOrEqual", 16, "f32[] = [s]/2; f32[] = [0.5]", "", "bool[] = [select(s <= 1, 1, 0)]"},
      {"Equal", 13, "f32[a, 1]; f32[b]", "", "bool[a, b]"},
      {"Equal", 19, "string[a]; string[a]", "", "bool[a]"},
      {"Less", 13, "string[a]; string[a]", "", "error[dtype]"},
      {"Less", 1, "f32[2, 3]; f32[3]", "broadcast=1", "bool[2, 3]"},
      {"Not", 1, "bool[] = [1]", "", "bool[] = [0]"},
      {"And", 7, "bool[2] = [1, 1]; bool[2] = [0, 1]", "", "bool[2] = [0, 1]"},
      {"Or", 7, "bool[2] = [1, 0]; bool[2] = [0, 0]", "", "bool[2] = [1, 0]"},
      {"Xor", 7, "bool[2] = [1, 1]; bool[2] = [0, 1]", "", "bool[2] = [1, 0]"},
      {"And", 7, "i64[2]; i64[2]", "", "error[dtype]"},
      {"IsNaN", 13, "f32[b, s]", "", "bool[b, s]"},
      {"Less", 13, "i64[4] in 0..s - 1; i64[] = [s]", "", "bool[4] = [1, 1, 1, 1]"},
  });
}

TEST(Logic, Kernels) {
  check_kernel_rows({
      {"Equal", 19, "string[2] = [a, b]; string[1] = [a]", "", "bool[2] = [1, 0]"},
      {"Less", 13, "f32[2] = [1, nan]; f32[2] = [2, 2]", "", "bool[2] = [1, 0]"},
      {"GreaterOrEqual", 16, "u64[1] = [3]; u64[1] = [3]", "", "bool[1] = [1]"},
      {"And", 7, "bool[2, 1] = [1, 0]; bool[2] = [1, 0]", "", "bool[2, 2] = [1, 0, 0, 0]"},
      {"Not", 1, "bool[2] = [1, 0]", "", "bool[2] = [0, 1]"},
      {"Equal", 11, "bool[2] = [1, 0]; bool[2] = [0, 0]", "", "bool[2] = [0, 1]"},
  });
}

TEST(Where, RulesAndKernels) {
  check_rows({
      {"Where", 16, "bool[2] = [1, 0]; i64[] = [1]; i64[2] = [b, s]", "", "i64[2] = [1, s]"},
      {"Where", 16, "bool[] = [select(s >= 4, 1, 0)]; i64[] = [s]; i64[] = [4]", "", "i64[] = [select(s >= 4, s, 4)]"},
      {"Where", 16, "bool[n]; i64[n] in 0..s; i64[] = [-1]", "", "i64[n] in -1..s"},
      {"Where", 9, "bool[a, 1]; f32[b]; f32[]", "", "f32[a, b]"},
      {"Where", 9, "i64[a]; f32[a]; f32[a]", "", "error[dtype]"},
      {"Where", 9, "bool[a]; f32[a]; i64[a]", "", "error[dtype.equal]"},
  });
  check_kernel_rows({
      {"Where", 16, "bool[2] = [1, 0]; string[] = [x]; string[2] = [y, z]", "", "string[2] = [x, z]"},
      {"Where", 16, "bool[2, 1] = [1, 0]; f16[2] = [1, 2]; f16[] = [7]", "", "f16[2, 2] = [1, 2, 7, 7]"},
  });
}

TEST(Cast, Rules) {
  check_rows({
      {"Cast", 13, "i64[2] = [b, s]", "to=@f32", "f32[2] = [b, s]"},
      {"Cast", 13, "i64[2] = [b, s]", "to=@i32", "i32[2] = [b, s]"},
      {"Cast", 13, "i64[] = [s*70000]", "to=@i32", "i32[]"},
      {"Cast", 13, "f32[] = [s]/2", "to=@i64", "i64[] = [s//2]"},
      {"Cast", 13, "f32[] = [s]/3", "to=@i64", "i64[] = [s//3]"},
      {"Cast", 13, "f32[] = [2.5]", "to=@i64", "i64[] = [2]"},
      {"Cast", 13, "f32[] = [-2.5]", "to=@i64", "i64[] = [-2]"},
      {"Cast", 13, "i64[] = [s + 1]", "to=@bool", "bool[] = [1]"},
      {"Cast", 13, "bool[n]", "to=@i64", "i64[n] in 0..1"},
      {"Cast", 13, "i64[n] in 0..s", "to=@i32", "i32[n] in 0..s"},
      {"Cast", 13, "f32[b]", "", "error[attr.missing]"},
      {"Cast", 13, "f32[b]", "to=99", "error[cast.to]"},
      {"Cast", 13, "f32[b]", "to=FLOAT", "error[attr.type]"},
      {"Cast", 1, "i64[b]", "to=FLOAT", "f32[b]"},
      {"Cast", 13, "f32[...]", "to=@f16", "f16[...]"},
      {"CastLike", 15, "f32[b]; i64[]", "", "i64[b]"},
      {"BitCast", 26, "f32[b]", "to=@i32", "i32[b]"},
      {"BitCast", 26, "f32[b]", "to=@i64", "error[bitcast.width]"},
      {"Identity", 13, "i64[1] = [s]", "", "i64[1] = [s]"},
      {"Identity", 16, "seq(f32[a])", "", "seq(f32[a])"},
  });
}

TEST(Cast, Kernels) {
  check_kernel_rows({
      {"Cast", 13, "f32[4] = [nan, inf, 1e20, -3.7]", "to=@i64",
       "i64[4] = [-9223372036854775808, -9223372036854775808, -9223372036854775808, -3]"},
      {"Cast", 13, "f32[2] = [300.5, -3.7]", "to=@u8", "u8[2] = [44, 253]"},
      {"Cast", 13, "i64[2] = [200, -1]", "to=@i8", "i8[2] = [-56, -1]"},
      {"Cast", 13, "f64[1] = [1e300]", "to=@f32", "f32[1] = [inf]"},
      {"Cast", 13, "i64[1] = [16777217]", "to=@f32", "f32[1] = [1.67772e+07]"},
      {"Cast", 13, "f32[2] = [0, nan]", "to=@bool", "bool[2] = [0, 1]"},
      {"Cast", 13, "f32[3] = [65519, 65520, 6e-8]", "to=@f16", "f16[3] = [65504, inf, 5.96046e-08]"},
      {"Cast", 21, "i4[3] = [-8, 7, 1]", "to=@i32", "i32[3] = [-8, 7, 1]"},
      {"Cast", 21, "i32[3] = [-8, 7, 17]", "to=@i4", "i4[3] = [-8, 7, 1]"},
      {"Cast", 13, "f16[1] = [1.5]", "to=@bf16", "bf16[1] = [1.5]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
