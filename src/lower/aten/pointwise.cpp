#include <cmath>
#include <limits>
#include <numbers>

#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

// Both operands as floating-point numbers of their common type.
std::pair<Ref, Ref> promoted_floats(Lowering& l, const Args& a, std::string_view left, std::string_view right) {
  const Arg &x = a.arg(left), &y = a.arg(right);
  const DType dtype = l.float_type(l.common_type({&x, &y}));
  return {l.operand(x, dtype), l.operand(y, dtype)};
}

// factor * x, where the argument of that name says so.
Ref scaled(Lowering& l, const Args& a, std::string_view name, Ref x) {
  const Arg& factor = a.arg(name);
  if (factor.is_none()) return x;
  const Ref number = l.operand(factor, l->dtype(x));
  return known_number(l, number) == 1 ? x : l.op("Mul", {x, number});
}

Arg add(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  if (l->dtype(x) == DType::boolean) return l.op("Or", {x, y});
  return l.op("Add", {x, scaled(l, a, "alpha", y)});
}

Arg sub(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  return l.op("Sub", {x, scaled(l, a, "alpha", y)});
}

Arg rsub(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  return l.op("Sub", {y, scaled(l, a, "alpha", x)});
}

Arg mul(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  if (l->dtype(x) == DType::boolean) return l.op("And", {x, y});
  return l.op("Mul", {x, y});
}

Arg floor_divide(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  return floor_quotient(l, x, y);
}

Arg div(Lowering& l, const Args& a) {
  const std::string mode = a.s("rounding_mode");
  if (mode == "floor") return floor_divide(l, a);
  if (mode == "trunc") {
    const auto [x, y] = l.promoted(a, "self", "other");
    return truncated(l, l.op("Div", {x, y}));
  }
  const auto [x, y] = promoted_floats(l, a, "self", "other");
  return l.op("Div", {x, y});
}

Arg remainder(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  return remainder_of(l, x, y);
}

Arg fmod(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  return l.op("Mod", {x, y}, {attr("fmod", 1)});
}

// x to a power that is known: the cases PyTorch computes without pow() as well.
Ref known_power(Lowering& l, Ref x, Ref exponent, double power) {
  if (power == 1) return x;
  if (is_float(l->dtype(x))) {
    if (power == 0.5) return l.op("Sqrt", {x});
    if (power == -0.5) return l.op("Reciprocal", {l.op("Sqrt", {x})});
    if (power == -1) return l.op("Reciprocal", {x});
  } else if (power == 2) {
    return l.op("Mul", {x, x});
  }
  return l.op("Pow", {x, exponent});
}

Ref power_of(Lowering& l, Ref x, Ref exponent) {
  if (l->dtype(x) == DType::boolean) {
    // 0 to the power 0 is 1.
    return l.op("Or", {x, l.op("Not", {exponent})});
  }
  const auto power = l->rank(exponent) == 0 ? known_number(l, exponent) : std::nullopt;
  return power ? known_power(l, x, exponent, *power) : l.op("Pow", {x, exponent});
}

Arg pow(Lowering& l, const Args& a) {
  const auto [x, exponent] = l.promoted(a, "self", "exponent");
  return power_of(l, x, exponent);
}

Arg float_power(Lowering& l, const Args& a) {
  return power_of(l, l.operand(a.arg("self"), DType::f64), l.operand(a.arg("exponent"), DType::f64));
}

template <bool Largest>
Arg extreme(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  return Largest ? larger(l, x, y) : smaller(l, x, y);
}

// As maximum and minimum, but a number wins over NaN.
template <bool Largest>
Arg number_extreme(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  const Ref most = Largest ? larger(l, x, y) : smaller(l, x, y);
  if (!is_float(l->dtype(x))) return most;
  return l.op("Where", {l.op("IsNaN", {x}), y, l.op("Where", {l.op("IsNaN", {y}), x, most})});
}

Arg atan2(Lowering& l, const Args& a) {
  const auto [y, x] = promoted_floats(l, a, "self", "other");
  const Ref zero = like(l, x, 0), pi = like(l, x, std::numbers::pi), minus_pi = like(l, x, -std::numbers::pi);
  const Ref right = atan_of(l, l.op("Div", {y, x}));
  const Ref left = l.op("Add", {right, l.op("Where", {less(l, y, zero), minus_pi, pi})});
  const Ref on_axis = l.op("Where", {less(l, x, zero), pi, zero});
  const Ref anywhere = l.op("Where", {less(l, x, zero), left, right});
  return l.op("Where", {l.op("Equal", {y, zero}), on_axis, anywhere});
}

Arg hypot(Lowering& l, const Args& a) {
  const auto [x, y] = promoted_floats(l, a, "self", "other");
  return l.op("Sqrt", {l.op("Add", {l.op("Mul", {x, x}), l.op("Mul", {y, y})})});
}

