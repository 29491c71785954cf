#include "run/cpu/simd/blocked.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "run/cpu/simd/blocked_testing.h"

namespace anyshape::simd {
namespace {

BlockedConv random_conv(Dice& dice) {
  BlockedConv c;
  c.batch = dice.between(0, 9) == 0 ? 0 : dice.between(1, 2);
  const int64_t kind = dice.between(0, 4);  // any, pointwise, depthwise, groups, plain input
  c.in_channels = dice.between(1, 70), c.out_channels = dice.between(1, 70);
  if (kind == 2) c.groups = dice.between(2, 70), c.in_channels = c.out_channels = 1;
  if (kind == 3) {
    c.groups = dice.between(2, 3);
    c.in_channels = block_lanes() * dice.between(1, 2), c.out_channels = block_lanes() * dice.between(1, 3);
  }
  if (kind == 4) c.plain_input = true, c.in_channels = dice.between(1, 4);
  random_axis(dice, kind == 1, c.in_width, c.out_width, c.kernel_width, c.stride_x, c.dilation_x, c.pad_left);
  if (dice.coin())
    random_axis(dice, kind == 1, c.in_height, c.out_height, c.kernel_height, c.stride_y, c.dilation_y, c.pad_top);
  c.exact = true;
  return c;
}

ActivationSpec random_activation(Dice& dice) {
  constexpr Activation kAll[] = {Activation::none,       Activation::relu, Activation::clip, Activation::leaky_relu,
                                 Activation::sigmoid,    Activation::tanh, Activation::gelu, Activation::gelu_tanh,
                                 Activation::hard_swish, Activation::silu};
  ActivationSpec spec{kAll[dice.between(0, std::size(kAll) - 1)]};
  if (spec.kind == Activation::clip) spec.a = -0.5f, spec.b = 0.75f;
  if (spec.kind == Activation::leaky_relu) spec.a = 0.1f;
  return spec;
}

TEST(Blocked, ConvAgainstLoops) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 150; ++seed) {
      Dice dice(seed);
      const BlockedConv c = random_conv(dice);
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << blocked_conv_way(c));
      ConvCase x(dice, c, random_activation(dice));
      x.run(dice);
      ASSERT_LE(x.worst(), 1e-5);
      ASSERT_TRUE(x.guards_hold());
    }
  });
}

// Rows of all widths, with windows that reach over either edge or both.
TEST(Blocked, Lines) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      Dice dice(seed);
      BlockedConv c;
      c.batch = 1;
      c.plain_input = dice.coin();
      c.groups = c.plain_input ? 1 : dice.between(2, 40);
      c.in_channels = c.plain_input ? dice.between(1, 5) : 1, c.out_channels = c.plain_input ? dice.between(1, 70) : 1;
      c.kernel_width = dice.coin() ? 3 : 5, c.kernel_height = dice.between(1, 5);
      c.stride_x = dice.between(1, 2), c.stride_y = dice.between(1, 2);
      c.pad_left = dice.between(0, c.kernel_width), c.pad_top = dice.between(0, c.kernel_height - 1);
      const int64_t right = dice.between(0, c.kernel_width), bottom = dice.between(0, c.kernel_height - 1);
      c.in_width = std::max(dice.between(1, 35), c.kernel_width - c.pad_left - right);
      c.in_height = std::max(dice.between(1, 9), c.kernel_height - c.pad_top - bottom);
      c.out_width = (c.in_width + c.pad_left + right - c.kernel_width) / c.stride_x + 1;
      c.out_height = (c.in_height + c.pad_top + bottom - c.kernel_height) / c.stride_y + 1;
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", width " << c.in_width << " to " << c.out_width);
      ConvCase x(dice, c, random_activation(dice));
      if (dice.coin()) x.residual_in_place();
      x.run(dice);
      ASSERT_LE(x.worst(), 1e-5);
      ASSERT_TRUE(x.guards_hold());
    }
  });
}

