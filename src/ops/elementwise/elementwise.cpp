#include "ops/elementwise/elementwise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/elementwise.h"
#include "ops/given.h"
#include "tensor/real.h"

namespace anyshape::ops {
namespace {

unsigned mask_of_elementwise(DType dtype) {
  switch (dtype) {
    case DType::undefined:
      return kMaskAny;
    case DType::boolean:
      return kMaskBool;
    case DType::string:
      return kMaskString;
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
      return kMaskFloat;
    default:
      return is_integer(dtype) && bits(dtype) >= 8 ? kMaskInt : kMaskOther;
  }
}

int mantissa_bits(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 53;
    case DType::f32:
      return 24;
    case DType::f16:
      return 11;
    case DType::bf16:
      return 8;
    default:
      return 0;
  }
}

// value = num / 2^k with k <= 30 and num within 2^53.
std::optional<Ratio> dyadic(double value) {
  if (!std::isfinite(value) || std::fabs(value) > 0x1p53) return std::nullopt;
  int64_t den = 1;
  while (value != std::trunc(value)) {
    if (den >= int64_t{1} << 30 || std::fabs(value) > 0x1p52) return std::nullopt;
    value *= 2;
    den *= 2;
  }
  return Ratio{static_cast<int64_t>(value), den};
}

std::optional<std::vector<Ratio>> constant_entries(const Tensor& tensor) {
  if (tensor.count() > static_cast<int64_t>(Fact::kMaxElements)) return std::nullopt;
  std::vector<Ratio> out;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const auto value = real_at(tensor, i);
    const auto ratio = value ? dyadic(*value) : std::nullopt;
    if (!ratio) return std::nullopt;
    out.push_back(*ratio);
  }
  return out;
}

// Old versions: equal shapes, or the second input under a run of axes of the first.
Result<Dims> legacy_broadcast(const Call& call, InferContext& context, const Dims& a, const Dims& b) {
  if (!is_set(call, "broadcast")) {
    TRY_OK(require_same_dims(context, a, b, "without broadcast=1 the inputs have one shape"));
    return a;
  }
  TRY_OK(require_broadcastable_to(context, legacy_dims(call, a.size(), b), a, "the second input"));
  return a;
}

// Each axis is the same size as the one it lies under, or 1.
bool lies_under(const Dims& from, const Dims& to) {
  const size_t shift = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != to[shift + i] && from[i] != Dim(1)) return false;
  return true;
}

// The input whose shape is that of the result, where that takes no proof; null elsewhere.
const Dims* widest_shape(const Call& call) {
  const Dims* widest = nullptr;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    if (!call.in(i).dims) return nullptr;
    if (!widest || call.in(i).rank() > widest->size()) widest = &*call.in(i).dims;
  }
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && !lies_under(*call.in(i).dims, *widest)) return nullptr;
  return widest;
}

bool is_rank0(const Fact& fact) { return fact.dims && fact.dims->empty(); }

}  // namespace

Status require_tensor(const Call& call, size_t input, unsigned mask) {
  if (!call.has(input)) return {};
  const Fact& fact = call.in(input);
  if (fact.kind == Fact::Kind::unknown) return {};
  if (!fact.is_tensor())
    return refuse("kind", "{} takes a tensor as input {}, it is {}", call.type(), input, print(fact));
  if ((mask_of_elementwise(fact.dtype) & mask) == 0)
    return refuse("dtype", "{} does not take elements of type {} (input {})", call.type(), name(fact.dtype), input);
  return {};
}

Result<DType> common_dtype(const Call& call, size_t first, size_t last) {
  DType common = DType::undefined;
  for (size_t i = first; i <= last && i < call.inputs(); ++i) {
    if (!call.has(i) || call.in(i).dtype == DType::undefined) continue;
    const DType own = call.in(i).dtype;
    if (common != DType::undefined && own != common)
      return refuse("dtype.equal", "{} takes inputs of one element type, here {} and {}", call.type(), name(common),
                    name(own));
    common = own;
  }
  return common;
}

std::optional<std::vector<Ratio>> known_entries(const Fact& fact) {
  if (fact.elements) {
    std::vector<Ratio> out;
    out.reserve(fact.elements->size());
    for (Dim d : *fact.elements) out.push_back({d, fact.denominator});
    return out;
  }
  return fact.constant ? constant_entries(*fact.constant) : std::nullopt;
}

Ratio settle_ratio(InferContext& context, DType dtype, Ratio r) {
  if (r.num.is_unknown()) return r;
  if (!is_float(dtype)) return {r.den == 1 ? fit(context, dtype, r.num) : Dim::unknown(), 1};
  // A rounded quotient keeps its floor, ceiling and nearest integer as long as two bits of the mantissa are spare.
  const int width = mantissa_bits(dtype) - (exact(r) ? 0 : 2);
  if (width <= 0 || r.den > int64_t{1} << 30) return unknown_ratio();
  const int64_t limit = int64_t{1} << width;
  return context.fits(r.num, -limit, limit) ? r : unknown_ratio();
}

