#include "run/cpu/simd/rows.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "run/cpu/simd/simd_testing.h"
#include "run/cpu/simd/strided_copy.h"

namespace anyshape::simd {
namespace {

TEST(Rows, Softmax) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      const int64_t rows = dice.size(5), n = dice.size(300);
      const auto in = dice.numbers(rows * n, dice.coin() ? 3.0f : 100.0f);
      for (const bool logarithm : {false, true}) {
        std::vector<float> out(in.size() + 1, 77.0f);
        softmax_rows(in.data(), out.data(), 0, rows, n, logarithm);
        EXPECT_EQ(out.back(), 77.0f);
        for (int64_t r = 0; r < rows; ++r) {
          double top = -1e30, sum = 0;
          for (int64_t i = 0; i < n; ++i) top = std::max<double>(top, in[static_cast<size_t>(r * n + i)]);
          for (int64_t i = 0; i < n; ++i) sum += std::exp(in[static_cast<size_t>(r * n + i)] - top);
          for (int64_t i = 0; i < n; ++i) {
            const double x = in[static_cast<size_t>(r * n + i)] - top;
            const double wanted = logarithm ? x - std::log(sum) : std::exp(x) / sum;
            // The difference to the largest entry is rounded before its exponential is taken.
            const double limit = logarithm ? 3e-6 * (1 + std::fabs(wanted)) : 1e-6 * (3 - x) * wanted + 1e-30;
            ASSERT_NEAR(out[static_cast<size_t>(r * n + i)], wanted, limit);
          }
        }
      }
    }
  });
}

// As of rows, apart from the order of the sum: 90 terms, each rounded once.
TEST(Rows, SoftmaxOfColumns) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      const int64_t outer = dice.size(4), n = dice.size(90), inner = dice.size(70);
      auto in = dice.numbers(outer * n * inner, dice.coin() ? 3.0f : 100.0f);
      for (float& x : in)
        if (dice.between(0, 200) == 0) x = dice.coin() ? -INFINITY : std::nanf("");
      for (const bool logarithm : {false, true}) {
        std::vector<float> out(in.size() + 1, 77.0f), row(static_cast<size_t>(n)), wanted(row.size());
        softmax_columns(in.data(), out.data(), 0, outer, n, inner, logarithm);
        EXPECT_EQ(out.back(), 77.0f);
        for (int64_t c = 0; c < outer * inner; ++c) {
          const int64_t start = c / inner * n * inner + c % inner;
          for (int64_t i = 0; i < n; ++i) row[static_cast<size_t>(i)] = in[static_cast<size_t>(start + i * inner)];
          softmax_rows(row.data(), wanted.data(), 0, 1, n, logarithm);
          for (int64_t i = 0; i < n; ++i) {
            const float got = out[static_cast<size_t>(start + i * inner)], is = wanted[static_cast<size_t>(i)];
            ASSERT_TRUE(got == is || (std::isnan(got) && std::isnan(is)) ||
                        std::fabs(got - is) <= 1e-5f * std::fabs(is) + 1e-30f + (logarithm ? 1e-5f : 0.0f))
                << got << ", " << is;
          }
        }
      }
    }
  });
}

TEST(Rows, SoftmaxOfMaskedEntries) {
  for_each_target([] {
    const float infinity = std::numeric_limits<float>::infinity();
    const float in[] = {-infinity, 0, -infinity, 0};
    float out[4];
    softmax_rows(in, out, 0, 1, 4, false);
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(out[1], 0.5f);
    const float with_nan[] = {1, std::nanf(""), 2, 3};
    softmax_rows(with_nan, out, 0, 1, 4, false);
    for (float x : out) EXPECT_TRUE(std::isnan(x));
  });
}

TEST(Rows, LayerNorm) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      const int64_t rows = dice.size(5), n = std::max<int64_t>(dice.size(300), 1);
      const auto in = dice.numbers(rows * n), scale = dice.numbers(n), bias = dice.numbers(n);
      std::vector<float> out(in.size() + 1, 77.0f), mean(5), deviation(5);
      LayerNorm norm{in.data(), out.data(), n, scale.data(), bias.data(), 1, 0, 1e-3f};
      norm.subtract_mean = dice.coin();
      norm.mean = mean.data(), norm.deviation = deviation.data();
      layer_norm_rows(norm, 0, rows);
      EXPECT_EQ(out.back(), 77.0f);
      for (int64_t r = 0; r < rows; ++r) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; ++i) sum += in[static_cast<size_t>(r * n + i)];
        const double middle = norm.subtract_mean ? sum / static_cast<double>(n) : 0;
        for (int64_t i = 0; i < n; ++i) squares += std::pow(in[static_cast<size_t>(r * n + i)] - middle, 2);
        const double inverse = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-3);
        EXPECT_NEAR(mean[static_cast<size_t>(r)], middle, 1e-6);
        EXPECT_NEAR(deviation[static_cast<size_t>(r)], inverse, 1e-5 * inverse);
        for (int64_t i = 0; i < n; ++i)
          ASSERT_NEAR(out[static_cast<size_t>(r * n + i)],
                      (in[static_cast<size_t>(r * n + i)] - middle) * inverse * scale[static_cast<size_t>(i)] + bias[0],
                      1e-5);
      }
    }
  });
}

