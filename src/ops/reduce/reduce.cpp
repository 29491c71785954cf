#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/convert.h"
#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/given.h"
#include "ops/records.h"

// The Reduce operators. Axes are an attribute at first, an input from opset 13 (ReduceSum) or 18 (the others) on.
namespace anyshape::ops {
namespace {

enum class Reduce { sum, mean, max, min, prod, l1, l2, log_sum, log_sum_exp, sum_square };

constexpr Port kReduceIn1[] = {{"data"}};
constexpr Port kIn2[] = {{"data"}, {"axes", Port::optional | Port::value | Port::settled}};
constexpr Port kReduceOut[] = {{"reduced"}};
constexpr AttributeDef kAttributes1[] = {{"axes", AttributeDef::integers}, {"keepdims", 1}};
constexpr AttributeDef kAttributes2[] = {{"keepdims", 1}, {"noop_with_empty_axes", 0}};

// The axes as the node says them; nullopt: not known. Empty: none given.
std::optional<std::vector<int64_t>> written_axes(const Call& call) {
  if (call.has(1)) return known_numbers(call, 1);
  const auto* axes = call.given<std::vector<int64_t>>("axes");
  return axes ? *axes : std::vector<int64_t>();
}

// Which axes of a tensor of that rank go. A repeated axis counts once.
Result<Temporary<bool>> reduced_axes(const Call& call, std::span<const int64_t> written, size_t rank) {
  if (written.empty()) return Temporary<bool>(rank, !is_set(call, "noop_with_empty_axes"));
  Temporary<bool> gone(rank, false);
  for (int64_t axis : written) {
    TRY(const size_t normal, normalize_axis(axis, rank));
    gone[normal] = true;
  }
  return gone;
}

Dims kept_dims(const Dims& dims, const Temporary<bool>& gone, bool keep) {
  Dims out;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!gone[i])
      out.push_back(dims[i]);
    else if (keep)
      out.push_back(1);
  }
  return out;
}

// Axes that are not known before the run: every axis may or may not go.
Result<Facts> infer_unknown_axes(const Call& call, InferContext& context, DType dtype, bool keep) {
  TRY(const Dims dims, call.dims(0));
  const Fact& axes = call.in(1);
  context.data_condition("reduce.axes", "axes must be in -{0}..{0}-1", dims.size());
  Dims out;
  if (keep) {
    for (Dim d : dims) out.push_back(d == Dim(1) ? d : context.fresh(axes, "reduced", min(d, 1), max(d, 1)));
    return Facts{Fact::tensor(dtype, out)};
  }
  const auto count = axes.dims && axes.dims->size() == 1 ? (*axes.dims)[0].constant() : std::nullopt;
  if (!count || *count < 1 || *count > static_cast<int64_t>(dims.size()))
    return Facts{Fact::tensor_of_unknown_rank(dtype)};
  for (size_t i = static_cast<size_t>(*count); i < dims.size(); ++i) out.push_back(context.fresh(axes, "reduced"));
  return Facts{Fact::tensor(dtype, out)};
}

