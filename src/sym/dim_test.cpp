#include "sym/dim.h"

#include <fmt/format.h>

#include <limits>

#include "sym/limits.h"
#include "sym/rows_test.h"

namespace anyshape {
namespace {

struct DimRow {
  const char* text;
  const char* canonical;
};

// Symbols exist in the order of the alphabet, so that the order of terms does not depend on the row.
void run(const DimRow& row) {
  Symbols symbols;
  for (char c = 'a'; c <= 'z'; ++c) symbols.symbol(std::string(1, c));
  Dim dim = dim_of_text(row.text, symbols);
  EXPECT_EQ(print(dim), row.canonical) << row.text;
  EXPECT_EQ(dim_of_text(print(dim), symbols), dim) << row.text;
}

class DimRows : public testing::TestWithParam<DimRow> {};
TEST_P(DimRows, Canonical) { run(GetParam()); }

constexpr DimRow kSums[] = {
    {"0", "0"},
    {"-5", "-5"},
    {"a", "a"},
    {"a + 0", "a"},
    {"a - a", "0"},
    {"a + a", "2*a"},
    {"-a", "-a"},
    {"-a + b", "b - a"},
    {"3 - a", "3 - a"},
    {"b + a", "a + b"},
    {"a*b", "a*b"},
    {"b*a", "a*b"},
    {"2*w - 3", "2*w - 3"},
    {"(a + 1)*(a - 1)", "a*a - 1"},
    {"(a + b)*(a - b)", "a*a - b*b"},
    {"(a + b)*(a + b)", "a*a + 2*a*b + b*b"},
    {"a*(b + c) - a*b", "a*c"},
    {"1 + a*b + a", "a*b + a + 1"},
    {"2*(a + 3) - 6", "2*a"},
    {"a*0", "0"},
    {"--a", "a"},
    {"-(a - b)", "b - a"},
    {"9223372036854775807", "9223372036854775807"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"9223372036854775807 + 1", "?"},
    {"9223372036854775807*a + a", "?"},
    {"?", "?"},
    {"? + 1", "?"},
    {"0*?", "?"},
};
INSTANTIATE_TEST_SUITE_P(Sums, DimRows, testing::ValuesIn(kSums));

constexpr DimRow kQuotients[] = {
    {"7//2", "3"},
    {"-7//2", "-4"},
    {"(-7)//2", "-4"},
    {"h//1", "h"},
    {"h//2", "h//2"},
    {"(h + 1)//2", "(h + 1)//2"},
    {"(h + 2)//2", "h//2 + 1"},
    {"(h - 1)//2", "(h + 1)//2 - 1"},
    {"(h - 3)//2 + 1", "(h + 1)//2 - 1"},
    {"(2*h)//2", "h"},
    {"(2*h + 1)//2", "h"},
    {"(4*h + 2)//8", "h//2"},
    {"(4*h + 3)//8", "h//2"},
    {"(4*h + 4)//8", "(h + 1)//2"},
    {"(6*h)//4", "h + h//2"},
    {"(-h)//2", "h//2 - h"},
    {"(h//2)//2", "h//4"},
    {"(h//2)//3", "h//6"},
    {"((h + 1)//2 + 1)//2", "(h + 3)//4"},
    {"(((h + 1)//2 + 1)//2 + 1)//2", "(h + 7)//8"},
    {"((h//2) + w)//2", "(w + h//2)//2"},
    {"(h + 2*p - 3)//2 + 1", "p + (h + 1)//2 - 1"},
    {"(h + 2*3 - 7)//2 + 1", "(h + 1)//2"},
    {"ceildiv(h, 2)", "(h + 1)//2"},
    {"ceildiv(h, 32)", "(h + 31)//32"},
    {"ceildiv(a, b)", "(a - 1)//b + 1"},
    {"(a*b)//b", "a"},
    {"(6*b*s)//(2*s)", "3*b"},
    {"(a*b + b)//b", "a + 1"},
    {"(a*b + c)//b", "a + c//b"},
    {"(b*c*8)//(c*3)", "2*b + (2*b)//3"},
    {"(a*a - b*b)//(a + b)", "a - b"},
    {"(a//b)//c", "a//(b*c)"},
    {"(a//2)//b", "a//(2*b)"},
    {"(a//b)//2", "a//(2*b)"},
    {"(2*a)//(2*b)", "a//b"},
    {"(2*a + 1)//(2*b)", "a//b"},
    {"0//b", "0"},
    {"h*w//2", "(h*w)//2"},
    {"3*(h//2)", "3*(h//2)"},
    {"h//2*3", "3*(h//2)"},
    {"(h//2)*(w//2)", "(h//2)*(w//2)"},
    {"-(h//2)", "-(h//2)"},
    {"1 - h//2", "1 - h//2"},
};
INSTANTIATE_TEST_SUITE_P(Quotients, DimRows, testing::ValuesIn(kQuotients));

constexpr DimRow kRemainders[] = {
    {"7 % 4", "3"},
    {"(-7) % 4", "1"},
    {"h % 1", "0"},
    {"h % 32", "h % 32"},
    {"h - 32*(h//32)", "h % 32"},
    {"33*h % 32", "h % 32"},
    {"2*h % 4", "2*(h % 2)"},
    {"(h + 32) % 32", "h % 32"},
    {"(h + 3) % 32", "(h + 3) % 32"},
    {"(h + 3) % 32 - 1", "(h + 3) % 32 - 1"},
    {"3*(h % 32) + 1", "3*(h % 32) + 1"},
    {"-(h % 32)", "-(h % 32)"},
    {"w - h % 32", "w - h % 32"},
    {"a*b % 30", "a*b % 30"},
    {"a % b", "a % b"},
    {"2*(a % b)", "2*(a % b)"},
    {"a % (2*b)", "a % (2*b)"},
    {"a*b % b", "0"},
    {"(h % 32) % 8", "h % 8"},
    {"(h % 4)*(h % 4)", "h*h - 8*h*(h//4) + 16*(h//4)*(h//4)"},
    {"h % 32 + w % 32", "h % 32 + w % 32"},
};
INSTANTIATE_TEST_SUITE_P(Remainders, DimRows, testing::ValuesIn(kRemainders));

constexpr DimRow kChoices[] = {
    {"min(3, 5)", "3"},
    {"max(3, 5)", "5"},
    {"min(a, a)", "a"},
    {"min(a, a + 1)", "a"},
    {"max(a, a + 1)", "a + 1"},
    {"min(s, 512)", "min(s, 512)"},
    {"min(512, s)", "min(s, 512)"},
    {"min(b, a)", "min(a, b)"},
    {"min(a, min(b, c))", "min(a, b, c)"},
    {"min(a, b, a)", "min(a, b)"},
    {"min(min(s, 5), 3)", "min(s, 3)"},
    {"max(min(a, b), a)", "a"},
    {"min(max(a, b), a)", "a"},
    {"max(s - 3, 0)", "max(s - 3, 0)"},
    {"2*max(a, b)", "2*max(a, b)"},
    {"max(a, b)//2", "max(a, b)//2"},
    {"broadcast(a, 1)", "a"},
    {"broadcast(1, a)", "a"},
    {"broadcast(1, 1)", "1"},
    {"broadcast(a, a)", "a"},
    {"broadcast(a, 5)", "5"},
    {"broadcast(a, 0)", "0"},
    {"broadcast(3, 4)", "?"},
    {"broadcast(b, a)", "broadcast(a, b)"},
    {"broadcast(a, broadcast(b, a))", "broadcast(a, b)"},
    {"select(always, a, b)", "a"},
    {"select(never, a, b)", "b"},
    {"select(a >= b, c, c)", "c"},
    {"select(3 >= 2, a, b)", "a"},
    {"select(a >= b, x, y)", "select(a >= b, x, y)"},
    {"select(a >= b and c == 1, x, y) + 1", "select(c == 1 and a >= b, x, y) + 1"},
    {"select(s in {1, 3}, x, y)", "select(s in {1, 3}, x, y)"},
};
INSTANTIATE_TEST_SUITE_P(Choices, DimRows, testing::ValuesIn(kChoices));

constexpr DimRow kNames[] = {
    {"x.0 + x.1", "x.0 + x.1"},
    {"'input:0'*2", "2*'input:0'"},
    {"'it\\'s'", "'it\\'s'"},
    {"'a\\\\b'", "'a\\\\b'"},
    {"'a\\x0ab'", "'a\\x0ab'"},
    {"'a'", "a"},
    {"'\\xe2\\x80\\xae'", "'\\xe2\\x80\\xae'"},
    {"'\xe2\x80\xae'", "'\\xe2\\x80\\xae'"},
    {"'\\xff\\xc3'", "'\\xff\\xc3'"},
    {"'\xff\xc3'", "'\\xff\\xc3'"},
    {"'\\xc3\\xbc\\x1b[2J'", "'\xc3\xbc\\x1b[2J'"},
    {"'and'", "'and'"},
    {"'a b' + 1", "'a b' + 1"},
    {"'1x'", "'1x'"},
    {"'a..b'", "'a..b'"},
    {"'a.'", "'a.'"},
    {"min + 1", "min + 1"},
};
INSTANTIATE_TEST_SUITE_P(Names, DimRows, testing::ValuesIn(kNames));

struct ErrorRow {
  const char* text;
  const char* error;
};
class DimErrors : public testing::TestWithParam<ErrorRow> {};
TEST_P(DimErrors, Sentence) {
  Symbols symbols;
  std::string error;
  EXPECT_FALSE(parse_dim(GetParam().text, symbols, &error));
  EXPECT_EQ(error, GetParam().error);
}
constexpr ErrorRow kErrors[] = {
    {"", "column 1: a number, a name or '(' expected"},
    {"a +", "column 4: a number, a name or '(' expected"},
    {"(a", "column 3: ')' expected"},
    {"a b", "column 3: the text should end here"},
    {"a//0", "column 5: the divisor must be positive"},
    {"a % (1 - 3)", "column 12: the divisor must be positive"},
    {"9223372036854775809", "column 19: the number is too large"},
    {"9223372036854775808", "column 1: the number is too large"},
    {"foo(a, b)", "column 1: unknown function 'foo'"},
    {"min(a)", "column 6: a second argument expected"},
    {"a $ b", "column 3: unexpected character '$'"},
    {"'ab", "column 4: the quote is not closed"},
    {"''", "column 3: a name cannot be empty"},
    {"'a\\q'", "column 3: unknown escape in a quoted name"},
    {"select(a, b, c)", "column 9: a comparison expected"},
};
INSTANTIATE_TEST_SUITE_P(Errors, DimErrors, testing::ValuesIn(kErrors));

TEST(Dim, DeepTextIsRefused) {
  Symbols symbols;
  std::string error;
  EXPECT_FALSE(parse_dim(fmt::format("{:(>1000}{:)<1000}", 'a', ')'), symbols, &error));
  EXPECT_NE(error.find("nested too deeply"), std::string::npos);
  EXPECT_FALSE(parse_dim(fmt::format("{:->10000}", 'a'), symbols, &error));
}

TEST(Dim, IsSmallAndInterned) {
  EXPECT_EQ(sizeof(Dim), 16u);
  Symbols symbols;
  Dim a = symbols.symbol("a"), b = symbols.symbol("b");
  EXPECT_EQ((a + b).node(), (b + a).node());
  EXPECT_TRUE(a.is_symbol());
  EXPECT_FALSE((a + 1).is_symbol());
  EXPECT_FALSE((a * 2).is_symbol());
  EXPECT_EQ(floordiv(b, a).symbols(), (Dims{a, b}));
  EXPECT_TRUE(floordiv(b, 2).mentions(b));
  EXPECT_FALSE(floordiv(b, 2).mentions(a));
}

TEST(Dim, FreshNamesAreNew) {
  Symbols symbols;
  EXPECT_EQ(symbols.name(symbols.fresh("u")), "u");
  EXPECT_EQ(symbols.name(symbols.fresh("u")), "u.1");
  symbols.symbol("u.2");
  EXPECT_EQ(symbols.name(symbols.fresh("u")), "u.3");
  EXPECT_FALSE(symbols.find("v"));
}

TEST(Dim, GrowthIsBounded) {
  Symbols symbols;
  Dim sum = 0, power = 1, deep = symbols.symbol("a"), wide = symbols.symbol("a");
  for (size_t i = 0; i <= limits::kTerms; ++i) sum = sum + symbols.fresh("s");
  EXPECT_TRUE(sum.is_unknown());
  for (size_t i = 0; i <= limits::kDegree; ++i) power = power * symbols.symbol("a");
  EXPECT_TRUE(power.is_unknown());
  for (uint32_t i = 0; i <= limits::kDepth + 1; ++i) deep = max(deep * 2, symbols.symbol("b")) + 1;
  EXPECT_TRUE(deep.is_unknown());
  for (int i = 0; i < 40; ++i) wide = max(wide * 2, min(wide * 3, symbols.symbol("b")));
  EXPECT_TRUE(wide.is_unknown());
}

TEST(Dim, ExactDivision) {
  Symbols symbols;
  Dim a = symbols.symbol("a"), b = symbols.symbol("b");
  EXPECT_EQ(exact_div(6 * a * b, 2 * b), std::optional(3 * a));
  EXPECT_EQ(exact_div(a * a - b * b, a - b), std::optional(a + b));
  EXPECT_EQ(exact_div(4 * a + 6, 2), std::optional(2 * a + 3));
  EXPECT_EQ(exact_div(a, -1), std::optional(-a));
  EXPECT_FALSE(exact_div(a, b));
  EXPECT_FALSE(exact_div(4 * a + 5, 2));
  EXPECT_FALSE(exact_div(a, 0));
  EXPECT_FALSE(exact_div(3 * a, 2 * a));
}

TEST(Dim, EvaluationRefusesWhatIsUndefined) {
  Symbols symbols;
  auto at = [&](const char* text, int64_t a, int64_t b) {
    return evaluate(dim_of_text(text, symbols), [&](Dim s) -> std::optional<int64_t> {
      if (symbols.name(s) == "a") return a;
      if (symbols.name(s) == "b") return b;
      return std::nullopt;
    });
  };
  EXPECT_EQ(at("(a - 7)//2 + b", 2, 1), -2);
  EXPECT_EQ(at("a//b", 7, 2), 3);
  EXPECT_EQ(at("a//b", 7, 0), std::nullopt);
  EXPECT_EQ(at("a//b", 7, -1), std::nullopt);
  EXPECT_EQ(at("broadcast(a, b)", 1, 5), 5);
  EXPECT_EQ(at("broadcast(a, b)", 3, 5), std::nullopt);
  EXPECT_EQ(at("a*b", std::numeric_limits<int64_t>::max(), 2), std::nullopt);
  EXPECT_EQ(at("a + c", 1, 1), std::nullopt);
  EXPECT_EQ(at("?", 1, 1), std::nullopt);
  EXPECT_EQ(at("select(a > b, a, b)", 3, 5), 5);
}

TEST(Dim, SubstitutionRecanonicalises) {
  Symbols symbols;
  Dim h = symbols.symbol("h"), k = symbols.symbol("k");
  EXPECT_EQ(substitute(floordiv(h + 1, 2), {{h, 2 * k}}), k);
  EXPECT_EQ(substitute(min(h, k), {{h, 5}, {k, 3}}), Dim(3));
  EXPECT_EQ(substitute(floordiv(h, k), {{k, 0}}), Dim::unknown());
  EXPECT_EQ(substitute(h + k, {{h, k}, {k, h}}), h + k);
}

TEST(Dim, SubstitutionCarriesToOtherSymbols) {
  constexpr std::string_view kRows[] = {"2*h*k + 3", "(h + 2*k - 3)//2 + 1", "min(h, k, 512)",
                                        "h % 32",    "broadcast(h, k)",      "select(h >= k, h//2, k)"};
  for (std::string_view text : kRows) {
    Symbols from, to;
    // In another order: what is canonical depends on it.
    const Dim k = to.symbol("k"), h = to.symbol("h");
    const Dim there = *parse_dim(text, from);
    EXPECT_EQ(substitute(there, {{from.symbol("h"), h}, {from.symbol("k"), k}}), *parse_dim(text, to)) << text;
  }
}

}  // namespace
}  // namespace anyshape
