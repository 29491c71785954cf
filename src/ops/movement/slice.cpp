#include "ops/movement/slice.h"

#include <algorithm>
#include <limits>

#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kSliceIn1[] = {{"data"}};
constexpr Port kIn10[] = {{"data"},
                          {"starts", Port::value | Port::settled},
                          {"ends", Port::value | Port::settled},
                          {"axes", Port::optional | Port::value},
                          {"steps", Port::optional | Port::value}};
constexpr Port kSliceOut[] = {{"output"}};
constexpr AttributeDef kSliceAttributes[] = {
    {"axes", AttributeDef::integers},
    {"ends", AttributeDef::integers, AttributeDef::required},
    {"starts", AttributeDef::integers, AttributeDef::required},
};
constexpr size_t kSliceData[] = {0};

// INT_MAX of either width means "to the end in the direction of the step".
bool means_all(int64_t end) {
  return end == std::numeric_limits<int32_t>::max() || end == std::numeric_limits<int64_t>::max();
}

// A position counted from the front, not clamped yet; far ones are pulled to the nearest place with the same effect.
Dim from_front(InferContext& context, Dim raw, Dim size, Dim before, Dim after) {
  if (const auto c = raw.constant()) {
    if (*c >= kFar) return after;
    if (*c <= -kFar) return before;
    return *c < 0 ? size + raw : raw;
  }
  if (context.proves(Condition::ge(raw, 0))) return raw;
  if (context.proves(Condition::lt(raw, 0))) return size + raw;
  return select(Condition::ge(raw, 0), raw, size + raw);
}

Dim forward_size(InferContext& context, Dim size, Dim start, Dim end, Dim step) {
  const Dim s = from_front(context, start, size, 0, size);
  const bool all = end.is_constant() && means_all(*end.constant());
  const Dim e = all ? size : from_front(context, end, size, 0, size);
  // max(0, min(e, size) - max(s, 0)), the minimum and the maximum multiplied out.
  Dims candidates{size};
  if (e != size) candidates.push_back(e);
  if (s != Dim(0)) candidates.push_back(size - s);
  if (s != Dim(0) && e != size) candidates.push_back(e - s);
  return at_least_zero(context, ceildiv(least_of(context, std::move(candidates)), step));
}

Dim backward_size(InferContext& context, Dim size, Dim start, Dim end, int64_t step) {
  const Dim last = size - 1;
  const Dim s = from_front(context, start, size, 0, last);
  const bool all = end.is_constant() && means_all(*end.constant());
  const Dim e = all ? Dim(-1) : from_front(context, end, size, -1, size);
  // The start is clamped to 0..size - 1; on an empty axis that leaves -1, and nothing.
  const Dim first = s == last ? last : min(context.proves(Condition::ge(s, 0)) ? s : max(s, Dim(0)), last);
  const Dim stop = e == Dim(-1) || context.proves(Condition::ge(e, -1)) ? e : max(e, Dim(-1));
  return at_least_zero(context, context.simplify(ceildiv(first - stop, -std::max(step, -kFar))));
}

// The four lists, from inputs or (before version 10) attributes. Missing starts or ends: not known before running.
struct Lists {
  std::optional<Dims> starts, ends, steps;
  std::optional<std::vector<int64_t>> axes;
  bool axes_known = true, steps_known = true;
};

std::optional<Dims> entries(const Call& call, size_t input) {
  if (!call.has(input) || !call.in(input).elements || call.in(input).denominator != 1) return std::nullopt;
  return *call.in(input).elements;
}

Result<Lists> lists_of(const Call& call) {
  Lists out;
  if (call.version() < 10) {
    const auto *starts = call.ints("starts"), *ends = call.ints("ends"), *axes = call.ints("axes");
    if (!starts || !ends) return refuse("slice.lists", "the attributes starts and ends are missing");
    out.starts = Dims(starts->begin(), starts->end());
    out.ends = Dims(ends->begin(), ends->end());
    if (axes) out.axes = *axes;
    return out;
  }
  for (size_t i = 1; i <= 4; ++i) {
    if (!call.has(i)) continue;
    TRY_OK(require_integers(call, i));
    if (call.in(i).dims && call.in(i).rank() != 1)
      return refuse("slice.lists", "starts, ends, axes and steps must be lists, input {} is {}", i, print(call.in(i)));
  }
  out.starts = entries(call, 1);
  out.ends = entries(call, 2);
  out.axes = known_numbers(call, 3);
  out.axes_known = !call.has(3) || out.axes;
  out.steps = entries(call, 4);
  out.steps_known = !call.has(4) || out.steps;
  return out;
}