Ref times_unless_zero(Lowering& l, Ref x, Ref y, Ref logarithm) {
  const Ref zero = like(l, x, 0);
  const Ref out = l.op("Where", {l.op("Equal", {x, zero}), zero, l.op("Mul", {x, logarithm})});
  return l.op("Where", {l.op("IsNaN", {y}), y, out});
}

Arg xlogy(Lowering& l, const Args& a) {
  const auto [x, y] = promoted_floats(l, a, "self", "other");
  return times_unless_zero(l, x, y, l.op("Log", {y}));
}

Arg xlog1py(Lowering& l, const Args& a) {
  const auto [x, y] = promoted_floats(l, a, "self", "other");
  return times_unless_zero(l, x, y, log1p_of(l, y));
}

Arg logaddexp(Lowering& l, const Args& a) {
  const auto [x, y] = promoted_floats(l, a, "self", "other");
  return log_sum(l, x, y);
}

Arg logaddexp2(Lowering& l, const Args& a) {
  const auto [x, y] = promoted_floats(l, a, "self", "other");
  return log_sum(l, x, y, 2);
}

Arg lerp(Lowering& l, const Args& a) {
  const auto [x, end] = l.promoted(a, "self", "end");
  const Ref weight = l.operand(a.arg("weight"), l->dtype(x));
  const Ref way = l.op("Sub", {end, x});
  const Ref from_start = l.op("Add", {x, l.op("Mul", {way, weight})});
  const auto known = known_number(l, weight);
  if (known && std::abs(*known) < 0.5) return from_start;
  const Ref from_end = l.op("Sub", {end, l.op("Mul", {way, l.op("Sub", {like(l, x, 1), weight})})});
  if (known) return from_end;
  return l.op("Where", {less(l, l.op("Abs", {weight}), like(l, x, 0.5)), from_start, from_end});
}

template <bool Product>
Arg addc(Lowering& l, const Args& a) {
  const Arg &x = a.arg("self"), &left = a.arg("tensor1"), &right = a.arg("tensor2");
  const DType dtype = l.common_type({&x, &left, &right});
  const Ref one = l.operand(left, dtype), two = l.operand(right, dtype);
  const Ref term =
      Product ? l.op("Mul", {scaled(l, a, "value", one), two}) : l.op("Div", {scaled(l, a, "value", one), two});
  return l.op("Add", {l.operand(x, dtype), term});
}

Arg copysign(Lowering& l, const Args& a) {
  const auto [x, y] = promoted_floats(l, a, "self", "other");
  const Ref zero = like(l, y, 0), size = l.op("Abs", {x});
  const Ref negative = l.op("Or", {less(l, y, zero), less(l, l.op("Reciprocal", {y}), zero)});
  return l.op("Where", {negative, l.op("Neg", {size}), size});
}

Arg heaviside(Lowering& l, const Args& a) {
  const auto [x, at_zero] = l.promoted(a, "self", "values");
  const Ref zero = like(l, x, 0);
  return choose(l, l.op("Equal", {x, zero}), at_zero, l->cast(greater(l, x, zero), l->dtype(x)));
}

Arg ldexp(Lowering& l, const Args& a) {
  const auto [x, y] = promoted_floats(l, a, "self", "other");
  return l.op("Mul", {x, l.op("Pow", {like(l, y, 2), y})});
}

constexpr AtenOp kPointwiseOps[] = {
    {"add", add},
    {"addcdiv", addc<false>},
    {"addcmul", addc<true>},
    {"arctan2", atan2},
    {"atan2", atan2},
    {"copysign", copysign},
    {"div", div},
    {"divide", div},
    {"float_power", float_power},
    {"floor_divide", floor_divide},
    {"fmax", number_extreme<true>},
    {"fmin", number_extreme<false>},
    {"fmod", fmod},
    {"heaviside", heaviside},
    {"hypot", hypot},
    {"ldexp", ldexp},
    {"lerp", lerp},
    {"logaddexp", logaddexp},
    {"logaddexp2", logaddexp2},
    {"max.other", extreme<true>},
    {"maximum", extreme<true>},
    {"min.other", extreme<false>},
    {"minimum", extreme<false>},
    {"mul", mul},
    {"multiply", mul},
    {"pow", pow},
    {"remainder", remainder},
    {"rsub", rsub},
    {"special_xlog1py", xlog1py},
    {"special_xlogy", xlogy},
    {"sub", sub},
    {"subtract", sub},
    {"true_divide", div},
    {"xlogy", xlogy},
};

}  // namespace

std::span<const AtenOp> pointwise_ops() { return kPointwiseOps; }

}  // namespace anyshape::lower
