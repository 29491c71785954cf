#include "ops/movement/movement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/dispatch.h"

namespace anyshape::ops {
namespace {

constexpr int64_t kMaxRank = 64;
constexpr int64_t kDyadic = int64_t{1} << 20;

bool contains(std::span<const size_t> list, size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool small(std::optional<int64_t> count) { return count && *count <= static_cast<int64_t>(Fact::kMaxElements); }

// The data inputs over one denominator, as fractions; nullopt when an entry of one is not known.
std::optional<std::vector<Rationals>> data_entries(const Call& call, std::span<const size_t> data) {
  std::vector<Rationals> all;
  int64_t denominator = 1;
  for (size_t i : data) {
    auto one = call.has(i) ? rationals_of(call.in(i)) : Rationals();
    const auto next = one ? common_multiple(denominator, one->denominator) : std::nullopt;
    if (!next) return std::nullopt;
    denominator = *next;
    all.push_back(*std::move(one));
  }
  for (Rationals& one : all) one = {over(one, denominator), denominator};
  return all;
}

// Inputs for a kernel that moves entry numbers; number 0 stands for the entry 0.
bool numbered_inputs(const Call& call, std::span<const size_t> data, std::vector<Tensor>& in, Rationals& entries) {
  const auto fractions = data_entries(call, data);
  if (!fractions) return false;
  entries.numerators = {0};
  entries.denominator = fractions->empty() ? 1 : fractions->front().denominator;
  for (size_t i = 0, k = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) {
      in.emplace_back();
      k += contains(data, i) ? 1 : 0;
      continue;
    }
    if (!contains(data, i)) {
      in.push_back(call.in(i).as_tensor());
      if (!in.back()) return false;
      continue;
    }
    const Dims& values = (*fractions)[k++].numerators;
    const auto dims = call.in(i).numeric_dims();
    const auto count = dims ? element_count(*dims) : std::nullopt;
    if (!count || *count != static_cast<int64_t>(values.size())) return false;
    std::vector<int64_t> numbers(values.size());
    std::iota(numbers.begin(), numbers.end(), static_cast<int64_t>(entries.numerators.size()));
    entries.numerators.insert(entries.numerators.end(), values.begin(), values.end());
    in.push_back(Tensor::of_ints(*dims, numbers));
  }
  return true;
}

void carry_entries(const Call& call, const Kernel& reference, std::span<const size_t> data, Facts& out) {
  std::vector<Tensor> in;
  Rationals entries;
  for (const Fact& fact : out) {
    const auto dims = fact.numeric_dims();
    if (!dims || !small(element_count(*dims))) return;
  }
  if (!numbered_inputs(call, data, in, entries)) return;
  const std::vector<Datum> inputs(in.begin(), in.end());
  std::vector<Datum> outputs;
  for (const Fact& fact : out) {
    auto tensor = Tensor::allocate(DType::i64, *fact.numeric_dims());
    if (!tensor) return;
    outputs.emplace_back(*std::move(tensor));
  }
  KernelArgs args{inputs, outputs};
  if (!reference.run(call, args)) return;
  for (size_t i = 0; i < out.size(); ++i) {
    Dims values;
    for (int64_t n = 0; n < args.out(i).count(); ++n)
      values.push_back(entries.numerators[static_cast<size_t>(args.out(i).at<int64_t>(n))]);
    out[i].elements = std::make_shared<const Dims>(std::move(values));
    out[i].denominator = entries.denominator;
  }
}

// value == numerator / 2^k with k <= 20, or nullopt.
std::optional<std::pair<int64_t, int64_t>> dyadic(double value) {
  for (int64_t denominator = 1; denominator <= kDyadic; denominator *= 2) {
    const double scaled = value * static_cast<double>(denominator);
    if (!(std::fabs(scaled) < 9.0e15)) return std::nullopt;
    if (scaled == std::floor(scaled)) return std::pair(static_cast<int64_t>(scaled), denominator);
  }
  return std::nullopt;
}

std::optional<Rationals> rationals_of_floats(const Tensor& tensor) {
  if (!small(tensor.count())) return std::nullopt;
  std::vector<std::pair<int64_t, int64_t>> parts;
  int64_t denominator = 1;
  const auto status = kernels::visit_type<kernels::kFloats>(tensor.dtype(), [&]<class T>(T) -> Status {
    for (int64_t i = 0; i < tensor.count(); ++i) {
      const auto part = dyadic(static_cast<double>(kernels::widen(tensor.at<T>(i))));
      if (!part) return unknown("entry", "no exact fraction");
      parts.push_back(*part);
      denominator = std::max(denominator, part->second);
    }
    return {};
  });
  if (!status) return std::nullopt;
  Rationals out{{}, denominator};
  for (const auto& [numerator, own] : parts) out.numerators.push_back(Dim(numerator) * Dim(denominator / own));
  return out;
}

}  // namespace

Temporary<int64_t> row_strides(std::span<const int64_t> dims) {
  Temporary<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  return strides;
}

void carry_all(const Call& call, const Kernel& reference, std::span<const size_t> data, Facts& out) {
  carry_entries(call, reference, data, out);
  if (out.empty() || out.front().elements) return;
  std::optional<Bounds> all;
  for (size_t i : data) {
    const auto bounds = call.has(i) ? call.in(i).value_bounds() : Bounds{0, 0};
    if (!bounds) return;
    all = all ? Bounds{min(all->lo, bounds->lo), max(all->hi, bounds->hi)} : Bounds{bounds->lo, bounds->hi};
  }
  for (Fact& fact : out) fact.bounds = all;
}

void keep_attained(const Fact& in, Fact& out) {
  const auto bounds = in.value_bounds();
  if (out.bounds && bounds) out.bounds->attained = bounds->attained;
}

Fact with_dims(const Fact& in, Dims dims) {
  Fact out = in;
  out.dims = std::move(dims);
  if (!in.constant) return out;
  const auto sizes = out.numeric_dims();
  const auto count = sizes ? element_count(*sizes) : std::nullopt;
  const bool same = count && *count == in.constant->count();
  out.constant = same ? std::make_shared<const Tensor>(in.constant->reshaped(*sizes)) : nullptr;
  if (!same && !out.elements) out.bounds = in.value_bounds();
  return out;
}

std::optional<Rationals> rationals_of(const Fact& fact) {
  if (fact.elements) return Rationals{*fact.elements, fact.denominator};
  if (fact.constant && is_float(fact.constant->dtype())) return rationals_of_floats(*fact.constant);
  return std::nullopt;
}

std::optional<int64_t> common_multiple(int64_t a, int64_t b) {
  if (a < 1 || b < 1) return std::nullopt;
  int64_t out = 0;
  if (__builtin_mul_overflow(a / std::gcd(a, b), b, &out)) return std::nullopt;
  return out;
}

Dims over(const Rationals& values, int64_t denominator) {
  Dims out;
  out.reserve(values.numerators.size());
  for (Dim d : values.numerators) out.push_back(d * Dim(denominator / values.denominator));
  return out;
}

Fact source_of(const Call& call, std::initializer_list<size_t> inputs) {
  Fact source;
  source.from_shapes =
      std::all_of(inputs.begin(), inputs.end(), [&](size_t i) { return !call.has(i) || call.in(i).from_shapes; });
  return source;
}

Temporary<int64_t> ints_of(const Tensor& tensor) {
  Temporary<int64_t> out;
  const bool integers = is_integer(tensor.dtype());
  for (int64_t i = 0; integers && i < tensor.count(); ++i) out.push_back(tensor.int_at(i));
  return out;
}

Result<std::optional<std::vector<int64_t>>> axes_of(const Call& call, std::optional<size_t> input) {
  using Axes = std::optional<std::vector<int64_t>>;
  if (!input) {
    const auto* axes = call.ints("axes");
    return axes ? Axes(*axes) : Axes();
  }
  if (!call.has(*input)) return Axes();
  auto numbers = known_numbers(call, *input);
  if (!numbers) return unknown("infer.axes", "the axes are not known before the model runs");
  return Axes(*std::move(numbers));
}

std::vector<ViewRule> same_elements_view(const Call&, const Facts&) {
  ViewRule rule;
  rule.reshape = true;
  return {rule};
}

ViewRule whole_window(size_t rank) {
  ViewRule rule;
  rule.axis.resize(rank);
  std::iota(rule.axis.begin(), rule.axis.end(), size_t{0});
  rule.start.assign(rank, 0);
  rule.step.assign(rank, 1);
  return rule;
}

std::optional<Temporary<int64_t>> axes_in(const Call& call, const KernelArgs& args, std::optional<size_t> input) {
  if (input) return args.in(*input) ? std::optional(ints_of(args.in(*input))) : std::nullopt;
  const auto* axes = call.ints("axes");
  return axes ? std::optional(temporary(*axes)) : std::nullopt;
}

Status require_integers(const Call& call, size_t input) {
  if (!call.has(input)) return {};
  const DType dtype = call.in(input).dtype;
  if (dtype == DType::undefined || is_integer(dtype)) return {};
  return refuse("dtype", "{} takes integers as input {}, it is {}", call.type(), input, name(dtype));
}

Status require_same_dtype(const Call& call, std::initializer_list<size_t> inputs) {
  DType first = DType::undefined;
  for (size_t i : inputs) {
    if (!call.has(i) || call.in(i).dtype == DType::undefined) continue;
    if (first == DType::undefined) first = call.in(i).dtype;
    if (call.in(i).dtype != first)
      return refuse("dtype", "{} takes one element type, inputs are {} and {}", call.type(), name(first),
                    name(call.in(i).dtype));
  }
  return {};
}

Status require_index(const Call& call, InferContext& context, size_t input, Dim size, std::string_view code) {
  TRY_OK(require_integers(call, input));
  const Fact& indices = call.in(input);
  const auto bounds = indices.value_bounds();
  // An empty index tensor reads nothing, whatever its bounds say.
  const Condition nothing = indices.dims ? Condition::eq(product(*indices.dims), 0) : Condition::never();
  if (bounds && bounds->attained) {
    TRY_OK(context.require(nothing || Condition::lt(bounds->hi, size), code,
                           "indices, which reach {}, must be below the {} entries of the axis", print(bounds->hi),
                           print(size)));
    return context.require(nothing || Condition::ge(bounds->lo, -size), code,
                           "indices, which go down to {}, must be at least minus the {} entries of the axis",
                           print(bounds->lo), print(size));
  }
  // Whatever the entries are, some position must exist that they may name.
  Condition possible = Condition::ge(size, 1);
  if (bounds) possible = possible && Condition::lt(bounds->lo, size) && Condition::ge(bounds->hi, -size);
  if (indices.dims)
    TRY_OK(context.require(nothing || possible, code, "an axis of {} entries must have one that an index can mean",
                           print(size)));
  const Condition inside =
      bounds ? nothing || (Condition::lt(bounds->hi, size) && Condition::ge(bounds->lo, -size)) : nothing;
  if (context.proves(inside)) return {};
  if (indices.from_shapes)
    return context.require(Condition::opaque(), code, "indices must be in {}..{}", print(-size), print(size - 1));
  context.data_condition(code, "indices must be in {}..{}", print(-size), print(size - 1));
  return {};
}

namespace {

// Column k of a constant list of index tuples against sizes[k].
Status require_columns(InferContext& context, const Tensor& indices, const Dims& sizes, std::string_view code) {
  const auto width = static_cast<int64_t>(sizes.size());
  for (int64_t k = 0; k < width && k < indices.count(); ++k) {
    int64_t lo = indices.int_at(k), hi = lo;
    for (int64_t i = k; i < indices.count(); i += width) {
      lo = std::min(lo, indices.int_at(i));
      hi = std::max(hi, indices.int_at(i));
    }
    const Dim size = sizes[static_cast<size_t>(k)];
    TRY_OK(context.require(Condition::lt(hi, size) && Condition::ge(lo, -size), code,
                           "indices from {} to {} must lie within {} entries", lo, hi, print(size)));
  }
  return {};
}

}  // namespace

Status require_tuples(const Call& call, InferContext& context, size_t input, const Dims& sizes, std::string_view code) {
  TRY_OK(require_integers(call, input));
  const Fact& indices = call.in(input);
  if (indices.elements && indices.denominator == 1) {
    for (size_t i = 0; i < indices.elements->size(); ++i) {
      const Dim index = (*indices.elements)[i], size = sizes[i % sizes.size()];
      TRY_OK(context.require(Condition::lt(index, size) && Condition::ge(index, -size), code,
                             "index {} must lie within {} entries", print(index), print(size)));
    }
    return {};
  }
  if (indices.constant) return require_columns(context, *indices.constant, sizes, code);
  if (sizes.size() == 1) return require_index(call, context, input, sizes[0], code);
  for (Dim size : sizes)
    if (indices.dims)
      TRY_OK(context.require(Condition::eq(product(*indices.dims), 0) || Condition::ge(size, 1), code,
                             "an axis of {} entries must have one that an index can mean", print(size)));
  const auto bounds = indices.value_bounds();
  Condition inside = bounds ? Condition::always() : Condition::never();
  for (Dim size : sizes)
    if (bounds) inside = inside && Condition::lt(bounds->hi, size) && Condition::ge(bounds->lo, -size);
  if (sizes.empty() || context.proves(inside)) return {};
  if (indices.from_shapes)
    return context.require(Condition::opaque(), code, "index tuples must be inside {}", text(sizes));
  context.data_condition(code, "index tuples must be inside {}", text(sizes));
  return {};
}

Result<int64_t> checked_index(int64_t raw, int64_t size, std::string_view code) {
  const int64_t index = raw < 0 ? raw + size : raw;
  if (index < 0 || index >= size) return refuse(code, "index {} must lie within {} entries", raw, size);
  return index;
}

Dim least_of(InferContext& context, Dims candidates) {
  Dims kept;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Dim c = candidates[i];
    const auto beaten_by = [&](Dim other) { return other == c || context.proves(Condition::le(other, c)); };
    if (std::any_of(kept.begin(), kept.end(), beaten_by)) continue;
    std::erase_if(kept, [&](Dim other) { return context.proves(Condition::le(c, other)); });
    kept.push_back(c);
  }
  Dim out = kept.front();
  for (size_t i = 1; i < kept.size(); ++i) out = min(out, kept[i]);
  return out;
}

Dim at_least_zero(InferContext& context, Dim value) {
  return context.proves(Condition::ge(value, 0)) ? value : max(Dim(0), value);
}

Result<Dims> sizes_from(const Call& call, InferContext& context, size_t input, std::string_view stem) {
  const Fact& fact = call.in(input);
  if (fact.elements && fact.denominator == 1) return *fact.elements;
  TRY(const Dims dims, call.dims(input));
  if (dims.size() != 1) return refuse("rank", "{} takes a list of sizes, it is {}", call.type(), text(dims));
  const auto rank = dims[0].constant();
  if (!rank || *rank < 0 || *rank > kMaxRank)
    return unknown("infer.rank", "the number of axes is not known before the model runs");
  Dims out;
  for (int64_t i = 0; i < *rank; ++i) out.push_back(context.fresh(fact, stem));
  return out;
}

}  // namespace anyshape::ops
