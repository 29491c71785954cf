#include "check/narrowed_axis.h"

#include <gtest/gtest.h>

namespace anyshape {
namespace {

TEST(NarrowedAxis, BoundsBelow) {
  struct Row {
    const char* condition;
    bool only_below;
  };
  constexpr Row kRows[] = {
      {"n >= 9", true},          {"n >= 9 or n == 2", false}, {"n >= 3 or n == 1 or n == 2", true},
      {"(n + 1)//2 >= 4", true}, {"n % 3 == 0", false},       {"n != 7", false},
      {"n <= 64", false},        {"n == 120", false},         {"n + m >= 4", true},
      {"n >= m", true},          {"m >= n", false},           {"n + m == k", false},
      {"n*m % 4 == 0", false},
  };
  for (const Row& row : kRows) {
    Symbols symbols;
    const Dim n = symbols.symbol("n");
    const auto condition = parse_condition(row.condition, symbols);
    ASSERT_TRUE(condition) << row.condition;
    EXPECT_EQ(only_bounds_below(*condition, n), row.only_below) << row.condition;
  }
}

TEST(NarrowedAxis, LinesWithASize) {
  struct Row {
    const char *source, *want;
    int64_t number = 3;
    size_t axis = 0;
  };
  constexpr Row kRows[] = {
      {"net.py:12: return y.view(3, -1)", "y.view(y.shape[0], -1)"},
      {"net.py:12: x = self.fc(h.reshape((2, 3, -1)))", "h.reshape((2, h.shape[1], -1))", 3, 1},
      {"net.py:12: x = x.view(-1, 30)", ""},
      {"net.py:12: x = x.view([3, 5])", "x.view([x.shape[0], 5])"},
      {"net.py:12: x + table", ""},
      {"net.py:12: self(x).view(3, 2)", ""},
      {"", ""},
  };
  for (const Row& row : kRows) EXPECT_EQ(with_size_of_axis(row.source, row.number, row.axis), row.want) << row.source;
}

}  // namespace
}  // namespace anyshape
