#include "format/pt2/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "format/pt2/archive_bytes_test.h"

namespace anyshape::pt2 {
namespace {

// Symbols stand for themselves; x.size(1) is the symbol x1. Names that start with "unknown" are not known.
Leaf leaves(Symbols& symbols) {
  return [&symbols](const Expression& e) -> std::optional<Dim> {
    if (e.name.starts_with("unknown")) return std::nullopt;
    if (e.kind == Expression::Kind::symbol) return symbols.symbol(e.name);
    return symbols.symbol(fmt::format("{}{}", e.name, e.integer));
  };
}

struct ExpressionRow {
  const char* text;
  const char* printed;  // the expression, or the error's message
  const char* dim;      // the Dim or the condition; "-" where there is none
};

std::string printed(const Result<Expression>& e) { return e ? print(*e) : e.error().message; }

std::string converted(const Result<Expression>& e) {
  if (!e) return "-";
  Symbols symbols;
  const Leaf leaf = leaves(symbols);
  if (const auto dim = to_dim(*e, leaf)) return print(*dim);
  if (const auto condition = to_condition(*e, leaf)) return print(*condition);
  return "-";
}

void expect(const ExpressionRow& row, const Result<Expression>& e) {
  EXPECT_EQ(printed(e), row.printed) << row.text;
  EXPECT_EQ(converted(e), row.dim) << row.text;
}

constexpr ExpressionRow kSrepr[] = {
    {"Integer(3)", "3", "3"},
    {"Integer(-3)", "-3", "-3"},
    {"Symbol('s77', positive=True, integer=True)", "s77", "s77"},
    {"Symbol('u0', integer=True)", "u0", "u0"},
    {"Mul(Integer(2), Symbol('s0', positive=True, integer=True))", "2*s0", "2*s0"},
    {"Add(Mul(Integer(-1), Symbol('a')), Symbol('b'), Integer(1))", "-1*a + b + 1", "b - a + 1"},
    {"FloorDiv(Add(Symbol('s0'), Integer(1)), Integer(2))", "(s0 + 1)//2", "(s0 + 1)//2"},
    {"Pow(Symbol('s0'), Integer(3))", "s0**3", "s0*s0*s0"},
    {"Mul(Symbol('a'), Pow(Integer(2), Integer(-1)))", "a*2**(-1)", "-"},
    {"Mul(Integer(4), Symbol('a'), Rational(1, 2))", "4*a*(1*2**(-1))", "2*a"},
    {"Mod(Symbol('a'), Integer(4))", "a % 4", "a % 4"},
    {"PythonMod(Symbol('a'), Integer(-4))", "a % -4", "-(3*a % 4)"},
    {"CleanDiv(Mul(Integer(4), Symbol('a')), Integer(2))", "4*a//2", "2*a"},
    {"Max(Integer(1), Symbol('a'))", "max(1, a)", "max(a, 1)"},
    {"Min(Symbol('a'), Symbol('b'), Integer(7))", "min(a, b, 7)", "min(a, b, 7)"},
    {"TruncToInt(Mul(Float('0.5', precision=53), ToFloat(Symbol('s0', positive=True, integer=True))))",
     "trunc(0.5*to_float(s0))", "s0//2"},
    {"FloorToInt(IntTrueDiv(Symbol('a'), Integer(3)))", "floor(a/3)", "a//3"},
    {"CeilToInt(IntTrueDiv(Symbol('a'), Integer(3)))", "ceil(a/3)", "(a + 2)//3"},
    {"RoundToInt(IntTrueDiv(Symbol('a'), Integer(3)))", "round(a/3)", "(a + 1)//3"},
    {"IntTrueDiv(Mul(Integer(6), Symbol('a')), Integer(3))", "6*a/3", "2*a"},
    {"IntTrueDiv(Symbol('a'), Integer(3))", "a/3", "-"},
    {"ModularIndexing(Symbol('a'), Integer(2), Integer(3))", "a//2 % 3", "a//2 - 3*(a//6)"},
    {"Where(StrictLessThan(Symbol('a'), Integer(3)), Integer(5), Symbol('b'))", "piecewise(5, a < 3, b)",
     "select(a <= 2, 5, b)"},
    {"Piecewise(ExprCondPair(Symbol('a'), GreaterThan(Symbol('a'), Integer(4))), ExprCondPair(Integer(4), true))",
     "piecewise(a, a >= 4, 4)", "select(a >= 4, a, 4)"},
    {"LShift(Symbol('a'), Integer(3))", "a*2**3", "8*a"},
    {"RShift(Symbol('a'), Integer(3))", "a//2**3", "a//8"},
    {"GreaterThan(Symbol('a'), Integer(2))", "a >= 2", "a >= 2"},
    {"StrictGreaterThan(Symbol('a'), Integer(2))", "a > 2", "a >= 3"},
    {"LessThan(Symbol('a'), Symbol('b'))", "a <= b", "b >= a"},
    {"Equality(Symbol('a'), Integer(2))", "a == 2", "a == 2"},
    {"Unequality(Mod(Symbol('a'), Integer(2)), Integer(0))", "a % 2 != 0", "a % 2 != 0"},
    {"And(Equality(Symbol('a'), Integer(2)), Not(Equality(Symbol('b'), Integer(3))))", "a == 2 and not b == 3",
     "a == 2 and b != 3"},
    {"Or(Equality(Symbol('a'), Integer(2)), LessThan(Symbol('b'), Integer(3)))", "a == 2 or b <= 3",
     "b <= 3 or a == 2"},
    {"true", "True", "always"},
    {"Symbol('unknown')", "unknown", "-"},
    {"OpaqueUnaryFn_sqrt(Symbol('a'))", "OpaqueUnaryFn_sqrt(a)", "-"},
    {"s0", "s0", "s0"},
    {"2*s77", "2*s77", "2*s77"},
    {"s0//2 + 1", "s0//2 + 1", "s0//2 + 1"},
    {"(s0 - 3)//2*4", "(s0 - 3)//2*4", "4*((s0 + 1)//2) - 8"},
    {"((s0//2))**2", "(s0//2)**2", "(s0//2)*(s0//2)"},
    {"9223372036854775808", "9223372036854775808", "'9223372036854775808'"},
    {"Mul(Integer(9223372036854775807), Symbol('a'), Integer(2))", "9223372036854775807*a*2", "-"},
    {"FloorDiv(Symbol('a'), Integer(0))", "a//0", "-"},
    {"Pow(Symbol('a'), Integer(1000))", "a**1000", "-"},
    {"Mod(Symbol('a'))", "Mod(a)", "-"},
    {"pow(a)", "pow(a)", "-"},
    {"Add()", "Add()", "-"},
};

TEST(Expression, Srepr) {
  for (const ExpressionRow& row : kSrepr) expect(row, parse_srepr(row.text));
}

constexpr ExpressionRow kPython[] = {
    {"L['x'].size()[1] >= 9", "x.size(1) >= 9", "x1 >= 9"},
    {"2 <= L['x'].size()[0] <= 64", "2 <= x.size(0) and x.size(0) <= 64", "2 <= x0 <= 64"},
    {"L['d']['k'][1].size()[0] == 3", "d['k'][1].size(0) == 3", "'d[\\'k\\'][1]0' == 3"},
    {"L['n'] + 1", "n + 1", "n + 1"},
    {"L['x'].stride()[0] == 1", "stride(x, 0) == 1", "-"},
    {"(L['x'].size()[1] % 2) == 0", "x.size(1) % 2 == 0", "x1 % 2 == 0"},
    {"L['x'].size()[2] == (4*(L['x'].size()[2] // 4))", "x.size(2) == 4*(x.size(2)//4)", "x2 % 4 == 0"},
    {"math.trunc(0.5*torch.sym_float(L['y'].size()[1])) != 1", "trunc(0.5*to_float(y.size(1))) != 1", "y1//2 != 1"},
    {"math.trunc(0.3*torch.sym_float(L['y'].size()[1])) != 1", "trunc(0.3*to_float(y.size(1))) != 1", "-"},
    {"math.ceil(L['x'].size()[0] / 2)", "ceil(x.size(0)/2)", "(x0 + 1)//2"},
    {"math.trunc(0.5*(L['x'].size()[0] - 3))", "trunc(0.5*(x.size(0) - 3))",
     "select(x0 >= 3, (x0 + 1)//2 - 2, x0 - (x0 + 1)//2 - 1)"},
    {"math.floor((L['x'].size()[0] / 3)*3.0)", "floor(x.size(0)/3*3.0)", "-"},
    {"math.floor((L['x'].size()[0] / 3)*0.5)", "floor(x.size(0)/3*0.5)", "x0//6"},
    {"L['x'].size()[0] / 2 >= 1.5", "x.size(0)/2 >= 1.5", "x0 >= 3"},
    {"not (L['a'].size()[0] < 3 or L['a'].size()[0] > 8)", "not (a.size(0) < 3 or a.size(0) > 8)", "3 <= a0 <= 8"},
    {"-L['a'].size()[0] - -2", "-a.size(0) - -2", "2 - a0"},
    {"-(2)", "-(2)", "-2"},
    {"2**-1*4", "2**(-1)*4", "2"},
    {"-2**2", "-2**2", "-4"},
    {"a - (b - c)", "a - (b - c)", "a - b + c"},
    {"a - b + c", "a - b + c", "a - b + c"},
    {"a // b // c", "a//b//c", "a//(b*c)"},
    {"a // (b // c)", "a//(b//c)", "a//(b//c)"},
    {"a*(b % c)", "a*(b % c)", "a*b - a*c*(b//c)"},
    {"max(a, 1) + torch.sym_sum([a, b, c])", "max(a, 1) + (a + b + c)", "a + max(a, 1) + b + c"},
    {"(a == 1) & (b == 2) | (c < 3)", "a == 1 and b == 2 or c < 3", "c <= 2 or a == 1 and b == 2"},
    {"abs(a - 1)", "abs(a - 1)", "select(a >= 1, a - 1, 1 - a)"},
    {"1e400", "\"1e400\" is no number", "-"},
    {"", "the expression ends too early", "-"},
    {"a +", "the expression ends too early", "-"},
    {"a b", "\"b\" in column 3 is not expected", "-"},
    {"f(a", "the expression ends too early", "-"},
    {"L['x", "the quote in column 3 is never closed", "-"},
    {"a ? b", "an unexpected character in column 3", "-"},
    {"x.size(", "the expression ends too early", "-"},
    {"Symbol(3)", "\"3\" in column 8 is not expected", "-"},
};

TEST(Expression, Python) {
  for (const ExpressionRow& row : kPython) expect(row, parse_python(row.text));
}

TEST(Expression, IsBounded) {
  const std::string hostile[] = {
      repeated("(", 100000),
      fmt::format("{}a", repeated("-", 100000)),
      fmt::format("{}a", repeated("not ", 100000)),
      repeated("f(", 100000),
      fmt::format("a{}", repeated("//a", 100000)),
      fmt::format("a{}", repeated("**a", 100000)),
      fmt::format("a{}", repeated("<a", 100000)),
      fmt::format("a{}{}", repeated("<(a", 390), repeated("<a)<a", 390)),
      std::string(size_t{2} << 20, 'a'),
  };
  for (const std::string& text : hostile) {
    const auto e = parse_python(text);
    ASSERT_FALSE(e) << text.substr(0, 20);
    EXPECT_TRUE(e.error().code.starts_with("pt2.expression")) << e.error().text();
  }
  EXPECT_TRUE(parse_python(fmt::format("a{}", repeated(" + a", 10000))));
}

// Random expressions in PyTorch's words, as Python computes them with doubles.
struct Sample {
  std::string text;
  double value;
};

class Sampler {
 public:
  Sampler(unsigned seed, const std::vector<int64_t>& sizes) : random_(seed), sizes_(sizes) {}

