#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/functions_test.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

template <class Fn>
HWY_INLINE void map(const float* in, float* out, int64_t n, Fn fn) {
  for (int64_t i = 0; i < n; i += kLanes) store_n(fn(load_n(in + i, n - i)), out + i, n - i);
}

void run_function(int which, const float* in, float* out, int64_t n) {
  switch (which) {
    case 0:
      return map(in, out, n, [](V x) HWY_ATTR { return tanh_fast(x); });
    case 1:
      return map(in, out, n, [](V x) HWY_ATTR { return sigmoid_fast(x); });
    case 2:
      return map(in, out, n, [](V x) HWY_ATTR { return erf_fast(x); });
    default:
      return map(in, out, n, [](V x) HWY_ATTR { return exp_below_zero(x); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "run/cpu/simd/simd_testing.h"

namespace anyshape::simd {
namespace {

HWY_EXPORT(run_function);

struct Row {
  double (*plain)(double);
  float least, most;
  double absolute, relative;
};

// The bounds that simd-inl.h states.
constexpr Row kRows[] = {
    {[](double x) { return std::tanh(x); }, -12, 12, 4e-7, 0},
    {[](double x) { return 1 / (1 + std::exp(-x)); }, -20, 20, 2.5e-7, 0},
    {[](double x) { return std::erf(x); }, -6, 6, 4.5e-7, 0},
    {[](double x) { return std::exp(x); }, -110, 0, 1.2e-38, 2.2e-7},
};

TEST(Functions, QuickOnesAreWithinTheirBounds) {
  for_each_target([] {
    for (int which = 0; which < 4; ++which) {
      const Row& row = kRows[which];
      std::vector<float> in;
      for (int i = 0; i <= 400000; ++i)
        in.push_back(row.least + (row.most - row.least) * static_cast<float>(i) / 400000.0f);
      for (float x = 1e-38f; x < row.most; x *= 1.37f) in.push_back(x), in.push_back(-x);
      std::vector<float> out(in.size());
      HWY_DYNAMIC_DISPATCH(run_function)(which, in.data(), out.data(), static_cast<int64_t>(in.size()));
      for (size_t i = 0; i < in.size(); ++i) {
        const double wanted = row.plain(in[i]);
        ASSERT_NEAR(out[i], wanted, row.absolute + row.relative * wanted) << "function " << which << " of " << in[i];
      }
    }
  });
}

TEST(Functions, QuickOnesOfSpecialNumbers) {
  for_each_target([] {
    const float infinity = std::numeric_limits<float>::infinity();
    const float in[] = {infinity, -infinity, 3e38f, -3e38f, std::nanf("")};
    for (int which = 0; which < 3; ++which) {
      float out[5];
      HWY_DYNAMIC_DISPATCH(run_function)(which, in, out, 5);
      for (int i = 0; i < 4; ++i) EXPECT_NEAR(out[i], kRows[which].plain(in[i]), kRows[which].absolute) << which;
      EXPECT_TRUE(std::isnan(out[4])) << which;
    }
    const float below[] = {-infinity, -3e38f, std::nanf("")};
    float out[3];
    HWY_DYNAMIC_DISPATCH(run_function)(3, below, out, 3);
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(out[1], 0);
    EXPECT_TRUE(std::isnan(out[2]));
  });
}

}  // namespace
}  // namespace anyshape::simd
#endif
