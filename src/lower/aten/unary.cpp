#include <cmath>
#include <limits>
#include <numbers>

#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

// A function of one tensor that has the same name and meaning in ONNX, on floating-point numbers.
template <const char* Type>
Arg float_unary(Lowering& l, const Args& a) {
  return l.op(Type, {l.as_float(a.self())});
}

template <const char* Type>
Arg unary(Lowering& l, const Args& a) {
  return l.op(Type, {a.self()});
}

// Whole numbers stay as they are.
template <const char* Type>
Arg rounding(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return is_float(l->dtype(x)) ? l.op(Type, {x}) : x;
}

Arg same(Lowering&, const Args& a) { return a.self(); }

Arg absolute(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return l->dtype(x) == DType::boolean ? x : l.op("Abs", {x});
}

Arg sign(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return l->dtype(x) == DType::boolean ? x : l.op("Sign", {x});
}

// The functions below have kernels for single precision only; for double they are written with those that have both.
bool is_double(Lowering& l, Ref x) { return l->dtype(x) == DType::f64; }

Arg tangent(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  return is_double(l, x) ? l.op("Div", {l.op("Sin", {x}), l.op("Cos", {x})}) : l.op("Tan", {x});
}

Arg arc_tangent(Lowering& l, const Args& a) { return atan_of(l, l.as_float(a.self())); }

// atan(x / sqrt((1 - x)(1 + x)))
Ref arc_sine_of(Lowering& l, Ref x) {
  if (!is_double(l, x)) return l.op("Asin", {x});
  const Ref one = like(l, x, 1);
  const Ref rest = l.op("Mul", {l.op("Sub", {one, x}), l.op("Add", {one, x})});
  return atan_of(l, l.op("Div", {x, l.op("Sqrt", {rest})}));
}

Arg arc_sine(Lowering& l, const Args& a) { return arc_sine_of(l, l.as_float(a.self())); }

Arg arc_cosine(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  if (!is_double(l, x)) return l.op("Acos", {x});
  return l.op("Sub", {like(l, x, std::numbers::pi / 2), arc_sine_of(l, x)});
}

Ref hyperbolic_cosine(Lowering& l, Ref x) {
  return l.op("Mul", {l.op("Add", {l.op("Exp", {x}), l.op("Exp", {l.op("Neg", {x})})}), like(l, x, 0.5)});
}

Arg cosh(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  return is_double(l, x) ? hyperbolic_cosine(l, x) : l.op("Cosh", {x});
}

Arg sinh(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  return is_double(l, x) ? l.op("Mul", {l.op("Tanh", {x}), hyperbolic_cosine(l, x)}) : l.op("Sinh", {x});
}

// log(|x| + sqrt(x^2 + 1)) with the sign of x
Arg arc_sinh(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  if (!is_double(l, x)) return l.op("Asinh", {x});
  const Ref root = l.op("Sqrt", {l.op("Add", {l.op("Mul", {x, x}), like(l, x, 1)})});
  return l.op("Mul", {l.op("Sign", {x}), l.op("Log", {l.op("Add", {l.op("Abs", {x}), root})})});
}

Arg arc_cosh(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  if (!is_double(l, x)) return l.op("Acosh", {x});
  const Ref root = l.op("Sqrt", {l.op("Sub", {l.op("Mul", {x, x}), like(l, x, 1)})});
  return l.op("Log", {l.op("Add", {x, root})});
}

Arg arc_tanh(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  if (!is_double(l, x)) return l.op("Atanh", {x});
  const Ref one = like(l, x, 1);
  const Ref ratio = l.op("Div", {l.op("Add", {one, x}), l.op("Sub", {one, x})});
  return l.op("Mul", {l.op("Log", {ratio}), like(l, x, 0.5)});
}

Arg exp2(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  return l.op("Pow", {like(l, x, 2), x});
}

// exp(x) - 1 loses small x; tanh(x/2) (exp(x) + 1) is the same and keeps it.
Arg expm1(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  const Ref half = l.op("Tanh", {l.op("Mul", {x, like(l, x, 0.5)})});
  return l.op("Mul", {half, l.op("Add", {l.op("Exp", {x}), like(l, x, 1)})});
}

