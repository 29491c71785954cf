#include <cmath>
#include <limits>

#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

// Add, Sub, Mul, Div, Mod: two inputs of one number type.
namespace anyshape::ops {
namespace {

enum class Arith { add, sub, mul, div, mod };

constexpr Port kArithmeticIn[] = {{"A"}, {"B"}};
constexpr Port kArithmeticOut[] = {{"C"}};
constexpr AttributeDef kModAttributes[] = {
    {"fmod", 0},
};

bool is_fmod(Arith op, const Call& call) { return op == Arith::mod && call.i("fmod") != 0; }

Ratio quotient(const Ratio& a, const Ratio& b) {
  const auto n = b.num.constant();
  if (!n || *n == 0 || *n == std::numeric_limits<int64_t>::min() || !exact(a) || !exact(b)) return unknown_ratio();
  int64_t den = 0;
  if (__builtin_mul_overflow(a.den, std::abs(*n), &den) || den > int64_t{1} << 40) return unknown_ratio();
  Ratio r{a.num * Dim(b.den) * Dim(*n < 0 ? -1 : 1), den};
  while (r.den % 2 == 0) {
    const auto half = exact_div(r.num, 2);
    if (!half) break;
    r = {*half, r.den / 2};
  }
  return r;
}

Ratio float_arith(Arith op, const Ratio& a, const Ratio& b) {
  if (op == Arith::div) return quotient(a, b);
  if (!exact(a) || !exact(b) || op == Arith::mod) return unknown_ratio();
  if (op == Arith::mul) return {a.num * b.num, a.den * b.den};
  const int64_t den = std::max(a.den, b.den);
  const Dim x = a.num * Dim(den / a.den), y = b.num * Dim(den / b.den);
  return {op == Arith::add ? x + y : x - y, den};
}

// The remainder with the sign of the divisor, or of the dividend under `fmod`.
Dim remainder(InferContext& context, Dim a, Dim b, bool fmod) {
  if (b.is_constant() && *b.constant() < 0) {
    if (b == Dim(std::numeric_limits<int64_t>::min())) return Dim::unknown();
    return fmod ? remainder(context, a, -b, true) : -remainder(context, -a, -b, false);
  }
  if (!context.proves(Condition::ge(b, 1))) return Dim::unknown();
  if (!fmod) return context.simplify(mod(a, b));
  return context.simplify(choose(context, Condition::ge(a, 0), mod(a, b), -mod(-a, b)));
}

Ratio int_arith(Arith op, InferContext& context, bool fmod, Dim a, Dim b) {
  switch (op) {
    case Arith::add:
      return {a + b};
    case Arith::sub:
      return {a - b};
    case Arith::mul:
      return {a * b};
    case Arith::div:
      return {truncated_div(context, a, b)};
    case Arith::mod:
      return {remainder(context, a, b, fmod)};
  }
  return unknown_ratio();
}

// Both ends of a monotone function of one operand are taken when the other one has a single value.
bool ends_taken(const Bounds& a, const Bounds& b) {
  return (a.attained && b.lo == b.hi) || (b.attained && a.lo == a.hi);
}

void mul_bounds(InferContext& context, const Bounds& a, const Bounds& b, Fact& out) {
  const auto scaled = [&](const Bounds& x, int64_t c) {
    if (c >= 0) return set_bounds(context, out, x.lo * Dim(c), x.hi * Dim(c), x.attained);
    set_bounds(context, out, x.hi * Dim(c), x.lo * Dim(c), x.attained);
  };
  if (b.lo == b.hi && b.lo.is_constant()) return scaled(a, *b.lo.constant());
  if (a.lo == a.hi && a.lo.is_constant()) return scaled(b, *a.lo.constant());
  if (context.proves(Condition::ge(a.lo, 0) && Condition::ge(b.lo, 0)))
    set_bounds(context, out, a.lo * b.lo, a.hi * b.hi, ends_taken(a, b));
}

void mod_bounds(InferContext& context, bool fmod, const Bounds& a, const Bounds& b, Fact& out) {
  if (!context.proves(Condition::ge(b.lo, 1))) return;
  if (context.proves(Condition::ge(a.lo, 0))) {
    const bool below = context.proves(Condition::lt(a.hi, b.lo));
    set_bounds(context, out, below ? a.lo : Dim(0), min(a.hi, b.hi - 1));
  } else {
    set_bounds(context, out, fmod ? 1 - b.hi : Dim(0), b.hi - 1);
  }
}

void arith_bounds(Arith op, const Call& call, InferContext& context, Fact& out) {
  if (out.elements || !is_integer(out.dtype)) return;
  const bool fmod = is_fmod(op, call);
  const auto b = bounds_of(call, 1);
  if (!b) return;
  const auto known = bounds_of(call, 0);
  // A remainder is bounded by the divisor alone.
  if (op == Arith::mod) {
    const Dim top = integer_limits(out.dtype).second;
    return mod_bounds(context, fmod, known.value_or(Bounds{is_signed_integer(out.dtype) ? Dim(-1) : Dim(0), top}), *b,
                      out);
  }
  if (!known) return;
  const Bounds& a = *known;
  if (op == Arith::add) return set_bounds(context, out, a.lo + b->lo, a.hi + b->hi, ends_taken(a, *b));
  if (op == Arith::sub) return set_bounds(context, out, a.lo - b->hi, a.hi - b->lo, ends_taken(a, *b));
  if (op == Arith::mul) return mul_bounds(context, a, *b, out);
  if (b->lo == b->hi && b->lo.is_constant() && *b->lo.constant() > 0)
    set_bounds(context, out, truncated_div(context, a.lo, b->lo), truncated_div(context, a.hi, b->lo), a.attained);
}

// Integer division by zero ends the run.
Status require_divisor(const Call& call, InferContext& context, const Fact& out) {
  if (!is_integer(out.dtype) || !call.in(1).elements) return {};
  const Condition nothing = out.dims ? Condition::eq(product(*out.dims), 0) : Condition::never();
  for (Dim d : *call.in(1).elements)
    TRY_OK(context.require(nothing || Condition::ne(d, 0), call.type() == "Div" ? "div.zero" : "mod.zero",
                           "the divisor {} must not be 0", print(d)));
  return {};
}

template <Arith op>
Result<Facts> infer_arithmetic(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskNumber));
  TRY_OK(require_tensor(call, 1, kMaskNumber));
  TRY(const DType dtype, common_dtype(call, 0, 1));
  const bool fmod = is_fmod(op, call);
  if (op == Arith::mod && is_float(dtype) && !fmod && call.version() < 28)
    return refuse("mod.fmod", "Mod of float tensors takes fmod=1 before opset 28");
  TRY(auto dims, elementwise_dims(call, context));
  Fact out = typed(dtype, std::move(dims));
  if (op == Arith::div || op == Arith::mod) TRY_OK(require_divisor(call, context, out));
  map_ratios(
      call, context,
      [&](std::span<const Ratio> in) {
        return is_float(dtype) ? float_arith(op, in[0], in[1]) : int_arith(op, context, fmod, in[0].num, in[1].num);
      },
      out);
  arith_bounds(op, call, context, out);
  Facts facts;
  facts.push_back(std::move(out));  // a list in braces copies
  return facts;
}

