#include <cmath>

#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

// One input, one output of the same type and shape, with a reference kernel.
namespace anyshape::ops {
namespace {

enum class Unary {
  neg,
  abs,
  sign,
  floor,
  ceil,
  round,
  sqrt,
  reciprocal,
  exp,
  log,
  relu,
  sigmoid,
  tanh,
  erf,
  bitwise_not
};

constexpr Port kUnaryIn[] = {{"X"}};
constexpr Port kUnaryOut[] = {{"Y"}};

constexpr unsigned mask_of_unary(Unary op) {
  switch (op) {
    case Unary::neg:
    case Unary::abs:
    case Unary::sign:
    case Unary::relu:
    case Unary::erf:
      return kMaskNumber;
    case Unary::bitwise_not:
      return kMaskInt;
    default:
      return kMaskFloat;
  }
}

// Half to even; exact ties exist only where the entry is exact.
Dim rounded(InferContext& context, const Ratio& r) {
  const Dim low = floordiv(r.num * Dim(2) + Dim(r.den), Dim(2 * r.den));
  if (r.den % 2 != 0) return low;
  const Condition tie = Condition::divisible(r.num * Dim(2) + Dim(r.den), Dim(2 * r.den));
  const Condition odd = !Condition::divisible(low, 2);
  return choose(context, tie && odd, low - 1, low);
}

Ratio integral(Unary op, InferContext& context, const Ratio& r) {
  if (r.den == 1) return r;
  if (op == Unary::floor) return {context.simplify(floordiv(r.num, Dim(r.den)))};
  if (op == Unary::ceil) return {context.simplify(ceildiv(r.num, Dim(r.den)))};
  return {context.simplify(rounded(context, r))};
}

Ratio entry_unary(Unary op, InferContext& context, const Ratio& r) {
  switch (op) {
    case Unary::neg:
      return {-r.num, r.den};
    case Unary::abs:
      return {choose(context, Condition::ge(r.num, 0), r.num, -r.num), r.den};
    case Unary::sign:
      return {choose(context, Condition::gt(r.num, 0), 1, choose(context, Condition::eq(r.num, 0), 0, -1))};
    case Unary::relu:
      return {context.simplify(max(r.num, 0)), r.den};
    case Unary::floor:
    case Unary::ceil:
    case Unary::round:
      return integral(op, context, r);
    case Unary::bitwise_not:
      return {Dim(-1) - r.num};
    default:
      return unknown_ratio();
  }
}

void unary_bounds(Unary op, const Call& call, InferContext& context, Fact& out) {
  const auto b = bounds_of(call, 0);
  if (!b || out.elements) return;
  if (op == Unary::neg) return set_bounds(context, out, -b->hi, -b->lo, b->attained);
  if (op == Unary::relu) return set_bounds(context, out, max(b->lo, 0), max(b->hi, 0), b->attained);
  if (op == Unary::sign) return set_bounds(context, out, -1, 1);
  if (op == Unary::bitwise_not && is_signed_integer(out.dtype))
    return set_bounds(context, out, Dim(-1) - b->hi, Dim(-1) - b->lo, b->attained);
  if (op != Unary::abs) return;
  if (context.proves(Condition::ge(b->lo, 0))) return set_bounds(context, out, b->lo, b->hi, b->attained);
  set_bounds(context, out, 0, max(-b->lo, b->hi));
}

template <Unary op>
Result<Facts> infer_unary(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, mask_of_unary(op)));
  Fact out = typed(call.in(0).dtype, call.in(0).dims);
  const bool unsigned_not = op == Unary::bitwise_not && !is_signed_integer(out.dtype);
  if (!unsigned_not)
    map_ratios(
        call, context, [&](std::span<const Ratio> in) { return entry_unary(op, context, in[0]); }, out);
  unary_bounds(op, call, context, out);
  Facts facts;
  facts.push_back(std::move(out));  // a list in braces copies
  return facts;
}

template <Unary op, class T>
T of_int(T x) {
  if constexpr (op == Unary::neg) return kernels::wrapping<T>(0, x, std::minus<>());
  if constexpr (op == Unary::abs) return x < 0 ? kernels::wrapping<T>(0, x, std::minus<>()) : x;
  if constexpr (op == Unary::sign) return static_cast<T>((x > 0) - (x < 0));
  if constexpr (op == Unary::relu) return x > 0 ? x : T(0);
  if constexpr (op == Unary::bitwise_not) return static_cast<T>(~x);
  if constexpr (op == Unary::erf) return static_cast<T>(std::erf(static_cast<float>(x)));
  return x;
}