Ref log_to_base(Lowering& l, Ref x, double base) { return l.op("Div", {l.op("Log", {x}), like(l, x, std::log(base))}); }

Arg log2(Lowering& l, const Args& a) { return log_to_base(l, l.as_float(a.self()), 2); }
Arg log10(Lowering& l, const Args& a) { return log_to_base(l, l.as_float(a.self()), 10); }
Arg log1p(Lowering& l, const Args& a) { return log1p_of(l, l.as_float(a.self())); }

Arg rsqrt(Lowering& l, const Args& a) { return l.op("Reciprocal", {l.op("Sqrt", {l.as_float(a.self())})}); }

Arg square(Lowering& l, const Args& a) {
  const Ref x = l->dtype(a.self()) == DType::boolean ? l->cast(a.self(), DType::i64) : a.self();
  return l.op("Mul", {x, x});
}

Arg erfc(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  return l.op("Sub", {like(l, x, 1), l.op("Erf", {x})});
}

Arg trunc(Lowering& l, const Args& a) { return truncated(l, a.self()); }

Arg frac(Lowering& l, const Args& a) { return l.op("Sub", {a.self(), truncated(l, a.self())}); }

Arg round(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const int64_t decimals = a.i("decimals");
  if (!is_float(l->dtype(x))) return x;
  if (decimals == 0) return l.op("Round", {x});
  const Ref scale = like(l, x, std::pow(10.0, static_cast<double>(std::abs(decimals))));
  const bool up = decimals > 0;
  return l.op(up ? "Div" : "Mul", {l.op("Round", {l.op(up ? "Mul" : "Div", {x, scale})}), scale});
}

Ref all_false(Lowering& l, Ref x) {
  const Ref no = l->integer(0, DType::boolean);
  return l->failed() ? Ref() : l->full(l->dims(x), *l->tensor(no));
}

Arg is_nan(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return is_float(l->dtype(x)) ? l.op("IsNaN", {x}) : all_false(l, x);
}

Arg is_inf(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return is_float(l->dtype(x)) ? l.op("IsInf", {x}) : all_false(l, x);
}

Arg is_finite(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!is_float(l->dtype(x))) return l.op("Not", {all_false(l, x)});
  return less(l, l.op("Abs", {x}), like(l, x, std::numeric_limits<double>::infinity()));
}

template <int Sign>
Arg is_infinite(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!is_float(l->dtype(x))) return all_false(l, x);
  return l.op("Equal", {x, like(l, x, Sign * std::numeric_limits<double>::infinity())});
}

double largest(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 65504;
    case DType::bf16:
      return 0x1.fep127;
    case DType::f64:
      return std::numeric_limits<double>::max();
    default:
      return std::numeric_limits<float>::max();
  }
}

Arg nan_to_num(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!is_float(l->dtype(x))) return x;
  const double infinity = std::numeric_limits<double>::infinity(), most = largest(l->dtype(x));
  Ref out = l.op("Where", {l.op("IsNaN", {x}), like(l, x, a.f("nan", 0)), x});
  if (!a.has("posinf") && !a.has("neginf")) return l.clip(out, like(l, x, -most), like(l, x, most));
  out = l.op("Where", {l.op("Equal", {x, like(l, x, infinity)}), like(l, x, a.f("posinf", most)), out});
  return l.op("Where", {l.op("Equal", {x, like(l, x, -infinity)}), like(l, x, a.f("neginf", -most)), out});
}

Arg angle(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  const Ref side = l.op("Where", {less(l, x, like(l, x, 0)), like(l, x, std::numbers::pi), like(l, x, 0)});
  return l.op("Where", {l.op("IsNaN", {x}), x, side});
}

template <bool ToRadians>
Arg degrees(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  return l.op("Mul", {x, like(l, x, ToRadians ? std::numbers::pi / 180 : 180 / std::numbers::pi)});
}

Arg sinc(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  const Ref turned = l.op("Mul", {x, like(l, x, std::numbers::pi)});
  return l.op("Where",
              {l.op("Equal", {x, like(l, x, 0)}), like(l, x, 1), l.op("Div", {l.op("Sin", {turned}), turned})});
}

