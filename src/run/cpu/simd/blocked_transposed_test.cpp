#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "run/cpu/simd/blocked_testing.h"

namespace anyshape::simd {
namespace {

BlockedTransposed random_transposed(Dice& dice, int64_t most_channels) {
  BlockedTransposed c;
  c.batch = dice.between(0, 9) == 0 ? 0 : dice.between(1, 2);
  c.in_channels = dice.between(1, most_channels), c.out_channels = dice.between(1, 140);
  c.in_width = dice.between(0, 14);
  c.stride_x = dice.between(1, 3);
  if (dice.coin()) c.in_height = dice.between(0, 9), c.stride_y = dice.between(1, 3);
  return c;
}

// The greatest difference from a loop in double; infinite where a number is none.
double worst(const BlockedTransposed& c, const std::vector<float>& in, const std::vector<float>& weights,
             const float* bias, const std::vector<float>& out) {
  const int64_t lanes = block_lanes(), blocks = (c.out_channels + lanes - 1) / lanes;
  const int64_t height = c.in_height * c.stride_y, width = c.in_width * c.stride_x, plane = c.in_height * c.in_width;
  double most = 0;
  for (int64_t i = 0; i < c.batch * c.out_channels * height * width; ++i) {
    const int64_t x = i % width, y = i / width % height, o = i / (width * height) % c.out_channels;
    const int64_t image = i / (width * height * c.out_channels);
    const int64_t cell = y % c.stride_y * c.stride_x + x % c.stride_x;
    double sum = bias ? bias[o] : 0;
    for (int64_t k = 0; k < c.in_channels; ++k)
      sum +=
          static_cast<double>(in[static_cast<size_t>((image * c.in_channels + k) * plane + y / c.stride_y * c.in_width +
                                                     x / c.stride_x)]) *
          static_cast<double>(weights[static_cast<size_t>((k * c.out_channels + o) * c.stride_y * c.stride_x + cell)]);
    const int64_t at = (((image * blocks + o / lanes) * height + y) * width + x) * lanes + o % lanes;
    const double error = std::abs(static_cast<double>(out[static_cast<size_t>(at)]) - sum);
    most = error <= most ? most : error == error ? error : INFINITY;
  }
  return most;
}

void check(Dice& dice, BlockedTransposed c) {
  const int64_t lanes = block_lanes(), blocks = (c.out_channels + lanes - 1) / lanes, phases = c.stride_y * c.stride_x;
  const auto in = dice.numbers(c.batch * c.in_channels * c.in_height * c.in_width);
  const auto weights =
      dice.numbers(c.in_channels * c.out_channels * phases, std::sqrt(3.0f / static_cast<float>(c.in_channels)));
  const auto bias = dice.numbers(c.out_channels);
  std::vector<std::byte> bytes(weights.size() * sizeof(float) + 1);
  std::memcpy(bytes.data() + 1, weights.data(), weights.size() * sizeof(float));
  std::vector<float> packed(static_cast<size_t>(blocked_transposed_packed_size(c)), std::nanf(""));
  blocked_transposed_pack(c, bytes.data() + 1, packed.data());
  const auto blocked = in_blocks(in, c.batch, c.in_channels, c.in_height * c.in_width);
  constexpr size_t kGuard = 64;
  const size_t size = static_cast<size_t>(c.batch * blocks * c.in_height * c.in_width * phases * lanes);
  std::vector<float> out(size, std::nanf(""));
  out.resize(size + kGuard, 77.0f);
  c.in = blocked.data(), c.weights = packed.data(), c.out = out.data();
  c.bias = dice.coin() ? bias.data() : nullptr;
  const int64_t items = blocked_transposed_items(c), cut = dice.between(0, items);
  blocked_transposed_run(c, cut, items);
  blocked_transposed_run(c, 0, cut);
  EXPECT_LE(worst(c, in, weights, c.bias, out), 1e-5);
  EXPECT_TRUE(std::all_of(out.begin() + static_cast<int64_t>(size), out.end(), [](float x) { return x == 77.0f; }));
}

TEST(BlockedTransposed, AgainstLoops) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      check(dice, random_transposed(dice, 70));
    }
  });
}

// Sums in more than one piece.
TEST(BlockedTransposed, ManyChannels) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      check(dice, random_transposed(dice, 1300));
    }
  });
}

}  // namespace
}  // namespace anyshape::simd
