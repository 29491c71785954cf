#include "ops/movement/movement.h"
#include "ops/records.h"
#include "ops/shown.h"

namespace anyshape::ops {
namespace {

constexpr Port kSplitIn1[] = {{"input"}, {"split", Port::optional | Port::value}};
constexpr Port kIn2[] = {{"input"}};
constexpr Port kIn13[] = {{"input"}, {"split", Port::optional | Port::value}};
constexpr Port kSplitOut[] = {{"outputs", Port::variadic}};
constexpr AttributeDef kSplit1Attributes[] = {
    {"axis", 0},
    {"split", AttributeDef::integers},
};
constexpr AttributeDef kSplit13Attributes[] = {
    {"axis", 0},
    {"num_outputs", AttributeDef::integer, {18}},
};
constexpr size_t kSplitData[] = {0};

bool split_is_input(const Call& call) { return call.version() >= 13 || (call.version() == 1 && call.has(1)); }

Result<Dims> given_sizes(const Call& call, InferContext& context, Dim size, Dims sizes) {
  if (sizes.size() != call.outputs())
    return refuse("split.outputs", "the node has {} outputs, split names {} sizes", call.outputs(), sizes.size());
  Dim sum = 0;
  for (Dim s : sizes) {
    TRY_OK(context.require(Condition::ge(s, 0), "split.sizes", "the part {} must not be negative", shown(s)));
    sum = sum + s;
  }
  TRY_OK(context.require(Condition::eq(sum, size), "split.sizes",
                         "the parts {} must add up to the entries of the axis: {} and {}", shown(sizes), shown(sum),
                         shown(size)));
  return sizes;
}

Result<Dims> even_sizes(const Call& call, InferContext& context, Dim size) {
  const auto parts = static_cast<int64_t>(call.outputs());
  if (parts == 0) return Dims();
  TRY_OK(context.require(Condition::divisible(size, parts), "split.even",
                         "the {} entries of an axis must be a multiple of {} equal parts", shown(size), parts));
  const auto quotient = context.assumptions().exact_div(size, parts);
  return Dims(call.outputs(), quotient ? *quotient : floordiv(size, parts));
}

// Equal parts, the last one smaller but not empty.
Result<Dims> chunk_sizes(const Call& call, InferContext& context, Dim size) {
  const int64_t parts = call.i("num_outputs");
  if (parts < 1 || static_cast<size_t>(parts) != call.outputs())
    return refuse("split.outputs", "the node has {} outputs, num_outputs is {}", call.outputs(), parts);
  const Dim chunk = context.simplify(ceildiv(size, parts));
  const Dim last = parts == 2 ? floordiv(size, 2) : context.simplify(size - chunk * Dim(parts - 1));
  TRY_OK(context.require(Condition::ge(last, 1), "split.chunks",
                         "an axis of {} entries in {} parts of {} must leave something for the last one", shown(size),
                         parts, shown(chunk)));
  Dims out(call.outputs(), chunk);
  out.back() = context.simplify(last);
  return out;
}

Result<Dims> sizes_of(const Call& call, InferContext& context, Dim size) {
  if (!split_is_input(call)) {
    const auto* split = call.ints("split");
    return split && !split->empty() ? given_sizes(call, context, size, Dims(split->begin(), split->end()))
                                    : even_sizes(call, context, size);
  }
  const bool chunks = call.version() >= 18 && call.has_attr("num_outputs");
  if (call.has(1) && chunks) return refuse("split.both", "both split and num_outputs are given");
  if (chunks) return chunk_sizes(call, context, size);
  if (!call.has(1)) {
    if (call.version() >= 18) return refuse(lenient("lenient.split"), "neither split nor num_outputs is given");
    return even_sizes(call, context, size);
  }
  TRY_OK(require_integers(call, 1));
  if (call.in(1).elements && call.in(1).denominator == 1) return given_sizes(call, context, size, *call.in(1).elements);
  Dims free;
  for (size_t i = 0; i < call.outputs(); ++i) free.push_back(context.fresh(call.in(1), "split", 0, size));
  return given_sizes(call, context, size, std::move(free));
}

Status reference_split(const Call& call, KernelArgs& args) {
  const Tensor& data = args.in(0);
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.rank()));
  int64_t outer = 1, inner = 1, at = 0;
  for (size_t i = 0; i < axis; ++i) outer *= data.dims()[i];
  for (size_t i = axis + 1; i < data.rank(); ++i) inner *= data.dims()[i];
  const int64_t row = data.dims()[axis] * inner;
  for (Datum& output : args.outputs) {
    Tensor& part = output.tensor();
    if (!part) return unknown("split.sizes", "the sizes of the parts are not known");
    const int64_t width = part.dims()[axis] * inner;
    if (at + width > row) return refuse("split.sizes", "the parts are longer than the axis");
    for (int64_t o = 0; o < outer; ++o) kernels::copy_elements(part, o * width, data, o * row + at, width);
    at += width;
  }
  return {};
}

constexpr Kernel kSplitKernels[] = {{"reference", reference_split}};

Result<Facts> infer_split(const Call& call, InferContext& context) {
  TRY(const Dims data, call.dims(0));
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.size()));
  TRY(const Dims sizes, sizes_of(call, context, data[axis]));
  Facts out;
  for (Dim size : sizes) {
    out.push_back(Fact::tensor(call.in(0).dtype, data));
    (*out.back().dims)[axis] = size;
  }
  carry_all(call, kSplitKernels[0], kSplitData, out);
  return out;
}

std::vector<ViewRule> view_split(const Call& call, const Facts& out) {
  std::vector<ViewRule> rules;
  Dim at = 0;
  for (const Fact& part : out) {
    if (!part.has_rank()) return {};
    const auto axis = normalize_axis(call.i("axis"), part.rank());
    if (!axis) return {};
    ViewRule rule = whole_window(part.rank());
    rule.start[*axis] = at;
    at = at + (*part.dims)[*axis];
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace

constexpr OpDef kSplit1{.name = "Split",
                        .since = 1,
                        .sig = {kSplitIn1, kSplitOut, "an axis cut into parts", kSplit1Attributes},
                        .infer = infer_split,
                        .kernels = kSplitKernels,
                        .view = view_split};
constexpr OpDef kSplit2{.name = "Split",
                        .since = 2,
                        .sig = {kIn2, kSplitOut, "an axis cut into parts", kSplit1Attributes},
                        .infer = infer_split,
                        .kernels = kSplitKernels,
                        .view = view_split};
constexpr OpDef kSplit13{.name = "Split",
                         .since = 13,
                         .sig = {kIn13, kSplitOut, "an axis cut into parts", kSplit13Attributes},
                         .infer = infer_split,
                         .kernels = kSplitKernels,
                         .view = view_split};

}  // namespace anyshape::ops
