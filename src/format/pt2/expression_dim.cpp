#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "format/pt2/expression.h"

namespace anyshape::pt2 {
namespace {

using Kind = Expression::Kind;

// num/den, den >= 1. PyTorch computes fractions as doubles: up to sizes of 2^32 those are exact for a denominator that
// is a power of two, and floor, ceil and round of one rounded quotient of integers are still those of the exact one.
struct Fraction {
  Dim num = 0, den = 1;
  bool rounded = false;  // one division was not exact: only scaling by powers of two may follow
  bool not_negative = false;
};
using Value = std::optional<Fraction>;

constexpr int64_t kLargestPart = int64_t{1} << 20;  // of a real number written as a fraction
constexpr int64_t kLargestExponent = 32;

bool is_power_of_two(Dim d) {
  const auto n = d.constant();
  return n && *n != 0 && ((*n > 0 ? *n : -*n) & ((*n > 0 ? *n : -*n) - 1)) == 0 && *n != INT64_MIN;
}

bool scales_exactly(const Fraction& f) { return !f.rounded && is_power_of_two(f.num) && is_power_of_two(f.den); }

// Cancelled where the denominator divides the numerator; nullopt where a part left the algebra.
Value made(Dim num, Dim den, bool rounded, bool not_negative) {
  if (num.is_unknown() || den.is_unknown()) return std::nullopt;
  if (const auto d = den.constant(); d && *d <= 0) return std::nullopt;
  if (const auto n = num.constant()) not_negative = *n >= 0;
  if (num.constant() && den.constant()) {
    const int64_t common = std::gcd(*num.constant(), *den.constant());
    if (common > 1) num = *num.constant() / common, den = *den.constant() / common;
  }
  if (den == Dim(1)) return Fraction{num, 1, false, not_negative};
  if (const auto quotient = exact_div(num, den)) return Fraction{*quotient, 1, false, not_negative};
  return Fraction{num, den, rounded, not_negative};
}

Value of_real(double value) {
  int64_t den = 1;
  while (den < kLargestPart && std::isfinite(value) && value != std::floor(value)) {
    value *= 2;
    den *= 2;
  }
  if (!std::isfinite(value) || value != std::floor(value)) return std::nullopt;
  if (std::fabs(value) > static_cast<double>(den > 1 ? kLargestPart : int64_t{1} << 53)) return std::nullopt;
  return made(static_cast<int64_t>(value), den, false, value >= 0);
}

Value negated(const Fraction& a) { return made(-a.num, a.den, a.rounded, false); }

Value sum(const Fraction& a, const Fraction& b) {
  if (a.rounded || b.rounded) return std::nullopt;
  const bool not_negative = a.not_negative && b.not_negative;
  if (a.den == b.den) return made(a.num + b.num, a.den, false, not_negative);
  return made(a.num * b.den + b.num * a.den, a.den * b.den, false, not_negative);
}

Value product(const Fraction& a, const Fraction& b) {
  if ((a.rounded && !scales_exactly(b)) || (b.rounded && !scales_exactly(a))) return std::nullopt;
  return made(a.num * b.num, a.den * b.den, a.rounded || b.rounded, a.not_negative && b.not_negative);
}

// A constant divisor below 0 turns the sign around; a symbolic one is taken to be >= 1.
Value quotient(const Fraction& a, const Fraction& b, bool exact) {
  if (b.rounded) return std::nullopt;
  Dim num = a.num * b.den, den = a.den * b.num;
  if (const auto d = b.num.constant(); d && *d <= 0) {
    if (*d == 0) return std::nullopt;
    num = -num, den = -den;
  }
  const bool scales = scales_exactly(b);
  if (a.rounded && !scales) return std::nullopt;
  return made(num, den, a.rounded || !(exact || scales), a.not_negative && b.not_negative);
}

Value floor_of(const Fraction& a) { return made(floordiv(a.num, a.den), 1, false, a.not_negative); }
Value ceil_of(const Fraction& a) { return made(ceildiv(a.num, a.den), 1, false, a.not_negative); }

Value trunc_of(const Fraction& a) {
  if (a.not_negative || a.den == Dim(1)) return floor_of(a);
  const Dim below = -floordiv(-a.num, a.den);
  return made(select(Condition::ge(a.num, 0), floordiv(a.num, a.den), below), 1, false, false);
}

// Halves go to the even neighbour: n/d lies between two integers, the upper one odd, where n - d/2 is a multiple of 2d.
Value round_of(const Fraction& a) {
  const auto d = a.den.constant();
  if (!d || *d > kLargestPart) return std::nullopt;
  Dim out = floordiv(2 * a.num + *d, 2 * *d);
  if (*d % 2 == 0) out = out - select(Condition::divisible(a.num - *d / 2, 2 * *d), 1, 0);
  return made(out, 1, false, a.not_negative);
}

Value abs_of(const Fraction& a) {
  if (a.not_negative) return a;
  return made(select(Condition::ge(a.num, 0), a.num, -a.num), a.den, a.rounded, true);
}

Value floor_quotient(const Fraction& a, const Fraction& b) {
  if (a.rounded) return std::nullopt;
  const Value q = quotient(a, b, true);
  return q ? floor_of(*q) : std::nullopt;
}

Value remainder(const Fraction& a, const Fraction& b) {
  if (a.den != Dim(1) || b.den != Dim(1)) return std::nullopt;
  const Value q = floor_quotient(a, b);
  if (!q) return std::nullopt;
  return made(a.num - b.num * q->num, 1, false, b.not_negative);
}

Value power(const Fraction& base, const Fraction& exponent) {
  const auto n = exponent.num.constant();
  if (!n || exponent.den != Dim(1) || *n < -kLargestExponent || *n > kLargestExponent) return std::nullopt;
  Value out = Fraction{1, 1, false, true};
  for (int64_t i = 0; out && i < std::abs(*n); ++i) out = product(*out, base);
  if (!out || *n >= 0) return out;
  return quotient(Fraction{1, 1, false, true}, *out, true);
}

Value extreme(const Fraction& a, const Fraction& b, Dim (*choose)(Dim, Dim), bool not_negative) {
  const bool rounded = a.rounded || b.rounded;
  if (a.den == b.den) return made(choose(a.num, b.num), a.den, rounded, not_negative);
  return made(choose(a.num * b.den, b.num * a.den), a.den * b.den, rounded, not_negative);
}

Value largest(const Fraction& a, const Fraction& b) { return extreme(a, b, max, a.not_negative || b.not_negative); }
Value smallest(const Fraction& a, const Fraction& b) { return extreme(a, b, min, a.not_negative && b.not_negative); }

struct Unary {
  std::string_view name;
  Value (*apply)(const Fraction&);
};
struct Binary {
  std::string_view name;
  Value (*apply)(const Fraction&, const Fraction&);
  bool folds = false;  // over any number of operands
};

constexpr std::array kUnary = {
    Unary{"neg", negated},
    Unary{"abs", abs_of},
    Unary{"floor", floor_of},
    Unary{"ceil", ceil_of},
    Unary{"trunc", trunc_of},
    Unary{"round", round_of},
    Unary{"to_float", [](const Fraction& a) -> Value { return a; }},
};
constexpr std::array kBinary = {
    Binary{"add", sum, true},
    Binary{"mul", product, true},
    Binary{"max", largest, true},
    Binary{"min", smallest, true},
    Binary{"pow", power},
    Binary{"floordiv", floor_quotient},
    Binary{"mod", remainder},
    Binary{"truediv", [](const Fraction& a, const Fraction& b) { return quotient(a, b, false); }},
};

template <class Rows>
const typename Rows::value_type* find(const Rows& rows, std::string_view name) {
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  return it == rows.end() ? nullptr : &*it;
}

class Converter {
 public:
  explicit Converter(const Leaf& leaf) : leaf_(leaf) {}