  Sample integer(int depth) {
    const int64_t n = pick(1, 8);
    const auto d = static_cast<double>(n);
    if (depth == 0 || pick(0, 3) == 0) {
      if (pick(0, 1) == 0) return {std::to_string(n), d};
      const auto axis = static_cast<size_t>(pick(0, 1));
      return {fmt::format("L['x'].size()[{}]", axis), static_cast<double>(sizes_[axis])};
    }
    const Sample a = integer(depth - 1), b = integer(depth - 1);
    switch (pick(0, 7)) {
      case 0:
        return {fmt::format("({} + {})", a.text, b.text), a.value + b.value};
      case 1:
        return {fmt::format("({} - {})", a.text, b.text), a.value - b.value};
      case 2:
        return {fmt::format("{}*{}", a.text, n), a.value * d};
      case 3:
        return {fmt::format("({} // {})", a.text, n), std::floor(a.value / d)};
      case 4:
        return {fmt::format("({} % {})", a.text, n), a.value - d * std::floor(a.value / d)};
      case 5:
        return {fmt::format("max({}, {})", a.text, b.text), std::max(a.value, b.value)};
      case 6:
        return {fmt::format("abs({})", a.text), std::fabs(a.value)};
      default:
        return rounded(a, n);
    }
  }

 private:
  int64_t pick(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random_); }

