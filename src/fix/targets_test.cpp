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

// Every axis a piece of its own.
std::optional<Dims> meant_target(const Dims& old_from, const Dims& old_to, const Dims& from) {
  Layouts layouts;
  for (size_t i = 0; i < from.size(); ++i) layouts.push_back({{old_from[i], from[i]}});
  const auto meant = regroup(layouts, old_to);
  return meant ? std::optional(sizes_now(*meant)) : std::nullopt;
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
      {"6, 4", "24", "s, 4", "[4*s]"},
      {"6, 4", "6, 2, 2", "s, 4", "[s, 2, 2]"},
      {"2, 6, 4", "12, 4", "2, s, 4", "[2*s, 4]"},
      {"2, 6, 4", "48", "2, s, 4", "[8*s]"},
      {"4, 6", "2, 12", "4, s", "[2, 2*s]"},
      {"4, 3, 6", "6, 12", "4, 3, s", "[6, 2*s]"},
      {"4, 6, 4, 10", "24, 40", "s, 6, t, 10", "[6*s, 10*t]"},
      {"4, 6, 4, 10", "24, 40", "s, 6, s, 10", "[6*s, 10*s]"},
      // Rows would be glued together, or cut.
      {"6, 4", "3, 8", "s, 4", "none"},
      {"6, 4", "2, 3, 4", "s, 4", "none"},
      {"6, 4", "4, 6", "s, 4", "none"},
      {"6, 4, 2", "6, 4, 2", "s, t, 2", "[s, t, 2]"},
      {"6, 4, 2", "4, 6, 2", "s, t, 2", "none"},
      {"b, 120, 64", "b, 60, 128", "b, s, 64", "none"},
      {"120", "2, 60", "s", "none"},
      {"b, 120", "12*b//5, 50", "b, s", "none"},
      // What had size 1 goes where there is a size of 1, else among neighbours that it stays between.
      {"1, 1, 120", "1, 1, 1, 120", "1, s, 120", "[1, s, 1, 120]"},
      {"120, 1", "1, 120, 1", "120, s", "[1, 120, s]"},
      {"4, 1, 6", "2, 12", "4, s, 6", "[2, 12*s]"},
      {"4, 1, 6", "24", "4, s, 6", "[24*s]"},
      {"4, 1, 3", "6, 2", "4, 1, 3", "[6, 2]"},
      {"4, 1, 3, 7", "6, 14", "4, 1, 3, s", "[6, 2*s]"},
      {"1, 120", "120", "b, 120", "none"},
      {"2, 1, 3", "2, 3", "2, s, 3", "none"},
      {"4, 1, 3", "6, 2", "4, s, 3", "none"},
      {"1, 1, 120", "1, 120", "1, s, 120", "none"},
      {"0, 6", "0, 6", "0, s", "none"},
  };
  for (const MeantRow& row : kRows) {
    Symbols symbols;
    const auto got =
        meant_target(dims_of(row.old_from, symbols), dims_of(row.old_to, symbols), dims_of(row.from, symbols));
    EXPECT_EQ(got ? print(*got) : "none", row.meant) << row.old_from << " -> " << row.old_to << " for " << row.from;
  }
}

// An axis that was joined of several is cut between them, not within one.
TEST(Targets, JoinedAxis) {
  Symbols symbols;
  const Dim s = symbols.symbol("s");
  const Layouts by_rows = {{{2, 2}, {6, s}}, {{4, 4}}}, by_columns = {{{6, s}, {2, 2}}, {{4, 4}}};
  const auto text = [](const std::optional<Layouts>& layouts) { return layouts ? print(sizes_now(*layouts)) : "none"; };
  EXPECT_EQ(text(regroup(by_rows, {2, 6, 4})), "[2, s, 4]");
  EXPECT_EQ(text(regroup(by_rows, {6, 2, 4})), "none");
  EXPECT_EQ(text(regroup(by_columns, {6, 2, 4})), "[s, 2, 4]");
  EXPECT_EQ(text(regroup(by_columns, {2, 6, 4})), "none");
  EXPECT_EQ(text(regroup(by_columns, {6, 8})), "[s, 8]");
}

using Sizes = std::vector<int64_t>;

int64_t product(const Sizes& sizes, size_t begin, size_t end) {
  int64_t out = 1;
  for (size_t i = begin; i < end; ++i) out *= sizes[i];
  return out;
}