Arg logit(Lowering& l, const Args& a) {
  Ref x = l.as_float(a.self());
  if (a.has("eps")) x = l.clip(x, like(l, x, a.f("eps")), like(l, x, 1 - a.f("eps")));
  return l.op("Log", {l.op("Div", {x, l.op("Sub", {like(l, x, 1), x})})});
}

// -x log(x), 0 at 0, -inf below.
Arg entr(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  const Ref zero = like(l, x, 0);
  const Ref inner = l.op("Neg", {l.op("Mul", {x, l.op("Log", {x})})});
  const Ref edge = l.op("Where", {less(l, x, zero), like(l, x, -std::numeric_limits<double>::infinity()), inner});
  return l.op("Where", {l.op("Equal", {x, zero}), zero, edge});
}

Arg ndtr(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  const Ref erf = l.op("Erf", {l.op("Mul", {x, like(l, x, std::numbers::sqrt2 / 2)})});
  return l.op("Mul", {l.op("Add", {erf, like(l, x, 1)}), like(l, x, 0.5)});
}

Arg signbit(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Ref negative = less(l, x, like(l, x, 0));
  if (!is_float(l->dtype(x))) return negative;
  return l.op("Or", {negative, less(l, l.op("Reciprocal", {x}), like(l, x, 0))});
}

constexpr char kCeil[] = "Ceil", kCos[] = "Cos", kErf[] = "Erf", kExp[] = "Exp", kFloor[] = "Floor", kLog[] = "Log",
               kNeg[] = "Neg", kReciprocal[] = "Reciprocal", kSigmoid[] = "Sigmoid", kSin[] = "Sin", kSqrt[] = "Sqrt",
               kTanh[] = "Tanh";

constexpr AtenOp kUnaryOps[] = {
    {"abs", absolute},
    {"absolute", absolute},
    {"acos", arc_cosine},
    {"acosh", arc_cosh},
    {"angle", angle},
    {"arccos", arc_cosine},
    {"arccosh", arc_cosh},
    {"arcsin", arc_sine},
    {"arcsinh", arc_sinh},
    {"arctan", arc_tangent},
    {"arctanh", arc_tanh},
    {"asin", arc_sine},
    {"asinh", arc_sinh},
    {"atan", arc_tangent},
    {"atanh", arc_tanh},
    {"ceil", rounding<kCeil>},
    {"cos", float_unary<kCos>},
    {"cosh", cosh},
    {"deg2rad", degrees<true>},
    {"erf", float_unary<kErf>},
    {"erfc", erfc},
    {"exp", float_unary<kExp>},
    {"exp2", exp2},
    {"expm1", expm1},
    {"fix", trunc},
    {"floor", rounding<kFloor>},
    {"frac", frac},
    {"isfinite", is_finite},
    {"isinf", is_inf},
    {"isnan", is_nan},
    {"isneginf", is_infinite<-1>},
    {"isposinf", is_infinite<1>},
    {"log", float_unary<kLog>},
    {"log10", log10},
    {"log1p", log1p},
    {"log2", log2},
    {"logit", logit},
    {"nan_to_num", nan_to_num},
    {"neg", unary<kNeg>},
    {"negative", unary<kNeg>},
    {.name = "positive", .lower = same, .put = put_whole},
    {"rad2deg", degrees<false>},
    {"reciprocal", float_unary<kReciprocal>},
    {"round", round},
    {"rsqrt", rsqrt},
    {"sgn", sign},
    {"sigmoid", float_unary<kSigmoid>},
    {"sign", sign},
    {"signbit", signbit},
    {"sin", float_unary<kSin>},
    {"sinc", sinc},
    {"sinh", sinh},
    {"special_entr", entr},
    {"special_erf", float_unary<kErf>},
    {"special_erfc", erfc},
    {"special_exp2", exp2},
    {"special_expit", float_unary<kSigmoid>},
    {"special_expm1", expm1},
    {"special_log1p", log1p},
    {"special_logit", logit},
    {"special_ndtr", ndtr},
    {"special_round", round},
    {"special_sinc", sinc},
    {"sqrt", float_unary<kSqrt>},
    {"square", square},
    {"tan", tangent},
    {"tanh", float_unary<kTanh>},
    {"trunc", trunc},
};

}  // namespace

std::span<const AtenOp> unary_ops() { return kUnaryOps; }

}  // namespace anyshape::lower
