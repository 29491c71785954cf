#include "ir/form_builder.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/os/file.h"

namespace anyshape {
namespace {

std::vector<int64_t> positive(std::vector<int64_t> axes, size_t rank) {
  for (int64_t& axis : axes) axis += axis < 0 ? static_cast<int64_t>(rank) : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
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

Ref FormBuilder::squeeze(Ref x, std::vector<int64_t> axes) {
  if (axes.empty()) return x;
  axes = positive(std::move(axes), rank(x));
  return opset() >= 13 ? op("Squeeze", {x, ints(axes)}) : op("Squeeze", {x}, {attr("axes", axes)});
}

Ref FormBuilder::unsqueeze(Ref x, std::vector<int64_t> axes) {
  if (axes.empty()) return x;
  axes = positive(std::move(axes), rank(x) + axes.size());
  return opset() >= 13 ? op("Unsqueeze", {x, ints(axes)}) : op("Unsqueeze", {x}, {attr("axes", axes)});
}

Ref FormBuilder::reduce(std::string_view type, Ref x, std::vector<int64_t> axes, bool keepdims) {
  const bool as_input = opset() >= 18 || (type == "ReduceSum" && opset() >= 13);
  if (axes.empty()) return op(type, {x}, {attr("keepdims", keepdims)});
  axes = positive(std::move(axes), rank(x));
  if (as_input) return op(type, {x, ints(axes)}, {attr("keepdims", keepdims)});
  return op(type, {x}, {attr("axes", axes), attr("keepdims", keepdims)});
}

// However large: a matrix of weights is turned once, here, and what it was made from may leave memory.
Ref FormBuilder::turned_weight(Ref x) {
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

Ref FormBuilder::transpose(Ref x, std::vector<int64_t> order) {
  for (int64_t& axis : order) axis += axis < 0 ? static_cast<int64_t>(order.size()) : 0;
  if (std::is_sorted(order.begin(), order.end())) return x;
  if (order.size() == 2 && tensor(x) && !producer(x) && bits(dtype(x)) >= 8) return turned_weight(x);
  return op("Transpose", {x}, {attr("perm", std::move(order))});
}

Ref FormBuilder::concat(const Refs& parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  if (axis < 0 && !parts.empty()) axis += static_cast<int64_t>(rank(parts[0]));
  return op("Concat", parts, {attr("axis", axis)});
}

Ref FormBuilder::cast(Ref x, DType wanted) {
  if (dtype(x) == wanted) return x;
  return op("Cast", {x}, {attr("to", static_cast<int64_t>(wanted))});
}

Ref FormBuilder::gather(Ref x, Ref indices, int64_t axis) { return op("Gather", {x, indices}, {attr("axis", axis)}); }

Ref FormBuilder::clip(Ref x, Ref lo, Ref hi) {
  const bool takes_integers = opset() >= 12;
  if (takes_integers || is_float(dtype(x))) return op("Clip", {x, lo, hi});
  if (lo) x = op("Where", {op("Less", {x, lo}), lo, x});
  return hi ? op("Where", {op("Greater", {x, hi}), hi, x}) : x;
}

// Before opset 13 the operator flattens to two axes, which is the same only for the last axis.
Ref FormBuilder::softmax(Ref x, int64_t axis, bool logarithm) {
  const std::string_view type = logarithm ? "LogSoftmax" : "Softmax";
  const int64_t last = static_cast<int64_t>(rank(x)) - 1;
  if (axis < 0) axis += last + 1;
  if (opset() >= 13 || axis == last) return op(type, {x}, {attr("axis", axis)});
  std::vector<int64_t> order(rank(x));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(axis)], order.back());
  return transpose(op(type, {transpose(x, order)}, {attr("axis", last)}), order);
}

}  // namespace anyshape