// What the layers of real models look like: whole blocks, wide panels, several chunks of the sum.
TEST(Blocked, ConvOfLargeDepth) {
  struct Row {
    int64_t in, out, size, kernel, stride;
    bool plain;
  };
  constexpr Row kRows[] = {{512, 64, 7, 3, 1, false}, {512, 96, 5, 3, 2, false}, {1100, 130, 6, 1, 1, false},
                           {64, 64, 9, 7, 1, false},  {3, 64, 33, 7, 2, true},   {600, 32, 4, 3, 1, true}};
  for_each_target([&] {
    for (const Row& row : kRows) {
      Dice dice(7);
      BlockedConv c;
      c.batch = 1;
      c.in_channels = row.in, c.out_channels = row.out;
      c.in_height = c.in_width = row.size;
      c.kernel_height = c.kernel_width = row.kernel;
      c.stride_y = c.stride_x = row.stride;
      c.pad_top = c.pad_left = row.kernel / 2;
      c.out_height = c.out_width = (row.size - 1) / row.stride + 1;
      c.plain_input = row.plain;
      c.exact = true;
      SCOPED_TRACE(testing::Message() << row.in << " to " << row.out << ", kernel " << row.kernel);
      ConvCase x(dice, c, {});
      x.run(dice);
      EXPECT_LE(x.worst(), 1e-6 * std::sqrt(static_cast<double>(row.in * row.kernel * row.kernel)));
      EXPECT_LE(x.relative_error(), 1e-6);
    }
  });
}

// The ways of other sums: relative error of a layer at most 3e-6, of 2x2 tiles much less.
TEST(Blocked, WinogradAgainstLoops) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      Dice dice(seed);
      BlockedConv c;
      c.batch = dice.between(0, 3);
      c.groups = dice.between(0, 3) == 0 ? 2 : 1;
      c.in_channels = c.groups == 2 ? 16 : dice.between(16, 70);
      c.out_channels = c.groups == 2 ? 16 * dice.between(1, 5) : dice.between(16, 150);
      c.kernel_height = c.kernel_width = 3;
      c.pad_top = dice.between(0, 4), c.pad_left = dice.between(0, 4);
      const int64_t bottom = dice.between(0, 4), right = dice.between(0, 4);
      c.in_height = dice.between(3, 12), c.in_width = dice.between(3, 19);
      c.out_height = c.in_height + c.pad_top + bottom - 2, c.out_width = c.in_width + c.pad_left + right - 2;
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      ASSERT_EQ(blocked_conv_way(c), "winograd 4x4");
      ConvCase x(dice, c, random_activation(dice));
      x.run(dice);
      ASSERT_LE(x.worst(), 2e-5);
      ASSERT_LE(c.batch > 0 ? x.relative_error() : 0, 3e-6);
      ASSERT_TRUE(x.guards_hold());
    }
  });
}

TEST(Blocked, PhasesAgainstLoops) {
  for_each_target([] {
    if (block_lanes() < 4) return;  // the phases of a channel are in one block
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      Dice dice(seed);
      BlockedConv c;
      c.batch = dice.between(0, 2);
      c.plain_input = true;
      c.in_channels = dice.between(1, 4), c.out_channels = dice.between(16, 90);
      c.kernel_height = dice.between(7, 8), c.kernel_width = dice.between(7, 8);
      c.stride_y = c.stride_x = 2;
      c.pad_top = dice.between(0, 9), c.pad_left = dice.between(0, 9);
      const int64_t bottom = dice.between(0, 9), right = dice.between(0, 9);
      c.in_height = dice.between(8, 70), c.in_width = dice.between(8, 170);
      c.out_height = (c.in_height + c.pad_top + bottom - c.kernel_height) / 2 + 1;
      c.out_width = (c.in_width + c.pad_left + right - c.kernel_width) / 2 + 1;
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      ASSERT_EQ(blocked_conv_way(c), "winograd 3x3 of phases");
      ConvCase x(dice, c, random_activation(dice));
      x.run(dice);
      ASSERT_LE(x.worst(), 2e-5);
      ASSERT_LE(c.batch > 0 ? x.relative_error() : 0, 3e-6);
      ASSERT_TRUE(x.guards_hold());
    }
  });
}

