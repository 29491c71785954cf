#include "lower/aten/numeric.h"

#include <cmath>
#include <numbers>

#include "tensor/real.h"

namespace anyshape::lower {

Ref like(Lowering& l, Ref x, double value) { return l->number(value, l->dtype(x)); }

Ref less(Lowering& l, Ref a, Ref b) { return l.op("Less", {a, b}); }
Ref greater(Lowering& l, Ref a, Ref b) { return l.op("Greater", {a, b}); }

Ref at_most(Lowering& l, Ref a, Ref b) {
  if (l->opset() >= 12) return l.op("LessOrEqual", {a, b});
  return l.op("Or", {less(l, a, b), l.op("Equal", {a, b})});
}

Ref at_least(Lowering& l, Ref a, Ref b) {
  if (l->opset() >= 12) return l.op("GreaterOrEqual", {a, b});
  return l.op("Or", {greater(l, a, b), l.op("Equal", {a, b})});
}

Ref choose(Lowering& l, Ref condition, Ref a, Ref b) {
  if (l->dtype(a) != DType::boolean) return l.op("Where", {condition, a, b});
  return l.op("Or", {l.op("And", {condition, a}), l.op("And", {l.op("Not", {condition}), b})});
}

Ref larger(Lowering& l, Ref a, Ref b) {
  if (l->dtype(a) == DType::boolean) return l.op("Or", {a, b});
  if (l->opset() < 12 && is_integer(l->dtype(a))) return l.op("Where", {less(l, a, b), b, a});
  return l.op("Max", {a, b});
}

Ref smaller(Lowering& l, Ref a, Ref b) {
  if (l->dtype(a) == DType::boolean) return l.op("And", {a, b});
  if (l->opset() < 12 && is_integer(l->dtype(a))) return l.op("Where", {less(l, a, b), a, b});
  return l.op("Min", {a, b});
}

std::optional<double> known_number(Lowering& l, Ref x) {
  const Tensor* known = l->tensor(x);
  if (!known || known->count() != 1) return std::nullopt;
  if (is_float(known->dtype())) return real_at(*known, 0);
  if (is_integer(known->dtype())) return static_cast<double>(known->int_at(0));
  return std::nullopt;
}

Ref remainder_of(Lowering& l, Ref a, Ref b) {
  if (!is_float(l->dtype(a))) return l.op("Mod", {a, b});
  const Ref rest = l.op("Mod", {a, b}, {attr("fmod", 1)});
  const Ref zero = like(l, rest, 0);
  const auto divisor = known_number(l, b);
  const Ref other_side = divisor ? (*divisor > 0 ? less(l, rest, zero) : greater(l, rest, zero))
                                 : less(l, l.op("Mul", {l.op("Sign", {rest}), l.op("Sign", {b})}), zero);
  return l.op("Where", {other_side, l.op("Add", {rest, b}), rest});
}

namespace {

bool never_negative(Lowering& l, Ref x) {
  const auto bounds = l->fact(x).value_bounds();
  return bounds && !bounds->lo.is_unknown() && l->proves(Condition::ge(bounds->lo, 0));
}

bool power_of_two(double value) {
  int exponent = 0;
  return value > 0 && std::isfinite(value) && std::frexp(value, &exponent) == 0.5;
}

}  // namespace

// The quotient of floats is rounded, so its floor may be one too large; only dividing by a power of two is exact.
Ref floor_quotient(Lowering& l, Ref a, Ref b) {
  const auto divisor = known_number(l, b);
  if (is_float(l->dtype(a))) {
    if (divisor && power_of_two(*divisor)) return l.op("Floor", {l.op("Div", {a, b})});
    return l.op("Round", {l.op("Div", {l.op("Sub", {a, remainder_of(l, a, b)}), b})});
  }
  if (never_negative(l, a) && never_negative(l, b)) return l.op("Div", {a, b});
  return l.op("Div", {l.op("Sub", {a, remainder_of(l, a, b)}), b});
}

Ref truncated(Lowering& l, Ref x) {
  if (!is_float(l->dtype(x))) return x;
  return l.op("Mul", {l.op("Sign", {x}), l.op("Floor", {l.op("Abs", {x})})});
}

// log(1 + x) loses small x; 2 atanh(x / (2 + x)) is the same and keeps it.
Ref log1p_of(Lowering& l, Ref x) {
  const Ref plain = l.op("Log", {l.op("Add", {x, like(l, x, 1)})});
  if (l->dtype(x) == DType::f64) return plain;
  const Ref ratio = l.op("Div", {x, l.op("Add", {x, like(l, x, 2)})});
  const Ref near_zero = l.op("Mul", {l.op("Atanh", {ratio}), like(l, x, 2)});
  return l.op("Where", {less(l, l.op("Abs", {x}), like(l, x, 0.5)), near_zero, plain});
}

// The kernel is one for single precision. Its error d has tan(d) = (x cos y - sin y) / (cos y + x sin y), and is so
// small that it is its own tangent.
Ref atan_of(Lowering& l, Ref x) {
  const Ref y = l.op("Atan", {x});
  if (l->dtype(x) != DType::f64) return y;
  const Ref sine = l.op("Sin", {y}), cosine = l.op("Cos", {y});
  const Ref over = l.op("Sub", {l.op("Mul", {x, cosine}), sine});
  const Ref under = l.op("Add", {cosine, l.op("Mul", {x, sine})});
  const Ref better = l.op("Add", {y, l.op("Div", {over, under})});
  const Ref finite = less(l, l.op("Abs", {x}), like(l, x, 1e30));
  return l.op("Where", {finite, better, l.op("Mul", {l.op("Sign", {x}), like(l, x, std::numbers::pi / 2)})});
}

// There is no kernel for f64: max(x, 0) + log(1 + exp(-|x|)).
Ref softplus_of(Lowering& l, Ref x) {
  if (l->dtype(x) != DType::f64) return l.op("Softplus", {x});
  return l.op("Add", {l.op("Max", {x, like(l, x, 0)}), log1p_of(l, l.op("Exp", {l.op("Neg", {l.op("Abs", {x})})}))});
}

// max + log(1 + b^-|x - y|); equal operands, infinite ones too, are one apart in base 2.
Ref log_sum(Lowering& l, Ref x, Ref y, double base) {
  const Ref gap = l.op("Neg", {l.op("Abs", {l.op("Sub", {x, y})})});
  const Ref power = base == 2 ? l.op("Pow", {like(l, x, 2), gap}) : l.op("Exp", {gap});
  Ref rest = log1p_of(l, power);
  if (base == 2) rest = l.op("Div", {rest, like(l, x, std::numbers::ln2)});
  const double apart = base == 2 ? 1 : std::numbers::ln2;
  return l.op("Where",
              {l.op("Equal", {x, y}), l.op("Add", {x, like(l, x, apart)}), l.op("Add", {l.op("Max", {x, y}), rest})});
}

Ref reals(Lowering& l, const std::vector<double>& values, DType dtype) {
  auto made = Tensor::allocate(dtype, {static_cast<int64_t>(values.size())});
  if (!made) {
    l->fail(std::move(made).error());
    return {};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_float(dtype))
      set_real(*made, static_cast<int64_t>(i), values[i]);
    else
      made->set_int(static_cast<int64_t>(i), static_cast<int64_t>(values[i]));
  }
  return l->constant(*std::move(made));
}

Dim extent(Lowering& l, Ref x, const std::vector<int64_t>& axes) {
  if (axes.empty()) return product(l->dims(x));
  Dim count = 1;
  for (int64_t axis : axes) count = count * l->dim(x, static_cast<size_t>(axis));
  return count;
}

Ref count_along(Lowering& l, Ref x, const std::vector<int64_t>& axes, DType dtype) {
  return l.operand(Arg(extent(l, x, axes)), dtype);
}

std::vector<int64_t> named_axes(Lowering& l, const Args& a, Ref x, std::string_view name) {
  std::vector<int64_t> axes = a.ints(name);
  axes = l.axes(x, std::move(axes));
  if (axes.size() == l->rank(x)) axes.clear();
  return axes;
}

Ref reduced(Lowering& l, std::string_view type, Ref x, const std::vector<int64_t>& axes, bool keepdim) {
  return l.reduce(type, x, axes, keepdim && l->rank(x) > 0);
}

}  // namespace anyshape::lower
