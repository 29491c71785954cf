#include <cmath>
#include <numeric>

#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

// Sums and products of whole numbers are i64 unless a type is asked for.
Ref accumulated_reduce(Lowering& l, const Args& a, Ref x) {
  if (const auto wanted = a.dtype("dtype")) return l->cast(x, *wanted);
  const DType dtype = l->dtype(x);
  return dtype == DType::boolean || is_integer(dtype) ? l->cast(x, DType::i64) : x;
}

Ref as_float(Lowering& l, const Args& a, Ref x) {
  if (const auto wanted = a.dtype("dtype")) return l->cast(x, *wanted);
  return l.as_float(x);
}

Arg sum(Lowering& l, const Args& a) {
  const Ref x = accumulated_reduce(l, a, a.self());
  return reduced(l, "ReduceSum", x, named_axes(l, a, x), a.flag("keepdim"));
}

Arg prod(Lowering& l, const Args& a) {
  const Ref x = accumulated_reduce(l, a, a.self());
  return reduced(l, "ReduceProd", x, named_axes(l, a, x), a.flag("keepdim"));
}

Arg mean(Lowering& l, const Args& a) {
  const Ref x = as_float(l, a, a.self());
  return reduced(l, "ReduceMean", x, named_axes(l, a, x), a.flag("keepdim"));
}

Arg nansum(Lowering& l, const Args& a) {
  Ref x = accumulated_reduce(l, a, a.self());
  if (is_float(l->dtype(x))) x = l.op("Where", {l.op("IsNaN", {x}), like(l, x, 0), x});
  return reduced(l, "ReduceSum", x, named_axes(l, a, x), a.flag("keepdim"));
}

Arg nanmean(Lowering& l, const Args& a) {
  const Ref x = as_float(l, a, a.self());
  const auto axes = named_axes(l, a, x);
  const Ref missing = l.op("IsNaN", {x});
  const Ref total = reduced(l, "ReduceSum", l.op("Where", {missing, like(l, x, 0), x}), axes, a.flag("keepdim"));
  const Ref there = l->cast(l.op("Not", {missing}), l->dtype(x));
  return l.op("Div", {total, reduced(l, "ReduceSum", there, axes, a.flag("keepdim"))});
}

Arg count_nonzero(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Ref there = l->cast(l->cast(x, DType::boolean), DType::i64);
  return reduced(l, "ReduceSum", there, named_axes(l, a, x), false);
}

// The sum of no entries is 0, so nothing is true of none and everything of all.
Ref any_of(Lowering& l, Ref truths, const std::vector<int64_t>& axes, bool keepdim) {
  return l->cast(reduced(l, "ReduceSum", l->cast(truths, DType::i32), axes, keepdim), DType::boolean);
}

template <bool All>
Arg holds(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const auto axes = named_axes(l, a, x);
  const Ref truths = l->cast(x, DType::boolean);
  const bool keepdim = a.flag("keepdim");
  const Ref out =
      All ? l.op("Not", {any_of(l, l.op("Not", {truths}), axes, keepdim)}) : any_of(l, truths, axes, keepdim);
  return l->dtype(x) == DType::u8 ? l->cast(out, DType::u8) : out;
}

template <bool Largest>
constexpr std::string_view kExtreme = Largest ? "ReduceMax" : "ReduceMin";
template <bool Largest>
constexpr std::string_view kWhere = Largest ? "ArgMax" : "ArgMin";

template <bool Largest>
Arg amax(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return reduced(l, kExtreme<Largest>, x, named_axes(l, a, x), a.flag("keepdim"));
}

Arg aminmax(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const auto axes = named_axes(l, a, x);
  const bool keepdim = a.flag("keepdim");
  return Refs{reduced(l, "ReduceMin", x, axes, keepdim), reduced(l, "ReduceMax", x, axes, keepdim)};
}

template <bool Largest>
Ref position(Lowering& l, Ref x, int64_t axis, bool keepdim) {
  return l.op(kWhere<Largest>, {x}, {attr("axis", axis), attr("keepdims", keepdim)});
}

template <bool Largest>
Arg with_position(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (l->rank(x) == 0) return Refs{x, l->number(int64_t{0})};
  const int64_t axis = l.axis(x, a.i("dim"));
  const bool keepdim = a.flag("keepdim");
  return Refs{l.reduce(kExtreme<Largest>, x, {axis}, keepdim), position<Largest>(l, x, axis, keepdim)};
}

template <bool Largest>
Arg arg_extreme(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const bool keepdim = a.flag("keepdim");
  if (l->rank(x) == 0) return l->number(int64_t{0});
  if (a.has("dim")) return position<Largest>(l, x, l.axis(x, a.i("dim")), keepdim);
  const Ref flat = l->reshape(x, {product(l->dims(x))});
  const Ref index = position<Largest>(l, flat, 0, false);
  return keepdim ? l->reshape(index, Dims(l->rank(x), Dim(1))) : index;
}

