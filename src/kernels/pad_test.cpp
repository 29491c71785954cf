#include "kernels/pad.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "run/cpu/simd/simd_testing.h"

namespace anyshape::kernels {
namespace {

using simd::Dice;

TEST(Pad, Source) {
  struct Row {
    PadMode mode;
    AxisPads pads;
    std::vector<int64_t> sources;  // of an axis of 4, from its first position on
  };
  const Row rows[] = {
      {PadMode::constant, {2, 1}, {-1, -1, 0, 1, 2, 3, -1}},
      {PadMode::constant, {-1, 2}, {1, 2, 3, -1, -1}},
      {PadMode::edge, {2, 1}, {0, 0, 0, 1, 2, 3, 3}},
      {PadMode::edge, {2, -2}, {0, 0, 0, 1}},
      {PadMode::reflect, {3, 3}, {3, 2, 1, 0, 1, 2, 3, 2, 1, 0}},
      {PadMode::reflect, {-1, 2}, {1, 2, 3, 2, 1}},
      {PadMode::wrap, {3, 2}, {1, 2, 3, 0, 1, 2, 3, 0, 1}},
  };
  for (const Row& row : rows)
    for (size_t i = 0; i < row.sources.size(); ++i)
      EXPECT_EQ(pad_source(row.mode, static_cast<int64_t>(i) - row.pads.before, 4, row.pads), row.sources[i]) << i;
}

// A random tensor of bytes with pads, element by element.
struct Case {
  PadRows p;
  std::vector<int64_t> in_dims, out_dims;
  std::vector<AxisPads> pads;
  std::vector<std::byte> in, out, fill;

  explicit Case(Dice& dice) {
    p.mode = static_cast<PadMode>(dice.between(0, 3));
    p.element_bytes = size_t{1} << dice.between(0, 4);
    int64_t in_count = 1, out_count = 1;
    for (int64_t axis = dice.between(1, 4); axis > 0; --axis) {
      in_dims.push_back(dice.size(9));
      pads.push_back({dice.between(-1, 4), dice.between(-1, 4)});
      out_dims.push_back(std::max<int64_t>(in_dims.back() + pads.back().before + pads.back().after, 0));
      in_count *= in_dims.back();
      out_count *= out_dims.back();
    }
    for (int64_t i = in_count * static_cast<int64_t>(p.element_bytes); i > 0; --i) in.push_back(byte(dice));
    for (size_t i = 0; i < p.element_bytes; ++i) fill.push_back(byte(dice));
    out.assign(static_cast<size_t>(out_count) * p.element_bytes + 1, std::byte{77});
    p.in_dims = in_dims, p.out_dims = out_dims, p.pads = pads;
    p.in = in.data(), p.out = out.data();
    if (dice.coin()) p.fill = fill.data();
  }

  static std::byte byte(Dice& dice) { return static_cast<std::byte>(dice.between(0, 255)); }

  std::vector<std::byte> expected(int64_t element) const {
    int64_t offset = 0, step = 1;
    for (size_t axis = out_dims.size(); axis-- > 0;) {
      const int64_t from = pad_source(p.mode, element % out_dims[axis] - pads[axis].before, in_dims[axis], pads[axis]);
      if (from < 0) return p.fill ? fill : std::vector<std::byte>(p.element_bytes);
      element /= out_dims[axis];
      offset += from * step;
      step *= in_dims[axis];
    }
    const auto* at = in.data() + static_cast<size_t>(offset) * p.element_bytes;
    return {at, at + p.element_bytes};
  }
};

TEST(Pad, RowsAgainstElements) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    Case x(dice);
    const int64_t rows = x.p.rows(), cut = dice.between(0, rows);
    x.p.run(cut, rows);
    x.p.run(0, cut);
    const size_t size = x.p.element_bytes;
    for (size_t i = 0; (i + 1) * size < x.out.size(); ++i)
      ASSERT_EQ(std::memcmp(x.out.data() + i * size, x.expected(static_cast<int64_t>(i)).data(), size), 0) << i;
    ASSERT_EQ(x.out.back(), std::byte{77});
  }
}

}  // namespace
}  // namespace anyshape::kernels
