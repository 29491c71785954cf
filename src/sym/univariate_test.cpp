#include "sym/univariate.h"

#include "sym/polynomial.h"
#include "sym/rows_test.h"

namespace anyshape {
namespace {

struct PeriodicRow {
  int64_t lo;
  std::optional<int64_t> hi;
  const char* condition;  // of s
  const char* result;
};
constexpr std::nullopt_t kNone = std::nullopt;

class PeriodicRows : public testing::TestWithParam<PeriodicRow> {};
TEST_P(PeriodicRows, Solve) {
  const PeriodicRow& row = GetParam();
  Symbols symbols;
  Dim s = symbols.symbol("s");
  auto set = PeriodicSet::solve(condition_of_text(row.condition, symbols), s, row.lo, row.hi);
  EXPECT_EQ(set ? print(set->to_condition(s)) : "none", row.result) << row.condition;
}

constexpr const char* kFive =
    "2*((s + 31)//32) == (s + 15)//16 and 2*((s + 15)//16) == (s + 7)//8 and 2*((s + 7)//8) == (s + 3)//4";

const PeriodicRow kPeriodic[] = {
    {0, kNone, "s == 120", "s == 120"},
    {0, kNone, "s >= 0", "always"},
    {1, kNone, "s <= 0", "never"},
    {0, kNone, "s >= 16 or s == 1", "s >= 16 or s == 1"},
    {0, kNone, "s <= 512", "s <= 512"},
    {0, 512, "s <= 512", "always"},
    {1, kNone, "s >= 1 and s <= 512", "s <= 512"},
    {0, kNone, "s >= 1 and s <= 512", "1 <= s <= 512"},
    {0, kNone, "s != 5", "s != 5"},
    {0, kNone, "s != 5 and s != 9 and s >= 2", "s >= 2 and s != 5 and s != 9"},
    {0, kNone, "s in {1, 120}", "s in {1, 120}"},
    {0, kNone, "s in {4, 5, 120}", "s in {4, 5, 120}"},
    {0, kNone, "s*s >= 400", "s >= 20"},
    {0, kNone, "s*s <= 400", "s <= 20"},
    {0, kNone, "s*s == 401", "never"},
    {-100, kNone, "s*s >= 400", "s >= 20 or s <= -20"},
    {0, kNone, "s*s - 10*s + 21 <= 0", "3 <= s <= 7"},
    {0, kNone, "s*s*s - 100*s*s + 3000*s >= 20000", "s >= 10"},
    {0, kNone, "s <= 1000000", "s <= 1000000"},
    {0, kNone, "s % 2 == 1 and s <= 1000000", "s % 2 == 1 and s <= 999999"},
    {0, kNone, "s % 32 == 0", "s % 32 == 0"},
    {0, kNone, "s % 4 == 0 and s % 6 == 0", "s % 12 == 0"},
    {0, kNone, "s % 4 == 0 or s % 4 == 2", "s % 2 == 0"},
    {0, kNone, "s % 32 != 0", "s % 32 != 0"},
    {1, kNone, "s % 32 == 0 and s >= 30", "s % 32 == 0"},
    {0, 600, "s % 32 == 0 and s >= 29", "s % 32 == 0 and s >= 32"},
    {0, kNone, "s % 8 == 0 and s >= 1", "s % 8 == 0 and s >= 8"},
    {-9, kNone, "s % 8 != 0 and s >= 0", "s >= 1 and s % 8 != 0"},
    {0, kNone, "s % 32 in {0, 29, 30, 31} and s >= 5 or s <= 4 and s % 32 != 0",
     "s % 32 in {0, 29, 30, 31} and s >= 29 or 1 <= s <= 4"},
    {0, kNone, "s % 32 == 0 and s >= 40 or s <= 9 and s != 4", "s % 32 == 0 and s >= 64 or s <= 9 and s != 4"},
    {0, kNone, "s % 2 == 0 or s <= 10", "s <= 9 or s % 2 == 0"},
    {0, kNone, "s % 2 == 0 or s >= 10", "s >= 10 or s % 2 == 0"},
    {0, kNone, "s % 12 == 0 and s >= 30 or s % 3 == 0 and s <= 30", "s % 3 == 0 and s <= 30 or s % 12 == 0"},
    {0, 100, "s % 8 == 0 and s <= 70", "s % 8 == 0 and s <= 64"},
    {0, kNone, "(s*s) % 8 == 1", "s % 2 == 1"},
    {0, kNone, kFive, "s % 32 in {0, 29, 30, 31}"},
    {1, kNone, kFive, "s % 32 in {0, 29, 30, 31}"},
    {0, kNone, "2*((s + 31)//32) == (s + 15)//16 and s >= 40",
     "s % 32 in {0, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, "
     "27, 28, 29, 30, 31} and s >= 49"},
    {1, kNone, "min(s, 512) == s", "s <= 512"},
    {1, kNone, "max(s - 3, 0) >= 1", "s >= 4"},
    {0, kNone, "min(s, 10) + max(s, 20) >= 28", "s >= 8"},
    {0, kNone, "select(s >= 10, s, 2*s) == 12", "s in {6, 12}"},
    {1, kNone, "100//s == 3", "26 <= s <= 33"},
    {1, kNone, "100//s >= 1", "s <= 100"},
    {1, kNone, "100 % s == 0", "s in {1, 2, 4, 5, 10, 20, 25, 50, 100}"},
    {0, kNone, "100 % s == 0", "none"},
    {1, kNone, "(s*s + s)//s == s + 1", "always"},
    {0, kNone, "(s + 1)//2 >= 4", "s >= 7"},
    {0, kNone, "(s - 3)//2 + 1 >= 1", "s >= 3"},
    {0, kNone, "t == 3", "none"},
    {0, kNone, "s % 1009 == 3", "s % 1009 == 3"},
    {0, kNone, "s % 8191 == 3", "none"},
    {0, 100, "s % 8191 == 3", "s == 3"},
};
INSTANTIATE_TEST_SUITE_P(Rows, PeriodicRows, testing::ValuesIn(kPeriodic));

TEST(PeriodicSet, Members) {
  Symbols symbols;
  Dim s = symbols.symbol("s");
  auto set = PeriodicSet::solve(condition_of_text("s % 32 == 0 and s >= 40", symbols), s, 0, std::nullopt);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->smallest(), 64);
  EXPECT_TRUE(set->contains(96));
  EXPECT_FALSE(set->contains(32));
  EXPECT_FALSE(set->contains(97));
  EXPECT_FALSE(set->empty());
  EXPECT_TRUE(PeriodicSet::solve(Condition::never(), s, 0, std::nullopt)->empty());
}

TEST(Polynomial, LinesChangeSignWhereTheirValuesDo) {
  for (int64_t a = -7; a <= 7; ++a)
    for (int64_t b = -3; b <= 3; ++b)
      for (int64_t from = 0; from <= 4; ++from) {
        const auto at = [&](int64_t k) { return sign(a + b * k); };
        std::optional<int64_t> expected;
        for (int64_t k = 9; k > from; --k)
          if (at(k) != at(from)) expected = k;
        EXPECT_EQ(first_change(Polynomial(a, b), from, 9).k, expected) << a << " + " << b << " k from " << from;
      }
}

TEST(Polynomial, ManyCoefficients) {
  Polynomial p(1);
  for (int root = 1; root <= 9; ++root) p = p * Polynomial(-root, 1);
  EXPECT_EQ(p.degree(), 9u);
  const Polynomial copy = p;
  EXPECT_EQ(static_cast<int64_t>(copy.at(10).value()), 362880);
  EXPECT_EQ(static_cast<int64_t>(copy.at(7).value()), 0);
  EXPECT_EQ(static_cast<int64_t>((copy - Polynomial(1)).at(7).value()), -1);
  p = p - copy;
  EXPECT_TRUE(p.c.empty());
  EXPECT_EQ((copy + Polynomial(0, 3) - copy).degree(), 1u) << "nine coefficients become two";
  EXPECT_EQ(static_cast<int64_t>((copy + Polynomial(4, 3) - copy).at(2).value()), 10);
}

TEST(Polynomial, FirstChangeOfSign) {
  Polynomial p = Polynomial(-20, 1) * Polynomial(-50, 1);  // (k - 20)(k - 50)
  EXPECT_EQ(first_change(p, 0, 1000).k, 20);
  EXPECT_EQ(first_change(p, 20, 1000).k, 21);
  EXPECT_EQ(first_change(p, 21, 1000).k, 50);
  EXPECT_EQ(first_change(p, 51, INT64_MAX).k, std::nullopt);
  EXPECT_EQ(first_change(p, 0, 19).k, std::nullopt);
  EXPECT_EQ(first_change(Polynomial(7), 0, INT64_MAX).k, std::nullopt);
  EXPECT_EQ(first_change(Polynomial(-1000000, 1), 0, INT64_MAX).k, 1000000);
  EXPECT_EQ(first_change(Polynomial(INT64_MIN, 1), 0, INT64_MAX).k, std::nullopt);
  EXPECT_EQ(first_change(Polynomial(INT64_MIN, 2), 0, INT64_MAX).k, int64_t{1} << 62);
}

}  // namespace
}  // namespace anyshape
