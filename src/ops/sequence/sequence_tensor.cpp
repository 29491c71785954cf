#include <algorithm>

#include "kernels/join.h"
#include "ops/control/bodies.h"
#include "ops/records.h"

// Between one tensor and a sequence of its parts.
namespace anyshape::ops {
namespace {

constexpr Port kSplitToSequenceIn[] = {{"input"}, {"split", Port::optional | Port::value}};
constexpr Port kSplitToSequenceOut[] = {{"output_sequence"}};
constexpr Port kConcatIn[] = {{"input_sequence"}};
constexpr Port kConcatOut[] = {{"concat_result"}};
constexpr AttributeDef kConcatFromSequenceAttributes[] = {
    {"axis", AttributeDef::integer, AttributeDef::required},
    {"new_axis", 0},
};
constexpr AttributeDef kSplitToSequenceAttributes[] = {
    {"axis", 0},
    {"keepdims", 1},
};

constexpr int64_t kMaxItems = 256;

struct Split {
  DType dtype;
  Dims dims;
  size_t axis;
  bool squeeze;  // parts of one entry lose the axis
};

Fact part_of(const Split& split, Dim size) {
  Dims dims = split.dims;
  if (split.squeeze)
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(split.axis));
  else
    dims[split.axis] = size;
  return Fact::tensor(split.dtype, std::move(dims));
}

Fact sequence_of_parts(const Split& split, const Dims& sizes) {
  Facts items;
  for (Dim size : sizes) items.push_back(part_of(split, size));
  const bool equal = std::all_of(sizes.begin(), sizes.end(), [&](Dim d) { return d == sizes.front(); });
  Fact out = Fact::sequence(part_of(split, equal && !sizes.empty() ? sizes.front() : Dim::unknown()));
  out.length = static_cast<int64_t>(items.size());
  out.items = std::make_shared<const Facts>(std::move(items));
  return out;
}

// Chunks of `size`, the last one smaller where it must be.
Fact equal_chunks(InferContext& context, const Split& split, Dim size) {
  const Dim total = split.dims[split.axis];
  const auto known_total = total.constant(), known_size = size.constant();
  if (known_total && known_size && *known_total / *known_size <= kMaxItems) {
    Dims sizes;
    for (int64_t left = *known_total; left > 0; left -= *known_size) sizes.push_back(std::min(left, *known_size));
    return sequence_of_parts(split, sizes);
  }
  const bool exact = context.proves(Condition::divisible(total, size));
  Fact out = Fact::sequence(part_of(split, exact ? size : Dim::unknown()));
  out.length = context.simplify(ceildiv(total, size));
  return out;
}

Result<Facts> split_by_list(InferContext& context, const Split& split, const Fact& sizes) {
  const Dim total = split.dims[split.axis];
  if (sizes.elements) {
    Dim sum = 0;
    for (Dim d : *sizes.elements) {
      TRY_OK(context.require(Condition::ge(d, 0), "splittosequence.split",
                             "a part must have at least 0 entries, not {}", print(d)));
      sum = sum + d;
    }
    TRY_OK(context.require(Condition::eq(sum, total), "splittosequence.split",
                           "the parts together must have the entries of the axis of {1}: {0} and {2}", print(sum),
                           text(split.dims), print(total)));
    return Facts{sequence_of_parts(split, *sizes.elements)};
  }
  const auto count = sizes.dims->front().constant();
  if (count && *count <= kMaxItems) {
    Dims parts;
    for (int64_t i = 0; i < *count; ++i) parts.push_back(context.fresh(sizes, "split", 0, total));
    return Facts{sequence_of_parts(split, parts)};
  }
  Fact out = Fact::sequence(part_of(split, Dim::unknown()));
  out.length = sizes.dims->front();
  return Facts{out};
}

Result<Facts> infer_split_to_sequence(const Call& call, InferContext& context) {
  TRY(const Dims dims, call.dims(0));
  TRY(const size_t axis, normalize_axis(call.i("axis"), dims.size()));
  Split split{call.in(0).dtype, dims, axis, false};
  if (!call.has(1)) {
    split.squeeze = call.i("keepdims") == 0;
    return Facts{equal_chunks(context, split, 1)};
  }
  TRY(const Dims shape, call.dims(1));
  if (shape.size() > 1)
    return refuse("splittosequence.split", "split must be a scalar or a list, it is {}", text(shape));
  if (shape.size() == 1) return split_by_list(context, split, call.in(1));
  const auto size = call.in(1).single();
  if (!size) {
    Fact out = Fact::sequence(part_of(split, Dim::unknown()));
    out.length = context.fresh(call.in(1), "parts", 0, dims[axis]);
    return Facts{out};
  }
  TRY_OK(context.require(Condition::ge(*size, 1), "splittosequence.split", "the parts must have entries, split is {}",
                         print(*size)));
  return Facts{equal_chunks(context, split, context.simplify(*size))};
}

// All items known: sizes add up along the axis.
Result<Facts> concat_items(InferContext& context, const Facts& items, int64_t asked, bool new_axis) {
  for (const Fact& item : items)
    if (!item.dims) return Facts{Fact::tensor_of_unknown_rank(items.front().dtype)};
  Dims dims = *items.front().dims;
  TRY(const size_t axis, normalize_axis(asked, dims.size() + (new_axis ? 1 : 0)));
  for (size_t k = 1; k < items.size(); ++k) {
    const Dims& next = *items[k].dims;
    if (next.size() != dims.size())
      return refuse("concatfromsequence.rank", "items have the ranks {} and {}", dims.size(), next.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      if (!new_axis && i == axis) {
        dims[i] = dims[i] + next[i];
        continue;
      }
      TRY_OK(context.require(Condition::eq(dims[i], next[i]), "concatfromsequence.shape",
                             "items of shapes {} and {} must agree to be joined: axis {}", text(*items.front().dims),
                             text(next), i));
    }
  }
  if (new_axis) dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), static_cast<int64_t>(items.size()));
  return Facts{Fact::tensor(items.front().dtype, std::move(dims))};
}

