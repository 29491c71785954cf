#include "lower/torchscript/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "lower/number.h"
#include "lower/torchscript/real_functions.h"

namespace anyshape::lower::script {
namespace {

std::optional<int64_t> scaled(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

double python_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

tl::unexpected<Error> by_zero() { return refuse("script.value", "the program divides by zero"); }

}  // namespace

Value Numbers::truth(const Condition& condition) const {
  if (condition.is_always()) return true;
  if (condition.is_never()) return false;
  return condition;
}

std::optional<Condition> Numbers::condition(const Value& truth) const {
  if (const bool* known = truth.get<bool>()) return *known ? Condition::always() : Condition::never();
  if (const auto* condition = truth.get<Condition>()) return *condition;
  return std::nullopt;
}

std::optional<bool> Numbers::decide(const Value& truth) const {
  if (const bool* known = truth.get<bool>()) return *known;
  if (const auto* condition = truth.get<Condition>()) {
    const Tri answer = in_->assumptions().prove(*condition);
    if (answer != Tri::unknown) return answer == Tri::yes;
  }
  if (const auto* scalar = truth.get<Scalar>()) {
    if (const Tensor* known = in_->tensor(scalar->ref);
        known && known->count() == 1 && known->dtype() == DType::boolean) {
      return known->at<bool>(0);
    }
  }
  return std::nullopt;
}

std::optional<double> Numbers::constant(const Value& number) const {
  if (const double* value = number.get<double>()) return *value;
  if (const Dim* dim = number.get<Dim>()) {
    if (const auto value = dim->constant()) return static_cast<double>(*value);
  }
  if (const bool* value = number.get<bool>()) return *value ? 1 : 0;
  if (const Ratio* ratio = number.get<Ratio>()) {
    if (const auto value = ratio->numerator.constant()) {
      return static_cast<double>(*value) / static_cast<double>(ratio->denominator);
    }
  }
  return std::nullopt;
}

Ref Numbers::ref(const Value& number) {
  if (const Ref* scalar = number.scalar()) return *scalar;
  if (const Dim* dim = number.get<Dim>()) return in_->scalar(*dim);
  if (const double* value = number.get<double>()) return in_->number(*value, DType::f64);
  if (const Ratio* ratio = number.get<Ratio>()) {
    const Ref above = in_->cast(in_->scalar(ratio->numerator), DType::f64);
    return in_.op("Div", {above, in_->number(static_cast<double>(ratio->denominator), DType::f64)});
  }
  if (const auto truth = condition(number)) return in_->truth(*truth);
  return {};
}

Value Numbers::symbol(Ref integer) { return in_.item(integer); }

Value Numbers::negate(const Value& truth) {
  if (const auto known = condition(truth)) return this->truth(!*known);
  return Scalar{in_.op("Not", {ref(truth)}), true};
}

// Trunc is floor where the value is known not to be negative.
Value Numbers::rounded(const Ratio& ratio, bool up) const {
  const Dim below = ratio.denominator;
  return up ? ceildiv(ratio.numerator, below) : floordiv(ratio.numerator, below);
}

Result<Value> Numbers::item(const Var& tensor) {
  Ref value = in_.memory().read(tensor);
  const Fact& fact = in_->fact(value);
  if (fact.constant && fact.constant->count() == 1) {
    const Tensor& known = *fact.constant;
    if (is_integer(known.dtype())) return Value(Dim(known.int_at(0)));
    if (known.dtype() == DType::boolean) return Value(known.int_at(0) != 0);
    if (known.dtype() == DType::f32) return Value(static_cast<double>(known.at<float>(0)));
    if (known.dtype() == DType::f64) return Value(known.at<double>(0));
  }
  if (fact.elements && fact.elements->size() == 1) {
    const Dim only = (*fact.elements)[0];
    if (is_integer(fact.dtype)) return Value(only);
    if (fact.dtype == DType::boolean) return truth(Condition::ne(only, 0));
    if (is_float(fact.dtype)) return Value(Ratio{only, fact.denominator});
  }
  const DType dtype = fact.dtype;
  if (!fact.has_rank() || fact.rank() != 0) value = in_->reshape(value, {});
  if (in_->failed()) return tl::unexpected(in_->status().error());
  if (is_integer(dtype)) return symbol(value);
  return Value(Scalar{value, dtype == DType::boolean});
}

Result<Value> Numbers::to_int(const Value& value) {
  if (const Var* tensor = value.get<Var>()) {
    TRY(const Value number, item(*tensor));
    return to_int(number);
  }
  if (value.get<Dim>()) return value;
  if (const double* number = value.get<double>()) {
    if (!(std::abs(*number) < 9.2e18)) return refuse("script.value", "{} has no value as an int", *number);
    return Value(Dim(static_cast<int64_t>(*number)));
  }
  if (const Ratio* ratio = value.get<Ratio>()) {
    if (in_->proves(Condition::ge(ratio->numerator, 0))) return rounded(*ratio, false);
    if (in_->proves(Condition::le(ratio->numerator, 0))) return rounded(*ratio, true);
    const Condition positive = Condition::ge(ratio->numerator, 0);
    return Value(select(positive, floordiv(ratio->numerator, ratio->denominator),
                        ceildiv(ratio->numerator, ratio->denominator)));
  }
  if (const bool* truth = value.get<bool>()) return Value(Dim(*truth ? 1 : 0));
  if (const auto* condition = value.get<Condition>()) return Value(select(*condition, 1, 0));
  if (const Ref* scalar = value.scalar()) return symbol(in_->cast(*scalar, DType::i64));
  if (const std::string* text = value.text()) {
    const auto parsed = torchscript::parse_expression(*text);
    if (parsed && parsed->kind == torchscript::Expr::Kind::integer) return Value(Dim(parsed->integer));
  }
  return refuse("script.type", "{} has no value as an int", kind_of(value));
}

Result<Value> Numbers::to_float(const Value& value) {
  if (const Var* tensor = value.get<Var>()) {
    TRY(const Value number, item(*tensor));
    return to_float(number);
  }
  if (value.is_float()) return value;
  if (const auto known = constant(value)) return Value(*known);
  if (const Dim* dim = value.get<Dim>()) return Value(Ratio{*dim, 1});
  if (value.is_truth()) return Value(Scalar{in_->cast(ref(value), DType::f64)});
  if (const std::string* text = value.text()) {
    if (*text == "inf" || *text == "infinity") return Value(HUGE_VAL);
    if (*text == "-inf" || *text == "-infinity") return Value(-HUGE_VAL);
    if (*text == "nan") return Value(std::nan(""));
    const auto parsed = torchscript::parse_expression(*text);
    if (parsed && parsed->kind == torchscript::Expr::Kind::real) return Value(parsed->real);
    if (parsed && parsed->kind == torchscript::Expr::Kind::integer) return Value(static_cast<double>(parsed->integer));
  }
  return refuse("script.type", "{} has no value as a float", kind_of(value));
}

Result<Value> Numbers::to_bool(const Value& value) {
  if (const Var* tensor = value.get<Var>()) {
    TRY(const Value number, item(*tensor));
    return to_bool(number);
  }
  if (value.is_truth()) return value;
  if (const Dim* dim = value.get<Dim>()) return truth(Condition::ne(*dim, 0));
  if (const Ratio* ratio = value.get<Ratio>()) return truth(Condition::ne(ratio->numerator, 0));
  if (const double* number = value.get<double>()) return Value(*number != 0);
  if (const Ref* scalar = value.scalar()) return Value(Scalar{in_->cast(*scalar, DType::boolean), true});
  if (value.is_none()) return Value(false);
  if (const std::string* text = value.text()) return Value(!text->empty());
  if (const List* list = value.list(); list && !list->stacked) return Value(!list->items.empty());
  return refuse("script.type", "{} has no value as a bool", kind_of(value));
}

Result<Value> Numbers::dynamic(std::string_view name, const Values& args) {
  const bool real = std::any_of(args.begin(), args.end(), [](const Value& v) { return v.is_float(); });
  const bool whole = !real && name != "div" && name != "sqrt" && name != "exp" && name != "log";
  Arguments operands;
  for (const Value& arg : args) operands.push_back(in_->cast(ref(arg), whole ? DType::i64 : DType::f64));
  std::string_view op = name;
  if (name == "floordiv") op = "floor_divide";
  if (name == "min") op = "minimum";
  if (name == "max") op = "maximum";
  const Arg result = in_.call(op, "", operands);
  if (in_->failed()) return tl::unexpected(in_->status().error());
  const Ref value = in_.ref(result);
  if (is_comparison(name)) return Value(Scalar{value, true});
  if (whole || name == "floor" || name == "ceil") return symbol(in_->cast(value, DType::i64));
  return Value(Scalar{value});
}

Result<std::optional<Value>> Numbers::integers(std::string_view name, Dim a, Dim b) {
  using Outcome = Result<std::optional<Value>>;
  const auto x = a.constant(), y = b.constant();
  if (is_comparison(name)) return Outcome(truth(relate(name, a, b)));
  if (name == "div" || name == "floordiv" || name == "remainder") {
    if (y == 0) return by_zero();
    if (y && *y < 0 && name == "remainder") return Outcome(Value(-mod(-a, -b)));
    if (y && *y < 0) return integers(name, -a, -b);
    const bool positive = in_->proves(Condition::ge(b, 1));
    if (name == "div" && x && y) return Outcome(Value(static_cast<double>(*x) / static_cast<double>(*y)));
    if (name == "div" && y) return Outcome(Value(Ratio{a, *y}));
    if (name == "div" && positive) {
      if (const auto whole = in_->assumptions().exact_div(a, b)) return Outcome(Value(Ratio{*whole, 1}));
    }
    if (name == "floordiv" && positive) return Outcome(Value(floordiv(a, b)));
    if (name == "remainder" && positive) return Outcome(Value(mod(a, b)));
    return Outcome(std::nullopt);
  }
  if (name == "add") return Outcome(Value(a + b));
  if (name == "sub") return Outcome(Value(a - b));
  if (name == "mul") return Outcome(Value(a * b));
  if (name == "min") return Outcome(Value(min(a, b)));
  if (name == "max") return Outcome(Value(max(a, b)));
  if (!x || !y) {
    if (name == "pow" && y == 2) return Outcome(Value(Ratio{a * a, 1}));
    return Outcome(std::nullopt);
  }
  if (name == "pow") return Outcome(Value(std::pow(static_cast<double>(*x), static_cast<double>(*y))));
  if (name == "__and__") return Outcome(Value(Dim(*x & *y)));
  if (name == "__or__") return Outcome(Value(Dim(*x | *y)));
  if (name == "__xor__") return Outcome(Value(Dim(*x ^ *y)));
  if (name == "gcd") return Outcome(Value(Dim(std::gcd(*x, *y))));
  if (*y < 0 || *y > 62) return Outcome(std::nullopt);
  if (name == "__lshift__") {
    const auto product = scaled(*x, int64_t{1} << *y);
    return product ? Outcome(Value(Dim(*product))) : Outcome(Value(Dim::unknown()));
  }
  if (name == "__rshift__") return Outcome(Value(Dim(*x >> *y)));
  return Outcome(std::nullopt);
}

Result<std::optional<Value>> Numbers::ratios(std::string_view name, const Ratio& a, const Ratio& b) {
  using Outcome = Result<std::optional<Value>>;
  const auto below = scaled(a.denominator, b.denominator);
  if (!below || *below > (int64_t{1} << 40)) return Outcome(std::nullopt);
  const Dim left = a.numerator * Dim(b.denominator), right = b.numerator * Dim(a.denominator);
  if (is_comparison(name)) return Outcome(truth(relate(name, left, right)));
  const Dim common = *below;
  Ratio result{0, *below};
  if (name == "add") {
    result.numerator = left + right;
  } else if (name == "sub") {
    result.numerator = left - right;
  } else if (name == "mul") {
    result.numerator = a.numerator * b.numerator;
  } else if (name == "min" || name == "max") {
    result.numerator = name == "min" ? min(left, right) : max(left, right);
  } else if (name == "div" || name == "floordiv") {
    const auto divisor = right.constant();
    if (!divisor) return Outcome(std::nullopt);
    if (*divisor == 0) return by_zero();
    result = *divisor < 0 ? Ratio{-left, -*divisor} : Ratio{left, *divisor};
    if (name == "floordiv") result = {floordiv(result.numerator, result.denominator), 1};
  } else {
    return Outcome(std::nullopt);
  }
  if (const auto whole = exact_div(result.numerator, common); whole && name != "div" && name != "floordiv") {
    result = {*whole, 1};
  }
  return Outcome(Value(result));
}

Result<std::optional<Value>> Numbers::doubles(std::string_view name, double a, double b) {
  using Outcome = Result<std::optional<Value>>;
  if (is_comparison(name)) return Outcome(Value(compare(name, a, b)));
  if ((name == "div" || name == "floordiv" || name == "remainder") && b == 0) return by_zero();
  if (name == "add") return Outcome(Value(a + b));
  if (name == "sub") return Outcome(Value(a - b));
  if (name == "mul") return Outcome(Value(a * b));
  if (name == "div") return Outcome(Value(a / b));
  if (name == "floordiv") return Outcome(Value(std::floor(a / b)));
  if (name == "remainder") return Outcome(Value(python_mod(a, b)));
  if (name == "fmod") return Outcome(Value(std::fmod(a, b)));
  if (name == "pow") return Outcome(Value(std::pow(a, b)));
  if (name == "atan2") return Outcome(Value(std::atan2(a, b)));
  if (name == "copysign") return Outcome(Value(std::copysign(a, b)));
  if (name == "min") return Outcome(Value(std::min(a, b)));
  if (name == "max") return Outcome(Value(std::max(a, b)));
  return Outcome(std::nullopt);
}

Result<std::optional<Value>> Numbers::truths(std::string_view name, const Value& a, const Value& b) {
  using Outcome = Result<std::optional<Value>>;
  const auto x = condition(a), y = condition(b);
  if (x && y) {
    const Condition differ = (*x && !*y) || (!*x && *y);
    if (name == "__and__") return Outcome(truth(*x && *y));
    if (name == "__or__") return Outcome(truth(*x || *y));
    if (name == "__xor__" || name == "ne") return Outcome(truth(differ));
    if (name == "eq") return Outcome(truth(!differ));
    return Outcome(std::nullopt);
  }
  if (name == "__and__" && (decide(a) == false || decide(b) == false)) return Outcome(Value(false));
  if (name == "__or__" && (decide(a) == true || decide(b) == true)) return Outcome(Value(true));
  std::string_view op;
  if (name == "__and__") op = "And";
  if (name == "__or__") op = "Or";
  if (name == "__xor__" || name == "ne") op = "Xor";
  if (name == "eq") op = "Equal";
  if (op.empty()) return Outcome(std::nullopt);
  return Outcome(Value(Scalar{in_.op(op, {ref(a), ref(b)}), true}));
}

Result<std::optional<Value>> Numbers::binary(std::string_view name, const Value& a, const Value& b) {
  if (a.is_truth() && b.is_truth() && name != "add" && name != "mul") {
    TRY(auto result, truths(name, a, b));
    if (result) return result;
  }
  std::optional<Value> result;
  const bool real = a.is_float() || b.is_float();
  if (!real && !a.scalar() && !b.scalar()) {
    TRY(const Value x, to_int(a));
    TRY(const Value y, to_int(b));
    TRY(result, integers(name, *x.get<Dim>(), *y.get<Dim>()));
  } else {
    const auto x = constant(a), y = constant(b);
    auto as_ratio = [&](const Value& v) -> std::optional<Ratio> {
      if (const Ratio* ratio = v.get<Ratio>()) return *ratio;
      if (const Dim* dim = v.get<Dim>()) return Ratio{*dim, 1};
      const auto known = constant(v);
      return known ? exact_ratio(*known) : std::nullopt;
    };
    const auto p = as_ratio(a), q = as_ratio(b);
    if (x && y) {
      TRY(result, doubles(name, *x, *y));
    } else if (p && q) {
      TRY(result, ratios(name, *p, *q));
    }
  }
  const Dim* whole = result ? result->get<Dim>() : nullptr;
  const Ratio* part = result ? result->get<Ratio>() : nullptr;
  const bool lost = (whole && whole->is_unknown()) || (part && part->numerator.is_unknown());
  if (result && !lost) return result;
  constexpr std::array<std::string_view, 14> kTensors = {"add", "sub", "mul", "div", "floordiv", "remainder", "pow",
                                                         "min", "max", "eq",  "ne",  "lt",       "le",        "gt"};
  if (std::find(kTensors.begin(), kTensors.end(), name) == kTensors.end() && name != "ge") return std::nullopt;
  TRY(Value value, dynamic(name, {a, b}));
  return std::optional(std::move(value));
}

Result<std::optional<Value>> Numbers::unary(std::string_view name, const Value& a) {
  using Outcome = Result<std::optional<Value>>;
  if (name == "__not__") {
    TRY(const Value truth, to_bool(a));
    return Outcome(negate(truth));
  }
  if (name == "neg") return a.is_float() ? binary("mul", a, Value(-1.0)) : binary("sub", Value(Dim(0)), a);
  const Ratio* ratio = a.get<Ratio>();
  if (name == "floor" || name == "ceil") {
    if (ratio) return Outcome(rounded(*ratio, name == "ceil"));
    if (a.get<Dim>()) return Outcome(a);
    if (const auto x = constant(a)) {
      TRY(Value whole, to_int(Value(name == "floor" ? std::floor(*x) : std::ceil(*x))));
      return Outcome(std::move(whole));
    }
    TRY(Value value, dynamic(name, {a}));
    return Outcome(std::move(value));
  }
  if (name == "abs" && a.get<Dim>()) return Outcome(Value(max(*a.get<Dim>(), -*a.get<Dim>())));
  const auto x = constant(a);
  if (x) {
    if (name == "abs") return Outcome(Value(std::abs(*x)));
    if (name == "isnan") return Outcome(Value(std::isnan(*x)));
    if (name == "isinf") return Outcome(Value(std::isinf(*x)));
    if (name == "isfinite") return Outcome(Value(std::isfinite(*x)));
    const auto value = function_of(name, *x);
    return value ? Outcome(Value(*value)) : Outcome(std::nullopt);
  }
  if (name != "sqrt" && name != "exp" && name != "log" && name != "abs") return Outcome(std::nullopt);
  TRY(Value value, dynamic(name, {a}));
  return Outcome(std::move(value));
}

Result<std::optional<Value>> Numbers::call(std::string_view name, const Values& args) {
  if (args.empty() || args.size() > 2) return std::nullopt;
  for (const Value& arg : args) {
    if (!arg.is_number() || arg.get<std::complex<double>>()) return std::nullopt;
  }
  return args.size() == 1 ? unary(name, args[0]) : binary(name, args[0], args[1]);
}

}  // namespace anyshape::lower::script
