#include "mqh/sample.h"

#include <gtest/gtest.h>

#include <limits>

namespace anyshape::mqh {
namespace {

TEST(MqhSample, TheGeneratorOfTheClass) {
  Generator generator;
  // By hand: state 1 becomes 1103527590, then 377401575 and 662824084.
  EXPECT_EQ(generator.next(), 1103527590u / 256);
  EXPECT_EQ(generator.next(), 377401575u / 256);
  EXPECT_EQ(generator.next(), 662824084u / 256);
}

TEST(MqhSample, EntriesFollowTheRecipe) {
  Generator generator;
  Recipe recipe{{1, 100}, {0, 10}, 2, 8};
  const auto reals = draw(generator, recipe, DType::f32, 8);
  EXPECT_EQ(reals[0], 1);
  EXPECT_EQ(reals[1], 1);
  EXPECT_NE(reals[2], 100);
  EXPECT_GE(reals[3], 90);
  EXPECT_LT(reals[3], 110);
  EXPECT_EQ(reals[4], 1);
  for (double whole : draw(generator, recipe, DType::i64, 100)) EXPECT_TRUE(whole >= 0 && whole < 8) << whole;
  for (double flag : draw(generator, recipe, DType::boolean, 100)) EXPECT_TRUE(flag == 0 || flag == 1) << flag;
}

TEST(MqhSample, AllEntriesOfASmallOutput) {
  const Tensor tensor = tensor_of(DType::f32, {3}, {1, -4, 2}).value();
  const OutputSample sample = sample_of(tensor);
  EXPECT_EQ(sample.entries, (std::vector<double>{1, -4, 2}));
  EXPECT_EQ(sample.step, 1);
  EXPECT_EQ(sample.scale, 4);
  EXPECT_NEAR(sample.weighted, (1 * 1 - 2 * 4 + 3 * 2) / 3.0, 1e-12);
  EXPECT_GT(sample.tolerance, 0);
}

TEST(MqhSample, SomeEntriesOfALargeOutput) {
  std::vector<double> entries(1000);
  for (size_t i = 0; i < entries.size(); ++i) entries[i] = static_cast<double>(i);
  const OutputSample sample = sample_of(tensor_of(DType::i32, {1000}, entries).value());
  EXPECT_EQ(sample.step, 16);
  EXPECT_EQ(sample.entries.size(), 63u);
  EXPECT_EQ(sample.entries[62], 992);
  EXPECT_EQ(sample.tolerance, 0);
  EXPECT_EQ(sample.scale, 1);
}

TEST(MqhSample, WhatIsNotFinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  const Tensor tensor = tensor_of(DType::f64, {2}, {infinite, 3}).value();
  EXPECT_FALSE(all_finite(tensor));
  EXPECT_EQ(sample_of(tensor).entries, (std::vector<double>{kNotFinite, 3}));
  EXPECT_EQ(sample_of(tensor).scale, 3);
}

}  // namespace
}  // namespace anyshape::mqh
