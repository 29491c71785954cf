#include "run/cpu/simd/gemm_bytes.h"

#include <algorithm>
#include <cmath>

#include "run/cpu/simd/quantize.h"
#include "run/cpu/simd/simd_testing.h"

namespace anyshape::simd {
namespace {

// Matrices of random bytes, extremes often among them, and what they multiply to.
struct ByteCase {
  int64_t m, n, k, a_row, b_row, b_column;
  bool a_signed, b_signed;
  int32_t a_zero;
  std::vector<int32_t> b_zeros;
  std::vector<std::byte> a, b;

  static int64_t value(std::byte x, bool is_signed) {
    return is_signed ? static_cast<int64_t>(static_cast<int8_t>(x)) : static_cast<int64_t>(x);
  }
  int64_t product(int64_t i, int64_t j) const {
    int64_t sum = 0;
    const int64_t zero = b_zeros.empty() ? 0 : b_zeros[static_cast<size_t>(j)];
    for (int64_t x = 0; x < k; ++x)
      sum += (value(a[static_cast<size_t>(i * a_row + x)], a_signed) - a_zero) *
             (value(b[static_cast<size_t>(x * b_row + j * b_column)], b_signed) - zero);
    return sum;
  }
};

std::byte random_byte(Dice& dice) {
  switch (dice.between(0, 5)) {
    case 0:
      return std::byte{255};
    case 1:
      return std::byte{128};
    case 2:
      return std::byte{127};
    default:
      return static_cast<std::byte>(dice.between(0, 255));
  }
}

ByteCase random_case(Dice& dice) {
  ByteCase c;
  c.m = dice.size(30), c.n = dice.size(150), c.k = dice.size(140);
  c.a_row = c.k + dice.between(0, 3);
  const bool turned = dice.coin();
  c.b_row = turned ? 1 : c.n, c.b_column = turned ? c.k : 1;
  c.a_signed = dice.coin(), c.b_signed = dice.coin();
  c.a_zero = static_cast<int32_t>(c.a_signed ? dice.between(-128, 127) : dice.between(0, 255));
  if (dice.coin())
    for (int64_t j = 0; j < c.n; ++j)
      c.b_zeros.push_back(static_cast<int32_t>(c.b_signed ? dice.between(-128, 127) : dice.between(0, 255)));
  c.a.resize(static_cast<size_t>(c.m * c.a_row));
  c.b.resize(static_cast<size_t>(c.k * c.n));
  for (std::byte& x : c.a) x = random_byte(dice);
  for (std::byte& x : c.b) x = random_byte(dice);
  return c;
}

// The case packed, as byte_gemm takes it.
struct Packed {
  std::vector<int8_t> b;
  std::vector<int32_t> sums, zeros;
  std::vector<float> factors, bias;
  ByteGemm g;

  Packed(const ByteCase& c, Dice& dice) {
    const auto columns = static_cast<size_t>(byte_columns(c.n));
    b.resize(static_cast<size_t>(byte_packed_size(c.k, c.n)));
    sums.resize(columns), zeros.resize(columns), factors.resize(columns), bias.resize(columns);
    byte_pack(c.b.data(), c.b_signed, c.k, c.n, c.b_row, c.b_column, b.data(), sums.data());
    for (size_t j = 0; j < static_cast<size_t>(c.n); ++j) {
      zeros[j] = (c.b_zeros.empty() ? 0 : c.b_zeros[j]) - (c.b_signed ? 0 : 128);
      factors[j] = dice.number(0.01f), bias[j] = dice.number(3);
    }
    const bool no_zeros = c.b_zeros.empty() && c.b_signed;
    g = {.m = c.m, .n = c.n, .k = c.k, .a = c.a.data(), .a_row = c.a_row, .a_signed = c.a_signed};
    g.a_zero = c.a_zero + (c.a_signed ? 128 : 0);
    g.b = b.data(), g.b_sums = sums.data(), g.b_zeros = no_zeros ? nullptr : zeros.data();
    g.c_row = c.n, g.factors = factors.data(), g.bias = dice.coin() ? bias.data() : nullptr;
    g.scale = 0.75, g.zero = 3;
  }

