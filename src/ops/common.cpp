#include "ops/common.h"

#include <algorithm>
#include <limits>

#include "ops/shown.h"

namespace anyshape::ops {
namespace {

// Row-major strides for walking `dims` broadcast into a shape of `rank` axes; a size-1 axis has stride 0.
std::vector<int64_t> broadcast_strides(const std::vector<int64_t>& dims, size_t rank) {
  std::vector<int64_t> strides(rank, 0);
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[rank - dims.size() + i] = dims[i] == 1 ? 0 : step;
    step *= dims[i];
  }
  return strides;
}

std::optional<int64_t> common_denominator(const Call& call, std::span<const size_t> data) {
  for (size_t i : data)
    if (call.in(i).denominator != call.in(data[0]).denominator) return std::nullopt;
  return call.in(data[0]).denominator;
}

bool is_data(std::span<const size_t> data, size_t input) {
  return std::find(data.begin(), data.end(), input) != data.end();
}

// The inputs of a kernel run on entry numbers: data inputs hold consecutive numbers, `entries` what they stand for.
bool number_entries(const Call& call, std::span<const size_t> data, std::vector<Tensor>& in, Dims& entries) {
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) {
      in.emplace_back();
      continue;
    }
    const Fact& fact = call.in(i);
    if (!is_data(data, i)) {
      in.push_back(fact.as_tensor());
      if (!in.back()) return false;
      continue;
    }
    const auto dims = fact.numeric_dims();
    if (!fact.elements || !dims) return false;
    std::vector<int64_t> numbers(fact.elements->size());
    for (size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<int64_t>(entries.size() + k);
    entries.insert(entries.end(), fact.elements->begin(), fact.elements->end());
    in.push_back(Tensor::of_ints(*dims, numbers));
  }
  return true;
}

void carry_entries(const Call& call, const Kernel& reference, std::span<const size_t> data, Fact& out) {
  const auto dims = out.numeric_dims();
  const auto count = dims ? element_count(*dims) : std::nullopt;
  if (!count || *count > static_cast<int64_t>(Fact::kMaxElements)) return;
  const auto denominator = common_denominator(call, data);
  std::vector<Tensor> in;
  Dims entries;
  if (!denominator || !number_entries(call, data, in, entries)) return;
  auto numbers = Tensor::allocate(DType::i64, *dims);
  if (!numbers) return;
  const std::vector<Datum> inputs(in.begin(), in.end());
  std::vector<Datum> outputs(std::max<size_t>(1, call.outputs()));
  outputs[0] = *std::move(numbers);
  KernelArgs args{inputs, outputs};
  if (!reference.run(call, args)) return;
  Dims values;
  for (int64_t i = 0; i < *count; ++i) values.push_back(entries[static_cast<size_t>(args.out(0).at<int64_t>(i))]);
  out.elements = std::make_shared<const Dims>(std::move(values));
  out.denominator = *denominator;
}

Status require_pair(InferContext& context, Dim& out, Dim next, const Dims& a, const Dims& b) {
  if (out == next || next == Dim(1)) return {};
  if (out == Dim(1)) {
    out = next;
    return {};
  }
  const auto legal = Condition::eq(out, next) || Condition::eq(out, 1) || Condition::eq(next, 1);
  TRY_OK(context.require(legal, "broadcast",
                         "the shapes {} and {} must broadcast: {} and {} must be equal, or one of them 1", shown(a),
                         shown(b), shown(out), shown(next)));
  out = context.simplify(broadcast(out, next));
  return {};
}

}  // namespace

Result<size_t> normalize_axis(int64_t axis, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n) return refuse("axis.range", "axis {} is out of range for rank {}", axis, rank);
  return static_cast<size_t>(axis < 0 ? axis + n : axis);
}

Result<Temporary<size_t>> normalize_axes(std::span<const int64_t> axes, size_t rank) {
  Temporary<size_t> out;
  for (int64_t axis : axes) {
    TRY(const size_t normal, normalize_axis(axis, rank));
    if (std::find(out.begin(), out.end(), normal) != out.end())
      return refuse("axis.repeated", "axis {} is named twice", axis);
    out.push_back(normal);
  }
  return out;
}

Result<Dims> broadcast_dims(InferContext& context, std::span<const Dims> shapes) {
  Dims out;
  for (const Dims& shape : shapes) {
    const Dims before = out;
    if (shape.size() > out.size()) out.insert(out.begin(), shape.size() - out.size(), Dim(1));
    const size_t shift = out.size() - shape.size();
    for (size_t i = 0; i < shape.size(); ++i) TRY_OK(require_pair(context, out[shift + i], shape[i], before, shape));
  }
  return out;
}