template <Unary op, class T>
T of_float(T x) {
  if constexpr (op == Unary::neg) return -x;
  if constexpr (op == Unary::abs) return std::fabs(x);
  if constexpr (op == Unary::sign) return std::isnan(x) ? x : static_cast<T>((x > 0) - (x < 0));
  if constexpr (op == Unary::floor) return std::floor(x);
  if constexpr (op == Unary::ceil) return std::ceil(x);
  if constexpr (op == Unary::round) return std::nearbyint(x);
  if constexpr (op == Unary::sqrt) return std::sqrt(x);
  if constexpr (op == Unary::reciprocal) return T(1) / x;
  if constexpr (op == Unary::exp) return std::exp(x);
  if constexpr (op == Unary::log) return std::log(x);
  if constexpr (op == Unary::relu) return x < 0 ? T(0) : x;
  if constexpr (op == Unary::sigmoid) return T(1) / (T(1) + std::exp(-x));
  if constexpr (op == Unary::tanh) return std::tanh(x);
  if constexpr (op == Unary::erf) return std::erf(x);
  return x;
}

template <Unary op>
Status reference_unary(const Call& call, KernelArgs& args) {
  constexpr unsigned mask = mask_of_unary(op);
  constexpr unsigned types = (mask & kMaskInt ? kernels::kInts : 0u) | (mask & kMaskFloat ? kernels::kFloats : 0u);
  if (args.in(0).dtype() != args.out(0).dtype())
    return unknown("dtype", "{} of {}", call.type(), name(args.in(0).dtype()));
  return kernels::visit_type<types>(args.in(0).dtype(), [&]<class T>(T) -> Status {
    kernels::apply<T, T>(args.in(0), args.out(0), [](T x) {
      if constexpr (kernels::kIsFloat<T>)
        return kernels::narrow<T>(of_float<op>(kernels::widen(x)));
      else
        return of_int<op>(x);
    });
    return {};
  });
}

template <Unary op>
constexpr Kernel kUnaryKernels[] = {{"reference", reference_unary<op>}};

template <Unary op>
constexpr OpDef record_unary(std::string_view op_name, int since, std::string_view doc) {
  return {.name = op_name,
          .since = since,
          .sig = {kUnaryIn, kUnaryOut, doc},
          .infer = infer_unary<op>,
          .kernels = kUnaryKernels<op>};
}

}  // namespace

constexpr OpDef kAbs1 = record_unary<Unary::abs>("Abs", 1, "absolute value");
constexpr OpDef kBitwiseNot18 = record_unary<Unary::bitwise_not>("BitwiseNot", 18, "every bit inverted");
constexpr OpDef kCeil1 = record_unary<Unary::ceil>("Ceil", 1, "rounding up");
constexpr OpDef kErf9 = record_unary<Unary::erf>("Erf", 9, "error function");
constexpr OpDef kExp1 = record_unary<Unary::exp>("Exp", 1, "exponential");
constexpr OpDef kFloor1 = record_unary<Unary::floor>("Floor", 1, "rounding down");
constexpr OpDef kLog1 = record_unary<Unary::log>("Log", 1, "natural logarithm");
constexpr OpDef kNeg1 = record_unary<Unary::neg>("Neg", 1, "negative");
constexpr OpDef kReciprocal1 = record_unary<Unary::reciprocal>("Reciprocal", 1, "one over x");
constexpr OpDef kRelu1 = record_unary<Unary::relu>("Relu", 1, "max(x, 0)");
constexpr OpDef kRound11 = record_unary<Unary::round>("Round", 11, "rounding to nearest, ties to even");
constexpr OpDef kSigmoid1 = record_unary<Unary::sigmoid>("Sigmoid", 1, "1 / (1 + exp(-x))");
constexpr OpDef kSign9 = record_unary<Unary::sign>("Sign", 9, "-1, 0 or 1");
constexpr OpDef kSqrt1 = record_unary<Unary::sqrt>("Sqrt", 1, "square root");
constexpr OpDef kTanh1 = record_unary<Unary::tanh>("Tanh", 1, "hyperbolic tangent");

}  // namespace anyshape::ops
