#include <algorithm>

#include "ir/builder.h"

namespace anyshape {
namespace {

std::optional<std::vector<int64_t>> numbers(const Dims& dims) {
  std::vector<int64_t> out;
  for (Dim d : dims) {
    if (!d.is_constant()) return std::nullopt;
    out.push_back(*d.constant());
  }
  return out;
}

}  // namespace

Refs Builder::split(Ref x, int64_t axis, const Dims& sizes) {
  if (failed()) return Refs(sizes.size());
  if (axis < 0) axis += static_cast<int64_t>(rank(x));
  if (sizes.size() == 1) return {x};
  const bool even = std::all_of(sizes.begin(), sizes.end(), [&](Dim d) { return d == sizes[0]; }) &&
                    same(dim(x, static_cast<size_t>(axis)), sizes[0] * Dim(sizes.size()));
  // Version 18 wants the last part not to be empty.
  if (even && opset() >= 18 && proves(Condition::ge(sizes[0], 1)))
    return emit("Split", {x}, {attr("axis", axis), attr("num_outputs", static_cast<int64_t>(sizes.size()))},
                sizes.size());
  if (even && opset() < 18) return emit("Split", {x}, {attr("axis", axis)}, sizes.size());
  if (opset() >= 13) return emit("Split", {x, shape(sizes)}, {attr("axis", axis)}, sizes.size());
  const auto constant_sizes = numbers(sizes);
  if (constant_sizes) return emit("Split", {x}, {attr("axis", axis), attr("split", *constant_sizes)}, sizes.size());
  Refs parts;
  Dim start = 0;
  for (Dim part : sizes) {
    parts.push_back(slice(x, axis, start, start + part));
    start = start + part;
  }
  return parts;
}

// The same position without arithmetic at run time, where there is one: counted from the end.
Dim Builder::position(Dim at, Dim size) const {
  if (at.is_constant()) return at;
  const Dim behind = assumptions_.simplify(at - size);
  const bool from_end = behind.is_constant() && *behind.constant() < 0 && proves(Condition::ge(at, 0));
  return from_end ? behind : assumptions_.simplify(at);
}

Ref Builder::slice(Ref x, int64_t axis, Dim start, Dim end, int64_t step) {
  if (failed()) return {};
  if (axis < 0) axis += static_cast<int64_t>(rank(x));
  const Dim size = dim(x, static_cast<size_t>(axis));
  if (step > 0) {
    if (end == Dim(INT64_MAX) || proves(Condition::ge(end, size))) end = INT64_MAX;
    if (start.is_constant() && *start.constant() < 0 && proves(Condition::le(size, -start))) start = 0;
    if (step == 1 && start == Dim(0) && end == Dim(INT64_MAX)) return x;
  }
  Refs in{x, shape({position(start, size)}), shape({position(end, size)}), ints({axis})};
  if (step != 1) in.push_back(ints({step}));
  return op("Slice", in);
}

Ref Builder::pad(Ref x, const Dims& before_and_after, Ref value, std::string_view mode) {
  Refs in{x, shape(before_and_after)};
  if (value) in.push_back(value);
  return op("Pad", in, {attr("mode", mode)});
}

std::pair<Ref, Ref> Builder::topk(Ref x, Dim k, int64_t axis, bool largest, bool sorted) {
  const Refs out =
      emit("TopK", {x, shape({k})}, {attr("axis", axis), attr("largest", largest), attr("sorted", sorted)}, 2);
  return {out[0], out[1]};
}

}  // namespace anyshape
