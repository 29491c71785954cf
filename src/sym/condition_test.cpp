#include "sym/condition.h"

#include "sym/limits.h"
#include "sym/rows_test.h"

namespace anyshape {
namespace {

struct ConditionRow {
  const char* text;
  const char* canonical;
};

class ConditionRows : public testing::TestWithParam<ConditionRow> {};
TEST_P(ConditionRows, Canonical) {
  Symbols symbols;
  for (char c = 'a'; c <= 'z'; ++c) symbols.symbol(std::string(1, c));
  Condition condition = condition_of_text(GetParam().text, symbols);
  EXPECT_EQ(print(condition), GetParam().canonical) << GetParam().text;
  EXPECT_EQ(condition_of_text(print(condition), symbols), condition) << GetParam().text;
}

constexpr ConditionRow kSingle[] = {
    {"1 == 1", "always"},
    {"1 >= 2", "never"},
    {"always", "always"},
    {"never", "never"},
    {"opaque", "opaque"},
    {"seq == 120", "seq == 120"},
    {"120 == seq", "seq == 120"},
    {"-s == -3", "s == 3"},
    {"2*s == 6", "s == 3"},
    {"2*s == 7", "never"},
    {"2*s != 7", "always"},
    {"a == b", "a == b"},
    {"b == a", "a == b"},
    {"a + 1 == b", "a == b - 1"},
    {"a*b == 6", "a*b == 6"},
    {"s <= 512", "s <= 512"},
    {"512 >= s", "s <= 512"},
    {"s < 513", "s <= 512"},
    {"s > 0", "s >= 1"},
    {"2*s >= 5", "s >= 3"},
    {"2*s <= 5", "s <= 2"},
    {"s >= -3", "s >= -3"},
    {"-s >= 3", "s <= -3"},
    {"a < b", "b > a"},
    {"a >= b", "a >= b"},
    {"a <= b", "b >= a"},
    {"a - b >= 3", "a >= b + 3"},
    {"2*a >= 3*b", "2*a >= 3*b"},
    {"s != 5", "s != 5"},
    {"h % 32 == 0", "h % 32 == 0"},
    {"h % 32 == 29", "h % 32 == 29"},
    {"(h + 3) % 32 == 0", "h % 32 == 29"},
    {"h % 32 == 40", "never"},
    {"h % 32 == -1", "never"},
    {"h % 1 == 0", "always"},
    {"3*h % 32 == 0", "h % 32 == 0"},
    {"2*h % 32 == 0", "h % 16 == 0"},
    {"2*h % 32 == 1", "never"},
    {"31*h % 32 == 0", "h % 32 == 0"},
    {"(a + 2*b) % 4 == 0", "(a + 2*b) % 4 == 0"},
    {"h % 32 != 0", "h % 32 != 0"},
    {"h % 32 != 29", "h % 32 != 29"},
    {"not h % 32 == 29", "h % 32 != 29"},
    {"not h % 32 != 29", "h % 32 == 29"},
    {"h % 32 >= 29", "h % 32 >= 29"},
    {"batch*seq % 30 == 0", "batch*seq % 30 == 0"},
    {"a*b % b == 0", "always"},
    {"a % b == 0", "a % b == 0"},
    {"(a + b) % b == 0", "a % b == 0"},
    {"(a + 1) % (b + 1) == 0", "(a + 1) % (b + 1) == 0"},
    {"2*a % (2*b) == 0", "a % b == 0"},
    {"512 % s == 0", "512 % s == 0"},
    {"a % b != 0", "a % b != 0"},
    {"(h//2) % 3 == 1", "(h//2) % 3 == 1"},
    {"h//2 == w//2", "h//2 == w//2"},
    {"? == 1", "opaque"},
    {"not s >= 3", "s <= 2"},
    {"not s == 3", "s != 3"},
};
INSTANTIATE_TEST_SUITE_P(Single, ConditionRows, testing::ValuesIn(kSingle));

constexpr ConditionRow kJoined[] = {
    {"s >= 1 and s <= 512", "1 <= s <= 512"},
    {"1 <= s <= 512", "1 <= s <= 512"},
    {"s in 1..512", "1 <= s <= 512"},
    {"b in 1..64, h % 32 == 0", "1 <= b <= 64 and h % 32 == 0"},
    {"s >= 1 and s >= 3", "s >= 3"},
    {"s >= 5 and s <= 5", "s == 5"},
    {"s >= 5 and s <= 4", "never"},
    {"s == 4 and s >= 1", "s == 4"},
    {"s == 4 and s == 5", "never"},
    {"s == 4 and s != 4", "never"},
    {"s >= 1 and s != 1", "s >= 2"},
    {"s >= 1 and s != 3", "s >= 1 and s != 3"},
    {"s >= 1 and s != 0", "s >= 1"},
    {"h % 4 == 0 and h % 8 == 0", "h % 8 == 0"},
    {"h % 4 == 1 and h % 8 == 0", "never"},
    {"h % 4 == 0 and h % 4 != 0", "never"},
    {"h % 32 == 0 and w % 32 == 0", "h % 32 == 0 and w % 32 == 0"},
    {"h == 1 and opaque", "opaque"},
    {"never and opaque", "never"},
    {"always or opaque", "always"},
    {"s == 1 or s == 120", "s in {1, 120}"},
    {"s in {120, 1}", "s in {1, 120}"},
    {"s in {7}", "s == 7"},
    {"h % 32 == 0 or h % 32 == 29", "h % 32 in {0, 29}"},
    {"h % 32 in {0, 29, 30, 31}", "h % 32 in {0, 29, 30, 31}"},
    {"s >= 16 or s == 1", "s >= 16 or s == 1"},
    {"s == 1 or s >= 16", "s >= 16 or s == 1"},
    {"s >= 16 or s == 15", "s >= 15"},
    {"s <= 3 or s == 4", "s <= 4"},
    {"s >= 3 or s <= 2", "always"},
    {"s >= 5 or s <= 2", "s >= 5 or s <= 2"},
    {"s == 3 or s != 3", "always"},
    {"s >= 3 or s >= 5", "s >= 3"},
    {"a == 1 or a == 1 and b == 2", "a == 1"},
    {"x == y or x == 1 or y == 1", "x == 1 or y == 1 or x == y"},
    {"h % 32 in {0, 29} and w % 16 in {0, 3}", "h % 32 in {0, 29} and w % 16 in {0, 3}"},
    {"h % 32 in {0, 29} and h >= 29", "h % 32 in {0, 29} and h >= 29"},
    {"h % 32 == 0 and h >= 5 or h % 32 == 30 and h >= 5 or h % 32 == 31 and h >= 5 or h <= 4 and h >= 1",
     "h % 32 in {0, 30, 31} and h >= 5 or 1 <= h <= 4"},
    {"h % 32 in {0, 30} and h >= 5 or h % 16 == 3", "h % 16 == 3 or h % 32 in {0, 30} and h >= 5"},
    {"s in {1, 5} and t >= 2 or t == 0", "s in {1, 5} and t >= 2 or t == 0"},
    {"s in {1, 5} and 2 <= t <= 4 or u == 0", "s in {1, 5} and 2 <= t <= 4 or u == 0"},
    {"s in {1, 5} and t in {7, 9} or u == 0", "s in {1, 5} and t in {7, 9} or u == 0"},
    {"s == 1 and t == 7 or s == 1 and t == 9 or s == 5 and t == 7", "s == 1 and t in {7, 9} or s == 5 and t == 7"},
    {"(s == 1 or t == 2) and u == 3", "(s == 1 or t == 2) and u == 3"},
    {"a >= 1 and (b >= 2 or c >= 3)", "(b >= 2 or c >= 3) and a >= 1"},
    {"not (a == 1 and b == 2)", "a != 1 or b != 2"},
    {"not (a == 1 or b == 2)", "a != 1 and b != 2"},
    {"(a + (b)) == 3", "a + b == 3"},
    {"((a == 3))", "a == 3"},
    {"(select(a == 1, b, c) + 1) >= 3", "select(a == 1, b, c) >= 2"},
};
INSTANTIATE_TEST_SUITE_P(Joined, ConditionRows, testing::ValuesIn(kJoined));

TEST(Condition, BadTextHasAColumn) {
  Symbols symbols;
  std::string error;
  for (auto [text, sentence] : std::initializer_list<std::pair<const char*, const char*>>{
           {"a", "column 2: a comparison expected"},
           {"a == ", "column 6: a number, a name or '(' expected"},
           {"a in 3", "column 7: '..' expected"},
           {"a in {1, 2", "column 11: '}' expected"},
           {"a == 1 and", "column 11: a number, a name or '(' expected"},
           {"(a == 1", "column 8: ')' expected"},
       }) {
    EXPECT_FALSE(parse_condition(text, symbols, &error)) << text;
    EXPECT_EQ(error, sentence) << text;
  }
}

TEST(Condition, PastTheLimitItIsOpaque) {
  Symbols symbols;
  Condition all;
  for (int i = 0; i < 9; ++i) {
    Dim s = symbols.fresh("s");
    all = all && (Condition::eq(s, 1) || Condition::eq(s, 5));
  }
  EXPECT_TRUE(all.is_opaque());
}

TEST(Condition, EvaluationHasThreeAnswers) {
  Symbols symbols;
  auto at = [&](const char* text, std::optional<int64_t> s) {
    return evaluate(condition_of_text(text, symbols), [&](Dim) { return s; });
  };
  EXPECT_EQ(at("s >= 3 or s == 1", 1), Tri::yes);
  EXPECT_EQ(at("s >= 3 or s == 1", 2), Tri::no);
  EXPECT_EQ(at("s >= 3", std::nullopt), Tri::unknown);
  EXPECT_EQ(at("512 % s == 0", 0), Tri::unknown);
  EXPECT_EQ(at("opaque", 1), Tri::unknown);
}

TEST(Condition, KnowsItsSymbols) {
  Symbols symbols;
  Dim a = symbols.symbol("a"), b = symbols.symbol("b"), c = symbols.symbol("c");
  Condition condition = condition_of_text("512 % b == 0 or a//2 >= 3", symbols);
  EXPECT_EQ(condition.symbols(), (std::vector<Dim>{a, b}));
  EXPECT_FALSE(condition.mentions(c));
  EXPECT_TRUE(substitute(condition, {{b, 1}}).is_always());
}

}  // namespace
}  // namespace anyshape
