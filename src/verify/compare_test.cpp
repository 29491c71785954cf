#include "verify/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

Datum floats(const std::vector<float>& entries) {
  Tensor tensor = *Tensor::allocate(DType::f32, {static_cast<int64_t>(entries.size())});
  for (size_t i = 0; i < entries.size(); ++i) tensor.as_mutable<float>()[i] = entries[i];
  return tensor;
}

Datum ints(std::vector<int64_t> dims, const std::vector<int64_t>& entries) {
  return Tensor::of_ints(std::move(dims), entries);
}

TEST(Compare, Floats) {
  struct Row {
    std::vector<float> got, want;
    std::string_view difference;  // how it begins
  };
  const Row rows[] = {
      {{1, 2}, {1, 2}, ""},
      {{}, {}, ""},
      // 1e-2 of the entry and 1e-3 more are allowed.
      {{1.0108f, 2}, {1, 2}, ""},
      {{1.0112f, 2}, {1, 2}, "entry 0 is 1.01"},
      {{0.0009f}, {0}, ""},
      {{0.0011f}, {0}, "entry 0 is 0.00109"},
      {{kNan, kInf}, {kNan, kInf}, ""},
      {{1, kNan}, {1, 2}, "entry 1 is nan instead of 2"},
      {{1, 2}, {1, kNan}, "entry 1 is 2 instead of nan"},
      {{kInf}, {-kInf}, "entry 0 is inf instead of -inf"},
      {{3e38f}, {kInf}, "entry 0 is 3"},
      {{1, 2, 3}, {1, 2}, "shape [3] instead of [2]"},
  };
  for (const Row& row : rows) {
    const std::string found = difference(floats(row.got), floats(row.want), {1e-2, 1e-3});
    EXPECT_EQ(found.empty(), row.difference.empty()) << found;
    EXPECT_TRUE(found.starts_with(row.difference)) << found << " | " << row.difference;
  }
}

TEST(Compare, OtherValues) {
  const Tolerance wide{1, 1};
  struct Row {
    Datum got, want;
    std::string_view difference;
  };
  const Row rows[] = {
      {ints({2}, {1, 2}), ints({2}, {1, 2}), ""},
      // Integers are equal, or they are not.
      {ints({2}, {1, 3}), ints({2}, {1, 2}), "entry 1 is 3 instead of 2"},
      {ints({2, 1}, {1, 2}), ints({1, 2}, {1, 2}), "shape [2, 1] instead of [1, 2]"},
      {ints({1}, {1}), floats({1}), "element type i64 instead of f32"},
      {Datum::sequence(DType::i64, {ints({1}, {1})}), ints({1}, {1}), "a sequence instead of a tensor"},
      {Datum::sequence(DType::i64, {ints({1}, {1})}), Datum::sequence(DType::i64, {}), "1 items instead of 0"},
      {Datum::sequence(DType::i64, {ints({1}, {1}), ints({1}, {5})}),
       Datum::sequence(DType::i64, {ints({1}, {1}), ints({1}, {4})}), "item 1: entry 0 is 5 instead of 4"},
      {Tensor::of_strings({1}, {"a"}), Tensor::of_strings({1}, {"b"}), "entry 0 is \"a\" instead of \"b\""},
  };
  for (const Row& row : rows) EXPECT_EQ(difference(row.got, row.want, wide), row.difference);
}

TEST(Compare, LargestRelativeError) {
  EXPECT_EQ(largest_relative_error(floats({1, 2}), floats({1, 2})), 0);
  EXPECT_NEAR(largest_relative_error(floats({1.5f, 2}), floats({1, 4})), 0.5, 1e-6);
  // Beside larger entries a 0 counts as a millionth of them.
  EXPECT_NEAR(largest_relative_error(floats({0.001f, 1000}), floats({0, 1000})), 1, 1e-3);
  EXPECT_EQ(largest_relative_error(floats({kNan, 1}), floats({kNan, 1})), 0);
  EXPECT_EQ(largest_relative_error(ints({1}, {1}), ints({1}, {2})), 0);
}

