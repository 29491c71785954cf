#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"
#include "run/cpu/simd/simd_testing.h"

// Sums, pools, tables: bytes equal to those of the reference kernels.
namespace anyshape::cpu {
namespace {

TEST(QuantizedBytes, SumsAndProducts) {
  const auto check = [](const std::string& t, const std::string& op) {
    const auto row = [&](const char* a, const char* b, const char* scales) -> KernelTestRow {
      const std::string s = scales, z = "; " + t + "[]";
      const std::string y = op == "com.microsoft:QLinearMul" ? "f32[] = [3.7]" : "f32[] = [0.9]";
      return {op, 1, t + a + "; f32" + s + z + "; " + t + b + "; f32" + s + z + "; " + y + z, "", 1, 0};
    };
    check_kernels({
        row("[3, 70]", "[3, 70]", "[]"),
        row("[1, 9000]", "[1, 9000]", "[1]"),
        row("[2, 3, 5, 9]", "[2, 3, 1, 1]", "[]"),
        row("[2, 3, 1, 1]", "[2, 3, 5, 9]", "[]"),
        row("[2, 3, 5, 9]", "[3, 1, 1]", "[]"),
        row("[2, 3, 5, 9]", "[9]", "[]"),
        row("[2, 3, 5, 9]", "[]", "[]"),
        row("[]", "[70]", "[]"),
        row("[4, 1]", "[1, 33]", "[]"),
        row("[2, 1, 5, 1]", "[1, 3, 1, 9]", "[]"),
        row("[0, 3]", "[3]", "[]"),
        row("[]", "[]", "[]"),
        {op, 1, t + "[40]; f32[]; ; " + t + "[40]; f32[]; ; f32[]", "", 1, 0},
        // What is no number, or beyond all numbers.
        {op, 1, t + "[40]; f32[] = [0]; ; " + t + "[40]; f32[]; ; f32[] = [0]", "", 1, 0},
    });
  };
  simd::for_each_target([&] {
    for (const char* type : {"u8", "i8"})
      for (const char* op : {"com.microsoft:QLinearAdd", "com.microsoft:QLinearMul"}) check(type, op);
  });
  EXPECT_NE(refusal_of({"com.microsoft:QLinearAdd", 1, "u8[3]; f32[3]; u8[3]; u8[3]; f32[]; u8[]; f32[]; u8[]"}), "");
  EXPECT_NE(refusal_of({"com.microsoft:QLinearAdd", 1, "u8[3]; f32[]; u8[]; u8[3]; f32[]; u8[]; f16[]; u8[]"}), "");
}

TEST(QuantizedBytes, Tables) {
  for (const std::string t : {"u8", "i8"}) {
    const std::string z = "; " + t + "[]", in = "; f32[] = [0.03]" + z, out = "; f32[] = [0.02]" + z;
    check_kernels({
        {"com.microsoft:QLinearLeakyRelu", 1, t + "[3, 700]" + in + out, "alpha=0.3", 1, 0},
        {"com.microsoft:QLinearLeakyRelu", 1, t + "[9000]" + in + "; f32[]", "", 1, 0},
        {"com.microsoft:QLinearLeakyRelu", 1, t + "[300]; f32[] = [0]; ; f32[] = [0]", "", 1, 0},
        {"com.microsoft:QLinearSigmoid", 1, t + "[3, 700]" + in + "; f32[] = [0.004]" + z, "", 1, 0},
        {"com.microsoft:QLinearSigmoid", 1, t + "[0]" + in + out, "", 1, 0},
        {"com.microsoft:QLinearConcat", 1,
         "f32[] = [0.02]" + z + "; " + t + "[2, 3, 5]" + in + "; " + t + "[2, 1, 5]" + out + "; " + t + "[2, 0, 5]" +
             in,
         "axis=1", 1, 0},
        {"com.microsoft:QLinearConcat", 1, "f32[]" + z + "; " + t + "[2, 300]" + in + "; " + t + "[2, 3]" + in,
         "axis=-1", 1, 0},
        {"com.microsoft:QLinearConcat", 1, "f32[]" + z + "; " + t + "[2, 300]; f32[]" + z, "axis=0", 1, 0},
    });
  }
}

TEST(QuantizedBytes, Softmax) {
  for (const std::string t : {"u8", "i8"}) {
    const std::string z = "; " + t + "[]", around = "; f32[] = [0.03]" + z + "; f32[] = [0.004]" + z;
    check_kernels({
        {"com.microsoft:QLinearSoftmax", 1, t + "[3, 70]" + around, "", 1, 0},
        {"com.microsoft:QLinearSoftmax", 1, t + "[2, 4, 9, 33]" + around, "axis=3 opset=12", 1, 0},
        {"com.microsoft:QLinearSoftmax", 1, t + "[600, 20]; f32[] = [0.5]; ; f32[] = [0.01]", "", 1, 0},
        {"com.microsoft:QLinearSoftmax", 1, t + "[0, 3]" + around, "", 1, 0},
    });
  }
  EXPECT_NE(refusal_of({"com.microsoft:QLinearSoftmax", 1, "u8[3, 4]; f32[]; u8[]; f32[]; u8[]", "axis=0"}), "");
}

TEST(QuantizedBytes, PoolsWithChannelsLast) {
  for (const std::string t : {"u8", "i8"}) {
    const std::string z = "; " + t + "[]", around = "; f32[] = [0.03]" + z + "; f32[] = [0.02]" + z;
    check_kernels({
        {"com.microsoft:NhwcMaxPool", 1, t + "[2, 9, 71, 3]", "kernel_shape=[2,2] strides=[2,2]", 1, 0},
        {"com.microsoft:NhwcMaxPool", 1, t + "[2, 30, 41, 40]", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]", 1,
         0},
        {"com.microsoft:NhwcMaxPool", 1, t + "[1, 13, 14, 2]",
         "kernel_shape=[3,2] strides=[1,3] dilations=[2,3] ceil_mode=1", 1, 0},
        {"com.microsoft:NhwcMaxPool", 1, t + "[1, 13, 14, 2]", "kernel_shape=[5,5] auto_pad=SAME_LOWER", 1, 0},
        {"com.microsoft:NhwcMaxPool", 1, t + "[0, 9, 9, 2]", "kernel_shape=[3,3]", 1, 0},
        {"com.microsoft:QLinearGlobalAveragePool", 1, t + "[2, 7, 7, 30]" + around, "channels_last=1", 1, 0},
        {"com.microsoft:QLinearGlobalAveragePool", 1, t + "[5, 50, 3]; f32[]; ; f32[]", "channels_last=1", 1, 0},
        {"com.microsoft:QLinearGlobalAveragePool", 1, t + "[0, 4, 5, 3]" + around, "channels_last=1", 1, 0},
    });
  }
}

TEST(QuantizedBytes, Pools) {
  for (const std::string t : {"u8", "i8"}) {
    const std::string z = "; " + t + "[]", around = "; f32[] = [0.03]" + z + "; f32[] = [0.02]" + z;
    check_kernels({
        {"MaxPool", 12, t + "[2, 3, 9, 71]", "kernel_shape=[2,2] strides=[2,2]", 1, 0},
        {"MaxPool", 12, t + "[2, 3, 30, 41]", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]", 1, 0},
        {"MaxPool", 12, t + "[1, 2, 13, 14]", "kernel_shape=[3,2] strides=[1,3] dilations=[2,3] ceil_mode=1", 1, 0},
        {"MaxPool", 12, t + "[1, 2, 13, 14]", "kernel_shape=[5,5] auto_pad=SAME_LOWER", 1, 0},
        {"MaxPool", 12, t + "[1, 2, 50]", "kernel_shape=[3] auto_pad=SAME_UPPER strides=[2]", 1, 0},
        {"MaxPool", 12, t + "[0, 2, 9, 9]", "kernel_shape=[3,3]", 1, 0},
        {"com.microsoft:QLinearGlobalAveragePool", 1, t + "[2, 30, 7, 7]" + around, "", 1, 0},
        {"com.microsoft:QLinearGlobalAveragePool", 1, t + "[1, 3, 50]" + around, "", 1, 0},
        {"com.microsoft:QLinearGlobalAveragePool", 1, t + "[1, 3, 4, 5, 6]; f32[]; ; f32[]", "", 1, 0},
        {"com.microsoft:QLinearGlobalAveragePool", 1, t + "[0, 3, 4, 5]" + around, "", 1, 0},
        {"com.microsoft:QLinearAveragePool", 1, t + "[2, 3, 9, 31]" + around, "kernel_shape=[3,3] strides=[2,2]", 1, 0},
        {"com.microsoft:QLinearAveragePool", 1, t + "[2, 3, 9, 31]" + around,
         "kernel_shape=[3,3] pads=[1,1,1,1] count_include_pad=1", 1, 0},
        {"com.microsoft:QLinearAveragePool", 1, t + "[2, 3, 31]" + around, "kernel_shape=[4] pads=[1,2] ceil_mode=1", 1,
         0},
    });
  }
}

}  // namespace
}  // namespace anyshape::cpu
