#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Cast, NumbersAndStrings) {
  check_kernel_rows({
      {"Cast", 13, "f32[6] = [1, 0.1, -2.5, 1e20, nan, -inf]", "to=@string",
       "string[6] = [1.0, 0.1, -2.5, 1e+20, nan, -inf]"},
      {"Cast", 13, "f64[3] = [0.1, 123456.789, 1e-5]", "to=@string", "string[3] = [0.1, 123456.789, 1e-05]"},
      {"Cast", 13, "f16[2] = [0.1, 65504]", "to=@string", "string[2] = [0.1, 65500.0]"},
      {"Cast", 13, "i8[2] = [-128, 7]", "to=@string", "string[2] = [-128, 7]"},
      {"Cast", 13, "bool[2] = [1, 0]", "to=@string", "string[2] = [True, False]"},
      {"Cast", 13, "string[5] = [1.5, +INF, -inf, NaN, 1E2]", "to=@f32", "f32[5] = [1.5, inf, -inf, nan, 100]"},
      {"Cast", 13, "string[3] = [100.5, -7, 9223372036854775807]", "to=@i64",
       "i64[3] = [100, -7, 9223372036854775807]"},
      {"Cast", 13, "string[1] = [1e400]", "to=@f64", "f64[1] = [inf]"},
      {"Cast", 13, "string[2] = [0, 2]", "to=@bool", "bool[2] = [0, 1]"},
      {"Cast", 13, "string[1] = [hello]", "to=@f32", "error[cast.string]"},
      {"Cast", 13, "string[1] = [0x10]", "to=@i32", "error[cast.string]"},
      {"Cast", 1, "f32[2] = [1.7, -1.7]", "to=INT32", "i32[2] = [1, -1]"},
  });
}

TEST(Cast, SmallTypes) {
  check_kernel_rows({
      {"Cast", 21, "f32[3] = [-9, 8, 3.7]", "to=@i4", "i4[3] = [7, -8, 3]"},
      {"Cast", 25, "i32[3] = [5, -3, 2]", "to=@u2", "u2[3] = [1, 1, 2]"},
      {"Cast", 19, "f32[3] = [1000, 0, -0.3]", "to=@f8e4m3fn", "f8e4m3fn[3] = [448, 0, -0.3125]"},
      {"Cast", 19, "f32[2] = [1000, inf]", "to=@f8e4m3fn saturate=0", "f8e4m3fn[2] = [nan, nan]"},
      {"Cast", 23, "f64[3] = [0.25, 2.5, -7]", "to=@f4e2m1", "f4e2m1[3] = [0, 2, -6]"},
      {"Cast", 28, "f64[5] = [0.1, 5.25, -9, nan, 2.3]", "to=@f6e2m3", "f6e2m3[5] = [0.125, 5, -7.5, -0, 2.25]"},
      {"Cast", 28, "f6e3m2[3] = [0.0625, -28, 5]", "to=@f6e2m3 saturate=0", "f6e2m3[3] = [0, -7.5, 5]"},
      {"Cast", 28, "f6e3m2[2] = [0.3125, -28]", "to=@string", "string[2] = [0.3125, -28.0]"},
      {"Cast", 24, "f32[3] = [1.1, 3, 6]", "to=@f8e8m0 round_mode=down", "f8e8m0[3] = [1, 2, 4]"},
      {"Cast", 24, "f32[3] = [1.1, 3, 6.1]", "to=@f8e8m0 round_mode=nearest", "f8e8m0[3] = [1, 4, 8]"},
      {"Cast", 24, "f32[1] = [1.1]", "to=@f8e8m0 round_mode=odd", "error[cast.round_mode]"},
      {"Cast", 19, "f8e5m2[2] = [1.5, inf]", "to=@f16", "f16[2] = [1.5, 57344]"},
      {"CastLike", 19, "bool[2] = [1, 0]; f8e5m2[1] = [0]", "", "f8e5m2[2] = [1, 0]"},
      {"BitCast", 26, "f32[1] = [1]", "to=@i32", "i32[1] = [1065353216]"},
      {"BitCast", 26, "i4[3] = [-1, 2, 7]", "to=@u4", "u4[3] = [15, 2, 7]"},
      {"IsNaN", 20, "f8e4m3fn[2] = [nan, 1]", "", "bool[2] = [1, 0]"},
  });
}

TEST(Quantize, Layouts) {
  check_kernel_rows({
      {"QuantizeLinear", 13, "f32[2, 2] = [1, 2, 3, -400]; f32[2] = [1, 2]; i8[2] = [1, -1]", "axis=0",
       "i8[2, 2] = [2, 3, 1, -128]"},
      {"QuantizeLinear", 21, "f32[1, 5] = [1, 2, 3, 4, 5]; f32[1, 2] = [1, 2]", "axis=1 block_size=3",
       "u8[1, 5] = [1, 2, 3, 2, 2]"},
      {"QuantizeLinear", 10, "f32[4] = [0.5, 1.5, nan, inf]; f32[] = [1]", "", "u8[4] = [0, 2, 0, 255]"},
      {"QuantizeLinear", 21, "f32[3] = [9, -9, 1.4]; f32[] = [1]", "output_dtype=@i4", "i4[3] = [7, -8, 1]"},
      {"QuantizeLinear", 25, "f32[2] = [1000, 1]; f32[] = [1]", "output_dtype=@f8e5m2", "f8e5m2[2] = [1024, 1]"},
      {"QuantizeLinear", 10, "i32[2] = [3, 5]; f32[] = [2]", "", "u8[2] = [2, 2]"},
      {"QuantizeLinear", 13, "f32[0, 2] = []; f32[2] = [1, 2]", "", "u8[0, 2] = []"},
      {"QuantizeLinear", 13, "f32[2, 2] = [1, 2, 3, 4]; f32[3] = [1, 2, 3]", "", "error[quantize.scale]"},
      {"DequantizeLinear", 21, "i4[1, 3] = [1, -2, 7]; f32[1, 2] = [1, 2]; i4[1, 2] = [0, 1]", "axis=1 block_size=2",
       "f32[1, 3] = [1, -2, 12]"},
      {"DequantizeLinear", 19, "u8[2] = [1, 255]; f16[] = [0.5]; u8[] = [1]", "", "f16[2] = [0, 127]"},
      {"DequantizeLinear", 10, "i32[1] = [2147483647]; f32[] = [1]", "", "f32[1] = [2.14748e+09]"},
      {"DynamicQuantizeLinear", 11, "f32[3] = [0, 1, 5]", "", "u8[3] = [0, 51, 255]; f32[] = [0.0196078]; u8[] = [0]"},
      {"DynamicQuantizeLinear", 11, "f32[0] = []", "", "u8[0] = []; f32[] = [0.00392157]; u8[] = [0]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