TEST(Compare, NoiseIsNoDifference) {
  const Datum want = floats({1, 2, 3, 4});
  const std::vector<Computed> right = {{want, floats({1, 2, 3, 4.1f})}};
  const Tolerance tight{1e-6, 1e-6};
  EXPECT_EQ(difference(floats({1.2f, 2, 3, 4}), want, tight, right), "");
  // Further than the noise, in one entry or in all of them together.
  EXPECT_NE(difference(floats({1.5f, 2, 3, 4}), want, tight, right), "");
  EXPECT_NE(difference(floats({1.3f, 2.3f, 3.3f, 4}), want, tight, right), "");
  EXPECT_NE(difference(floats({1.2f, 2, 3, 4}), want, tight, {}), "");
  EXPECT_NE(difference(floats({1.2f, 2, 3, 4}), want, tight, {{want, want}}), "");
  // What is not finite says nothing of the noise, and is never noise itself.
  EXPECT_NE(difference(floats({9, 2, 3, 4}), want, tight, {{want, floats({kNan, 2, 3, 4})}}), "");
  EXPECT_NE(difference(floats({kNan, 2, 3, 4}), want, tight, right), "");
  EXPECT_EQ(difference(ints({2}, {1, 3}), ints({2}, {1, 2}), tight, {{ints({2}, {1, 2}), ints({2}, {2, 2})}}), "");
  const auto pair = [](const Datum& a, const Datum& b) { return Datum::sequence(DType::f32, {a, b}); };
  EXPECT_EQ(difference(pair(want, floats({1.1f})), pair(want, floats({1})), tight,
                       {{pair(want, floats({1})), pair(want, floats({1.05f}))}}),
            "");
}

TEST(Compare, NoneOfTwoIsTheBetterOne) {
  const Datum plain = floats({1, 2, 3, 4}), one = floats({1.1f, 2, 3, 4}), other = floats({0.9f, 2, 3, 4});
  EXPECT_TRUE(equally_right(one, other, plain));
  EXPECT_TRUE(equally_right(floats({1.05f, 2, 3, 4}), floats({1.2f, 2, 3, 4}), plain));
  // The one that lies nearer is right, the other is not.
  EXPECT_FALSE(equally_right(floats({1.001f, 2, 3, 4}), other, plain));
  EXPECT_FALSE(equally_right(one, plain, plain));
  // One entry is no excuse for the others.
  EXPECT_FALSE(equally_right(one, floats({0.9f, 3, 4, 5}), plain));
  EXPECT_FALSE(equally_right(one, floats({kNan, 2, 3, 4}), plain));
  EXPECT_FALSE(equally_right(one, other, floats({kNan, 2, 3, 4})));
  EXPECT_FALSE(equally_right(one, other, floats({1, 2, 3})));
  EXPECT_FALSE(equally_right(one, floats({1, 2, 3}), plain));
  // What is counted lies a step away.
  EXPECT_TRUE(equally_right(ints({2}, {1, 3}), ints({2}, {1, 1}), ints({2}, {1, 2})));
}

TEST(Compare, NudgesByOneStep) {
  const Datum moved = *nudged(floats({1, -2, 0}), 3);
  const float want[] = {1, -2, 0};
  for (int i = 0; i < 3; ++i) {
    const float got = moved.tensor().at<float>(i);
    EXPECT_TRUE(got == std::nextafter(want[i], kInf) || got == std::nextafter(want[i], -kInf)) << got;
  }
  EXPECT_EQ(nudged(ints({1}, {7}), 0)->tensor().int_at(0), 7);
}

TEST(Compare, Finite) {
  EXPECT_TRUE(all_finite(floats({1, -2})));
  EXPECT_TRUE(all_finite(floats({})));
  EXPECT_FALSE(all_finite(floats({1, kInf})));
  EXPECT_FALSE(all_finite(floats({kNan, 1})));
  EXPECT_TRUE(all_finite(ints({1}, {1})));
}

TEST(Compare, MatchesByNameElseByOrder) {
  using Names = std::vector<std::string>;
  using Places = std::vector<size_t>;
  EXPECT_EQ(matched(Names{"a", "b"}, Names{"b", "a"}), (Places{1, 0}));
  EXPECT_EQ(matched(Names{"a", "b"}, Names{"b", "c"}), (Places{0, 1}));
  EXPECT_EQ(matched(Names{}, Names{}), Places{});
  EXPECT_EQ(matched(Names{"a"}, Names{"a", "b"}), std::nullopt);
}

}  // namespace
}  // namespace anyshape