// Against sums in double, entries of size 1 about a mean of 3: within 1e-5, times what divides them where that is more.
TEST(Rows, ChannelNorm) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      const int64_t rows = dice.size(5), repeat = std::max<int64_t>(dice.size(dice.coin() ? 9000 : 40), 1);
      const int64_t per_row = dice.between(1, 3), n = repeat * per_row, count = per_row * dice.between(1, 2);
      auto in = dice.numbers(rows * n);
      for (float& x : in) x += 3;
      const auto scale = dice.numbers(count), bias = dice.numbers(count);
      std::vector<float> out(in.size() + 1, 77.0f);
      const ChannelNorm norm{in.data(), out.data(), n, scale.data(), bias.data(), repeat, count, 1e-3f};
      const int64_t cut = rows / 2;
      channel_norm_rows(norm, cut, rows);
      channel_norm_rows(norm, 0, cut);
      EXPECT_EQ(out.back(), 77.0f);
      for (int64_t r = 0; r < rows; ++r) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; ++i) sum += in[static_cast<size_t>(r * n + i)];
        const double middle = sum / static_cast<double>(n);
        for (int64_t i = 0; i < n; ++i) squares += std::pow(in[static_cast<size_t>(r * n + i)] - middle, 2);
        const double inverse = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-3);
        for (int64_t i = 0; i < n; ++i) {
          const auto c = static_cast<size_t>((r * n + i) / repeat % count);
          const double wanted = (in[static_cast<size_t>(r * n + i)] - middle) * inverse * scale[c] + bias[c];
          ASSERT_NEAR(out[static_cast<size_t>(r * n + i)], wanted, 1e-5 * std::max(1.0, inverse)) << r << ", " << i;
        }
      }
    }
  });
}

double reduced(Reduction reduction, const float* x, int64_t n, int64_t step) {
  double all = reduction == Reduction::max ? -INFINITY : reduction == Reduction::min ? INFINITY : 0;
  for (int64_t i = 0; i < n; ++i) {
    const double v = x[i * step];
    if (reduction == Reduction::max)
      all = std::max(all, v);
    else if (reduction == Reduction::min)
      all = std::min(all, v);
    else if (reduction == Reduction::sum_square || reduction == Reduction::l2)
      all += v * v;
    else
      all += reduction == Reduction::l1 ? std::fabs(v) : v;
  }
  if (reduction == Reduction::l2) return std::sqrt(all);
  return reduction == Reduction::mean && n > 0 ? all / static_cast<double>(n) : all;
}

TEST(Rows, Reduce) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 100; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      const int64_t outer = dice.size(4), n = dice.size(300), inner = dice.coin() ? 1 : dice.size(70);
      const auto in = dice.numbers(outer * n * inner);
      const auto kind = static_cast<Reduction>(dice.between(0, 6));
      std::vector<float> out(static_cast<size_t>(outer * inner) + 1, 77.0f);
      reduce_rows(kind, in.data(), out.data(), 0, outer, n, inner);
      EXPECT_EQ(out.back(), 77.0f);
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < inner; ++i) {
          const double wanted = reduced(kind, in.data() + o * n * inner + i, n, inner);
          const float got = out[static_cast<size_t>(o * inner + i)];
          ASSERT_TRUE(got == wanted || std::fabs(got - wanted) < 1e-5 * (1 + std::fabs(wanted)))
              << got << ", " << wanted;
        }
    }
  });
}

TEST(StridedCopy, Turned) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    const int64_t rows = dice.size(90), columns = dice.size(90), from_row = columns + dice.between(0, 3);
    const auto in = dice.numbers(rows * from_row);
    std::vector<float> out(static_cast<size_t>(rows * columns) + 1, 77.0f);
    const std::vector<int64_t> dims{columns, rows}, from{1, from_row}, to{rows, 1};
    const View source{DType::f32, dims, from, reinterpret_cast<std::byte*>(const_cast<float*>(in.data()))};
    copy_view(source, View{DType::f32, dims, to, reinterpret_cast<std::byte*>(out.data())});
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        ASSERT_EQ(std::bit_cast<uint32_t>(out[static_cast<size_t>(c * rows + r)]),
                  std::bit_cast<uint32_t>(in[static_cast<size_t>(r * from_row + c)]));
    EXPECT_EQ(out.back(), 77.0f);
  }
}

TEST(StridedCopy, AnyOrderOfAxes) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    std::vector<int64_t> dims, from(static_cast<size_t>(dice.between(0, 4))), to(from.size());
    for (size_t i = 0; i < from.size(); ++i) dims.push_back(dice.size(dice.coin() ? 4 : 20));
    std::vector<size_t> order(from.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<size_t>(dice.between(0, static_cast<int64_t>(i) - 1))]);
    int64_t step = dice.between(1, 2), count = 1;
    for (size_t axis : order) from[axis] = step, step *= dims[axis];
    for (size_t i = dims.size(); i-- > 0; count *= dims[i]) to[i] = count;
    const auto in = dice.numbers(step + 1);
    std::vector<float> out(static_cast<size_t>(count) + 1, 77.0f);
    const View source{DType::f32, dims, from, reinterpret_cast<std::byte*>(const_cast<float*>(in.data()))};
    const View target{DType::f32, dims, to, reinterpret_cast<std::byte*>(out.data())};
    const int64_t pieces = copy_pieces(source, target), cut = dice.between(0, pieces);
    copy_view(source, target, cut, pieces);
    copy_view(source, target, 0, cut);
    std::vector<int64_t> index(dims.size(), 0);
    for (int64_t n = 0; n < count; ++n) {
      int64_t at = 0;
      for (size_t i = 0; i < index.size(); ++i) at += index[i] * from[i];
      ASSERT_EQ(out[static_cast<size_t>(n)], in[static_cast<size_t>(at)]) << n;
      for (size_t axis = dims.size(); axis-- > 0 && ++index[axis] == dims[axis];) index[axis] = 0;
    }
    EXPECT_EQ(out.back(), 77.0f);
  }
}

}  // namespace
}  // namespace anyshape::simd
