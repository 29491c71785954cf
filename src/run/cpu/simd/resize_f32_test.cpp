#include "run/cpu/simd/resize_f32.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/cpu/simd/simd_testing.h"

namespace anyshape::simd {
namespace {

struct RandomTable {
  std::vector<int32_t> from;
  std::vector<float> weights;
  ResizeTable table;
};

// Some weights are 0; entry `in` - 1 has no other.
RandomTable random_table(Dice& dice, int64_t in, int64_t out, int64_t taps) {
  RandomTable t;
  for (int64_t i = 0; i < out * taps; ++i) t.from.push_back(static_cast<int32_t>(dice.between(0, in - 1)));
  if (dice.coin() && out > 0)
    for (int64_t k = 0; k < taps; ++k) {
      const auto first = t.from.begin() + k * out;
      std::sort(first, first + out);
      t.table.in_order = in;
    }
  for (int64_t i = 0; i < out * taps; ++i)
    t.weights.push_back(dice.between(0, 3) == 0 || t.from[static_cast<size_t>(i)] == in - 1 ? 0 : dice.number());
  t.table = {out, taps, t.from.data(), t.weights.data(), t.table.in_order};
  return t;
}

double wanted(const RandomTable& t, const std::vector<float>& row, int64_t inner, int64_t place, int64_t i) {
  double sum = 0;
  for (int64_t k = 0; k < t.table.taps; ++k) {
    const auto at = static_cast<size_t>(k * t.table.out + place);
    if (t.weights[at] != 0) sum += double{t.weights[at]} * row[static_cast<size_t>(t.from[at] * inner + i)];
  }
  return sum;
}

TEST(ResizeF32, RowsByTables) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      const int64_t in = dice.between(2, 90), out = dice.size(70), inner = dice.between(1, 40);
      const int64_t taps = int64_t{1} << dice.between(0, 2);
      const RandomTable t = random_table(dice, in, out, taps);
      auto row = dice.numbers(in * inner);
      for (int64_t i = 0; i < inner; ++i) row[static_cast<size_t>((in - 1) * inner + i)] = INFINITY;
      std::vector<float> to(static_cast<size_t>(out * inner) + 1, 77.0f);
      resize_row_of(t.table, row.data(), inner, to.data());
      EXPECT_EQ(to.back(), 77.0f);
      for (int64_t i = 0; i < out * inner; ++i)
        ASSERT_NEAR(to[static_cast<size_t>(i)], wanted(t, row, inner, i / inner, i % inner), 1e-6) << i;
      row[static_cast<size_t>(in - 1)] = std::nanf("");
      std::vector<float> flat(static_cast<size_t>(out) + 1, 77.0f);
      resize_row(t.table, row.data(), flat.data());
      EXPECT_EQ(flat.back(), 77.0f);
      for (int64_t i = 0; i < out; ++i) ASSERT_NEAR(flat[static_cast<size_t>(i)], wanted(t, row, 1, i, 0), 1e-6) << i;
    }
  });
}

TEST(ResizeF32, PickedEntriesKeepTheirBits) {
  for_each_target([] {
    Dice dice(3);
    auto row = dice.numbers(40);
    row[0] = -0.0f, row[1] = INFINITY, row[2] = std::numeric_limits<float>::denorm_min();
    std::vector<int32_t> from;
    for (int64_t i = 0; i < 67; ++i) from.push_back(static_cast<int32_t>(i < 3 ? i : dice.between(0, 39)));
    std::vector<float> to(68, 77.0f);
    for (const int64_t in_order : {0, 40}) {
      if (in_order > 0) std::sort(from.begin(), from.end());
      resize_row({67, 1, from.data(), nullptr, in_order}, row.data(), to.data());
      EXPECT_EQ(to.back(), 77.0f);
      for (size_t i = 0; i < 67; ++i) ASSERT_EQ(to[i], row[static_cast<size_t>(from[i])]);
      EXPECT_TRUE(std::signbit(to[0]));
    }
  });
}

TEST(ResizeF32, RowsAreMixed) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      const int64_t n = dice.size(100), count = dice.between(0, 4);
      const auto in = dice.numbers(n * 4 + 1), weights = dice.numbers(4);
      const float* rows[4];
      for (int64_t k = 0; k < 4; ++k) rows[k] = in.data() + k * n;
      std::vector<float> to(static_cast<size_t>(n) + 1, 0.5f);
      const bool add = dice.coin();
      mix_rows(rows, weights.data(), count, n, add, to.data());
      EXPECT_EQ(to.back(), 0.5f);
      for (int64_t i = 0; i < n; ++i) {
        double sum = add ? 0.5 : 0;
        for (int64_t k = 0; k < count; ++k) sum += double{weights[static_cast<size_t>(k)]} * rows[k][i];
        ASSERT_NEAR(to[static_cast<size_t>(i)], sum, 1e-6);
      }
    }
  });
}

}  // namespace
}  // namespace anyshape::simd
