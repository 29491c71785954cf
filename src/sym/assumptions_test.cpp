#include "sym/assumptions.h"

#include "sym/rows_test.h"

namespace anyshape {
namespace {

const char* name_of(Tri t) { return t == Tri::yes ? "yes" : t == Tri::no ? "no" : "unknown"; }

struct ProofRow {
  const char* known;
  const char* goal;
  const char* answer;
};
class ProofRows : public testing::TestWithParam<ProofRow> {};
TEST_P(ProofRows, Prove) {
  const auto& [known, goal, answer] = GetParam();
  Symbols symbols;
  Assumptions assumptions(symbols);
  assumptions.assume(condition_of_text(known, symbols));
  EXPECT_STREQ(name_of(assumptions.prove(condition_of_text(goal, symbols))), answer) << known << " |- " << goal;
}

constexpr ProofRow kFacts[] = {
    {"always", "a == a", "yes"},
    {"always", "a == a + 1", "no"},
    {"always", "a == b", "unknown"},
    {"always", "opaque", "unknown"},
    {"a == b", "a == b", "yes"},
    {"a == b and b == c", "a == c", "yes"},
    {"a == b and b == c and c == 4", "a >= 4", "yes"},
    {"a != b", "a == b", "no"},
    {"a >= b", "a >= b", "yes"},
    {"a >= b", "a >= b - 1", "yes"},
    {"a >= b", "a >= b + 1", "unknown"},
    {"a >= b", "a < b", "no"},
    {"a >= b and b >= c", "a >= c", "yes"},
    {"a >= b + 1 and b >= c", "a == c", "no"},
    {"seq == 120 and b >= 1", "b*seq == 120*b", "yes"},
    {"s == 2*k", "s % 2 == 0", "yes"},
    {"s == 2*k + 1", "s % 2 == 0", "no"},
    {"a*b == c*d", "2*a*b == 2*c*d", "yes"},
    {"a*b == c*d", "a*b*e == c*d*e", "yes"},
    {"a*b % 30 == 0", "a*b % 30 == 0", "yes"},
    {"a*b % 30 == 0", "a*b % 15 == 0", "yes"},
    {"a*b % 30 == 0", "2*a*b % 60 == 0", "yes"},
    {"a*b % 30 == 0", "(a*b + 1) % 30 == 0", "no"},
    {"h % 32 == 0", "h % 8 == 0", "yes"},
    {"h % 32 == 3", "h % 8 == 0", "no"},
    {"h % 32 == 3", "h % 64 == 3", "unknown"},
    {"h % 4 == 1 and h % 3 == 2", "h % 12 == 5", "yes"},
    {"h % 32 == 0 and w % 32 == 0", "h*w % 1024 == 0", "yes"},
    {"h % 32 == 0", "h % 32 != 0", "no"},
    {"h % 32 != 0", "h % 32 == 0", "no"},
    {"b >= 1", "t*b % b == 0", "yes"},
    {"a % b == 0 and b >= 1", "3*a % b == 0", "yes"},
    {"never", "a == b", "yes"},
    {"n >= 2 and max(a, 1) <= 0", "n//max(a, 1) >= 1", "yes"},
    {"n >= 2 and a + b >= 2 and max(a + b, 1) <= 0", "n//max(a + b, 1) >= 1", "yes"},
};
INSTANTIATE_TEST_SUITE_P(Facts, ProofRows, testing::ValuesIn(kFacts));

constexpr ProofRow kRanges[] = {
    {"s >= 1", "s >= 0", "yes"},
    {"s >= 1", "s >= 2", "unknown"},
    {"s >= 1", "s == 0", "no"},
    {"s >= 1 and s <= 512", "s <= 600", "yes"},
    {"a >= 1 and b >= 1", "a*b >= 1", "yes"},
    {"a >= 2 and b >= 3", "a*b >= 6", "yes"},
    {"b >= 0 and s >= 1", "b*s >= b", "yes"},
    {"s >= 1", "s*s >= s", "yes"},
    {"a >= 1 and b >= 1 and c >= 1", "a*b*c >= a", "yes"},
    {"a >= b and c >= 0", "a*c >= b*c", "yes"},
    {"always", "s*s >= 0", "yes"},
    {"always", "s*s - 2*s + 1 >= 0", "yes"},
    {"always", "2*a == 2*b + 1", "no"},
    {"always", "6*a + 4*b == 3", "no"},
    {"a >= 1 and a <= 4 and b >= 1 and b <= 4", "a*b != 11", "yes"},
    {"a >= 1 and a <= 4 and b >= 1 and b <= 4", "a*b == 12", "unknown"},
    {"h >= 0", "h//2 >= 0", "yes"},
    {"h >= 1", "(h + 1)//2 >= 1", "yes"},
    {"h >= 1", "(h + 1)//2 <= h", "yes"},
    {"always", "(h + 1)//2 >= h//2", "yes"},
    {"always", "2*(h//2) <= h", "yes"},
    {"always", "32*((h + 31)//32) >= h", "yes"},
    {"h >= 0 and w >= 0", "(h + w)//2 >= h//2", "yes"},
    {"always", "h % 32 <= 31", "yes"},
    {"always", "h % 32 >= 0", "yes"},
    {"b >= 1", "a % b < b", "yes"},
    {"b >= 1", "a % b >= 0", "yes"},
    {"a % 2 == 0", "2*(a//2) == a", "yes"},
    {"n >= 1", "(n + 3)//4*4 >= n", "yes"},
    {"n >= 1", "(n + 3)//4*4 == n", "unknown"},
    {"s >= 3", "(s - 3)//1 + 1 >= 1", "yes"},
    {"a >= 1 and a <= b - 1", "b >= 2", "yes"},
    {"0 <= i and i <= n - 1", "i < n", "yes"},
    {"x + y <= 10 and x >= 4", "y <= 6", "yes"},
    {"x + y <= 10 and x >= 4", "y >= 7", "no"},
};
INSTANTIATE_TEST_SUITE_P(Ranges, ProofRows, testing::ValuesIn(kRanges));

constexpr ProofRow kCases[] = {
    {"always", "min(a, b) <= a", "yes"},
    {"always", "max(a, b) >= b", "yes"},
    {"always", "min(a, b) + max(a, b) == a + b", "yes"},
    {"always", "min(s + 1, 513) == min(s, 512) + 1", "yes"},
    {"a >= b", "min(a, b) == b", "yes"},
    {"s >= 1 and s <= 512", "min(s, 512) == s", "yes"},
    {"s >= 0", "min(s, 512) <= 512", "yes"},
    {"s >= 513", "min(s, 512) == s", "no"},
    {"a >= 0 and b >= 0", "min(a, b) >= 0", "yes"},
    {"a == b", "broadcast(a, b) == a", "yes"},
    {"b == 1", "broadcast(a, b) == a", "yes"},
    {"a == b or a == 1 and b >= 1 or b == 1 and a >= 1", "broadcast(a, b) >= a", "yes"},
    {"a >= 2 and a == b or a >= 2 and b == 1", "broadcast(a, b) == a", "yes"},
    // That the sizes broadcast does not follow from their being named together.
    {"a >= 1 and b >= 1", "broadcast(a, b) >= a", "unknown"},
    {"a >= 2 and b >= 1", "broadcast(a, b) == a", "unknown"},
    {"always", "a >= 5 or a == b and broadcast(a, b) >= min(broadcast(a, b), 5) or a == 1 or b == 1", "unknown"},
    {"x == 1 or x == y", "broadcast(x, y) == y", "yes"},
    {"s in {1, 120}", "s <= 120", "yes"},
    {"s in {1, 120}", "s == 3", "no"},
    {"s in {1, 120}", "s == 1 or s == 120", "yes"},
    {"a == 1 or a == b", "a <= max(b, 1)", "yes"},
    {"a >= b", "select(a >= b, 1, 2) == 1", "yes"},
    {"always", "select(a >= b, 1, 2) >= 1", "yes"},
    {"always", "a >= b or b >= a", "yes"},
    {"always", "a >= b or b > a + 3", "unknown"},
    {"always", "a > b and b > a", "no"},
    {"always", "a >= 1 or a <= 0", "yes"},
    {"s >= 0", "2*((s + 31)//32) == (s + 15)//16 or s % 32 in {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}",
     "yes"},
    {"s >= 0", "s*s >= 400 or s <= 19", "yes"},
    {"s >= 21", "s*s >= 400", "yes"},
    {"s >= 1", "100//s <= 100", "yes"},
    {"s % 32 == 0", "2*((s + 31)//32) == (s + 15)//16", "yes"},
    {"s % 4 == 3 and s >= 0", "(s + 1)//4*4 == s + 1", "yes"},
};
INSTANTIATE_TEST_SUITE_P(Cases, ProofRows, testing::ValuesIn(kCases));

struct SimplifyRow {
  const char* known;
  const char* text;
  const char* result;
};
class SimplifyRows : public testing::TestWithParam<SimplifyRow> {};
TEST_P(SimplifyRows, Simplify) {
  const auto& [known, text, result] = GetParam();
  Symbols symbols;
  Assumptions assumptions(symbols);
  assumptions.assume(condition_of_text(known, symbols));
  if (auto dim = parse_dim(text, symbols))
    EXPECT_EQ(print(assumptions.simplify(*dim)), result) << known << " |= " << text;
  else
    EXPECT_EQ(print(assumptions.simplify(condition_of_text(text, symbols))), result) << known << " |= " << text;
}
constexpr SimplifyRow kSimplify[] = {
    {"s == 120", "s*2", "240"},
    {"a == b", "a + b", "2*a"},
    {"s >= 1 and s <= 512", "min(s, 512)", "s"},
    {"s >= 1", "max(s, 0)", "s"},
    {"s >= 1", "max(s, t, 0)", "max(s, t)"},
    {"a >= 2", "broadcast(a, b)", "a"},
    {"a == 1", "broadcast(a, b)", "b"},
    {"a >= b", "select(a >= b, x, y)", "x"},
    {"h % 2 == 0 and h == 2*k", "h//2", "k"},
    {"h >= 0 and h <= 31", "h//32", "0"},
    {"t >= 1", "(8*b*t)//(3*t)", "2*b + (2*b)//3"},
    {"b >= 1", "b*s == 120*b", "s == 120"},
    {"b >= 1 and c >= 1", "b*c*s >= 2*b*c", "s >= 2"},
    {"b >= 0", "b*s == 120*b", "b*s == 120*b"},
    {"s == 120", "s*b == 240", "b == 2"},
    {"s >= 1", "s >= 1 and s <= 512", "s <= 512"},
    {"s >= 1", "s >= 0", "always"},
    {"s >= 1", "s == 0", "never"},
    {"s >= 1", "s == 0 or t == 3", "t == 3"},
    {"h >= 0", "h % 32 == 0 and h % 8 == 0", "h % 32 == 0"},
    {"a >= 0 and b >= 0", "a + b >= 0 and a >= 3", "a >= 3"},
    {"always", "a >= b and b >= c and a >= c", "a >= b and b >= c"},
    {"s >= 1", "s*s >= 400", "s >= 20"},
    {"h >= 1", "(h + 1)//2*2 == h", "h % 2 == 0"},
    {"b >= 1", "b*s == 2*b*(s//2)", "s % 2 == 0"},
    {"b >= 0 and b != 0", "b*s == 2*b*(s//2)", "s % 2 == 0"},
    {"b != 0", "b*s == 2*b*(s//2)", "s % 2 == 0"},
    {"b != 0", "b*s != 2*b*(s//2)", "s % 2 != 0"},
    {"b != 0", "b*s >= 2*b*t", "b*s >= 2*b*t"},
    {"b >= 1 and c >= 1", "b*c*s == 4*b*c*((s + 3)//4)", "s % 4 == 0"},
    {"b >= 1", "b*s == 2*b*(s//2) + b", "s % 2 == 1"},
    {"b >= 0", "b*s == 2*b*(s//2)", "b*s == 2*b*(s//2)"},
    {"h >= 0", "(max(h - 1, 0) + 1)//2", "h//2"},
    {"h >= -1", "(max(h - 1, 0) + 1)//2", "(max(h - 1, 0) + 1)//2"},
    {"h >= 0", "b*((max(h - 1, 0) + 1)//2) + 3", "b*(h//2) + 3"},
    {"h >= 0", "((max(h - 1, 0) + 1)//2 + w)//3", "(w + h//2)//3"},
    {"h >= 0", "(min(h, 2*h + 4) + 1)//2", "(h + 1)//2"},
    {"h >= 0", "max(h - 1, 0) + 1", "max(h - 1, 0) + 1"},
    {"h % 8 == 0", "8*(h//8)", "h"},
    {"h % 32 == 0", "8*(h//8)", "h"},
    {"h % 32 == 0", "8*b*(h//8) + h//8", "h*b + h//8"},
    {"h % 8 == 3", "8*(h//8)", "h - 3"},
    {"h % 4 == 0", "8*(h//8)", "8*(h//8)"},
    {"h % 8 == 0", "max(8*(h//8), w)", "max(h, w)"},
    {"h % 2 == 0", "(h + 1)//2", "h//2"},
    {"h % 2 == 1", "(h + 1)//2", "h//2 + 1"},
    {"h % 2 == 0", "(h + 1)//8", "h//8"},
    {"h % 2 == 0", "(h + 2)//8", "(h + 2)//8"},
    {"h % 32 == 0", "(h + 31)//32", "h//32"},
    {"h % 32 == 0 and w % 32 == 0", "(h*w + 1023)//1024", "(h*w)//1024"},
    {"t % b == 0 and b >= 1", "b*(t//b)", "t"},
    {"b >= 1", "b*(t//b)", "b*(t//b)"},
    {"h >= 0", "h % 8 == 0 and h >= 1", "h % 8 == 0 and h >= 8"},
    {"h >= 1", "h % 8 == 0 and h >= 1", "h % 8 == 0"},
    {"h >= 0", "h % 8 == 0 and h <= 30", "h % 8 == 0 and h <= 24"},
};
INSTANTIATE_TEST_SUITE_P(Simplify, SimplifyRows, testing::ValuesIn(kSimplify));

TEST(Assumptions, ScopesNest) {
  Symbols symbols;
  Assumptions known(symbols);
  Condition goal = condition_of_text("a >= 3", symbols);
  known.assume(condition_of_text("a >= 1", symbols));
  {
    Assumptions::Scope outer(known);
    known.assume(condition_of_text("a == b", symbols));
    {
      Assumptions::Scope inner(known);
      known.assume(condition_of_text("b >= 3", symbols));
      EXPECT_TRUE(known.proves(goal));
      EXPECT_EQ(known.all().size(), 3u);
    }
    EXPECT_EQ(known.prove(goal), Tri::unknown);
    EXPECT_TRUE(known.proves(condition_of_text("b >= 1", symbols)));
  }
  EXPECT_EQ(known.prove(condition_of_text("b >= 1", symbols)), Tri::unknown);
  EXPECT_EQ(known.all().size(), 1u);
}

// With its value put in, b == a*a has too high a degree to be written down.
TEST(Assumptions, NoSymbolIsItsOwnValue) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  assumptions.assume(condition_of_text("a == b*b*b*b*b", symbols));
  assumptions.assume(condition_of_text("b == a*a", symbols));
  EXPECT_EQ(assumptions.prove(condition_of_text("a*b == c", symbols)), Tri::unknown);
  EXPECT_EQ(assumptions.prove(condition_of_text("a == b*b*b*b*b", symbols)), Tri::yes);
}

TEST(Assumptions, ALongChainOfEqualities) {
  constexpr int kLinks = 50'000;
  Symbols symbols;
  Assumptions assumptions(symbols);
  std::vector<Dim> chain;
  for (int i = 0; i <= kLinks; ++i) chain.push_back(symbols.symbol(fmt::format("s{}", i)));
  for (int i = kLinks; i > 0; --i) assumptions.assume(Condition::eq(chain[i], chain[i - 1]));
  EXPECT_TRUE(assumptions.proves(Condition::eq(chain[kLinks], chain[0])));
}

TEST(Assumptions, Ranges) {
  Symbols symbols;
  Assumptions known(symbols);
  known.assume(condition_of_text("1 <= a <= 4 and b >= 2 and c % 8 == 3 and c >= 4", symbols));
  auto text = [&](const char* dim) {
    Interval r = known.range(dim_of_text(dim, symbols));
    return (r.lo ? std::to_string(*r.lo) : "-") + ".." + (r.hi ? std::to_string(*r.hi) : "-");
  };
  EXPECT_EQ(text("a"), "1..4");
  EXPECT_EQ(text("a*b"), "2..-");
  EXPECT_EQ(text("5 - a"), "1..4");
  EXPECT_EQ(text("a//2"), "0..2");
  EXPECT_EQ(text("min(a, b)"), "1..4");
  EXPECT_EQ(text("max(a, b)"), "2..-");
  EXPECT_EQ(text("c"), "11..-");
  EXPECT_EQ(text("x"), "-..-");
  EXPECT_EQ(text("x % 8"), "0..7");
}

TEST(Assumptions, ExactDivision) {
  Symbols symbols;
  Assumptions known(symbols);
  known.assume(condition_of_text("b >= 1 and n % 12 == 0 and t % b == 0", symbols));
  auto divide = [&](const char* a, const char* b) {
    auto q = known.exact_div(dim_of_text(a, symbols), dim_of_text(b, symbols));
    return q ? print(*q) : "none";
  };
  EXPECT_EQ(divide("6*b*s", "2*b"), "3*s");
  EXPECT_EQ(divide("n", "4"), "n//4");
  EXPECT_EQ(divide("n", "5"), "none");
  EXPECT_EQ(divide("t", "b"), "t//b");
  EXPECT_EQ(divide("t*s", "s"), "none");
}

}  // namespace
}  // namespace anyshape