struct Moments {
  Ref variance, mean;
};

// The divisor is the count less a correction: 1 unless said otherwise, the older form's "unbiased" is 1 or 0.
double correction_of(const Args& a) {
  if (a.has("correction")) return a.f("correction");
  return a.flag("unbiased", true) ? 1 : 0;
}

Moments moments(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  const auto axes = named_axes(l, a, x);
  const bool keepdim = a.flag("keepdim") && l->rank(x) > 0;
  const double correction = correction_of(a);
  const Ref mean = reduced(l, "ReduceMean", x, axes, true);
  const Ref off = l.op("Sub", {x, mean});
  const Ref squares = l.op("Mul", {off, off});
  Moments out;
  if (correction == 0) {
    out.variance = reduced(l, "ReduceMean", squares, axes, keepdim);
  } else {
    const Ref total = reduced(l, "ReduceSum", squares, axes, keepdim);
    const Dim count = extent(l, x, axes);
    Ref divisor;
    if (correction == std::floor(correction))
      divisor = l.operand(Arg(max(Dim(0), count - static_cast<int64_t>(correction))), l->dtype(x));
    else
      divisor = l.op("Max", {l.op("Sub", {l.operand(Arg(count), l->dtype(x)), like(l, x, correction)}), like(l, x, 0)});
    out.variance = l.op("Div", {total, divisor});
  }
  out.mean = keepdim ? mean : l->reshape(mean, l->dims(out.variance));
  return out;
}

Arg var(Lowering& l, const Args& a) { return moments(l, a).variance; }
Arg std_deviation(Lowering& l, const Args& a) { return l.op("Sqrt", {moments(l, a).variance}); }

Arg var_mean(Lowering& l, const Args& a) {
  const Moments out = moments(l, a);
  return Refs{out.variance, out.mean};
}

Arg std_mean(Lowering& l, const Args& a) {
  const Moments out = moments(l, a);
  return Refs{l.op("Sqrt", {out.variance}), out.mean};
}

Arg logsumexp(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  return reduced(l, "ReduceLogSumExp", x, named_axes(l, a, x), a.flag("keepdim"));
}

// The last bin holds its upper end, too; what lies outside counts nowhere.
Arg histc(Lowering& l, const Args& a) {
  const double lo = a.f("min", 0), hi = a.f("max", 0);
  const int64_t bins = a.i("bins", 100);
  if (!(lo < hi)) {
    l->refuse("aten.symbolic", "histc without a range takes it from the values; name min and max");
    return {};
  }
  const DType dtype = l->dtype(a.self());
  const Ref x = l->reshape(a.self(), {-1});
  const Ref outside = l.op("Or", {l.op("Less", {x, l->number(lo, dtype)}), l.op("Greater", {x, l->number(hi, dtype)})});
  const Ref place =
      l.op("Div", {l.op("Mul", {l.op("Sub", {x, l->number(lo, dtype)}), l->number(static_cast<double>(bins), dtype)}),
                   l->number(hi - lo, dtype)});
  const Ref bin = l.op("Min", {l.op("Floor", {place}), l->number(static_cast<double>(bins - 1), dtype)});
  std::vector<int64_t> counted(static_cast<size_t>(bins));
  std::iota(counted.begin(), counted.end(), 0);
  const Ref each = l->cast(l->unsqueeze(l->ints(std::move(counted)), {1}), dtype);
  const Ref hits =
      l.op("And", {l.op("Equal", {l->unsqueeze(bin, {0}), each}), l.op("Not", {l->unsqueeze(outside, {0})})});
  return l.reduce("ReduceSum", l->cast(hits, dtype), {1}, false);
}

constexpr AtenOp kReduceOps[] = {
    {"_is_all_true", holds<true>},
    {"_is_any_true", holds<false>},
    {"all", holds<true>},
    {"amax", amax<true>},
    {"amin", amax<false>},
    {"aminmax", aminmax},
    {"any", holds<false>},
    {"argmax", arg_extreme<true>},
    {"argmin", arg_extreme<false>},
    {"count_nonzero", count_nonzero},
    {"histc", histc},
    {"logsumexp", logsumexp},
    {"max", amax<true>},
    {"max.dim", with_position<true>},
    {"mean", mean},
    {"min", amax<false>},
    {"min.dim", with_position<false>},
    {"nanmean", nanmean},
    {"nansum", nansum},
    {"prod", prod},
    {"special_logsumexp", logsumexp},
    {"std", std_deviation},
    {"std_mean", std_mean},
    {"sum", sum},
    {"var", var},
    {"var_mean", var_mean},
};

}  // namespace

std::span<const AtenOp> reduce_ops() { return kReduceOps; }

}  // namespace anyshape::lower