void set_entries(Fact& out, const std::vector<Ratio>& entries) {
  int64_t den = 1;
  bool numbers = true;
  for (const Ratio& r : entries) {
    if (r.num.is_unknown()) return;
    den = std::lcm(den, r.den);
    if (den > int64_t{1} << 30) return;
    numbers &= r.num.is_constant();
  }
  if (is_float(out.dtype) && numbers) return;
  const bool mixed = std::any_of(entries.begin(), entries.end(), [](const Ratio& r) { return !exact(r); });
  Dims values;
  for (const Ratio& r : entries) {
    if (mixed && r.den != den) return;
    values.push_back(r.num * Dim(den / r.den));
    if (values.back().is_unknown()) return;
  }
  out.elements = std::make_shared<const Dims>(std::move(values));
  out.denominator = den;
}

void map_ratios(const Call& call, InferContext& context, const RatioFn& fn, Fact& out) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && !call.in(i).elements && !call.in(i).constant) return;
  const auto dims = out.numeric_dims();
  const auto count = dims ? element_count(*dims) : std::nullopt;
  if (!count || *count > static_cast<int64_t>(Fact::kMaxElements)) return;
  std::vector<kernels::BroadcastIndex> index;
  std::vector<std::vector<Ratio>> known(call.inputs());
  size_t first_rank = 0;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) {
      index.emplace_back(std::vector<int64_t>(), *dims);
      continue;
    }
    auto sizes = call.in(i).numeric_dims();
    auto entries = known_entries(call.in(i));
    if (!sizes || !entries) return;
    if (i == 0) first_rank = sizes->size();
    if (i == 1 && is_set(call, "broadcast")) sizes = legacy_dims(call, first_rank, *sizes);
    if (!kernels::broadcasts(*sizes, *dims)) return;
    index.emplace_back(*sizes, *dims);
    known[i] = *std::move(entries);
  }
  std::vector<Ratio> values, entry(call.inputs(), unknown_ratio());
  for (int64_t n = 0; n < *count; ++n) {
    for (size_t i = 0; i < entry.size(); ++i) {
      if (call.has(i)) entry[i] = known[i][static_cast<size_t>(index[i].offset())];
      index[i].next();
    }
    values.push_back(settle_ratio(context, out.dtype, fn(entry)));
    if (values.back().num.is_unknown()) return;
  }
  set_entries(out, values);
}

void set_bounds(InferContext& context, Fact& out, Dim lo, Dim hi, bool attained) {
  if (out.elements || !is_integer(out.dtype)) return;
  lo = fit(context, out.dtype, context.simplify(lo));
  hi = fit(context, out.dtype, context.simplify(hi));
  if (!lo.is_unknown() && !hi.is_unknown()) out.bounds = Bounds{lo, hi, attained};
}

std::optional<Bounds> bounds_of(const Call& call, size_t input) {
  return call.has(input) ? call.in(input).value_bounds() : std::nullopt;
}

Dim choose(InferContext& context, const Condition& condition, Dim a, Dim b) {
  if (a == b) return a;
  if (condition.is_opaque()) return Dim::unknown();
  switch (context.assumptions().prove(condition)) {
    case Tri::yes:
      return a;
    case Tri::no:
      return b;
    case Tri::unknown:
      break;
  }
  return select(condition, a, b);
}

Dim truth(InferContext& context, const Condition& condition) { return choose(context, condition, 1, 0); }

Dim truncated_div(InferContext& context, Dim a, Dim b) {
  if (b.is_unknown() || b == Dim(0)) return Dim::unknown();
  if (b.is_constant() && *b.constant() < 0) return truncated_div(context, -a, -b);
  if (!b.is_constant() && !context.proves(Condition::ge(b, 1))) return Dim::unknown();
  return context.simplify(choose(context, Condition::ge(a, 0), floordiv(a, b), -floordiv(-a, b)));
}

Result<std::optional<Dims>> elementwise_dims(const Call& call, InferContext& context) {
  const Dims* widest = call.version() < 7 ? nullptr : widest_shape(call);
  if (widest) return std::optional<Dims>(*widest);
  size_t ranked = 0, scalars = 0, present = 0;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    ++present;
    ranked += call.in(i).dims.has_value();
    scalars += is_rank0(call.in(i));
  }
  if (ranked < present && scalars + 1 == present) return std::optional<Dims>();
  std::vector<Dims> shapes;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    TRY(Dims dims, call.dims(i));
    shapes.push_back(std::move(dims));
  }
  if (call.version() < 7 && shapes.size() == 2) {
    TRY(Dims dims, legacy_broadcast(call, context, shapes[0], shapes[1]));
    return std::optional(std::move(dims));
  }
  TRY(Dims dims, broadcast_dims(context, shapes));
  return std::optional(std::move(dims));
}

Fact typed(DType dtype, std::optional<Dims> dims) {
  return dims ? Fact::tensor(dtype, *std::move(dims)) : Fact::tensor_of_unknown_rank(dtype);
}

}  // namespace anyshape::ops
