#include "kernels/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace anyshape::kernels {
namespace {

// The first of the published known answers of the generator.
TEST(Random, KnownAnswer) {
  const auto words = Random(0).words(0);
  EXPECT_EQ(words[0], 0x6627e8d5u);
  EXPECT_EQ(words[1], 0xe169c58du);
  EXPECT_EQ(words[2], 0xbc57ac4cu);
  EXPECT_EQ(words[3], 0x9b00dbd8u);
}

TEST(Random, Moments) {
  const Random random(7);
  constexpr int kCount = 100'000;
  double sum = 0, squares = 0, uniform = 0;
  for (uint64_t i = 0; i < kCount; ++i) {
    const double u = random.uniform(i), n = random.normal(i);
    ASSERT_TRUE(u >= 0 && u < 1 && std::isfinite(n));
    uniform += u;
    sum += n;
    squares += n * n;
  }
  EXPECT_NEAR(uniform / kCount, 0.5, 0.01);
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.03);
}

TEST(Random, SeedsDiffer) {
  EXPECT_EQ(Random(1).uniform(5), Random(1).uniform(5));
  EXPECT_NE(Random(1).uniform(5), Random(2).uniform(5));
  EXPECT_NE(Random(1).uniform(5), Random(uint64_t{1} << 32).uniform(5));
}

}  // namespace
}  // namespace anyshape::kernels
