#include <gtest/gtest.h>

#include "run/cpu/simd/blocked_testing.h"
#include "run/cpu/simd/pool_f32.h"

namespace anyshape::simd {
namespace {

using kernels::PlanePool;
using kernels::PoolAxis;

void set_axis(Dice& dice, PoolAxis& a) {
  random_axis(dice, false, a.in, a.out, a.kernel, a.stride, a.dilation, a.pad);
  a.in = std::max<int64_t>(a.in, 1);
  a.pad_end = std::max<int64_t>((a.out - 1) * a.stride + (a.kernel - 1) * a.dilation + 1 - a.in - a.pad, 0);
}

BlockedPool pool_of(const PlanePool& plain) {
  const PoolAxis &y = plain.y, &x = plain.x;
  BlockedPool p;
  p.count_include_pad = plain.count_padding;
  p.in_height = y.in, p.out_height = y.out, p.kernel_height = y.kernel, p.stride_y = y.stride;
  p.dilation_y = y.dilation, p.pad_top = y.pad, p.pad_bottom = y.pad_end;
  p.in_width = x.in, p.out_width = x.out, p.kernel_width = x.kernel, p.stride_x = x.stride;
  p.dilation_x = x.dilation, p.pad_left = x.pad, p.pad_right = x.pad_end;
  return p;
}

void compare_pools(Dice& dice, BlockedPool::Kind kind) {
  PlanePool plain;
  set_axis(dice, plain.x);
  if (dice.coin()) set_axis(dice, plain.y);
  plain.count_padding = dice.coin();
  const int64_t batch = dice.between(0, 2), channels = dice.between(1, 40);
  const int64_t from = plain.y.in * plain.x.in, to = plain.y.out * plain.x.out;
  auto in = dice.numbers(batch * channels * from);
  constexpr float kSpecials[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f};
  if (dice.coin())
    for (float& x : in)
      if (dice.between(0, 3) == 0) x = kSpecials[dice.between(0, std::size(kSpecials) - 1)];
  BlockedPool p = pool_of(plain);
  p.kind = kind;
  const int64_t lanes = block_lanes(), blocks = (channels + lanes - 1) / lanes;
  p.planes = batch * blocks;
  const auto blocked = in_blocks(in, batch, channels, from);
  std::vector<float> out(static_cast<size_t>(p.planes * to * lanes + 16), 77.0f);
  std::vector<float> want(static_cast<size_t>(to));
  std::vector<double> sums(static_cast<size_t>(plain.x.out));
  p.in = blocked.data(), p.out = out.data();
  blocked_pool_run(p, 0, p.planes / 2);
  blocked_pool_run(p, p.planes / 2, p.planes);
  for (int64_t i = 0; i < batch * channels; ++i) {
    if (kind == BlockedPool::Kind::max)
      kernels::max_pool_plane(plain, in.data() + i * from, want.data());
    else
      kernels::average_pool_plane(plain, in.data() + i * from, want.data(), sums.data());
    const int64_t channel = i % channels, plane = i / channels * blocks + channel / lanes;
    for (int64_t j = 0; j < to; ++j) {
      const float got = out[static_cast<size_t>((plane * to + j) * lanes + channel % lanes)];
      const float expected = want[static_cast<size_t>(j)];
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(got)) << i << " " << j;
      else if (kind == BlockedPool::Kind::max || std::isinf(expected))
        ASSERT_EQ(got, expected) << i << " " << j;
      else
        ASSERT_NEAR(got, expected, 1e-6) << i << " " << j;
    }
  }
  ASSERT_EQ(out.back(), 77.0f);
}

TEST(Blocked, PoolsAgainstPlainOnes) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      compare_pools(dice, seed % 2 ? BlockedPool::Kind::max : BlockedPool::Kind::average);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(Blocked, ThereAndBack) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      const int64_t batch = dice.between(0, 2), channels = dice.between(1, 70), plane = dice.size(50);
      const auto plain = dice.numbers(batch * channels * plane);
      const int64_t lanes = block_lanes(), items = batch * ((channels + lanes - 1) / lanes);
      const int64_t cut = dice.between(0, items);
      std::vector<float> blocked(static_cast<size_t>(items * plane * lanes + 1), 77.0f), back(plain.size() + 1, 77.0f);
      to_blocked(plain.data(), channels, plane, cut, items, blocked.data());
      to_blocked(plain.data(), channels, plane, 0, cut, blocked.data());
      ASSERT_EQ(blocked.back(), 77.0f);
      blocked.pop_back();
      auto want = in_blocks(plain, batch, channels, plane);
      for (float& x : want) x = std::isnan(x) ? 0.0f : x;
      ASSERT_EQ(blocked, want);
      from_blocked(blocked.data(), channels, plane, cut, items, back.data());
      from_blocked(blocked.data(), channels, plane, 0, cut, back.data());
      ASSERT_EQ(back.back(), 77.0f);
      back.pop_back();
      ASSERT_EQ(back, plain);
    }
  });
}

}  // namespace
}  // namespace anyshape::simd
