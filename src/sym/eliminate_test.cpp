#include "sym/rows_test.h"

namespace anyshape {
namespace {

struct EliminateRow {
  const char* known;
  const char* condition;  // u is eliminated
  const char* result;
  bool exact = true;
};

class EliminateRows : public testing::TestWithParam<EliminateRow> {};
TEST_P(EliminateRows, Project) {
  const EliminateRow& row = GetParam();
  Symbols symbols;
  for (char c = 'a'; c <= 'z'; ++c) symbols.symbol(std::string(1, c));
  Assumptions known(symbols);
  known.assume(condition_of_text(row.known, symbols));
  Projection projection = eliminate(condition_of_text(row.condition, symbols), symbols.symbol("u"), known);
  EXPECT_EQ(print(projection.condition), row.result) << row.condition;
  EXPECT_EQ(projection.exact, row.exact) << row.condition;
}

constexpr EliminateRow kEliminated[] = {
    {"u >= 0", "a == 3", "a == 3"},
    {"u >= 0", "always", "always"},
    {"u >= 0", "u == 5", "always"},
    {"u >= 0", "u == -5", "never"},
    {"u >= 0", "u*u == 49", "always"},
    {"u >= 0", "u*u == 50", "never"},
    {"u >= 0", "u == a + b and u <= 10", "0 <= a + b <= 10"},
    {"u >= 0", "u == a and u*b == 12", "a >= 0 and a*b == 12"},
    {"u >= 0", "u == 2*a and (u + 1)//2 == b", "a >= 0 and a == b"},
    {"u >= 0", "2*u == a", "a % 2 == 0 and a >= 0"},
    {"u >= 0", "3*u + 1 == a", "a % 3 == 1 and a >= 1"},
    {"u >= 0", "2*u == a and u + b >= 3", "a % 2 == 0 and a >= 0 and a + 2*b >= 6"},
    {"u >= 0 and r >= 1", "u*r == t", "t % r == 0 and t >= 0"},
    {"u >= 1 and r >= 1", "u*r == t", "t % r == 0 and t >= r"},
    {"u >= 0", "u >= a and u <= b", "b >= 0 and b >= a"},
    {"always", "u >= a and u <= b", "b >= a"},
    {"u >= 0", "u >= a", "always"},
    {"always", "3*u >= a and u <= b", "3*b >= a"},
    {"always", "3*u >= a and 2*u <= b", "b//2 >= (a + 2)//3"},
    {"u >= 0", "u != 3", "always"},
    {"u >= 0", "u != a", "always"},
    {"0 <= u and u <= 1", "u != a", "always"},
    {"u >= 0", "u % 4 == 1", "always"},
    {"u >= 0", "u % 4 == a and u <= 10", "a in {0, 1, 2, 3}"},
    {"u >= 0", "u*u == a", "always", false},
    {"u >= 0", "u*u == a and b == 3", "b == 3", false},
    {"u >= 0", "opaque", "opaque", false},
    {"u >= 0", "u == a or b == 3", "a >= 0 or b == 3"},
    {"u >= 3", "u <= 2 and a == 1", "never"},
};
INSTANTIATE_TEST_SUITE_P(Rows, EliminateRows, testing::ValuesIn(kEliminated));

}  // namespace
}  // namespace anyshape
