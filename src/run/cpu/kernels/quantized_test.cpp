#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"
#include "run/cpu/simd/simd_testing.h"

// Integers are equal to those of the reference kernels; floats within one unit in the last place of the largest.
namespace anyshape::cpu {
namespace {

constexpr double kUlp = 1.2e-7;

TEST(QuantizedKernels, QuantizeLinear) {
  for (const char* zero : {"u8", "i8"}) {
    const std::string z = zero;
    check_kernels({
        {"QuantizeLinear", 13, "f32[3, 70]; f32[] = [0.03]; " + z + "[] = [5]"},
        {"QuantizeLinear", 13, "f32[2, 3, 5, 9]; f32[3]; " + z + "[3]"},
        {"QuantizeLinear", 13, "f32[2, 3, 5, 9]; f32[9]; " + z + "[9]", "axis=-1"},
        {"QuantizeLinear", 21, "f32[130, 300]; f32[1]; " + z + "[1]"},
        {"QuantizeLinear", 13, "f32[300]; f32[300]; " + z + "[300]", "axis=0"},
        {"QuantizeLinear", 13, "f32[0, 3]; f32[3]; " + z + "[3]"},
        {"DequantizeLinear", 13, z + "[3, 70]; f32[] = [0.03]; " + z + "[]", "", 1, 0},
        {"DequantizeLinear", 13, z + "[2, 3, 5, 9]; f32[3]; " + z + "[3]", "", 1, 0},
        {"DequantizeLinear", 13, z + "[2, 3, 5, 9]; f32[9]; " + z + "[9]", "axis=-1", 1, 0},
        {"DequantizeLinear", 13, z + "[130, 300]; f32[]", "", 1, 0},
        {"com.microsoft:QuantizeLinear", 1, "f32[3, 70]; f32[]; " + z + "[]"},
        {"com.microsoft:DequantizeLinear", 1, z + "[3, 70]; f32[3]; " + z + "[3]", "axis=0", 1, 0},
    });
  }
  check_kernels({
      {"QuantizeLinear", 10, "f32[3, 70]; f32[] = [0.03]"},
      {"DequantizeLinear", 13, "i32[3, 70]; f32[]", "", 1, 0},
      {"DequantizeLinear", 13, "i32[3, 70]; f32[3]", "axis=0", 1, 0},
  });
  EXPECT_NE(refusal_of({"QuantizeLinear", 21, "f32[3, 70]; f32[3, 7]", "block_size=10"}), "");
  EXPECT_NE(refusal_of({"QuantizeLinear", 21, "f32[3, 70]; f32[]; i16[]"}), "");
  EXPECT_NE(refusal_of({"DequantizeLinear", 19, "u8[3]; f16[]"}), "");
}

TEST(QuantizedKernels, DynamicQuantizeLinear) {
  check_kernels({
      {"DynamicQuantizeLinear", 11, "f32[3, 70]", "", 3, 0},
      {"DynamicQuantizeLinear", 11, "f32[200, 333]", "", 3, 0},
      {"DynamicQuantizeLinear", 11, "f32[0]", "", 3, 0},
      {"DynamicQuantizeLinear", 11, "f32[4] = [0, 0, 0, 0]", "", 3, 0},
      {"DynamicQuantizeLinear", 11, "f32[4] = [2, 3, 4, 5]", "", 3, 0},
      {"DynamicQuantizeLinear", 11, "f32[]", "", 3, 0},
  });
}

TEST(QuantizedKernels, MatMulInteger) {
  for (const char* types : {"u8 i8", "u8 u8", "i8 i8", "i8 u8"})
    for (const char* constant : {"", "const "}) {
      const std::string a = std::string(types).substr(0, 2), b = std::string(types).substr(3), c = constant + b;
      check_kernels({
          {"MatMulInteger", 10, a + "[3, 5]; " + c + "[5, 7]"},
          {"MatMulInteger", 10, a + "[3, 5]; " + c + "[5, 7]; " + a + "[]"},
          {"MatMulInteger", 10, a + "[1, 300]; " + c + "[300, 70]; " + a + "[1]; " + b + "[]"},
          {"MatMulInteger", 10, a + "[70, 130]; " + c + "[130, 190]; " + a + "[]; " + b + "[190]"},
          {"MatMulInteger", 10, a + "[2, 9, 33]; " + c + "[33, 20]; ; " + b + "[1]"},
          {"MatMulInteger", 10, a + "[2, 1, 9, 33]; " + c + "[3, 33, 20]; " + a + "[]; " + b + "[]"},
          {"MatMulInteger", 10, a + "[9, 33]; " + c + "[3, 33, 20]; " + a + "[]"},
          {"MatMulInteger", 10, a + "[300, 17]; " + c + "[17, 64]"},
          {"MatMulInteger", 10, a + "[3, 0]; " + c + "[0, 5]"},
          {"MatMulInteger", 10, a + "[0, 4]; " + c + "[4, 5]"},
          {"MatMulInteger", 10, a + "[2, 4]; " + c + "[4, 0]"},
      });
    }
  EXPECT_NE(refusal_of({"MatMulInteger", 10, "u8[3, 5]; i8[5, 7]; u8[3]"}), "");
  EXPECT_NE(refusal_of({"MatMulInteger", 10, "u8[5]; i8[5, 7]"}), "");
}

TEST(QuantizedKernels, QLinearMatMul) {
  for (const char* types : {"u8 i8 u8", "u8 u8 u8", "i8 i8 i8", "i8 i8 u8"}) {
    const std::string a = std::string(types).substr(0, 2), b = std::string(types).substr(3, 2),
                      y = std::string(types).substr(6);
    const std::string out = "; f32[] = [150.5]; " + y + "[]", left = "; f32[]; " + a + "[]; const " + b;
    check_kernels({
        {"QLinearMatMul", 10, a + "[3, 5]" + left + "[5, 7]; f32[]; " + b + "[]" + out},
        {"QLinearMatMul", 10, a + "[40, 130]" + left + "[130, 190]; f32[190]; " + b + "[190]" + out},
        {"QLinearMatMul", 10, a + "[2, 9, 33]" + left + "[33, 20]; f32[1]; " + b + "[1]" + out},
        {"QLinearMatMul", 10, a + "[9, 33]; f32[]; " + a + "[]; " + b + "[2, 33, 20]; f32[]; " + b + "[]" + out},
        {"QLinearMatMul", 10, a + "[0, 33]" + left + "[33, 20]; f32[]; " + b + "[]" + out},
    });
  }
  EXPECT_NE(refusal_of({"QLinearMatMul", 10, "u8[3, 5]; f32[3]; u8[3]; u8[5, 7]; f32[]; u8[]; f32[]; u8[]"}), "");
  // Sums that take more than 32 bits.
  check_kernels({
      {"QLinearMatMul", 10, "u8[2, 40000]; f32[]; u8[]; u8[40000, 3]; f32[3]; u8[3]; f32[] = [9999]; u8[] = [99]"},
      {"QLinearMatMul", 10, "i8[2, 1, 33100]; f32[]; i8[]; i8[2, 33100, 2]; f32[]; i8[]; f32[] = [9999]; i8[]"},
  });
}

TEST(QuantizedKernels, MatMulIntegerToFloat) {
  const std::string op = "com.microsoft:MatMulIntegerToFloat";
  check_kernels({
      {op, 1, "u8[3, 5]; const i8[5, 7]; f32[]; f32[]; u8[]; i8[]; f32[7]", "", 1, kUlp},
      {op, 1, "u8[30, 65]; const i8[65, 70]; f32[]; f32[70]; u8[]; i8[70]", "", 1, kUlp},
      {op, 1, "i8[2, 5, 65]; const u8[65, 70]; f32[1]; f32[70]; ; ; f32[70]", "", 1, kUlp},
      {op, 1, "u8[30, 65]; i8[65, 70]; f32[]; f32[]", "", 1, kUlp},
  });
}

TEST(QuantizedKernels, IntegerMatMul) {
  const std::string op = "anyshape:IntegerMatMul";
  check_kernels({
      {op, 1, "u8[3, 5]; const i8[5, 7]; f32[]; f32[]; u8[]; i8[]; f32[7]", "", 1, 0},
      {op, 1, "u8[30, 65]; const i8[65, 70]; f32[]; f32[70]; u8[]; i8[70]", "", 1, 0},
      {op, 1, "i8[2, 5, 65]; const u8[65, 70]; f32[1]; ; ; ; f32[70]", "", 1, 0},
      {op, 1, "u8[30, 65]; i8[65, 70]; f32[]; f32[]; ; ; f32[1]", "", 1, 0},
  });
}

TEST(QuantizedKernels, QGemm) {
  const std::string op = "com.microsoft:QGemm";
  check_kernels({
      {op, 1, "u8[3, 5]; f32[]; u8[]; const i8[5, 7]; f32[]; i8[]; const i32[7]; f32[] = [30.5]; u8[]"},
      {op, 1, "i8[9, 65]; f32[]; i8[]; const i8[70, 65]; f32[70]; i8[70]; const i32[70]; f32[] = [30.5]; i8[]",
       "transB=1 alpha=0.3"},
      {op, 1, "u8[9, 65]; f32[]; u8[]; const u8[65, 70]; f32[70]; u8[70]; const i32[70]", "", 1, 0},
      {op, 1, "u8[9, 65]; f32[]; u8[]; u8[65, 70]; f32[]; u8[]", "alpha=1.5", 1, 0},
  });
  EXPECT_NE(refusal_of({op, 1, "u8[5, 3]; f32[]; u8[]; const i8[5, 7]; f32[]; i8[]", "transA=1"}), "");
  EXPECT_NE(refusal_of({op, 1, "u8[3, 5]; f32[]; u8[]; const i8[5, 7]; f32[]; i8[]; i32[7]"}), "");
  EXPECT_NE(refusal_of({op, 1, "u8[3, 1]; f32[]; u8[]; const i8[1, 1]; f32[]; i8[]; const i32[1] = [2147483647]"}), "");
}

// Kernels, strides, dilations, pads, groups, one and two axes.
struct ConvRow {
  const char *x, *w, *attributes;
  int64_t filters;
};
constexpr ConvRow kConvs[] = {
    {"[2, 3, 9, 11]", "[5, 3, 3, 3]", "pads=[1,1,1,1]", 5},
    {"[1, 64, 12, 13]", "[30, 64, 3, 3]", "pads=[1,1,1,1]", 30},
    {"[1, 17, 30, 40]", "[33, 17, 1, 1]", "", 33},
    {"[2, 8, 15, 14]", "[9, 8, 1, 1]", "strides=[2,2]", 9},
    {"[1, 6, 15, 14]", "[9, 6, 3, 3]", "strides=[2,2] pads=[1,1,0,1]", 9},
    {"[1, 3, 40, 41]", "[8, 3, 7, 7]", "strides=[2,2] pads=[3,3,3,3]", 8},
    {"[1, 5, 20, 19]", "[4, 5, 3, 2]", "strides=[3,3] dilations=[2,3] pads=[0,2,1,0]", 4},
    {"[2, 6, 12, 12]", "[8, 3, 3, 3]", "group=2 pads=[1,1,1,1]", 8},
    {"[2, 10, 7, 12]", "[6, 5, 3, 3]", "group=2 pads=[1,1,1,1]", 6},
    {"[2, 37, 12, 18]", "[37, 1, 5, 3]", "group=37 pads=[2,1,2,1] dilations=[1,2]", 37},
    {"[2, 7, 12, 18]", "[7, 1, 3, 3]", "group=7 pads=[1,1,1,1]", 7},
    {"[1, 7, 13, 18]", "[7, 1, 3, 3]", "group=7 strides=[2,2] pads=[1,1,1,1]", 7},
    {"[1, 4, 13, 18]", "[8, 1, 5, 5]", "group=4 strides=[1,2] dilations=[1,2] pads=[2,2,2,2]", 8},
    {"[1, 4, 13, 18]", "[4, 1, 3, 3]", "group=4 strides=[3,3]", 4},
    {"[3, 4, 70]", "[6, 4, 5]", "strides=[2] pads=[2,2]", 6},
    {"[1, 4, 20]", "[6, 4, 3]", "auto_pad=SAME_UPPER strides=[2]", 6},
    {"[1, 4, 9, 9]", "[6, 4, 4, 4]", "auto_pad=SAME_LOWER", 6},
    {"[0, 4, 9, 9]", "[6, 4, 3, 3]", "", 6},
    {"[2, 1, 8, 8]", "[3, 1, 3, 3]", "pads=[2,2,2,2]", 3},
    {"[1, 260, 7, 7]", "[100, 260, 3, 3]", "pads=[1,1,1,1]", 100},
};

TEST(QuantizedKernels, Convolutions) {
  for (const ConvRow& row : kConvs)
    for (const char* types : {"u8 i8 u8", "u8 u8 u8", "i8 i8 i8", "i8 u8 i8"}) {
      const std::string x = std::string(types).substr(0, 2), w = std::string(types).substr(3, 2),
                        y = std::string(types).substr(6), each = "[" + std::to_string(row.filters) + "]";
      const std::string input = x + row.x, weights = "const " + w + row.w, scale = "; f32[]; ",
                        out = "; f32[] = [150.5]; ";
      check_kernels({
          {"ConvInteger", 10, input + "; " + weights, row.attributes},
          {"ConvInteger", 10, input + "; " + weights + "; " + x + "[]; " + w + "[]", row.attributes},
          {"QLinearConv", 10, input + scale + x + "[]; " + weights + scale + w + "[]" + out + y + "[]", row.attributes},
          {"QLinearConv", 10,
           input + scale + x + "[]; " + weights + "; f32" + each + "; " + w + each + out + y + "[]; i32" + each,
           row.attributes},
      });
    }
  // On every instruction set.
  simd::for_each_target([&] {
    for (const ConvRow& row : kConvs)
      check_kernels({{"ConvInteger", 10, std::string("u8") + row.x + "; const u8" + row.w + "; u8[]", row.attributes}});
    check_kernels(
        {{"QLinearConv", 10,
          "u8[1, 9, 9, 13]; f32[]; u8[]; const i8[14, 9, 3, 3]; f32[14]; i8[14]; f32[] = [150.5]; u8[]; i32[14]"},
         // Sums and bias together take more than 32 bits.
         {"QLinearConv", 10,
          "u8[1, 900, 1, 13]; f32[] = [0.01]; u8[] = [9]; const i8[2, 900, 1, 1]; f32[] = [0.01]; i8[] = [0]; "
          "f32[] = [2000.5]; u8[] = [9]; i32[2] = [2147483647, -2147483648]"}});
  });
  EXPECT_NE(refusal_of({"ConvInteger", 10, "u8[1, 4, 9, 9]; i8[6, 4, 3, 3]"}), "");
  EXPECT_NE(refusal_of({"ConvInteger", 10, "u8[1, 4, 9, 9, 9]; const i8[6, 4, 3, 3, 3]"}), "");
}

// Groups of few channels, with more filters than one for each of them.
bool has_small_groups(const ConvRow& row) {
  return std::string_view(row.w).substr(0, 6) == "[8, 1," || std::string_view(row.w).substr(0, 6) == "[8, 3,";
}

// The sizes of [n, c, ...] as [n, ..., c].
std::string with_channels_last(std::string_view dims) {
  const size_t first = dims.find(", "), second = dims.find(", ", first + 2);
  const std::string_view channels = dims.substr(first, second - first);
  return std::string(dims.substr(0, first)) + std::string(dims.substr(second, dims.size() - second - 1)) +
         std::string(channels) + "]";
}

TEST(QuantizedKernels, ConvolutionsWithChannelsLast) {
  for (const ConvRow& row : kConvs) {
    if (has_small_groups(row)) continue;
    for (const char* types : {"u8 i8 u8", "i8 u8 i8"}) {
      const std::string x = std::string(types).substr(0, 2), w = std::string(types).substr(3, 2),
                        y = std::string(types).substr(6), each = "[" + std::to_string(row.filters) + "]";
      const std::string input = x + with_channels_last(row.x) + "; f32[]; ", weights = "; const " + w + row.w,
                        out = "; f32[] = [150.5]; ", how = std::string(row.attributes) + " channels_last=1";
      simd::for_each_target([&] {
        check_kernels({
            {"com.microsoft:QLinearConv", 1, input + x + "[]" + weights + "; f32[]; " + w + "[]" + out + y + "[]", how},
            {"com.microsoft:QLinearConv", 1,
             input + x + "[]" + weights + "; f32" + each + "; " + w + each + out + y + "[]; const i32" + each, how},
        });
      });
    }
  }
}

TEST(QuantizedKernels, MatMulNBits) {
  check_kernels({
      {"com.microsoft:MatMulNBits", 1, "f32[3, 64]; const u8[70, 2, 16]; const f32[140]", "K=64 N=70 block_size=32"},
      {"com.microsoft:MatMulNBits", 1, "f32[2, 5, 70]; const u8[9, 3, 16]; const f32[27]; const u8[18]; ; f32[9]",
       "K=70 N=9 block_size=32"},
      {"com.microsoft:MatMulNBits", 1, "f32[1, 40]; const u8[130, 3, 16]; const f32[390]; const f32[390]",
       "K=40 N=130 block_size=16 bits=8"},
      {"com.microsoft:MatMulNBits", 1, "f32[4, 33]; const u8[5, 3, 4]; const f32[15]", "K=33 N=5 block_size=16 bits=2"},
      {"com.microsoft:MatMulNBits", 1, "f32[0, 32]; const u8[5, 1, 16]; const f32[5]", "K=32 N=5 block_size=32"},
  });
  EXPECT_NE(refusal_of({"com.microsoft:MatMulNBits", 1, "f32[3, 32]; u8[5, 1, 16]; f32[5]", "K=32 N=5 block_size=32"}),
            "");
}

TEST(QuantizedKernels, Requantize) {
  simd::for_each_target([&] {
    for (const char* types : {"u8 u8", "u8 i8", "i8 u8", "i8 i8"}) {
      const std::string x = std::string(types).substr(0, 2), y = std::string(types).substr(3);
      const std::string from = "; f32[] = [0.7]; " + x + "[]; ", to = "; f32[] = [0.3]; " + y + "[]";
      check_kernels({
          {"anyshape:Requantize", 1, x + "[2, 5, 7, 9]" + from + "f32[5]; f32[5]; f32[5]" + to, "least=0.0", 1, 0},
          {"anyshape:Requantize", 1, x + "[2, 7, 9, 37]" + from + "; f32[37]; " + to, "axis=-1 most=6.0", 1, 0},
          {"anyshape:Requantize", 1, x + "[3, 4]" + from + "f32[1]; ; f32[4]" + to, "", 1, 0},
          {"anyshape:Requantize", 1, x + "[3, 70]" + from + "; ; " + to, "", 1, 0},
          {"anyshape:Requantize", 1, x + "[0, 4, 2]" + from + "; ; " + to, "", 1, 0},
      });
    }
  });
}

}  // namespace
}  // namespace anyshape::cpu