// How many axes are sliced, if any list tells.
std::optional<size_t> length_of_slice(const Call& call, const Lists& lists) {
  if (lists.starts) return lists.starts->size();
  if (lists.ends) return lists.ends->size();
  if (lists.axes) return lists.axes->size();
  for (size_t i = 1; i < std::min<size_t>(call.inputs(), 3); ++i)
    if (const auto dims = call.has(i) ? call.in(i).numeric_dims() : std::nullopt; dims && dims->size() == 1)
      return static_cast<size_t>(dims->front());
  return std::nullopt;
}

Status require_lengths(const Lists& lists, size_t length) {
  const bool ok = (!lists.starts || lists.starts->size() == length) && (!lists.ends || lists.ends->size() == length) &&
                  (!lists.axes || lists.axes->size() == length) && (!lists.steps || lists.steps->size() == length);
  if (!ok) return refuse("slice.lists", "starts, ends, axes and steps must have one length");
  return {};
}

Result<Dim> sliced(const Call& call, InferContext& context, Dim size, const Lists& lists, size_t k) {
  const Dim step = lists.steps ? (*lists.steps)[k] : Dim(1);
  TRY_OK(context.require(Condition::ne(step, 0), "slice.step", "the step must not be 0"));
  const auto unknown_size = [&] {
    return size == Dim(0) ? size : context.fresh(source_of(call, {1, 2, 3, 4}), "slice", 0, size);
  };
  if (!lists.steps_known || !lists.starts || !lists.ends) return unknown_size();
  const Dim start = (*lists.starts)[k], end = (*lists.ends)[k];
  if (const auto number = step.constant()) return slice_size(context, size, start, end, *number);
  if (context.proves(Condition::ge(step, 1))) return context.simplify(forward_size(context, size, start, end, step));
  return unknown_size();
}

Status reference_slice(const Call& call, KernelArgs& args);
constexpr Kernel kSliceKernels[] = {{"reference", reference_slice}};

Result<Facts> infer_slice(const Call& call, InferContext& context) {
  TRY(Dims dims, call.dims(0));
  TRY(const Lists lists, lists_of(call));
  if (dims.empty()) return refuse("slice.rank", "a scalar cannot be sliced");
  const auto length = length_of_slice(call, lists);
  if (!lists.axes_known || !length) {
    for (Dim& d : dims) d = context.fresh(source_of(call, {1, 2, 3, 4}), "slice", 0, d);
  } else {
    TRY_OK(require_lengths(lists, *length));
    std::vector<int64_t> axes(*length);
    for (size_t i = 0; i < *length; ++i) axes[i] = lists.axes ? (*lists.axes)[i] : static_cast<int64_t>(i);
    TRY(const auto normal, normalize_axes(axes, dims.size()));
    for (size_t k = 0; k < normal.size(); ++k) {
      TRY(dims[normal[k]], sliced(call, context, dims[normal[k]], lists, k));
    }
  }
  Facts out{Fact::tensor(call.in(0).dtype, std::move(dims))};
  carry_all(call, kSliceKernels[0], kSliceData, out);
  return out;
}

Temporary<int64_t> list_in(const Call& call, const KernelArgs& args, size_t input, std::string_view attribute) {
  if (call.version() >= 10) return args.in(input) ? ints_of(args.in(input)) : Temporary<int64_t>();
  const auto* values = call.given<std::vector<int64_t>>(attribute);
  return values ? temporary(*values) : Temporary<int64_t>();
}

