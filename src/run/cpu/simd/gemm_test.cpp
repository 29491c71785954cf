#include "run/cpu/simd/gemm.h"

#include <gtest/gtest.h>

#include <cstring>

#include "run/cpu/simd/simd_testing.h"

namespace anyshape::simd {
namespace {

double activated_entry(const ActivationSpec& s, double x) {
  switch (s.kind) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::clip:
      return std::min<double>(std::max<double>(x, s.a), s.b);
    case Activation::leaky_relu:
      return x < 0 ? x * s.a : x;
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::gelu:
      return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::hard_swish:
      return x * std::min(1.0, std::max(0.0, x / 6 + 0.5));
  }
  return x;
}

// One random product, by gemm_tile and by three loops.
struct GemmCase {
  Gemm g;
  std::vector<float> a, b, packed, c, scratch, bias, residual;
  std::vector<std::byte> unaligned;

  float a_at(int64_t i, int64_t k) const { return a[static_cast<size_t>(i * g.a_row + k * g.a_column)]; }

  explicit GemmCase(Dice& dice) {
    g.m = dice.size(40), g.n = dice.size(200), g.k = dice.coin() ? dice.size(60) : dice.size(900);
    if (dice.between(0, 9) == 0) g.k += 1024;
    set_a(dice);
    set_b(dice);
    set_epilogue(dice);
    g.c_row = g.n + dice.between(0, 3);
    c.assign(static_cast<size_t>(g.m * g.c_row + 1), -77.0f);
    g.c = c.data();
    scratch.assign(static_cast<size_t>(gemm_scratch(g) + 16), std::nanf(""));
  }

  void set_a(Dice& dice) {
    const int64_t kind = dice.between(0, 2), gap = dice.between(0, 3);
    g.a_row = kind == 0 ? g.k + gap : kind == 1 ? 1 : 2 * g.k + 1;
    g.a_column = kind == 0 ? 1 : kind == 1 ? g.m + gap : 2;
    if (kind == 0 && dice.between(0, 3) == 0) g.a_row = (g.k + 511) / 512 * 512;
    a = dice.numbers((g.m + 1) * g.a_row + (g.k + 1) * g.a_column + 1);
    g.a = a.data();
  }

  void set_b(Dice& dice) {
    const int64_t gap = dice.between(0, 2);
    const bool transposed = dice.coin(), odd = dice.between(0, 5) == 0;
    g.b_row = transposed ? 1 : g.n + gap;
    g.b_column = transposed ? g.k + gap : 1;
    if (odd) g.b_row *= 2, g.b_column *= 2;
    g.b_scale = dice.coin() ? 1.0f : 0.75f;
    b = dice.numbers(g.k * g.b_row + g.n * g.b_column + 1);
    g.b_packed = dice.coin();
    g.b = b.data();
    if (!g.b_packed) return;
    packed.assign(static_cast<size_t>(gemm_packed_size(g.k, g.n) + 1), std::nanf(""));
    const size_t shift = static_cast<size_t>(dice.between(0, 3));
    unaligned.resize(b.size() * sizeof(float) + 4);
    std::memcpy(unaligned.data() + shift, b.data(), b.size() * sizeof(float));
    gemm_pack(unaligned.data() + shift, g.k, g.n, g.b_row, g.b_column, g.b_scale, packed.data());
    g.b = packed.data();
  }

  void set_epilogue(Dice& dice) {
    bias = dice.numbers(std::max<int64_t>({g.m, g.n, 1}));
    residual = dice.numbers(g.m * (g.n + 2) + 1);
    const float scale = dice.coin() ? 1.0f : -0.5f;
    const int64_t kind = dice.between(0, 3);
    if (kind == 1) g.epilogue.bias = Addend::per_column(bias.data(), scale);
    if (kind == 2) g.epilogue.bias = Addend::per_row(bias.data(), scale);
    if (kind == 3) g.epilogue.bias = {bias.data(), 0, 0, scale};
    if (dice.coin()) g.epilogue.residual = {residual.data(), g.n + 2, 1, 1.0f};
    g.epilogue.activation = {static_cast<Activation>(dice.between(0, 9)), -0.25f, 0.5f};
  }