Status require_broadcastable_to(InferContext& context, const Dims& from, const Dims& to, std::string_view what) {
  if (from.size() > to.size())
    return refuse("broadcast", "{} {} has more axes than {}, to which it must broadcast", what, shown(from), shown(to));
  const size_t shift = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    const auto legal = Condition::eq(from[i], to[shift + i]) || Condition::eq(from[i], 1);
    TRY_OK(context.require(legal, "broadcast", "{} {} must broadcast to {}: axis {} is {}, it must be 1 or {}", what,
                           shown(from), shown(to), i, shown(from[i]), shown(to[shift + i])));
  }
  return {};
}

Status require_same_dims(InferContext& context, const Dims& a, const Dims& b, std::string_view what) {
  if (a.size() != b.size())
    return refuse("shape.equal", "{}: the ranks of {} and {} must be equal", what, shown(a), shown(b));
  for (size_t i = 0; i < a.size(); ++i)
    TRY_OK(context.require(Condition::eq(a[i], b[i]), "shape.equal",
                           "{0}: axis {3} of {1} and {2} must be equal: {4} and {5}", what, shown(a), shown(b), i,
                           shown(a[i]), shown(b[i])));
  return {};
}

Status require_rank(const Call& call, size_t input, size_t rank) {
  TRY(const Dims dims, call.dims(input));
  if (dims.size() != rank)
    return refuse("rank", "{} takes input {} of rank {}, it is {}", call.type(), input, rank, shown(dims));
  return {};
}

Status require_min_rank(const Call& call, size_t input, size_t rank) {
  TRY(const Dims dims, call.dims(input));
  if (dims.size() < rank)
    return refuse("rank", "{} takes input {} of rank {} or more, it is {}", call.type(), input, rank, shown(dims));
  return {};
}

void carry_values(const Call& call, const Kernel& reference, std::initializer_list<size_t> data, Fact& out) {
  carry_values(call, reference, std::span<const size_t>(data.begin(), data.size()), out);
}

void carry_values(const Call& call, const Kernel& reference, std::span<const size_t> data, Fact& out) {
  carry_entries(call, reference, data, out);
  if (out.elements) return;
  std::optional<Bounds> all;
  for (size_t i : data) {
    const auto bounds = call.in(i).value_bounds();
    if (!bounds) return;
    all = all ? Bounds{min(all->lo, bounds->lo), max(all->hi, bounds->hi)} : Bounds{bounds->lo, bounds->hi};
  }
  out.bounds = all;
}

void map_entries(const Call& call, const EntryFn& fn, Fact& out) {
  const auto dims = out.numeric_dims();
  const auto count = dims ? element_count(*dims) : std::nullopt;
  if (!count || *count > static_cast<int64_t>(Fact::kMaxElements)) return;
  std::vector<std::vector<int64_t>> strides;
  for (size_t i = 0; i < call.inputs(); ++i) {
    const auto in_dims = call.has(i) ? call.in(i).numeric_dims() : std::nullopt;
    if (!in_dims || !call.in(i).elements || call.in(i).denominator != 1) return;
    strides.push_back(broadcast_strides(*in_dims, dims->size()));
  }
  Dims values, entry(call.inputs());
  std::vector<int64_t> index(dims->size(), 0);
  for (int64_t n = 0; n < *count; ++n) {
    for (size_t i = 0; i < entry.size(); ++i) {
      int64_t offset = 0;
      for (size_t axis = 0; axis < index.size(); ++axis) offset += index[axis] * strides[i][axis];
      entry[i] = (*call.in(i).elements)[static_cast<size_t>(offset)];
    }
    values.push_back(fn(entry));
    if (values.back().is_unknown()) return;
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < (*dims)[axis]) break;
      index[axis] = 0;
    }
  }
  out.elements = std::make_shared<const Dims>(std::move(values));
  out.denominator = 1;
}

std::optional<std::vector<int64_t>> known_numbers(const Call& call, size_t input) {
  if (!call.has(input)) return std::nullopt;
  return call.in(input).numbers();
}

std::pair<int64_t, int64_t> integer_limits(DType dtype) {
  if (dtype == DType::boolean) return {0, 1};
  const int width = bits(dtype);
  if (width >= 64) {
    const int64_t top = std::numeric_limits<int64_t>::max();
    return {is_signed_integer(dtype) ? std::numeric_limits<int64_t>::min() : 0, top};
  }
  if (is_signed_integer(dtype)) return {-(int64_t{1} << (width - 1)), (int64_t{1} << (width - 1)) - 1};
  return {0, (int64_t{1} << width) - 1};
}

Dim fit(InferContext& context, DType dtype, Dim value) {
  if (value.is_unknown() || dtype == DType::i64) return value;
  const auto [lo, hi] = integer_limits(dtype);
  return context.fits(value, lo, hi) ? value : Dim::unknown();
}

}  // namespace anyshape::ops
