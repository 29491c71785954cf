#include "ops/movement/slice.h"

#include <gtest/gtest.h>

#include <random>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

constexpr const char* kMax = "9223372036854775807";

TEST(Slice, Sizes) {
  const std::string max = kMax;
  check_rows({
      {"Slice", 13, "f32[b, s]; i64[1] = [0]; i64[1] = [" + max + "]; i64[1] = [1]", "", "f32[b, s]"},
      {"Slice", 13, "f32[b, s]; i64[1] = [1]; i64[1] = [" + max + "]; i64[1] = [1]", "", "f32[b, max(s - 1, 0)]"},
      {"Slice", 13, "f32[b, s]; i64[1] = [-1]; i64[1] = [" + max + "]; i64[1] = [1]", "", "f32[b, min(s, 1)]"},
      {"Slice", 13, "f32[b, s]; i64[1] = [0]; i64[1] = [-1]; i64[1] = [1]", "", "f32[b, max(s - 1, 0)]"},
      {"Slice", 13, "f32[b, s + 1]; i64[1] = [1]; i64[1] = [" + max + "]; i64[1] = [-1]", "", "f32[b, s]"},
      {"Slice", 13, "f32[b, s + 1]; i64[1] = [-1]; i64[1] = [" + max + "]; i64[1] = [-1]", "", "f32[b, 1]"},
      {"Slice", 13, "f32[512, 8]; i64[1] = [0]; i64[1] = [s]; i64[1] = [0]", "", "f32[min(s, 512), 8]"},
      {"Slice", 13, "f32[s + 5, 8]; i64[1] = [0]; i64[1] = [s]; i64[1] = [0]", "", "f32[s, 8]"},
      {"Slice", 13, "f32[s, 8]; i64[1] = [t]; i64[1] = [" + max + "]; i64[1] = [0]", "", "f32[max(s - t, 0), 8]"},
      {"Slice", 13, "f32[s + t, 8]; i64[1] = [t]; i64[1] = [" + max + "]; i64[1] = [0]", "", "f32[s, 8]"},
      {"Slice", 13, "f32[h]; i64[1] = [0]; i64[1] = [" + max + "]; i64[1] = [0]; i64[1] = [2]", "", "f32[(h + 1)//2]"},
      {"Slice", 13, "f32[h]; i64[1] = [1]; i64[1] = [" + max + "]; i64[1] = [0]; i64[1] = [2]", "", "f32[h//2]"},
      {"Slice", 13, "f32[h]; i64[1] = [-1]; i64[1] = [-" + max + "]; i64[1] = [0]; i64[1] = [-1]", "", "f32[h]"},
      {"Slice", 10, "f32[2*h, 3]; i32[1] = [h]; i32[1] = [2147483647]; i32[1] = [0]", "", "f32[h, 3]"},
      {"Slice", 1, "f32[b, 10]", "starts=[2] ends=[5] axes=[1]", "f32[b, 3]"},
      {"Slice", 1, "f32[b, 10]", "starts=[0, -3] ends=[1, 100]", "f32[min(b, 1), 3]"},
      {"Slice", 13, "i64[4] = [b, c, h, w]; i64[1] = [2]; i64[1] = [4]; i64[1] = [0]", "", "i64[2] = [h, w]"},
      {"Slice", 13, "i64[4] = [b, c, h, w]; i64[1] = [-1]; i64[1] = [-9]; i64[1] = [0]; i64[1] = [-2]", "",
       "i64[2] = [w, c]"},
      {"Slice", 13, "f32[3]; i64[1] = [0]; i64[1] = [2]; i64[1] = [0]; i64[1] = [0]", "", "error[slice.step]"},
      {"Slice", 13, "f32[]; i64[1] = [0]; i64[1] = [2]", "", "error[slice.rank]"},
      {"Slice", 13, "f32[3, 3]; i64[2] = [0, 0]; i64[2] = [1, 1]; i64[2] = [0, 0]", "", "error[axis.repeated]"},
      {"Slice", 13, "f32[3, 3]; i64[2] = [0, 0]; i64[1] = [1]", "", "error[slice.lists]"},
      {"Slice", 13, "f32[3, 3]; i64[1] = [0]; i64[1] = [1]; i64[1] = [5]", "", "error[axis.range]"},
      {"Slice", 13, "f32[3, 3]; f32[1] = [0]; i64[1] = [1]; i64[1] = [0]", "", "error[dtype]"},
  });
}

TEST(Slice, UnknownEnds) {
  check_rows({
      {"Slice", 13, "f32[s, 4]; i64[1]; i64[1] = [3]; i64[1] = [0]", "", "f32[slice, 4]"},
      {"Slice", 13, "f32[s, 4]; i64[1]; i64[1] = [3]; i64[1]", "", "f32[slice, slice.1]"},
      {"Slice", 13, "i64[s] over 0..s - 1; i64[1]; i64[1]; i64[1] = [0]", "", "i64[slice] in 0..s - 1"},
  });
}

TEST(Slice, Kernel) {
  check_kernel_rows({
      {"Slice", 13, "f32[5] = [0, 1, 2, 3, 4]; i64[1] = [-9]; i64[1] = [-100]; i64[1] = [0]; i64[1] = [-1]", "",
       "f32[1] = [0]"},
      {"Slice", 13, "f32[5] = [0, 1, 2, 3, 4]; i64[1] = [100]; i64[1] = [-100]; i64[1] = [0]; i64[1] = [-2]", "",
       "f32[3] = [4, 2, 0]"},
      {"Slice", 13, "f32[2, 3] = [0, 1, 2, 3, 4, 5]; i64[2] = [1, -2]; i64[2] = [9, 9]", "", "f32[1, 2] = [4, 5]"},
  });
}

// The expression and the operator's own clamping agree at every size.
TEST(Slice, ExpressionEqualsClamping) {
  std::mt19937 random(20240611);
  const auto pick = [&](int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); };
  for (int trial = 0; trial < 300; ++trial) {
    const int64_t start = pick(-7, 7), end = pick(-7, 7);
    int64_t step = pick(-3, 3);
    step = step == 0 ? 1 : step;
    const Row row{"Slice", 13,
                  fmt::format("f32[s]; i64[1] = [{}]; i64[1] = [{}]; i64[1] = [0]; i64[1] = [{}]", start, end, step),
                  "", "f32[s]"};
    const std::string out = answer(row).out;
    Symbols symbols;
    std::string error;
    const auto size = parse_dim(out.substr(4, out.size() - 5), symbols, &error);
    ASSERT_TRUE(size) << out << " " << error;
    for (int64_t s = 0; s < 12; ++s) {
      const auto value = evaluate(*size, [&](Dim) { return std::optional<int64_t>(s); });
      EXPECT_EQ(value, slice_range(s, start, end, step).count) << row.in << " gives " << out << " at s = " << s;
    }
  }
}

}  // namespace
}  // namespace anyshape::ops
