#include "run/cpu/simd/attention_f32.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "run/cpu/simd/simd_testing.h"

namespace anyshape::simd {
namespace {

// A matrix with odd strides.
template <class T>
struct Matrix {
  std::vector<T> memory;
  int64_t row = 0, column = 1;

  T at(int64_t i, int64_t j) const { return memory[static_cast<size_t>(i * row + j * column)]; }
};

Matrix<float> random_matrix(Dice& dice, int64_t rows, int64_t columns) {
  Matrix<float> m;
  const int64_t gap = dice.between(0, 3);
  if (dice.coin())
    m.row = columns + gap;
  else
    m.row = 1, m.column = rows + gap;
  if (dice.between(0, 4) == 0) m.row *= 2, m.column *= 2;
  m.memory = dice.numbers(std::max<int64_t>(rows * m.row, 1) + columns * m.column + 1, 2);
  return m;
}

struct AttentionCase {
  AttentionSpec spec;
  int64_t queries = 0;
  Matrix<float> q, k, v, mask;
  Matrix<uint8_t> where;
  AttentionHead head;
};

void add_masks(Dice& dice, AttentionCase& c) {
  const float infinity = std::numeric_limits<float>::infinity();
  if (dice.coin()) {
    c.mask = random_matrix(dice, c.queries, c.spec.keys);
    if (dice.coin()) c.mask.row = 0;
    if (dice.between(0, 5) == 0) c.mask.column = 0;
    for (float& x : c.mask.memory)
      if (dice.between(0, 3) == 0) x = dice.coin() ? -infinity : std::numeric_limits<float>::lowest();
    c.head.mask = c.mask.memory.data(), c.head.mask_row = c.mask.row, c.head.mask_column = c.mask.column;
  }
  if (dice.coin()) {
    c.where.row = dice.coin() ? c.spec.keys : 0, c.where.column = dice.between(0, 4) == 0 ? 0 : 1;
    for (int64_t i = 0; i <= c.queries * c.spec.keys; ++i) c.where.memory.push_back(dice.coin());
    c.head.where = c.where.memory.data(), c.head.where_row = c.where.row, c.head.where_column = c.where.column;
    c.spec.fill = dice.coin() ? -infinity : -1e9f;
    c.spec.keep = dice.coin(), c.spec.where_first = dice.coin();
  }
}

AttentionCase random_case(uint64_t seed) {
  Dice dice(seed);
  AttentionCase c;
  AttentionSpec& s = c.spec;
  s.size = dice.size(70), s.keys = dice.size(dice.between(0, 5) == 0 ? 400 : 90),
  s.values = dice.coin() ? 16 * dice.between(1, 5) : dice.size(70);
  c.queries = dice.size(20);
  s.scale = dice.number();
  s.nan_to_zero = dice.coin();
  c.q = random_matrix(dice, c.queries, s.size);
  c.k = random_matrix(dice, s.size, s.keys);
  c.v = random_matrix(dice, s.keys, s.values);
  c.head.q = c.q.memory.data(), c.head.q_row = c.q.row, c.head.q_column = c.q.column;
  c.head.k = c.k.memory.data(), c.head.k_row = c.k.row, c.head.k_column = c.k.column;
  c.head.v = c.v.memory.data(), c.head.v_row = c.v.row, c.head.v_column = c.v.column;
  c.head.out_row = s.values + dice.between(0, 2);
  add_masks(dice, c);
  return c;
}

// The weights of one row, softmax as it is written; what masks make of scores is exact in float.
std::vector<double> weights_of(const AttentionCase& c, int64_t row) {
  const AttentionSpec& s = c.spec;
  std::vector<double> w;
  double top = -INFINITY, sum = 0;
  for (int64_t j = 0; j < s.keys; ++j) {
    double x = 0;
    for (int64_t i = 0; i < s.size; ++i) x += static_cast<double>(c.q.at(row, i)) * c.k.at(i, j);
    x *= s.scale;
    const auto choose = [&] {
      if (c.head.where && (c.where.at(row, j) != 0) != s.keep) x = s.fill;
    };
    if (s.where_first) choose();
    if (c.head.mask) x = static_cast<float>(x + c.mask.at(row, j));
    if (!s.where_first) choose();
    w.push_back(x);
    top = std::max(top, x);
  }
  for (double& x : w) sum += x = std::exp(x - top);
  for (double& x : w) x = std::isnan(x / sum) && s.nan_to_zero ? 0 : x / sum;
  return w;
}

TEST(Attention, RandomHeads) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 400; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      AttentionCase c = random_case(seed);
      std::vector<float> out(static_cast<size_t>(c.queries * c.head.out_row + 1), 77.0f);
      c.head.out = out.data();
      std::vector<float> scratch(static_cast<size_t>(attention_scratch(c.spec, c.head) + 1), 77.0f);
      attention_pack(c.spec, c.head, scratch.data());
      const int64_t cut = c.queries / 3;
      attention_rows(c.spec, c.head, cut, c.queries, scratch.data());
      attention_rows(c.spec, c.head, 0, cut, scratch.data());
      ASSERT_EQ(scratch.back(), 77.0f);
      for (int64_t r = 0; r < c.queries; ++r) {
        const auto w = weights_of(c, r);
        for (int64_t j = 0; j < c.head.out_row; ++j) {
          const float got = out[static_cast<size_t>(r * c.head.out_row + j)];
          double wanted = j < c.spec.values ? 0 : 77;
          for (int64_t i = 0; j < c.spec.values && i < c.spec.keys; ++i)
            wanted += w[static_cast<size_t>(i)] * c.v.at(i, j);
          if (std::isnan(wanted))
            ASSERT_TRUE(std::isnan(got)) << r << ", " << j;
          else
            ASSERT_NEAR(got, wanted, 1e-5) << r << ", " << j;
        }
      }
      ASSERT_EQ(out.back(), 77.0f);
    }
  });
}

// The weights of a row sum up to 1 before they meet values near the largest float.
TEST(Attention, LargeValues) {
  for_each_target([] {
    AttentionSpec spec;
    spec.size = 1, spec.keys = 300, spec.values = 17, spec.scale = 1;
    const float large = 0.999f * std::numeric_limits<float>::max();
    const std::vector<float> q(2, 0.0f), k(300, 0.0f), v(300 * 17, large);
    std::vector<float> out(2 * 17);
    AttentionHead head;
    head.q = q.data(), head.q_row = 1, head.q_column = 1;
    head.k = k.data(), head.k_row = 300, head.k_column = 1;
    head.v = v.data(), head.v_row = 17, head.v_column = 1;
    head.out = out.data(), head.out_row = 17;
    std::vector<float> scratch(static_cast<size_t>(attention_scratch(spec, head)));
    attention_pack(spec, head, scratch.data());
    attention_rows(spec, head, 0, 2, scratch.data());
    for (float x : out) ASSERT_NEAR(x / large, 1, 1e-5);
  });
}

}  // namespace
}  // namespace anyshape::simd