// out_index[i]: the entry of the result to which entry i of the input goes.
Temporary<int64_t> targets(std::span<const int64_t> dims, const Temporary<bool>& gone, int64_t count) {
  Temporary<int64_t> strides(dims.size(), 0), index(dims.size(), 0), out(static_cast<size_t>(count));
  int64_t step = 1, at = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    if (gone[i]) continue;
    strides[i] = step;
    step *= dims[i];
  }
  for (auto& target : out) {
    target = at;
    for (size_t axis = dims.size(); axis-- > 0;) {
      at += strides[axis];
      if (++index[axis] < dims[axis]) break;
      at -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return out;
}

Ratio prepared(Reduce op, InferContext& context, const Ratio& r) {
  if (op == Reduce::l1) return {choose(context, Condition::ge(r.num, 0), r.num, -r.num), r.den};
  if (op == Reduce::sum_square) return {r.num * r.num, r.den * r.den};
  return r;
}

Ratio joined(Reduce op, InferContext& context, const Ratio& a, const Ratio& b) {
  if (op == Reduce::prod) return {a.num * b.num, a.den * b.den};
  const int64_t den = std::max(a.den, b.den);
  const Dim x = a.num * Dim(den / a.den), y = b.num * Dim(den / b.den);
  if (op == Reduce::max) return {context.simplify(max(x, y)), den};
  if (op == Reduce::min) return {context.simplify(min(x, y)), den};
  return {x + y, den};
}

bool carries_entries(Reduce op) {
  return op != Reduce::l2 && op != Reduce::log_sum && op != Reduce::log_sum_exp && op != Reduce::mean;
}

void reduce_entries(Reduce op, const Call& call, InferContext& context, const Temporary<bool>& gone, Fact& out) {
  const auto dims = call.in(0).numeric_dims();
  const auto sizes = out.numeric_dims();
  const int64_t count = sizes ? element_count(*sizes).value_or(-1) : -1;
  const auto entries = known_entries(call.in(0));
  if (!carries_entries(op) || !dims || count < 0 || !entries || entries->empty()) return;
  if (count > static_cast<int64_t>(Fact::kMaxElements)) return;
  std::vector<std::optional<Ratio>> all(static_cast<size_t>(count));
  const auto to = targets(*dims, gone, static_cast<int64_t>(entries->size()));
  for (size_t i = 0; i < entries->size(); ++i) {
    if (!exact((*entries)[i])) return;
    const Ratio next = settle_ratio(context, out.dtype, prepared(op, context, (*entries)[i]));
    auto& slot = all[static_cast<size_t>(to[i])];
    slot = slot ? settle_ratio(context, out.dtype, joined(op, context, *slot, next)) : next;
    if (slot->num.is_unknown()) return;
  }
  std::vector<Ratio> values;
  for (const auto& slot : all) values.push_back(slot.value_or(unknown_ratio()));
  set_entries(out, values);
}

void reduce_bounds(Reduce op, const Call& call, InferContext& context, const Temporary<bool>& gone, Fact& out) {
  const auto b = bounds_of(call, 0);
  if (out.elements || !b) return;
  if (op == Reduce::max || op == Reduce::min || op == Reduce::mean) {
    Dims reduced;
    for (size_t i = 0; i < gone.size(); ++i)
      if (gone[i]) reduced.push_back((*call.in(0).dims)[i]);
    if (context.proves(Condition::ge(product(reduced), 1))) set_bounds(context, out, b->lo, b->hi);
    return;
  }
  if (op != Reduce::sum) return;
  Dim n = 1;
  for (size_t i = 0; i < gone.size(); ++i)
    if (gone[i]) n = n * (*call.in(0).dims)[i];
  set_bounds(context, out, b->lo * n, b->hi * n);
}

constexpr unsigned mask_of(Reduce op) {
  return op == Reduce::max || op == Reduce::min ? kMaskNumber | kMaskBool : unsigned{kMaskNumber};
}

Status require_axes_rank(const Call& call) {
  if (!call.has(1) || !call.in(1).dims || call.in(1).dims->size() == 1) return {};
  return refuse("reduce.axes", "the axes of {} are a list, their shape is {}", call.type(), text(*call.in(1).dims));
}

template <Reduce op>
Result<Facts> infer_reduce(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, mask_of(op)));
  TRY_OK(require_tensor(call, 1, kMaskInt));
  TRY_OK(require_axes_rank(call));
  const DType dtype = call.in(0).dtype;
  const bool keep = call.i("keepdims") != 0;
  const auto written = written_axes(call);
  if (!written) return infer_unknown_axes(call, context, dtype, keep);
  const bool all = written->empty() && !is_set(call, "noop_with_empty_axes");
  if (all && !keep && !call.in(0).dims) return Facts{Fact::scalar(dtype)};
  TRY(const Dims dims, call.dims(0));
  TRY(const auto gone, reduced_axes(call, *written, dims.size()));
  Fact out = Fact::tensor(dtype, kept_dims(dims, gone, keep));
  reduce_entries(op, call, context, gone, out);
  reduce_bounds(op, call, context, gone, out);
  return Facts{out};
}

template <Reduce op, class C>
C start() {
  if constexpr (op == Reduce::prod) return C(1);
  constexpr bool is_real = std::is_floating_point_v<C>;
  if constexpr (op == Reduce::max || op == Reduce::log_sum_exp)
    return is_real ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::lowest();
  if constexpr (op == Reduce::min) return is_real ? std::numeric_limits<C>::infinity() : std::numeric_limits<C>::max();
  return C(0);
}

template <Reduce op, class C>
C step(C total, C x) {
  if constexpr (op == Reduce::max || op == Reduce::min) {
    if constexpr (std::is_floating_point_v<C>)
      if (std::isnan(x) || std::isnan(total)) return std::numeric_limits<C>::quiet_NaN();
    return op == Reduce::max ? std::max(total, x) : std::min(total, x);
  } else if constexpr (std::is_same_v<C, bool>) {
    return total || x;
  } else {
    if constexpr (op == Reduce::prod) return kernels::wrapping(total, x, std::multiplies<>());
    if constexpr (op == Reduce::l1) x = x < 0 ? kernels::wrapping<C>(0, x, std::minus<>()) : x;
    if constexpr (op == Reduce::l2 || op == Reduce::sum_square) x = kernels::wrapping(x, x, std::multiplies<>());
    return kernels::wrapping(total, x, std::plus<>());
  }
}

