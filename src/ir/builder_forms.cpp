#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/os/file.h"
#include "ir/builder.h"

namespace anyshape {
namespace {

std::vector<int64_t> positive(std::vector<int64_t> axes, size_t rank) {
  for (int64_t& axis : axes) axis += axis < 0 ? static_cast<int64_t>(rank) : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
}

std::optional<std::vector<int64_t>> numbers(const Dims& dims) {
  std::vector<int64_t> out;
  for (Dim d : dims) {
    if (!d.is_constant()) return std::nullopt;
    out.push_back(*d.constant());
  }
  return out;
}

// In blocks that stay in the first cache; a fixed width lets the copy of an element be one move.
template <size_t kWidth>
void turn_blocks(const std::byte* from, std::byte* to, size_t rows, size_t columns) {
  constexpr size_t kBlock = 32;
  for (size_t r = 0; r < rows; r += kBlock)
    for (size_t c = 0; c < columns; c += kBlock)
      for (size_t k = c; k < std::min(columns, c + kBlock); ++k)
        for (size_t i = r; i < std::min(rows, r + kBlock); ++i)
          std::memcpy(to + (k * rows + i) * kWidth, from + (i * columns + k) * kWidth, kWidth);
}

void turn_matrix(const std::byte* from, std::byte* to, int64_t rows, int64_t columns, size_t width) {
  const auto turn = width == 1   ? turn_blocks<1>
                    : width == 2 ? turn_blocks<2>
                    : width == 4 ? turn_blocks<4>
                    : width == 8 ? turn_blocks<8>
                                 : turn_blocks<16>;
  turn(from, to, static_cast<size_t>(rows), static_cast<size_t>(columns));
}

}  // namespace

Ref Builder::squeeze(Ref x, std::vector<int64_t> axes) {
  if (axes.empty()) return x;
  axes = positive(std::move(axes), rank(x));
  return opset_ >= 13 ? op("Squeeze", {x, ints(axes)}) : op("Squeeze", {x}, {attr("axes", axes)});
}

Ref Builder::unsqueeze(Ref x, std::vector<int64_t> axes) {
  if (axes.empty()) return x;
  axes = positive(std::move(axes), rank(x) + axes.size());
  return opset_ >= 13 ? op("Unsqueeze", {x, ints(axes)}) : op("Unsqueeze", {x}, {attr("axes", axes)});
}

Ref Builder::reduce(std::string_view type, Ref x, std::vector<int64_t> axes, bool keepdims) {
  const bool as_input = opset_ >= 18 || (type == "ReduceSum" && opset_ >= 13);
  if (axes.empty()) return op(type, {x}, {attr("keepdims", keepdims)});
  axes = positive(std::move(axes), rank(x));
  if (as_input) return op(type, {x, ints(axes)}, {attr("keepdims", keepdims)});
  return op(type, {x}, {attr("axes", axes), attr("keepdims", keepdims)});
}

Refs Builder::split(Ref x, int64_t axis, const Dims& sizes) {
  if (failed()) return Refs(sizes.size());
  if (axis < 0) axis += static_cast<int64_t>(rank(x));
  if (sizes.size() == 1) return {x};
  const bool even = std::all_of(sizes.begin(), sizes.end(), [&](Dim d) { return d == sizes[0]; }) &&
                    same(dim(x, static_cast<size_t>(axis)), sizes[0] * Dim(sizes.size()));
  // Version 18 wants the last part not to be empty.
  if (even && opset_ >= 18 && proves(Condition::ge(sizes[0], 1)))
    return emit("Split", {x}, {attr("axis", axis), attr("num_outputs", static_cast<int64_t>(sizes.size()))},
                sizes.size());
  if (even && opset_ < 18) return emit("Split", {x}, {attr("axis", axis)}, sizes.size());
  if (opset_ >= 13) return emit("Split", {x, shape(sizes)}, {attr("axis", axis)}, sizes.size());
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

// However large: a matrix of weights is turned once, here, and what it was made from may leave memory.
Ref Builder::turned_weight(Ref x) {
  const std::string text = fmt::format("turned {}:{}", x.scope, x.id);
  if (const Refs* known = scopes_.made_before(text)) return known->front();
  const Tensor& from = *tensor(x);
  const int64_t rows = from.dims()[0], columns = from.dims()[1];
  auto to = Tensor::allocate(from.dtype(), {columns, rows});
  if (!to) {
    fail(std::move(to).error());
    return {};
  }
  turn_matrix(from.bytes().data(), to->data(), rows, columns, static_cast<size_t>(bits(from.dtype())) / 8);
  give_back(from.bytes());
  const std::string& name = scopes_.root().graph.values[x.id].name;
  const Ref out = constant(*std::move(to), name.empty() ? std::string() : name + ".T");
  scopes_.root().made.emplace(text, Refs{out});
  return out;
}

Ref Builder::transpose(Ref x, std::vector<int64_t> order) {
  for (int64_t& axis : order) axis += axis < 0 ? static_cast<int64_t>(order.size()) : 0;
  if (std::is_sorted(order.begin(), order.end())) return x;
  if (order.size() == 2 && tensor(x) && !producer(x) && bits(dtype(x)) >= 8) return turned_weight(x);
  return op("Transpose", {x}, {attr("perm", std::move(order))});
}

Ref Builder::concat(const Refs& parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  if (axis < 0 && !parts.empty()) axis += static_cast<int64_t>(rank(parts[0]));
  return op("Concat", parts, {attr("axis", axis)});
}

Ref Builder::cast(Ref x, DType wanted) {
  if (dtype(x) == wanted) return x;
  return op("Cast", {x}, {attr("to", static_cast<int64_t>(wanted))});
}

Ref Builder::gather(Ref x, Ref indices, int64_t axis) { return op("Gather", {x, indices}, {attr("axis", axis)}); }

Ref Builder::clip(Ref x, Ref lo, Ref hi) {
  const bool takes_integers = opset_ >= 12;
  if (takes_integers || is_float(dtype(x))) return op("Clip", {x, lo, hi});
  if (lo) x = op("Where", {op("Less", {x, lo}), lo, x});
  return hi ? op("Where", {op("Greater", {x, hi}), hi, x}) : x;
}

Ref Builder::pad(Ref x, const Dims& before_and_after, Ref value, std::string_view mode) {
  Refs in{x, shape(before_and_after)};
  if (value) in.push_back(value);
  return op("Pad", in, {attr("mode", mode)});
}

// Before opset 13 the operator flattens to two axes, which is the same only for the last axis.
Ref Builder::softmax(Ref x, int64_t axis, bool logarithm) {
  const std::string_view type = logarithm ? "LogSoftmax" : "Softmax";
  const int64_t last = static_cast<int64_t>(rank(x)) - 1;
  if (axis < 0) axis += last + 1;
  if (opset_ >= 13 || axis == last) return op(type, {x}, {attr("axis", axis)});
  std::vector<int64_t> order(rank(x));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(axis)], order.back());
  return transpose(op(type, {transpose(x, order)}, {attr("axis", last)}), order);
}

std::pair<Ref, Ref> Builder::topk(Ref x, Dim k, int64_t axis, bool largest, bool sorted) {
  const Refs out =
      emit("TopK", {x, shape({k})}, {attr("axis", axis), attr("largest", largest), attr("sorted", sorted)}, 2);
  return {out[0], out[1]};
}

}  // namespace anyshape