TEST(Blocked, WinogradOfManyChannels) {
  struct Row {
    int64_t in, out, size;
    std::string_view way;
    double error;
  };
  constexpr Row kRows[] = {{256, 256, 7, "winograd 4x4", 3e-6}, {512, 512, 4, "winograd 2x2", 1e-6},
                           {128, 128, 4, "winograd 2x2", 1e-6}, {128, 128, 5, "winograd 4x4", 3e-6},
                           {1024, 64, 5, "winograd 4x4", 3e-6}, {2048, 16, 4, "winograd 4x4", 3e-6}};
  for_each_target([&] {
    for (const Row& row : kRows) {
      Dice dice(5);
      BlockedConv c;
      c.batch = 1;
      c.in_channels = row.in, c.out_channels = row.out;
      c.in_height = c.in_width = c.out_height = c.out_width = row.size;
      c.kernel_height = c.kernel_width = 3;
      c.pad_top = c.pad_left = 1;
      ASSERT_EQ(blocked_conv_way(c), row.way);
      ConvCase x(dice, c, {});
      x.run(dice);
      EXPECT_LE(x.relative_error(), row.error) << row.in;
    }
  });
}

// A number that is none or without end reaches the places whose window has it, and no others.
TEST(Blocked, SpecialsStayInTheirWindows) {
  for_each_target([] {
    for (int64_t groups : {1, 20}) {
      Dice dice(3);
      BlockedConv c;
      c.batch = 1;
      c.groups = groups;
      c.in_channels = c.out_channels = groups == 1 ? 20 : 1;
      c.in_height = c.in_width = c.out_height = c.out_width = 9;
      c.kernel_height = c.kernel_width = 3;
      c.pad_top = c.pad_left = 1;
      c.exact = true;
      ConvCase x(dice, c, {Activation::relu});
      x.set_input(0, 5, 4, 4, NAN);
      x.run(dice);
      for (int64_t channel = 0; channel < 20; ++channel)
        for (int64_t y = 0; y < 9; ++y)
          for (int64_t w = 0; w < 9; ++w) {
            const bool reached = std::abs(y - 4) <= 1 && std::abs(w - 4) <= 1 && (groups == 1 || channel == 5);
            ASSERT_EQ(std::isnan(x.output(0, channel, y, w)), reached) << channel << " " << y << " " << w;
          }
    }
  });
}

TEST(Blocked, ResidualMayBeTheOutput) {
  for_each_target([] {
    for (int64_t in : {40, 200}) {
      Dice dice(11);
      BlockedConv c;
      c.batch = 1;
      c.in_channels = in, c.out_channels = 40;
      c.in_height = c.in_width = c.out_height = c.out_width = 6;
      c.kernel_height = c.kernel_width = 3;
      c.pad_top = c.pad_left = 1;
      c.exact = true;
      ConvCase x(dice, c, {Activation::silu});
      x.residual_in_place();
      x.run(dice);
      EXPECT_LE(x.worst(), 1e-5);
    }
  });
}

TEST(Blocked, Refusals) {
  BlockedConv c;
  c.groups = 2, c.in_channels = 3, c.out_channels = 4;
  EXPECT_EQ(blocked_conv_refuses(c), "its groups have neither one channel nor whole blocks of them");
  c.plain_input = true;
  EXPECT_EQ(blocked_conv_refuses(c), "its input has groups of channels");
  c.groups = 1;
  EXPECT_EQ(blocked_conv_refuses(c), "");
  c.plain_input = false;
  EXPECT_EQ(blocked_conv_refuses(c), "");
  c.groups = 7, c.in_channels = c.out_channels = 1;
  EXPECT_EQ(blocked_conv_refuses(c), "");
  c.groups = 2, c.in_channels = block_lanes(), c.out_channels = 2 * block_lanes();
  EXPECT_EQ(blocked_conv_refuses(c), "");
}

}  // namespace
}  // namespace anyshape::simd