// The nearest the type has to a real result: integers are cut towards zero.
template <class C>
C from_real(double value) {
  if constexpr (std::is_integral_v<C>) return static_cast<C>(kernels::truncate_to_int64(value));
  return static_cast<C>(value);
}

template <class C>
C mean_of(C total, int64_t n) {
  if (n == 0) return total;
  if constexpr (std::is_floating_point_v<C>) return total / static_cast<C>(n);
  using Wide = std::conditional_t<std::is_signed_v<C>, int64_t, uint64_t>;
  return static_cast<C>(static_cast<Wide>(total) / static_cast<Wide>(n));
}

template <Reduce op, class C>
C finished(C total, int64_t n) {
  constexpr bool is_real = std::is_floating_point_v<C>;
  if constexpr (op == Reduce::mean) return mean_of(total, n);
  if constexpr (op == Reduce::l2) {
    if constexpr (is_real) return std::sqrt(total);
    return from_real<C>(std::sqrt(static_cast<double>(total)));
  }
  if constexpr (op == Reduce::log_sum) {
    if constexpr (is_real) return std::log(total);
    return from_real<C>(std::log(static_cast<double>(total)));
  }
  return total;
}

// log(sum(exp(x))) by way of the largest entry, so that nothing overflows. An infinite or NaN one is the answer.
template <class C>
void log_sum_exp(Temporary<C>& totals, const Temporary<C>& data, std::span<const int64_t> to) {
  Temporary<double> sums(totals.size(), 0);
  for (size_t i = 0; i < data.size(); ++i)
    totals[static_cast<size_t>(to[i])] = step<Reduce::max, C>(totals[static_cast<size_t>(to[i])], data[i]);
  for (size_t i = 0; i < data.size(); ++i) {
    const auto at = static_cast<size_t>(to[i]);
    const double top = static_cast<double>(totals[at]);
    if (std::isfinite(top)) sums[at] += std::exp(static_cast<double>(data[i]) - top);
  }
  for (size_t i = 0; i < totals.size(); ++i)
    if (sums[i] != 0) totals[i] = from_real<C>(static_cast<double>(totals[i]) + std::log(sums[i]));
}

// Floats add up in double and are rounded once.
template <Reduce op, class T>
void run(const Tensor& in, Tensor& out, std::span<const int64_t> to) {
  using C = std::conditional_t<kernels::kIsFloat<T>, double, T>;
  Temporary<C> totals(static_cast<size_t>(out.count()), start<op, C>());
  if constexpr (op == Reduce::log_sum_exp) {
    Temporary<C> data;
    for (int64_t i = 0; i < in.count(); ++i) data.push_back(static_cast<C>(kernels::widen(in.at<T>(i))));
    log_sum_exp(totals, data, to);
  } else {
    for (int64_t i = 0; i < in.count(); ++i) {
      const auto at = static_cast<size_t>(to[static_cast<size_t>(i)]);
      totals[at] = step<op, C>(totals[at], static_cast<C>(kernels::widen(in.at<T>(i))));
    }
  }
  const int64_t n = out.count() == 0 ? 0 : in.count() / out.count();
  for (int64_t i = 0; i < out.count(); ++i)
    out.as_mutable<T>()[static_cast<size_t>(i)] = static_cast<T>(finished<op, C>(totals[static_cast<size_t>(i)], n));
}

template <Reduce op>
Status reference_reduce(const Call& call, KernelArgs& args) {
  const Tensor& in = args.in(0);
  if (in.dtype() != args.out(0).dtype()) return unknown("dtype", "{} of {}", call.type(), name(in.dtype()));
  Temporary<int64_t> written;
  if (args.in(1)) {
    for (int64_t i = 0; i < args.in(1).count(); ++i) written.push_back(args.in(1).int_at(i));
  } else if (const auto* axes = call.given<std::vector<int64_t>>("axes")) {
    written = temporary(*axes);
  }
  TRY(const auto gone, reduced_axes(call, written, in.rank()));
  const auto to = targets(in.dims(), gone, in.count());
  constexpr unsigned types = mask_of(op) & kMaskBool ? kernels::kAll : kernels::kNumbers;
  return kernels::visit_type<types>(in.dtype(), [&]<class T>(T) -> Status {
    if constexpr (std::is_same_v<T, bool>) {
      Temporary<char> totals(static_cast<size_t>(args.out(0).count()), op == Reduce::min);
      for (int64_t i = 0; i < in.count(); ++i)
        if (in.int_at(i) == (op == Reduce::max))
          totals[static_cast<size_t>(to[static_cast<size_t>(i)])] = op == Reduce::max;
      for (int64_t i = 0; i < args.out(0).count(); ++i) args.out(0).set_int(i, totals[static_cast<size_t>(i)]);
    } else {
      run<op, T>(in, args.out(0), to);
    }
    return {};
  });
}

