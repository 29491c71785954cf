#include <algorithm>
#include <cmath>

#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

// Min, Max, Sum, Mean over any number of inputs.
namespace anyshape::ops {
namespace {

enum class Variadic { min, max, sum, mean };

constexpr Port kVariadicIn[] = {{"data_0", Port::variadic}};
constexpr Port kVariadicOut[] = {{"result"}};

Ratio combine(Variadic op, InferContext& context, const Ratio& a, const Ratio& b) {
  if (!exact(a) || !exact(b)) return unknown_ratio();
  const int64_t den = std::max(a.den, b.den);
  const Dim x = a.num * Dim(den / a.den), y = b.num * Dim(den / b.den);
  if (op == Variadic::min) return {context.simplify(min(x, y)), den};
  if (op == Variadic::max) return {context.simplify(max(x, y)), den};
  return {x + y, den};
}

Ratio entry_variadic(Variadic op, InferContext& context, DType dtype, std::span<const Ratio> in) {
  if (op == Variadic::mean) return in.size() == 1 ? in[0] : unknown_ratio();
  Ratio all = in[0];
  for (size_t i = 1; i < in.size(); ++i) all = settle_ratio(context, dtype, combine(op, context, all, in[i]));
  return all;
}

// Both ends are taken when one input takes its own and the other is one number.
bool attained(const Bounds& a, const Bounds& b) { return (a.attained && b.lo == b.hi) || (b.attained && a.lo == a.hi); }

void variadic_bounds(Variadic op, const Call& call, InferContext& context, Fact& out) {
  if (out.elements || (op != Variadic::min && op != Variadic::max)) return;
  std::optional<Bounds> all;
  for (size_t i = 0; i < call.inputs(); ++i) {
    const auto b = bounds_of(call, i);
    if (!b) return;
    if (!all)
      all = *b;
    else if (op == Variadic::min)
      all = Bounds{min(all->lo, b->lo), min(all->hi, b->hi), attained(*all, *b)};
    else
      all = Bounds{max(all->lo, b->lo), max(all->hi, b->hi), attained(*all, *b)};
  }
  if (all) set_bounds(context, out, all->lo, all->hi, all->attained);
}

// Before opset 8 the inputs have one shape.
Result<std::optional<Dims>> dims_of(const Call& call, InferContext& context) {
  if (call.version() >= 8) return elementwise_dims(call, context);
  TRY(const Dims first, call.dims(0));
  for (size_t i = 1; i < call.inputs(); ++i) {
    TRY(const Dims next, call.dims(i));
    TRY_OK(require_same_dims(context, first, next, "the inputs have one shape"));
  }
  return std::optional(first);
}

template <Variadic op>
Result<Facts> infer_variadic(const Call& call, InferContext& context) {
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) return refuse("node.arity", "input {} of {} is missing", i, call.type());
    TRY_OK(require_tensor(call, i, op == Variadic::min || op == Variadic::max ? kMaskNumber : kMaskFloat));
  }
  TRY(const DType dtype, common_dtype(call, 0, call.inputs()));
  TRY(auto dims, dims_of(call, context));
  Fact out = typed(dtype, std::move(dims));
  map_ratios(
      call, context, [&](std::span<const Ratio> in) { return entry_variadic(op, context, dtype, in); }, out);
  variadic_bounds(op, call, context, out);
  return Facts{out};
}

template <Variadic op, class T>
T fold_in(T a, T b) {
  if constexpr (op == Variadic::min || op == Variadic::max) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
    return op == Variadic::min ? std::min(a, b) : std::max(a, b);
  } else {
    return kernels::wrapping(a, b, std::plus<>());
  }
}

template <Variadic op, class T>
Status run(KernelArgs& args) {
  Tensor& out = args.out(0);
  const auto keep = [](T, T x) { return x; };
  TRY_OK((kernels::apply<T, T, T>(args.in(0), args.in(0), out, keep)));
  for (size_t i = 1; i < args.inputs.size(); ++i)
    TRY_OK((kernels::apply<T, T, T>(out, args.in(i), out, [](T a, T b) {
      return kernels::narrow<T>(fold_in<op>(kernels::widen(a), kernels::widen(b)));
    })));
  if constexpr (op == Variadic::mean && kernels::kIsFloat<T>) {
    const auto n = static_cast<kernels::Compute<T>>(args.inputs.size());
    kernels::apply<T, T>(out, out, [&](T x) { return kernels::narrow<T>(kernels::widen(x) / n); });
  }
  return {};
}

template <Variadic op>
Status reference_variadic(const Call& call, KernelArgs& args) {
  for (const Datum& input : args.inputs)
    if (input.dtype() != args.out(0).dtype())
      return unknown("dtype", "{} of {} and {}", call.type(), name(input.dtype()), name(args.out(0).dtype()));
  constexpr unsigned types = op == Variadic::min || op == Variadic::max ? kernels::kNumbers : kernels::kFloats;
  return kernels::visit_type<types>(args.out(0).dtype(), [&]<class T>(T) -> Status { return run<op, T>(args); });
}

template <Variadic op>
constexpr Kernel kVariadicKernels[] = {{"reference", reference_variadic<op>}};

template <Variadic op>
constexpr OpDef record_variadic(std::string_view op_name, std::string_view doc) {
  return {.name = op_name,
          .since = 1,
          .sig = {kVariadicIn, kVariadicOut, doc},
          .infer = infer_variadic<op>,
          .kernels = kVariadicKernels<op>};
}

}  // namespace

constexpr OpDef kMax1 = record_variadic<Variadic::max>("Max", "largest of the inputs, entry by entry");
constexpr OpDef kMean1 = record_variadic<Variadic::mean>("Mean", "mean of the inputs, entry by entry");
constexpr OpDef kMin1 = record_variadic<Variadic::min>("Min", "smallest of the inputs, entry by entry");
constexpr OpDef kSum1 = record_variadic<Variadic::sum>("Sum", "sum of the inputs, entry by entry");

}  // namespace anyshape::ops