  Sample rounded(const Sample& a, int64_t n) {
    const auto d = static_cast<double>(n);
    const bool divides = pick(0, 1) == 0;
    const double value = divides ? a.value / d : d / 8 * a.value;
    const std::string text = divides ? fmt::format("{} / {}", a.text, n) : fmt::format("{}*{}", d / 8, a.text);
    switch (pick(0, 3)) {
      case 0:
        return {fmt::format("math.floor({})", text), std::floor(value)};
      case 1:
        return {fmt::format("math.ceil({})", text), std::ceil(value)};
      case 2:
        return {fmt::format("math.trunc({})", text), std::trunc(value)};
      default:
        return {fmt::format("round({})", text), std::nearbyint(value)};
    }
  }

  std::mt19937 random_;
  const std::vector<int64_t>& sizes_;
};

TEST(Expression, DimsAgreeWithDoubles) {
  int converted_count = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    const std::vector<int64_t> sizes = {static_cast<int64_t>(seed * 7 % 23), static_cast<int64_t>(seed * 5 % 31)};
    const Sample sample = Sampler(seed, sizes).integer(4);
    const auto e = parse_python(sample.text);
    ASSERT_TRUE(e) << sample.text;
    const auto again = parse_python(print(*e));
    ASSERT_TRUE(again) << print(*e);
    EXPECT_EQ(print(*again), print(*e));
    Symbols symbols;
    const auto dim = to_dim(*again, leaves(symbols));
    if (!dim) continue;
    ++converted_count;
    const Dim first = symbols.symbol("x0");
    const auto value = evaluate(*dim, [&](Dim symbol) { return std::optional(sizes[symbol == first ? 0 : 1]); });
    EXPECT_EQ(value, static_cast<int64_t>(sample.value))
        << "seed " << seed << ": " << sample.text << " at " << sizes[0] << ", " << sizes[1] << " is " << print(*dim);
  }
  EXPECT_GT(converted_count, 2500);
}

}  // namespace
}  // namespace anyshape::pt2
