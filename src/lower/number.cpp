#include "lower/number.h"

#include <algorithm>
#include <cmath>

#include "base/among.h"

namespace anyshape::lower {
namespace {

std::optional<double> real_of(const Arg& arg) {
  if (const auto* real = arg.get<double>()) return *real;
  if (const auto* truth = arg.get<bool>()) return *truth;
  if (const auto* whole = arg.get<Dim>(); whole && whole->is_constant()) return static_cast<double>(*whole->constant());
  if (const auto* ratio = arg.get<Ratio>(); ratio && ratio->numerator.is_constant())
    return static_cast<double>(*ratio->numerator.constant()) / static_cast<double>(ratio->denominator);
  return std::nullopt;
}

std::optional<Dim> whole_of(const Arg& arg) {
  if (const auto* whole = arg.get<Dim>()) return *whole;
  if (const auto* truth = arg.get<bool>()) return Dim(int64_t{*truth});
  if (const auto* condition = arg.get<Condition>()) return select(*condition, 1, 0);
  return std::nullopt;
}

bool is_whole(const Arg& arg) { return arg.get<Dim>() || arg.get<bool>() || arg.get<Condition>(); }

Arg from_ratio(Dim numerator, int64_t denominator) {
  if (numerator.is_constant()) return static_cast<double>(*numerator.constant()) / static_cast<double>(denominator);
  if (denominator < 0) return from_ratio(-numerator, -denominator);
  return Arg::of(Ratio{numerator, denominator});
}

Arg failed_op(Lowering& l, std::string_view name) {
  l->refuse("export.number", "Python's {} on numbers that depend on sizes has no form here", name);
  return {};
}

Arg real_arithmetic(std::string_view name, double a, double b) {
  if (name == "add") return a + b;
  if (name == "sub") return a - b;
  if (name == "mul") return a * b;
  if (name == "truediv") return a / b;
  if (name == "floordiv") return std::floor(a / b);
  if (name == "mod") return a - b * std::floor(a / b);
  if (name == "pow") return std::pow(a, b);
  return name == "max" ? std::max(a, b) : std::min(a, b);
}

Arg ratio_arithmetic(Lowering& l, std::string_view name, const Arg& x, const Arg& y) {
  const auto a = ratio_of(x), b = ratio_of(y);
  if (!a || !b) return failed_op(l, name);
  int64_t below_both = 1;
  if (__builtin_mul_overflow(a->denominator, b->denominator, &below_both)) return failed_op(l, name);
  if (name == "add" || name == "sub") {
    const Dim left = a->numerator * Dim(b->denominator), right = b->numerator * Dim(a->denominator);
    return from_ratio(name == "add" ? left + right : left - right, below_both);
  }
  if (name == "mul") return from_ratio(a->numerator * b->numerator, below_both);
  if (name == "truediv" || name == "floordiv") {
    const Dim top = a->numerator * Dim(b->denominator);
    const Dim below = b->numerator * Dim(a->denominator);
    if (name == "floordiv")
      return below.is_constant() && *below.constant() > 0 ? Arg(floordiv(top, below)) : failed_op(l, name);
    if (const auto exact = l->assumptions().exact_div(top, below)) return from_ratio(*exact, 1);
    if (below.is_constant() && *below.constant() != 0) return from_ratio(top, *below.constant());
  }
  return failed_op(l, name);
}

Arg power(Lowering& l, Dim base, const Arg& exponent) {
  const auto* times = exponent.get<Dim>();
  if (!times || !times->is_constant() || *times->constant() < 0 || *times->constant() > 8) return failed_op(l, "pow");
  Dim out = 1;
  for (int64_t i = 0; i < *times->constant(); ++i) out = out * base;
  return out;
}

Arg whole_arithmetic(Lowering& l, std::string_view name, Dim a, Dim b, const Arg& second) {
  if (name == "add") return a + b;
  if (name == "sub") return a - b;
  if (name == "mul") return a * b;
  if (name == "max") return max(a, b);
  if (name == "min") return min(a, b);
  if (name == "pow") return power(l, a, second);
  if (name == "truediv") return ratio_arithmetic(l, name, Arg(a), Arg(b));
  if (!l->proves(Condition::ge(b, 1))) {
    // Python divides by no 0 either.
    if (!l->proves(Condition::ge(b, 0))) return failed_op(l, name);
    l.assume(Condition::ge(b, 1), "Python divides by it");
  }
  const Dim quotient = l->assumptions().simplify(floordiv(a, b));
  return name == "floordiv" ? quotient : a - b * quotient;
}

Arg decided(Lowering& l, const Condition& condition) {
  const Tri answer = l->assumptions().prove(condition);
  if (answer == Tri::unknown) return Arg::of(condition);
  return answer == Tri::yes;
}

Arg compare_numbers(Lowering& l, std::string_view name, const Arg& x, const Arg& y) {
  if (is_whole(x) && is_whole(y)) return decided(l, relate(name, *whole_of(x), *whole_of(y)));
  const auto a = real_of(x), b = real_of(y);
  if (a && b) return compare(name, *a, *b);
  const auto p = ratio_of(x), q = ratio_of(y);
  if (!p || !q) return failed_op(l, name);
  return decided(l, relate(name, p->numerator * Dim(q->denominator), q->numerator * Dim(p->denominator)));
}

std::optional<Condition> condition_of(const Arg& arg) {
  if (const auto* truth = arg.get<bool>()) return *truth ? Condition::always() : Condition::never();
  if (const auto* condition = arg.get<Condition>()) return *condition;
  if (const auto* whole = arg.get<Dim>()) return Condition::ne(*whole, 0);
  return std::nullopt;
}

Arg logic(Lowering& l, std::string_view name, const Arguments& args) {
  const auto a = condition_of(args[0]), b = args.size() > 1 ? condition_of(args[1]) : a;
  if (!a || !b) return failed_op(l, name);
  if (name == "not") return decided(l, !*a);
  return decided(l, name == "and" ? *a && *b : *a || *b);
}

Arg rounded(Lowering& l, std::string_view name, const Arg& x) {
  if (is_whole(x)) return *whole_of(x);
  if (const auto real = real_of(x)) {
    const double value = name == "floor"   ? std::floor(*real)
                         : name == "ceil"  ? std::ceil(*real)
                         : name == "round" ? std::nearbyint(*real)
                                           : std::trunc(*real);
    if (std::abs(value) < 9e18) return Dim(static_cast<int64_t>(value));
    return failed_op(l, name);
  }
  const auto ratio = ratio_of(x);
  if (!ratio) return failed_op(l, name);
  if (name == "floor") return floordiv(ratio->numerator, ratio->denominator);
  if (name == "ceil") return ceildiv(ratio->numerator, ratio->denominator);
  const bool down = name != "round" && l->proves(Condition::ge(ratio->numerator, 0));
  return down ? Arg(floordiv(ratio->numerator, ratio->denominator)) : failed_op(l, name);
}

Arg unary(Lowering& l, std::string_view name, const Arg& x) {
  if (name == "floor" || name == "ceil" || name == "trunc" || name == "int" || name == "round")
    return rounded(l, name, x);
  if (name == "bool") return logic(l, "and", {x, Arg(true)});
  if (name == "float") {
    if (const auto real = real_of(x)) return *real;
    const auto ratio = ratio_of(x);
    return ratio ? Arg::of(*ratio) : failed_op(l, name);
  }
  if (name == "neg") return number_op(l, "sub", {is_whole(x) ? Arg(Dim(0)) : Arg(0.0), x});
  if (name == "abs" && is_whole(x)) return max(*whole_of(x), -*whole_of(x));
  const auto real = real_of(x);
  if (!real) return failed_op(l, name);
  return name == "abs" ? std::abs(*real) : std::sqrt(*real);
}

constexpr std::string_view kBinary[] = {"add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "max", "min"};
constexpr std::string_view kLogic[] = {"and", "or", "not"};
constexpr std::string_view kUnary[] = {"neg", "abs", "float", "int", "bool", "floor", "ceil", "trunc", "round", "sqrt"};

}  // namespace

bool is_comparison(std::string_view name) {
  constexpr std::string_view kComparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  return among(name, kComparisons);
}

bool compare(std::string_view comparison, double a, double b) {
  if (comparison == "eq") return a == b;
  if (comparison == "ne") return a != b;
  if (comparison == "lt") return a < b;
  if (comparison == "le") return a <= b;
  return comparison == "gt" ? a > b : a >= b;
}

Condition relate(std::string_view comparison, Dim a, Dim b) {
  if (comparison == "eq") return Condition::eq(a, b);
  if (comparison == "ne") return Condition::ne(a, b);
  if (comparison == "lt") return Condition::lt(a, b);
  if (comparison == "le") return Condition::le(a, b);
  return comparison == "gt" ? Condition::gt(a, b) : Condition::ge(a, b);
}

std::optional<Ratio> exact_ratio(double value) {
  constexpr double kLargest = int64_t{1} << 50;
  for (int64_t below = 1; below <= (1 << 20); below *= 2) {
    const double above = value * static_cast<double>(below);
    if (!(std::abs(above) <= kLargest)) return std::nullopt;
    if (above == std::floor(above)) return Ratio{Dim(static_cast<int64_t>(above)), below};
  }
  return std::nullopt;
}

bool is_number_op(std::string_view name) {
  return among(name, kBinary) || is_comparison(name) || among(name, kLogic) || among(name, kUnary) || name == "ite";
}

std::optional<Ratio> ratio_of(const Arg& arg) {
  if (const auto* ratio = arg.get<Ratio>()) return *ratio;
  if (const auto whole = whole_of(arg)) return Ratio{*whole, 1};
  if (const auto* real = arg.get<double>()) return exact_ratio(*real);
  return std::nullopt;
}

std::optional<bool> truth_of(Lowering& l, const Arg& arg) {
  if (const auto condition = condition_of(arg)) {
    const Tri answer = l->assumptions().prove(*condition);
    return answer == Tri::unknown ? std::nullopt : std::optional(answer == Tri::yes);
  }
  if (const auto real = real_of(arg)) return *real != 0;
  if (const auto* items = arg.get<Arguments>()) return !items->empty();
  if (const auto* text = arg.get<std::string>()) return !text->empty();
  return arg.is_none() ? std::optional(false) : std::nullopt;
}

Arg number_op(Lowering& l, std::string_view name, const Arguments& args) {
  const size_t wanted = name == "ite" ? 3 : among(name, kUnary) || name == "not" ? 1 : 2;
  if (args.size() < wanted) return failed_op(l, name);
  if (name == "ite") {
    const auto condition = condition_of(args[0]);
    const auto a = whole_of(args[1]), b = whole_of(args[2]);
    return condition && a && b ? Arg(select(*condition, *a, *b)) : failed_op(l, name);
  }
  if (among(name, kUnary)) return unary(l, name, args[0]);
  if (among(name, kLogic)) return logic(l, name, args);
  if (is_comparison(name)) return compare_numbers(l, name, args[0], args[1]);
  if (is_whole(args[0]) && is_whole(args[1]))
    return whole_arithmetic(l, name, *whole_of(args[0]), *whole_of(args[1]), args[1]);
  const auto a = real_of(args[0]), b = real_of(args[1]);
  if (a && b) return real_arithmetic(name, *a, *b);
  return ratio_arithmetic(l, name, args[0], args[1]);
}

}  // namespace anyshape::lower