template <class T>
T divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return kernels::wrapping<T>(0, a, std::minus<>());
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
}

template <class T>
T modulo(T a, T b, bool fmod) {
  if constexpr (std::is_integral_v<T>) {
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    const T r = static_cast<T>(a % b);
    return !fmod && r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
  } else {
    const T r = std::fmod(a, b);
    if (fmod || std::isnan(r)) return r;
    if (r == 0) return std::copysign(r, b);
    return (r < 0) != (b < 0) ? r + b : r;
  }
}

template <Arith op, class T>
T compute(T a, T b, bool fmod) {
  if constexpr (op == Arith::add) return kernels::wrapping(a, b, std::plus<>());
  if constexpr (op == Arith::sub) return kernels::wrapping(a, b, std::minus<>());
  if constexpr (op == Arith::mul) return kernels::wrapping(a, b, std::multiplies<>());
  if constexpr (op == Arith::div) return divide(a, b);
  if constexpr (op == Arith::mod) return modulo(a, b, fmod);
}

template <Arith op>
Status reference_arithmetic(const Call& call, KernelArgs& args) {
  const Tensor& a = args.in(0);
  const Tensor b = args.in(1).reshaped(legacy_dims(call, a.rank(), temporary(args.in(1).dims())));
  if (a.dtype() != b.dtype() || a.dtype() != args.out(0).dtype())
    return unknown("dtype", "{} of {} and {}", call.type(), name(a.dtype()), name(b.dtype()));
  const bool fmod = is_fmod(op, call);
  return kernels::visit_type<kernels::kNumbers>(a.dtype(), [&]<class T>(T) -> Status {
    if constexpr (std::is_integral_v<T> && (op == Arith::div || op == Arith::mod)) {
      for (int64_t i = 0; i < b.count() && args.out(0).count() > 0; ++i)
        if (b.at<T>(i) == 0) return refuse(op == Arith::div ? "div.zero" : "mod.zero", "an integer is divided by zero");
    }
    return kernels::apply<T, T, T>(a, b, args.out(0), [&](T x, T y) {
      return kernels::narrow<T>(compute<op>(kernels::widen(x), kernels::widen(y), fmod));
    });
  });
}

template <Arith op>
constexpr Kernel kArithmeticKernels[] = {{"reference", reference_arithmetic<op>}};

}  // namespace

constexpr OpDef kAdd1{.name = "Add",
                      .since = 1,
                      .sig = {kArithmeticIn, kArithmeticOut, "sum of two tensors, with broadcasting", kOldBroadcast},
                      .infer = infer_arithmetic<Arith::add>,
                      .kernels = kArithmeticKernels<Arith::add>};
constexpr OpDef kSub1{
    .name = "Sub",
    .since = 1,
    .sig = {kArithmeticIn, kArithmeticOut, "difference of two tensors, with broadcasting", kOldBroadcast},
    .infer = infer_arithmetic<Arith::sub>,
    .kernels = kArithmeticKernels<Arith::sub>};
constexpr OpDef kMul1{
    .name = "Mul",
    .since = 1,
    .sig = {kArithmeticIn, kArithmeticOut, "product of two tensors, with broadcasting", kOldBroadcast},
    .infer = infer_arithmetic<Arith::mul>,
    .kernels = kArithmeticKernels<Arith::mul>};
constexpr OpDef kDiv1{
    .name = "Div",
    .since = 1,
    .sig = {kArithmeticIn, kArithmeticOut, "quotient of two tensors, integers towards zero", kOldBroadcast},
    .infer = infer_arithmetic<Arith::div>,
    .kernels = kArithmeticKernels<Arith::div>};
constexpr OpDef kMod10{
    .name = "Mod",
    .since = 10,
    .sig = {kArithmeticIn, kArithmeticOut, "remainder of two tensors, with broadcasting", kModAttributes},
    .infer = infer_arithmetic<Arith::mod>,
    .kernels = kArithmeticKernels<Arith::mod>};

}  // namespace anyshape::ops
