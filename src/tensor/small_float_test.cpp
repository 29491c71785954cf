#include "tensor/small_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/real.h"

namespace anyshape {
namespace {

constexpr DType kSigned[] = {DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz,
                             DType::f4e2m1,   DType::f6e2m3,     DType::f6e3m2};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

int codes(DType dtype) { return 1 << bits(dtype); }

TEST(SmallFloat, EveryCodeGivesItselfBack) {
  for (DType dtype : kSigned)
    for (int code = 0; code < codes(dtype); ++code) {
      const double value = small_float_value(dtype, static_cast<uint8_t>(code));
      if (std::isnan(value)) continue;
      EXPECT_EQ(small_float_code(dtype, value, std::isfinite(value)), code) << name(dtype);
    }
  for (int code = 0; code < 255; ++code)
    for (PowerRounding rounding : {PowerRounding::up, PowerRounding::down, PowerRounding::nearest})
      EXPECT_EQ(small_float_code(DType::f8e8m0, std::ldexp(1, code - 127), true, rounding), code);
}

// Between two neighbours the nearer one is taken, half way the even one.
TEST(SmallFloat, RoundsToNearestEven) {
  for (DType dtype : kSigned)
    for (int code = 0; code + 1 < codes(dtype) / 2; ++code) {
      const double low = small_float_value(dtype, static_cast<uint8_t>(code));
      const double high = small_float_value(dtype, static_cast<uint8_t>(code + 1));
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;
      EXPECT_EQ(small_float_code(dtype, middle), code % 2 == 0 ? code : code + 1) << name(dtype);
      EXPECT_EQ(small_float_code(dtype, std::nextafter(middle, low)), code) << name(dtype);
      EXPECT_EQ(small_float_code(dtype, std::nextafter(middle, high)), code + 1) << name(dtype);
    }
}

struct Row {
  DType dtype;
  double value;
  bool saturate;
  double want;
};

TEST(SmallFloat, Specials) {
  const double nan = std::nan("");
  for (const Row& row : {Row{DType::f8e4m3fn, 1e6, true, 448}, Row{DType::f8e4m3fn, -kInfinity, true, -448},
                         Row{DType::f8e4m3fn, 1e6, false, nan}, Row{DType::f8e5m2, 1e6, true, 57344},
                         Row{DType::f8e5m2, -1e6, false, -kInfinity}, Row{DType::f8e5m2fnuz, kInfinity, false, nan},
                         Row{DType::f8e4m3fnuz, kInfinity, true, 240}, Row{DType::f4e2m1, 1e6, false, 6},
                         Row{DType::f4e2m1, nan, true, 0}, Row{DType::f8e5m2, nan, true, nan},
                         Row{DType::f6e2m3, -kInfinity, false, -7.5}, Row{DType::f6e3m2, 1e6, true, 28},
                         Row{DType::f6e2m3, 5.25, true, 5}, Row{DType::f6e3m2, nan, false, 0},
                         Row{DType::f8e8m0, 0, true, 0x1p-127}, Row{DType::f8e8m0, 0, false, nan},
                         Row{DType::f8e8m0, kInfinity, true, 0x1p127}, Row{DType::f8e8m0, kInfinity, false, nan}}) {
    const double got = small_float_value(row.dtype, small_float_code(row.dtype, row.value, row.saturate));
    EXPECT_TRUE(got == row.want || (std::isnan(got) && std::isnan(row.want)))
        << name(row.dtype) << " of " << row.value << ": " << got;
  }
  EXPECT_EQ(small_float_code(DType::f8e4m3fnuz, -0.0), 0);
  EXPECT_EQ(small_float_code(DType::f8e4m3fn, -0.0), 0x80);
}

TEST(SmallFloat, TensorsOfPackedFloats) {
  const double values[] = {-1.5, 4, 0.5, -6, 3};
  for (DType dtype : {DType::f4e2m1, DType::f6e2m3, DType::f6e3m2}) {
    auto tensor = Tensor::allocate(dtype, {5});
    ASSERT_TRUE(tensor);
    for (int64_t i : {4, 1, 3, 0, 2}) {
      EXPECT_TRUE(set_real(*tensor, i, 7));
      EXPECT_TRUE(set_real(*tensor, i, values[i]));
    }
    for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(real_at(*tensor, i), values[i]) << name(dtype);
  }
}

// Four codes in three bytes, the first in the low bits.
TEST(SmallFloat, SixBitsArePackedWithoutGaps) {
  auto tensor = Tensor::allocate(DType::f6e2m3, {5});
  ASSERT_TRUE(tensor);
  for (int64_t i = 0; i < 5; ++i) tensor->set_int(i, 0x3f - 9 * i);
  ASSERT_EQ(tensor->bytes().size(), 4u);
  const unsigned codes[] = {0x3f, 0x36, 0x2d, 0x24, 0x1b};
  const unsigned packed = codes[0] | codes[1] << 6 | codes[2] << 12 | codes[3] << 18 | codes[4] << 24;
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(static_cast<unsigned>(tensor->bytes()[i]), packed >> (8 * i) & 0xff);
}

}  // namespace
}  // namespace anyshape
