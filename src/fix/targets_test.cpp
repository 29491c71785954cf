#include "fix/targets.h"

#include <gtest/gtest.h>

#include <string>

namespace anyshape::fixes {
namespace {

Dims dims_of(std::string_view text, Symbols& symbols) {
  Dims out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(*parse_dim(text.substr(begin, end - begin), symbols));
    begin = end + 1;
  }
  return out;
}

struct Row {
  std::string_view from, to, target;
};

TEST(Targets, ConstantTarget) {
  constexpr Row kRows[] = {
      {"b, s, 64", "b, s, 8, 8", "[0, 0, 8, 8]"},
      {"b, s, 8, 8", "b, s, 64", "[0, 0, 64]"},
      {"b, 8, s, 8", "8*b, s, 8", "none"},
      {"b, s, 64", "b*s, 64", "[-1, 64]"},
      {"b, 12, 64", "b, 768", "[0, 768]"},
      // What -1 is cannot be told where b is 0.
      {"b, s, 64", "b, 64*s", "none"},
      {"n1, s, 64", "n1, 64*s", "[0, -1]"},
      {"b, 0", "b, 0, 4", "none"},
      {"64, s", "s, 64", "[-1, 64]"},
      {"", "1, 1", "[1, 1]"},
  };
  for (const Row& row : kRows) {
    Symbols symbols;
    Assumptions known(symbols);
    for (const char* name : {"b", "s"}) known.assume(Condition::ge(symbols.symbol(name), 0));
    known.assume(Condition::ge(symbols.symbol("n1"), 1));
    const auto got = constant_target(dims_of(row.from, symbols), dims_of(row.to, symbols), &known);
    EXPECT_EQ(got ? fmt::format("[{}]", fmt::join(*got, ", ")) : "none", row.target) << row.from << " -> " << row.to;
  }
}

struct MeantRow {
  std::string_view old_from, old_to, from, meant;
};

TEST(Targets, MeantTarget) {
  constexpr MeantRow kRows[] = {
      {"b, 120, 64", "b, 120, 8, 8", "b, s, 64", "[b, s, 8, 8]"},
      {"b, 120, 8, 8", "b, 120, 64", "b, s, 8, 8", "[b, s, 64]"},
      {"b, 120, 64", "120*b, 64", "b, s, 64", "[b*s, 64]"},
      {"b, 120, 64", "b, 7680", "b, s, 64", "[b, 64*s]"},
      {"b, 120, 64", "b, 240, 32", "b, s, 64", "[b, 2*s, 32]"},
      // Two sizes that happen to be equal stay apart.
      {"b, 64, 64", "b, 64, 8, 8", "b, s, 64", "[b, s, 8, 8]"},
      {"b, 64, 64", "64*b, 64", "b, 64, s", "[64*b, s]"},
      {"1, 120", "1, 120, 1", "b, 120", "[b, 120, 1]"},
      // Nothing tells into which of the sizes it went.
      {"b, 120, 64", "b, 60, 128", "b, s, 64", "none"},
      {"1, 120", "120", "b, 120", "none"},
      {"120", "2, 60", "s", "none"},
  };
  for (const MeantRow& row : kRows) {
    Symbols symbols;
    const auto got =
        meant_target(dims_of(row.old_from, symbols), dims_of(row.old_to, symbols), dims_of(row.from, symbols));
    EXPECT_EQ(got ? print(*got) : "none", row.meant) << row.old_from << " -> " << row.old_to;
  }
}

}  // namespace
}  // namespace anyshape::fixes