Status reference_slice(const Call& call, KernelArgs& args) {
  const Tensor& data = args.in(0);
  const auto starts = list_in(call, args, 1, "starts"), ends = list_in(call, args, 2, "ends");
  const auto axes = list_in(call, args, 3, "axes"), steps = list_in(call, args, 4, "steps");
  Temporary<SliceRange> ranges;
  for (int64_t d : data.dims()) ranges.push_back({0, 1, d});
  for (size_t k = 0; k < std::min(starts.size(), ends.size()); ++k) {
    TRY(const size_t axis, normalize_axis(axes.empty() ? static_cast<int64_t>(k) : axes[k], data.rank()));
    const int64_t step = steps.empty() ? 1 : steps[k];
    if (step == 0) return refuse("slice.step", "the step must not be 0");
    ranges[axis] = slice_range(data.dims()[axis], starts[k], ends[k], step);
  }
  const auto strides = row_strides(data.dims());
  fill_by(args.out(0), data, [&](std::span<const int64_t> index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset += (ranges[i].start + index[i] * ranges[i].step) * strides[i];
    return offset;
  });
  return {};
}

// Where a slice begins, clamped into the axis.
Dim first_position(Dim size, Dim raw, int64_t step) {
  const Dim front =
      raw.is_constant() ? (*raw.constant() < 0 ? size + raw : raw) : select(Condition::ge(raw, 0), raw, size + raw);
  return min(max(front, Dim(0)), step > 0 ? size : size - 1);
}

std::vector<ViewRule> view_slice(const Call& call, const Facts& out) {
  const auto lists = lists_of(call);
  if (!lists || !lists->starts || !lists->axes_known || !lists->steps_known || !call.in(0).has_rank()) return {};
  const Dims& data = *call.in(0).dims;
  ViewRule rule = whole_window(out[0].rank());
  for (size_t k = 0; k < lists->starts->size(); ++k) {
    const auto axis = normalize_axis(lists->axes ? (*lists->axes)[k] : static_cast<int64_t>(k), data.size());
    const auto step = lists->steps ? (*lists->steps)[k].constant() : std::optional<int64_t>(1);
    if (!axis || !step || *step == 0 || *step < -kFar || *step > kFar) return {};
    rule.start[*axis] = first_position(data[*axis], (*lists->starts)[k], *step);
    rule.step[*axis] = *step;
  }
  return {rule};
}

}  // namespace

SliceRange slice_range(int64_t size, int64_t start, int64_t end, int64_t step) {
  const int64_t stride = std::clamp(step, -kFar, kFar);
  if (size <= 0) return {0, stride, 0};
  const int64_t s = start < 0 ? start + size : start, e = end < 0 ? end + size : end;
  if (stride > 0) {
    const int64_t first = std::clamp<int64_t>(s, 0, size);
    const int64_t stop = means_all(end) ? size : std::clamp<int64_t>(e, 0, size);
    return {first, stride, stop > first ? (stop - first - 1) / stride + 1 : 0};
  }
  const int64_t first = std::clamp<int64_t>(s, 0, size - 1);
  const int64_t stop = means_all(end) ? -1 : std::clamp<int64_t>(e, -1, size);
  return {first, stride, first > stop ? (first - stop - 1) / -stride + 1 : 0};
}

Dim slice_size(InferContext& context, Dim size, Dim start, Dim end, int64_t step) {
  if (size.is_constant() && start.is_constant() && end.is_constant())
    return slice_range(*size.constant(), *start.constant(), *end.constant(), step).count;
  const Dim out = step > 0 ? forward_size(context, size, start, end, std::min(step, kFar))
                           : backward_size(context, size, start, end, step);
  return context.simplify(out);
}

constexpr OpDef kSlice1{
    .name = "Slice",
    .since = 1,
    .sig = {kSliceIn1, kSliceOut, "a range of positions, with a step, of some axes", kSliceAttributes},
    .infer = infer_slice,
    .kernels = kSliceKernels,
    .view = view_slice};
constexpr OpDef kSlice10{.name = "Slice",
                         .since = 10,
                         .sig = {kIn10, kSliceOut, "a range of positions, with a step, of some axes"},
                         .infer = infer_slice,
                         .kernels = kSliceKernels,
                         .view = view_slice};

}  // namespace anyshape::ops
