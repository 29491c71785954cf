#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

// CumSum and CumProd.
namespace anyshape::ops {
namespace {

constexpr Port kCumulativeIn[] = {{"x"}, {"axis", Port::value | Port::settled}};
constexpr Port kCumulativeOut[] = {{"y"}};
constexpr AttributeDef kCumulativeAttributes[] = {
    {"exclusive", 0},
    {"reverse", 0},
};

struct Layout {
  int64_t outer = 1, size = 1, inner = 1;
  bool exclusive = false, reverse = false;

  // Calls visit(from, to, previous) along every line: the output entry `to` is that of `previous` (-1: none) joined
  // with the input entry `from` (-1: none).
  template <class Visit>
  void walk(Visit visit) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const auto at = [&](int64_t k) { return (o * size + (reverse ? size - 1 - k : k)) * inner + i; };
        for (int64_t k = 0; k < size; ++k) {
          const int64_t source = exclusive ? k - 1 : k;
          visit(source < 0 ? -1 : at(source), at(k), k == 0 ? -1 : at(k - 1));
        }
      }
  }
};

Layout layout_of(const Call& call, std::span<const int64_t> dims, size_t axis) {
  Layout l;
  for (size_t i = 0; i < axis; ++i) l.outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i) l.inner *= dims[i];
  l.size = dims[axis];
  l.exclusive = call.i("exclusive") != 0;
  l.reverse = call.i("reverse") != 0;
  return l;
}

template <bool product_of>
void cumulate_entries(const Call& call, InferContext& context, size_t axis, Fact& out) {
  const auto dims = out.numeric_dims();
  const auto entries = known_entries(call.in(0));
  if (!dims || !entries) return;
  std::vector<Ratio> values(entries->size(), unknown_ratio());
  bool known = true;
  layout_of(call, *dims, axis).walk([&](int64_t from, int64_t to, int64_t previous) {
    Ratio total = previous < 0 ? Ratio{product_of ? 1 : 0} : values[static_cast<size_t>(previous)];
    if (from >= 0) {
      const Ratio& next = (*entries)[static_cast<size_t>(from)];
      known &= exact(next) && !total.num.is_unknown();
      if (!known) return;
      const int64_t den = std::max(total.den, next.den);
      total = product_of ? Ratio{total.num * next.num, total.den * next.den}
                         : Ratio{total.num * Dim(den / total.den) + next.num * Dim(den / next.den), den};
      total = settle_ratio(context, out.dtype, total);
    }
    values[static_cast<size_t>(to)] = total;
  });
  if (known) set_entries(out, values);
}

Result<std::optional<size_t>> axis_of(const Call& call, InferContext& context, size_t rank) {
  const Fact& axis = call.in(1);
  if (axis.dims)
    TRY_OK(context.require(Condition::eq(product(*axis.dims), 1), "cumsum.axis",
                           "the axis of {} must be one number, its shape is {}", call.type(), text(*axis.dims)));
  const auto numbers = known_numbers(call, 1);
  if (!numbers || numbers->size() != 1) {
    context.data_condition("cumsum.axis", "the axis must be in -{0}..{0}-1", rank);
    return std::optional<size_t>();
  }
  TRY(const size_t normal, normalize_axis(numbers->front(), rank));
  return std::optional(normal);
}

template <bool product_of>
Result<Facts> infer_cumulative(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskNumber));
  TRY_OK(require_tensor(call, 1, kMaskInt));
  Fact out = typed(call.in(0).dtype, call.in(0).dims);
  if (!out.dims) return Facts{out};
  if (out.dims->empty()) return refuse("rank", "{} takes a tensor of rank 1 or more", call.type());
  TRY(const auto axis, axis_of(call, context, out.dims->size()));
  if (!axis) return Facts{out};
  cumulate_entries<product_of>(call, context, *axis, out);
  const auto b = bounds_of(call, 0);
  if (b && !product_of && !out.elements) {
    const Dim n = (*out.dims)[*axis];
    const bool first = call.i("exclusive") == 0;
    set_bounds(context, out, min(first ? b->lo : Dim(0), b->lo * n), max(first ? b->hi : Dim(0), b->hi * n));
  }
  return Facts{out};
}

template <bool product_of>
Status reference_cumulative(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  if (args.in(1).count() != 1 || x.dtype() != args.out(0).dtype())
    return unknown("dtype", "{} of {}", call.type(), name(x.dtype()));
  TRY(const size_t axis, normalize_axis(args.in(1).int_at(0), x.rank()));
  return kernels::visit_type<kernels::kNumbers>(x.dtype(), [&]<class T>(T) -> Status {
    using C = kernels::Compute<T>;
    // Totals stay in the type of the arithmetic: rounding to 16 bits happens once per output.
    Temporary<C> totals(static_cast<size_t>(x.count()));
    auto out = args.out(0).as_mutable<T>();
    layout_of(call, x.dims(), axis).walk([&](int64_t from, int64_t to, int64_t previous) {
      C total = previous < 0 ? C(product_of ? 1 : 0) : totals[static_cast<size_t>(previous)];
      if (from >= 0) {
        const C next = kernels::widen(x.at<T>(from));
        if constexpr (product_of)
          total = kernels::wrapping(total, next, std::multiplies<>());
        else
          total = kernels::wrapping(total, next, std::plus<>());
      }
      totals[static_cast<size_t>(to)] = total;
      out[static_cast<size_t>(to)] = kernels::narrow<T>(total);
    });
    return {};
  });
}

constexpr Kernel kSumKernels[] = {{"reference", reference_cumulative<false>}};
constexpr Kernel kProdKernels[] = {{"reference", reference_cumulative<true>}};

}  // namespace

constexpr OpDef kCumProd26{
    .name = "CumProd",
    .since = 26,
    .sig = {kCumulativeIn, kCumulativeOut, "running product along an axis", kCumulativeAttributes},
    .infer = infer_cumulative<true>,
    .kernels = kProdKernels};
constexpr OpDef kCumSum11{.name = "CumSum",
                          .since = 11,
                          .sig = {kCumulativeIn, kCumulativeOut, "running sum along an axis", kCumulativeAttributes},
                          .infer = infer_cumulative<false>,
                          .kernels = kSumKernels};

}  // namespace anyshape::ops