Status require_equal_items(InferContext& context, bool from_shapes, const std::string& sentence) {
  constexpr std::string_view kCode = "concatfromsequence.shape";
  if (from_shapes) return context.require(Condition::opaque(), kCode, "{}", sentence);
  context.data_condition(kCode, "{}", sentence);
  return {};
}

Result<Facts> concat_any(const Fact& sequence, InferContext& context, int64_t asked, bool new_axis) {
  const Fact& item = *sequence.item;
  Fact source;
  source.from_shapes = counted_by_shapes(context, sequence);
  if (!item.dims) {
    TRY_OK(require_equal_items(context, source.from_shapes, "all items must have sizes that fit together"));
    return Facts{Fact::tensor_of_unknown_rank(item.dtype)};
  }
  const Dim count = sequence.length ? *sequence.length : context.fresh(source, "length");
  Dims dims;
  TRY(const size_t axis, normalize_axis(asked, item.dims->size() + (new_axis ? 1 : 0)));
  for (size_t i = 0; i < item.dims->size(); ++i) {
    const Dim d = (*item.dims)[i];
    if (!new_axis && i == axis) {
      dims.push_back(d.is_unknown() ? context.fresh(source, "concat") : count * d);
      continue;
    }
    if (d.is_unknown())
      TRY_OK(require_equal_items(context, source.from_shapes,
                                 fmt::format("axis {} of all items must have the same size", i)));
    dims.push_back(d.is_unknown() ? context.fresh(source, "concat") : d);
  }
  if (new_axis) dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), count);
  return Facts{Fact::tensor(item.dtype, std::move(dims))};
}