  Value value(const Expression& e) const {
    switch (e.kind) {
      case Kind::integer:
        return made(e.integer, 1, false, e.integer >= 0);
      case Kind::real:
        return of_real(e.real);
      case Kind::boolean:
        return std::nullopt;
      case Kind::symbol:
      case Kind::size: {
        const auto dim = leaf_(e);
        return dim ? made(*dim, 1, false, e.kind == Kind::size || e.integer == 1) : std::nullopt;
      }
      case Kind::call:
        return call(e);
    }
    return std::nullopt;
  }

  std::optional<Condition> condition(const Expression& e) const {
    if (e.kind == Kind::boolean) return e.integer != 0 ? Condition::always() : Condition::never();
    if (e.kind != Kind::call) return std::nullopt;
    if (e.name == "and" || e.name == "or") return joined(e);
    if (e.name == "not" && e.args.size() == 1) {
      const auto inner = condition(e.args[0]);
      return inner ? known(!*inner) : std::nullopt;
    }
    return e.args.size() == 2 ? comparison(e) : std::nullopt;
  }

 private:
  static std::optional<Condition> known(Condition c) {
    if (c.is_opaque()) return std::nullopt;
    return c;
  }

  Value call(const Expression& e) const {
    if (e.name == "piecewise") return piecewise(e, 0);
    if (const Unary* unary = find(kUnary, e.name); unary != nullptr && e.args.size() == 1) {
      const Value a = value(e.args[0]);
      return a ? unary->apply(*a) : std::nullopt;
    }
    const Binary* binary = find(kBinary, e.name);
    if (binary == nullptr || e.args.empty() || (!binary->folds && e.args.size() != 2)) return std::nullopt;
    Value out = value(e.args[0]);
    for (size_t i = 1; out && i < e.args.size(); ++i) {
      const Value next = value(e.args[i]);
      out = next ? binary->apply(*out, *next) : std::nullopt;
    }
    return out;
  }