template <Reduce op>
constexpr Kernel kReduceKernels[] = {{"reference", reference_reduce<op>}};

template <Reduce op>
constexpr OpDef by_attribute(std::string_view op_name, std::string_view doc) {
  return {.name = op_name,
          .since = 1,
          .sig = {kReduceIn1, kReduceOut, doc, kAttributes1},
          .infer = infer_reduce<op>,
          .kernels = kReduceKernels<op>};
}
template <Reduce op>
constexpr OpDef by_input(std::string_view op_name, int since, std::string_view doc) {
  return {.name = op_name,
          .since = since,
          .sig = {kIn2, kReduceOut, doc, kAttributes2},
          .infer = infer_reduce<op>,
          .kernels = kReduceKernels<op>};
}

constexpr std::string_view kL1 = "sum of absolute values over axes";
constexpr std::string_view kL2 = "root of the sum of squares over axes";
constexpr std::string_view kLogSum = "logarithm of the sum over axes";
constexpr std::string_view kLogSumExp = "logarithm of the sum of exponentials over axes";
constexpr std::string_view kMaxDoc = "largest entry over axes";
constexpr std::string_view kMeanDoc = "mean over axes";
constexpr std::string_view kMinDoc = "smallest entry over axes";
constexpr std::string_view kProd = "product over axes";
constexpr std::string_view kSumDoc = "sum over axes";
constexpr std::string_view kSumSquare = "sum of squares over axes";

}  // namespace

constexpr OpDef kReduceL11 = by_attribute<Reduce::l1>("ReduceL1", kL1);
constexpr OpDef kReduceL118 = by_input<Reduce::l1>("ReduceL1", 18, kL1);
constexpr OpDef kReduceL21 = by_attribute<Reduce::l2>("ReduceL2", kL2);
constexpr OpDef kReduceL218 = by_input<Reduce::l2>("ReduceL2", 18, kL2);
constexpr OpDef kReduceLogSum1 = by_attribute<Reduce::log_sum>("ReduceLogSum", kLogSum);
constexpr OpDef kReduceLogSum18 = by_input<Reduce::log_sum>("ReduceLogSum", 18, kLogSum);
constexpr OpDef kReduceLogSumExp1 = by_attribute<Reduce::log_sum_exp>("ReduceLogSumExp", kLogSumExp);
constexpr OpDef kReduceLogSumExp18 = by_input<Reduce::log_sum_exp>("ReduceLogSumExp", 18, kLogSumExp);
constexpr OpDef kReduceMax1 = by_attribute<Reduce::max>("ReduceMax", kMaxDoc);
constexpr OpDef kReduceMax18 = by_input<Reduce::max>("ReduceMax", 18, kMaxDoc);
constexpr OpDef kReduceMean1 = by_attribute<Reduce::mean>("ReduceMean", kMeanDoc);
constexpr OpDef kReduceMean18 = by_input<Reduce::mean>("ReduceMean", 18, kMeanDoc);
constexpr OpDef kReduceMin1 = by_attribute<Reduce::min>("ReduceMin", kMinDoc);
constexpr OpDef kReduceMin18 = by_input<Reduce::min>("ReduceMin", 18, kMinDoc);
constexpr OpDef kReduceProd1 = by_attribute<Reduce::prod>("ReduceProd", kProd);
constexpr OpDef kReduceProd18 = by_input<Reduce::prod>("ReduceProd", 18, kProd);
constexpr OpDef kReduceSum1 = by_attribute<Reduce::sum>("ReduceSum", kSumDoc);
constexpr OpDef kReduceSum13 = by_input<Reduce::sum>("ReduceSum", 13, kSumDoc);
constexpr OpDef kReduceSumSquare1 = by_attribute<Reduce::sum_square>("ReduceSumSquare", kSumSquare);
constexpr OpDef kReduceSumSquare18 = by_input<Reduce::sum_square>("ReduceSumSquare", 18, kSumSquare);

}  // namespace anyshape::ops