Result<Facts> infer_concat(const Call& call, InferContext& context) {
  const Fact& sequence = call.in(0);
  if (sequence.kind == Fact::Kind::unknown) return unknown("infer.type", "input 0 is not known");
  if (sequence.kind != Fact::Kind::sequence)
    return refuse("sequence.input", "ConcatFromSequence takes a sequence, input 0 is {}", print(sequence));
  if (!call.has_attr("axis")) return refuse("concatfromsequence.axis", "the axis is missing");
  const int64_t new_axis = call.i("new_axis");
  if (new_axis != 0 && new_axis != 1) return refuse("concatfromsequence.axis", "new_axis is {}, not 0 or 1", new_axis);
  if (sequence.length)
    TRY_OK(context.require(Condition::ge(*sequence.length, 1), "concatfromsequence.empty",
                           "a sequence to join must not be empty"));
  if (sequence.items) return concat_items(context, *sequence.items, call.i("axis"), new_axis == 1);
  if (!sequence.item || !sequence.item->is_tensor()) return unknown("infer.type", "the items are not known");
  return concat_any(sequence, context, call.i("axis"), new_axis == 1);
}

// How many entries each part gets.
Result<std::vector<int64_t>> part_sizes(const Tensor& split, int64_t total) {
  std::vector<int64_t> sizes;
  if (split && !is_integer(split.dtype())) return refuse("splittosequence.split", "split must hold integers");
  if (!split || split.rank() == 0) {
    const int64_t chunk = split ? split.int_at(0) : 1;
    if (chunk < 1) return refuse("splittosequence.split", "the parts must have entries, split is {}", chunk);
    for (int64_t left = total; left > 0; left -= std::min(left, chunk)) sizes.push_back(std::min(left, chunk));
    return sizes;
  }
  int64_t left = total;
  for (int64_t i = 0; i < split.count(); ++i) {
    const int64_t size = split.int_at(i);
    if (size < 0 || size > left)
      return refuse("splittosequence.split", "part {} has {} entries, {} are left", i, size, left);
    sizes.push_back(size);
    left -= size;
  }
  if (left != 0) return refuse("splittosequence.split", "the parts leave {} entries out", left);
  return sizes;
}

Status reference_split_to_sequence(const Call& call, KernelArgs& args) {
  const Tensor& in = args.in(0);
  TRY(const size_t axis, normalize_axis(call.i("axis"), in.rank()));
  TRY(const auto sizes, part_sizes(args.in(1), in.dims()[axis]));
  const bool squeeze = !args.in(1) && call.i("keepdims") == 0;
  std::vector<Datum> items;
  int64_t at = 0;
  for (int64_t size : sizes) {
    TRY(Tensor one, kernels::part(in, axis, at, size));
    at += size;
    std::vector<int64_t> dims = one.dims();
    if (squeeze) dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
    items.emplace_back(one.reshaped(std::move(dims)));
  }
  args.outputs[0] = Datum::sequence(in.dtype(), std::move(items));
  return {};
}

Status reference_concat(const Call& call, KernelArgs& args) {
  std::vector<Tensor> parts;
  for (const Datum& item : args.inputs[0].items()) {
    if (!item.is_tensor()) return refuse("concatfromsequence.type", "the items must be tensors");
    parts.push_back(item.tensor());
  }
  if (parts.empty()) return refuse("concatfromsequence.empty", "a sequence to join must not be empty");
  const bool new_axis = call.i("new_axis") == 1;
  TRY(const size_t axis, normalize_axis(call.i("axis"), parts[0].rank() + (new_axis ? 1 : 0)));
  TRY(args.out(0), new_axis ? kernels::stack(parts, axis) : kernels::join(parts, axis));
  return {};
}

constexpr Kernel kConcatKernels[] = {{"reference", reference_concat}};
constexpr Kernel kSplitToSequenceKernels[] = {{"reference", reference_split_to_sequence}};

}  // namespace

constexpr OpDef kConcatFromSequence11{
    .name = "ConcatFromSequence",
    .since = 11,
    .sig = {kConcatIn, kConcatOut, "the items of a sequence joined along an axis", kConcatFromSequenceAttributes},
    .infer = infer_concat,
    .kernels = kConcatKernels};
constexpr OpDef kSplitToSequence11{
    .name = "SplitToSequence",
    .since = 11,
    .sig = {kSplitToSequenceIn, kSplitToSequenceOut, "a tensor cut along an axis", kSplitToSequenceAttributes},
    .infer = infer_split_to_sequence,
    .kernels = kSplitToSequenceKernels};

}  // namespace anyshape::ops