  double expected(int64_t i, int64_t j, double& size) const {
    double sum = 0;
    size = 1;
    const auto add = [&](double x) { sum += x, size += std::abs(x); };
    for (int64_t k = 0; k < g.k; ++k)
      add(static_cast<double>(a_at(i, k)) * b[static_cast<size_t>(k * g.b_row + j * g.b_column)] * g.b_scale);
    for (const Addend& e : {g.epilogue.bias, g.epilogue.residual})
      if (e.data) add(static_cast<double>(e.data[i * e.row + j * e.column]) * e.scale);
    return activated_entry(g.epilogue.activation, sum);
  }

  void run(Dice& dice) {
    float* aligned = scratch.data();
    while (reinterpret_cast<uintptr_t>(aligned) % 64 != 0) ++aligned;
    if (dice.coin()) return gemm_tile(g, 0, g.m, 0, g.n, aligned);
    const int64_t i = g.m / 2, j = std::min(g.n, g.n / 2 / gemm_panel() * gemm_panel());
    gemm_tile(g, i, g.m, 0, j, aligned);
    gemm_tile(g, 0, i, j, g.n, aligned);
    gemm_tile(g, 0, i, 0, j, aligned);
    gemm_tile(g, i, g.m, j, g.n, aligned);
  }
};

TEST(Gemm, AgainstLoops) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 150; ++seed) {
      Dice dice(seed);
      GemmCase x(dice);
      SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << x.g.m << "x" << x.g.k << "x" << x.g.n);
      x.run(dice);
      for (int64_t i = 0; i < x.g.m; ++i) {
        for (int64_t j = 0; j < x.g.c_row; ++j) {
          const float got = x.c[static_cast<size_t>(i * x.g.c_row + j)];
          double size = 0;
          const double wanted = j < x.g.n ? x.expected(i, j, size) : -77;
          ASSERT_NEAR(got, wanted, 2e-6 * size) << i << ", " << j;
        }
      }
      ASSERT_EQ(x.c.back(), -77.0f);
    }
  });
}

// 65,536 equal terms: added one after the other they end 6e-4 off.
TEST(Gemm, RoundingErrorsStaySmall) {
  for_each_target([] {
    const int64_t k = 1 << 16, n = gemm_panel();
    for (const int64_t m : {1, 3, 13}) {
      const std::vector<float> a(static_cast<size_t>(m * k), 1.0f);
      const std::vector<float> b(static_cast<size_t>(gemm_packed_size(k, n)), 0.1f);
      std::vector<float> c(static_cast<size_t>(m * n)), scratch(1 << 18);
      const Gemm g{.m = m, .n = n, .k = k, .a = a.data(), .a_row = k, .b = b.data(), .c = c.data(), .c_row = n};
      gemm_tile(g, 0, m, 0, n, scratch.data());
      const double sum = static_cast<double>(k) * 0.1f;
      for (const float x : c) ASSERT_NEAR(x, sum, 1e-5 * sum) << m << " rows";
    }
  });
}

// The output may take the place of what is added to it.
TEST(Gemm, ResidualInPlace) {
  for_each_target([] {
    Dice dice(7);
    const int64_t m = 5, k = 800, n = 37;
    const auto a = dice.numbers(m * k), b = dice.numbers(k * n), residual = dice.numbers(m * n);
    std::vector<float> plain(static_cast<size_t>(m * n)), c = residual, scratch(1 << 18);
    Gemm g{.m = m, .n = n, .k = k, .a = a.data(), .a_row = k, .b = b.data(), .b_packed = false, .b_row = n};
    g.c = plain.data(), g.c_row = n;
    g.epilogue.residual = {residual.data(), n, 1};
    gemm_tile(g, 0, m, 0, n, scratch.data());
    g.c = c.data();
    g.epilogue.residual.data = c.data();
    gemm_tile(g, 0, m, 0, n, scratch.data());
    EXPECT_EQ(c, plain);
  });
}

TEST(Gemm, TilesCoverTheOutput) {
  for (const bool packed : {false, true}) {
    for (uint64_t seed = 1; seed <= 300; ++seed) {
      Dice dice(seed);
      const int64_t m = dice.size(5000), n = dice.size(5000), k = dice.size(2000);
      const GemmTiles t = gemm_tiles(m, n, k, packed);
      ASSERT_GE(t.count(), 1);
      ASSERT_GE(t.rows * t.down, m);
      ASSERT_GE(t.columns * t.across, n);
      ASSERT_TRUE(t.across == 1 || t.columns % gemm_panel() == 0) << "seed " << seed;
      ASSERT_TRUE(m == 0 || t.rows * (t.down - 1) < m) << "seed " << seed;
      ASSERT_TRUE(n == 0 || t.columns * (t.across - 1) < n) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace anyshape::simd