  // value, condition, value, condition, ..., last value
  Value piecewise(const Expression& e, size_t from) const {
    if (from >= e.args.size()) return std::nullopt;
    const Value first = value(e.args[from]);
    if (!first || from + 1 == e.args.size()) return first;
    const auto when = condition(e.args[from + 1]);
    const Value rest = piecewise(e, from + 2);
    if (!when || !rest || first->den != Dim(1) || rest->den != Dim(1)) return std::nullopt;
    return made(select(*when, first->num, rest->num), 1, false, first->not_negative && rest->not_negative);
  }

  std::optional<Condition> joined(const Expression& e) const {
    const bool all = e.name == "and";
    Condition out = all ? Condition::always() : Condition::never();
    for (const Expression& arg : e.args) {
      const auto next = condition(arg);
      if (!next) return std::nullopt;
      out = all ? out && *next : out || *next;
    }
    return known(std::move(out));
  }

  std::optional<Condition> comparison(const Expression& e) const {
    const Value a = value(e.args[0]), b = value(e.args[1]);
    if (!a || !b) return std::nullopt;
    const Dim left = a->num * b->den, right = b->num * a->den;
    if (left.is_unknown() || right.is_unknown()) return std::nullopt;
    if (e.name == "eq") return known(Condition::eq(left, right));
    if (e.name == "ne") return known(Condition::ne(left, right));
    if (e.name == "le") return known(Condition::le(left, right));
    if (e.name == "lt") return known(Condition::lt(left, right));
    if (e.name == "ge") return known(Condition::ge(left, right));
    if (e.name == "gt") return known(Condition::gt(left, right));
    return std::nullopt;
  }

  const Leaf& leaf_;
};

}  // namespace

std::optional<Dim> to_dim(const Expression& expression, const Leaf& leaf) {
  const Value out = Converter(leaf).value(expression);
  if (!out || out->den != Dim(1)) return std::nullopt;
  return out->num;
}

std::optional<Condition> to_condition(const Expression& expression, const Leaf& leaf) {
  return Converter(leaf).condition(expression);
}

}  // namespace anyshape::pt2