// With `axis` of `from` at `few` and at `many`: are the entries of the smaller one what is left of the reshaped larger
// one when the slices along `place` go that hold later rows? (A slice that holds several rows cannot go.)
bool drops_rows(Sizes from, size_t axis, Sizes to, size_t place, int64_t few, int64_t many) {
  from[axis] = many;
  const int64_t count = product(from, 0, from.size()), others = product(to, 0, to.size()) / to[place];
  if (count % others != 0) return false;
  to[place] = count / others;
  const int64_t inner = product(from, axis + 1, from.size()), after = product(to, place + 1, to.size());
  std::vector<int64_t> row(to[place], -1), left;
  for (int64_t i = 0; i < count; ++i) {
    int64_t& slice = row[i / after % to[place]];
    if (slice >= 0 && slice != i / inner % many) return false;
    slice = i / inner % many;
  }
  for (int64_t i = 0; i < count; ++i)
    if (row[i / after % to[place]] < few) left.push_back(i);
  std::vector<int64_t> wanted;
  for (int64_t i = 0; i < count; ++i)
    if (i / inner % many < few) wanted.push_back(i);
  return left == wanted;
}

bool is_whole(const Sizes& from, size_t axis, const Sizes& to, size_t place) {
  for (int64_t more : {1, 2, 3, 5})
    if (!drops_rows(from, axis, to, place, from[axis], from[axis] + more)) return false;
  return true;
}

template <class Visit>
void for_each_target(int64_t count, size_t rank, Sizes& sizes, Visit visit) {
  if (rank == 1) {
    sizes.push_back(count);
    visit(sizes);
    sizes.pop_back();
    return;
  }
  for (int64_t first = 1; first <= count; ++first) {
    if (count % first != 0) continue;
    sizes.push_back(first);
    for_each_target(count / first, rank - 1, sizes, visit);
    sizes.pop_back();
  }
}

// By index arithmetic: what is accepted is right at other sizes, and for a size above 1 all that is right is accepted.
void compare(const Sizes& from, size_t axis, const Sizes& to, int& whole) {
  Symbols symbols;
  Dims now(from.begin(), from.end());
  now[axis] = symbols.symbol("s");
  const auto got = meant_target({from.begin(), from.end()}, {to.begin(), to.end()}, now);
  std::optional<size_t> place, wanted;
  for (size_t j = 0; j < to.size(); ++j) {
    if (got && !(*got)[j].is_constant()) place = j;
    if (from[axis] > 1 && is_whole(from, axis, to, j)) wanted = j;
  }
  const std::string text = fmt::format("[{}] -> [{}], axis {}", fmt::join(from, ", "), fmt::join(to, ", "), axis);
  EXPECT_EQ(got.has_value(), place.has_value()) << text;
  if (from[axis] > 1) {
    EXPECT_EQ(place, wanted) << text;
  }
  if (!place) return;
  ++whole;
  EXPECT_TRUE(is_whole(from, axis, to, *place)) << text;
  EXPECT_EQ((*got)[*place] * Dim(from[axis]), now[axis] * Dim(to[*place])) << text;
}

TEST(Targets, MeantTargetByIndices) {
  int whole = 0;
  for (int64_t a : {1, 2, 3, 4, 6})
    for (int64_t b : {1, 2, 4, 6})
      for (int64_t c : {1, 2, 3, 4})
        for (size_t axis = 0; axis < 3; ++axis)
          for (size_t rank = 1; rank <= 4; ++rank) {
            Sizes sizes;
            for_each_target(a * b * c, rank, sizes, [&](const Sizes& to) { compare({a, b, c}, axis, to, whole); });
          }
  EXPECT_GT(whole, 5000);
}

// Two axes at once are what each is alone.
TEST(Targets, MeantTargetOfTwoAxes) {
  Symbols symbols;
  const Dim s = symbols.symbol("s"), t = symbols.symbol("t");
  for (int64_t a : {2, 3, 4})
    for (int64_t b : {2, 3, 6})
      for (int64_t c : {2, 4}) {
        Sizes sizes;
        const Dims old = {a, b, c};
        for_each_target(a * b * c, 3, sizes, [&](const Sizes& to) {
          const Dims old_to(to.begin(), to.end());
          const auto both = meant_target(old, old_to, {s, t, c});
          const auto first = meant_target(old, old_to, {s, b, c}), second = meant_target(old, old_to, {a, t, c});
          ASSERT_EQ(both.has_value(), first && second) << print(old) << " -> " << print(old_to);
          for (size_t j = 0; both && j < to.size(); ++j) {
            EXPECT_EQ(substitute((*both)[j], {{t, b}}), (*first)[j]) << print(old) << " -> " << print(old_to);
            EXPECT_EQ(substitute((*both)[j], {{s, a}}), (*second)[j]) << print(old) << " -> " << print(old_to);
          }
        });
      }
}

}  // namespace
}  // namespace anyshape::fixes