  void run(ByteProduct kind, void* out, Dice& dice) {
    g.kind = kind, g.c = out;
    const int64_t cut = std::min(g.n, dice.between(0, 3) * byte_panel()), row = dice.between(0, g.m);
    byte_gemm(g, 0, row, 0, cut), byte_gemm(g, row, g.m, 0, cut), byte_gemm(g, 0, g.m, cut, g.n);
  }
};

TEST(GemmBytes, IsExact) {
  for (uint64_t seed = 1; seed <= 60; ++seed)
    for_each_target([&] {
      SCOPED_TRACE(seed);
      Dice dice(seed);
      const ByteCase c = random_case(dice);
      Packed p(c, dice);
      const auto count = static_cast<size_t>(c.m * c.n);
      std::vector<int32_t> sums(count + 1, 7);
      std::vector<int8_t> bytes(count + 1, 7);
      std::vector<float> floats(count + 1, 7), wide(count + 1, 7);
      p.run(ByteProduct::i32, sums.data(), dice);
      p.run(ByteProduct::i8, bytes.data(), dice);
      p.run(ByteProduct::f32, floats.data(), dice);
      p.run(ByteProduct::f32_wide, wide.data(), dice);
      for (size_t i = 0; i < count; ++i) {
        const size_t j = i % static_cast<size_t>(c.n);
        const int64_t sum = c.product(static_cast<int64_t>(i) / c.n, static_cast<int64_t>(j));
        ASSERT_EQ(sums[i], sum) << i;
        const double scaled = static_cast<double>(sum) * 0.75 * static_cast<double>(p.factors[j]);
        const float product = static_cast<float>(sum) * p.factors[j];
        ASSERT_EQ(bytes[i], std::clamp(std::nearbyint(product) + 3, -128.0f, 127.0f)) << i;
        ASSERT_EQ(floats[i], p.g.bias ? product + p.bias[j] : product) << i;
        ASSERT_EQ(wide[i], static_cast<float>(p.g.bias ? scaled + static_cast<double>(p.bias[j]) : scaled)) << i;
      }
      EXPECT_TRUE(sums[count] == 7 && bytes[count] == 7 && floats[count] == 7 && wide[count] == 7);
    });
}

// Rows that are windows: some runs each, anywhere in memory.
TEST(GemmBytes, RowsOfRuns) {
  for (uint64_t seed = 1; seed <= 30; ++seed)
    for_each_target([&] {
      SCOPED_TRACE(seed);
      Dice dice(seed);
      const int64_t m = dice.size(20), n = dice.size(90), k = dice.size(30), count = dice.size(9), room = 400;
      const int64_t padded = (k + 3) / 4 * 4;
      std::vector<std::byte> memory(static_cast<size_t>(room + k + 3)), b(static_cast<size_t>(count * padded * n));
      for (std::byte& x : memory) x = random_byte(dice);
      std::vector<int64_t> rows, runs;
      for (int64_t i = 0; i < m; ++i) rows.push_back(dice.between(0, room / 2));
      for (int64_t i = 0; i < count; ++i) runs.push_back(dice.between(0, room / 2));
      for (int64_t i = 0; i < count * padded; ++i)
        for (int64_t j = 0; j < n && i % padded < k; ++j) b[static_cast<size_t>(i * n + j)] = random_byte(dice);
      const auto columns = static_cast<size_t>(byte_columns(n));
      std::vector<int8_t> packed(static_cast<size_t>(byte_packed_size(count * padded, n)));
      std::vector<int32_t> sums(columns), zeros(columns, 3), out(static_cast<size_t>(m * n));
      byte_pack(b.data(), true, count * padded, n, n, 1, packed.data(), sums.data());
      ByteGemm g{.m = m, .n = n, .k = k, .a = memory.data(), .rows = rows.data(), .runs = runs.data()};
      g.run_count = count, g.slack = dice.coin(), g.a_signed = dice.coin(), g.a_zero = g.a_signed ? 130 : 2;
      g.b = packed.data(), g.b_sums = sums.data(), g.b_zeros = dice.coin() ? zeros.data() : nullptr;
      g.c = out.data(), g.c_row = n;
      byte_gemm(g, 0, m, 0, n);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          int64_t sum = 0;
          for (int64_t r = 0; r < count; ++r)
            for (int64_t x = 0; x < k; ++x) {
              const auto at = static_cast<size_t>(rows[static_cast<size_t>(i)] + runs[static_cast<size_t>(r)] + x);
              const int64_t left = ByteCase::value(memory[at], g.a_signed) - 2;
              const int64_t right = ByteCase::value(b[static_cast<size_t>((r * padded + x) * n + j)], true);
              sum += left * (right - (g.b_zeros ? 3 : 0));
            }
          ASSERT_EQ(out[static_cast<size_t>(i * n + j)], sum) << i << " " << j;
        }
    });
}

TEST(GemmBytes, FactorsThatAreNoNumbers) {
  for_each_target([&] {
    const std::vector<std::byte> a{std::byte{1}}, b{std::byte{1}, std::byte{0}, std::byte{2}};
    std::vector<int8_t> packed(static_cast<size_t>(byte_packed_size(1, 3)));
    std::vector<int32_t> sums(static_cast<size_t>(byte_columns(3)));
    std::vector<float> factors(sums.size(), INFINITY);
    factors[2] = -INFINITY;
    byte_pack(b.data(), true, 1, 3, 3, 1, packed.data(), sums.data());
    ByteGemm g{.m = 1, .n = 3, .k = 1, .a = a.data(), .a_row = 1, .b = packed.data(), .b_sums = sums.data()};
    uint8_t out[3];
    g.kind = ByteProduct::u8, g.c = out, g.c_row = 3, g.factors = factors.data(), g.zero = 9;
    byte_gemm(g, 0, 1, 0, 3);
    EXPECT_EQ(out[0], 255);
    EXPECT_EQ(out[1], 0);
    EXPECT_EQ(out[2], 0);
  });
}

TEST(Quantize, Runs) {
  const float specials[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-42f, 0.5f, 1.5f, 2.5f, -0.5f, 3e38f};
  for (uint64_t seed = 1; seed <= 30; ++seed)
    for_each_target([&] {
      SCOPED_TRACE(seed);
      Dice dice(seed);
      const auto n = static_cast<size_t>(dice.size(200));
      auto x = dice.numbers(static_cast<int64_t>(n), 200);
      for (size_t i = 0; i < n; i += 3) x[i] = specials[static_cast<size_t>(dice.between(0, 9))];
      const bool is_signed = dice.coin(), per_entry = dice.coin();
      std::vector<float> scales(n + 1, 1.0f);
      std::vector<int32_t> zeros(n + 1, 5);
      for (size_t i = 0; i <= n; ++i)
        if (dice.coin()) scales[i] = std::fabs(dice.number(3)), zeros[i] = static_cast<int32_t>(dice.between(0, 127));
      const Quantization q{scales.data(), zeros.data(), per_entry};
      std::vector<std::byte> bytes(n + 1, std::byte{7});
      quantize_run(x.data(), static_cast<int64_t>(n), q, is_signed, bytes.data());
      std::vector<float> back(n + 1, 7);
      dequantize_run(bytes.data(), static_cast<int64_t>(n), q, is_signed, back.data());
      float low = 0, high = 0;
      for (size_t i = 0; i < n; ++i) {
        const size_t at = per_entry ? i : 0;
        const double least = is_signed ? -128 : 0, value = std::nearbyint(x[i] / scales[at]) + zeros[at];
        const double wanted = std::isnan(value) ? least : std::clamp(value, least, least + 255);
        const int got = is_signed ? static_cast<int8_t>(bytes[i]) : static_cast<int>(bytes[i]);
        ASSERT_EQ(got, wanted) << x[i] << " by " << scales[at];
        ASSERT_EQ(back[i], static_cast<float>(got - zeros[at]) * scales[at]);
        low = std::fmin(low, x[i]), high = std::fmax(high, x[i]);
      }
      EXPECT_TRUE(bytes[n] == std::byte{7} && back[n] == 7);
      const Range range = range_of(x.data(), static_cast<int64_t>(n));
      EXPECT_TRUE(range.low == low && range.high == high);
    });
}

}  // namespace
}  // namespace anyshape::simd
