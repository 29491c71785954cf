#include <algorithm>
#include <numeric>

#include "solve/rows_rule.h"

namespace anyshape {

bool RowCall::same_from(size_t first) const {
  for (size_t i = first; i < node.in.size(); ++i)
    if (!same(i)) return false;
  return true;
}

const RowLayout* RowCall::layout(size_t input) const {
  return has(input) && flow(input).kind == RowFlow::Kind::rows ? &flow(input).layout : nullptr;
}

std::optional<size_t> RowCall::rank(size_t input) const {
  if (!has(input) || !in(input).is_tensor() || !in(input).has_rank()) return std::nullopt;
  return in(input).rank();
}

bool RowCall::single(size_t input) const {
  const auto dims = in(input).numeric_dims();
  return dims && std::all_of(dims->begin(), dims->end(), [](int64_t size) { return size == 1; });
}

std::optional<size_t> RowCall::out_rank(size_t output) const {
  if (!out(output).is_tensor() || !out(output).has_rank()) return std::nullopt;
  return out(output).rank();
}

namespace {

std::optional<size_t> index_of(int64_t axis, size_t rank) {
  const auto end = static_cast<int64_t>(rank);
  if (axis < -end || axis >= end) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + end : axis);
}

}  // namespace

std::optional<size_t> RowCall::axis(std::string_view attribute, size_t rank) const {
  return index_of(node.integer(attribute), rank);
}

std::optional<std::vector<size_t>> RowCall::axes(size_t input, size_t rank, bool all) const {
  std::vector<int64_t> given;
  if (const Attribute* attribute = node.attribute("axes")) {
    if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute->value)) given = *list;
  } else if (has(input)) {
    const auto numbers = in(input).numbers();
    if (!numbers) return std::nullopt;
    given = *numbers;
  }
  std::vector<size_t> out;
  for (size_t i = 0; given.empty() && all && i < rank; ++i) out.push_back(i);
  for (int64_t one : given) {
    const auto index = index_of(one, rank);
    if (!index) return std::nullopt;
    out.push_back(*index);
  }
  return out;
}

namespace row_rules {
namespace {

// Input 0 has the rows, all others are parameters.
const RowLayout* data_alone(const RowCall& call) { return call.same_from(1) ? call.layout(0) : nullptr; }

std::optional<RowLayout> unless(bool mixed, const RowLayout* layout) {
  if (mixed || !layout) return std::nullopt;
  return *layout;
}

// A parameter repeats itself along the axis that is `from_right` from the right.
bool repeats(const RowCall& call, size_t input, size_t from_right) {
  const auto rank = call.rank(input);
  return rank && (*rank < from_right || (*call.in(input).dims)[*rank - from_right] == Dim(1));
}

}  // namespace

namespace {

// Inputs are broadcast against each other.
std::optional<RowLayout> broadcast(const RowCall& call, size_t output, const std::vector<size_t>& inputs) {
  const auto out_rank = call.out_rank(output);
  if (!out_rank || call.node.attribute("broadcast")) return std::nullopt;
  std::optional<RowLayout> found;
  size_t from_right = 0;
  for (size_t i : inputs) {
    const RowLayout* layout = call.layout(i);
    const auto rank = call.rank(i);
    if (!layout || !rank) continue;
    const size_t here = *rank - layout->axis;
    if (found && (here != from_right || found->outer != layout->outer || found->inner != layout->inner))
      return std::nullopt;
    from_right = here;
    found = *layout;
  }
  if (!found || from_right > *out_rank) return std::nullopt;
  for (size_t i : inputs)
    if (call.has(i) && !call.layout(i) && !(call.same(i) && repeats(call, i, from_right))) return std::nullopt;
  found->axis = *out_rank - from_right;
  return found;
}

// All inputs but these are parameters.
bool same_but(const RowCall& call, const std::vector<size_t>& inputs) {
  for (size_t i = 0; i < call.node.in.size(); ++i)
    if (!call.same(i) && std::find(inputs.begin(), inputs.end(), i) == inputs.end()) return false;
  return true;
}

}  // namespace

std::optional<RowLayout> elementwise(const RowCall& call, size_t output) {
  std::vector<size_t> all(call.node.in.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return broadcast(call, output, all);
}

std::optional<RowLayout> qlinear_pair(const RowCall& call, size_t output) {
  return same_but(call, {0, 3}) ? broadcast(call, output, {0, 3}) : std::nullopt;
}

// The sum of the inputs 0 and 1 along its last axis.
std::optional<RowLayout> skip_normalization(const RowCall& call, size_t output) {
  const auto layout = same_but(call, {0, 1}) ? broadcast(call, 0, {0, 1}) : std::nullopt;
  const auto rank = call.out_rank(0);
  if (!layout || !rank || layout->axis + 1 >= *rank || call.out_rank(output) != rank) return std::nullopt;
  return layout;
}

std::optional<RowLayout> unary(const RowCall& call, size_t) { return unless(false, data_alone(call)); }

std::optional<RowLayout> cast_like(const RowCall& call, size_t) { return unless(false, call.layout(0)); }

// Up to version 19 the axis is an attribute.
std::optional<RowLayout> dft(const RowCall& call, size_t output) {
  constexpr size_t kAxis = 2;
  if (call.node.version < 20) return along_axis(call, output);
  const RowLayout* layout = data_alone(call);
  const auto rank = call.rank(0);
  const auto given = call.has(kAxis) ? call.in(kAxis).numbers() : std::vector<int64_t>{-2};
  if (!layout || !rank || !given || given->size() != 1) return std::nullopt;
  const auto axis = index_of(given->front(), *rank);
  return unless(!axis || *axis == layout->axis || layout->axis + 1 == *rank, layout);
}

// Scale and zero point are one for all, or one for each index of an axis.
std::optional<RowLayout> quantize(const RowCall& call, size_t) {
  const RowLayout* layout = data_alone(call);
  const auto rank = call.rank(0), scale_rank = call.rank(1);
  if (!layout || !rank || !scale_rank) return std::nullopt;
  if (call.single(1)) return *layout;
  const auto axis = call.axis("axis", *rank);
  return unless(*scale_rank != 1 || !axis || *axis == layout->axis, layout);
}

std::optional<RowLayout> dropout(const RowCall& call, size_t) {
  return unless(call.node.version < 7, data_alone(call));
}

std::optional<RowLayout> along_axis(const RowCall& call, size_t) {
  const auto rank = call.rank(0);
  const auto axis = rank ? call.axis("axis", *rank) : std::nullopt;
  const RowLayout* layout = data_alone(call);
  return unless(!axis || !layout || *axis == layout->axis, layout);
}

std::optional<RowLayout> along_given(const RowCall& call, size_t) {
  const RowLayout* layout = data_alone(call);
  const auto rank = call.rank(0);
  const auto given = call.has(1) ? call.in(1).numbers() : std::nullopt;
  if (!layout || !rank || !given || given->size() != 1) return std::nullopt;
  const auto axis = index_of(given->front(), *rank);
  return unless(!axis || *axis == layout->axis, layout);
}

std::optional<RowLayout> softmax(const RowCall& call, size_t output) {
  return call.node.version < 13 ? from_axis(call, output) : along_axis(call, output);
}

std::optional<RowLayout> from_axis(const RowCall& call, size_t) {
  const RowLayout* layout = data_alone(call);
  const auto rank = call.rank(0);
  const auto axis = rank ? call.axis("axis", *rank) : std::nullopt;
  if (!layout || !axis || layout->axis >= *axis) return std::nullopt;
  for (size_t i = 1; i < call.node.in.size(); ++i)
    if (call.has(i) && !repeats(call, i, *rank - layout->axis)) return std::nullopt;
  return *layout;
}

std::optional<RowLayout> last_axis(const RowCall& call, size_t) {
  const RowLayout* layout = data_alone(call);
  const auto rank = call.rank(0);
  return unless(!layout || !rank || layout->axis + 1 >= *rank, layout);
}

std::optional<RowLayout> last_two(const RowCall& call, size_t) {
  const RowLayout* layout = data_alone(call);
  const auto rank = call.rank(0);
  return unless(!layout || !rank || layout->axis + 2 >= *rank, layout);
}

std::optional<RowLayout> channels(const RowCall& call, size_t) {
  const RowLayout* layout = data_alone(call);
  return unless(!layout || layout->axis == 1, layout);
}

std::optional<RowLayout> batch_normalization(const RowCall& call, size_t output) {
  const bool trains = call.node.version < 7 ? call.node.integer("is_test") == 0
                                            : call.node.version >= 14 && call.node.integer("training_mode") != 0;
  // Up to version 13 a node with more outputs trains.
  if (trains || call.node.out.size() > 1) return std::nullopt;
  return channels(call, output);
}

std::optional<RowLayout> reduce(const RowCall& call, size_t) {
  const RowLayout* layout = data_alone(call);
  const auto rank = call.rank(0);
  if (!layout || !rank) return std::nullopt;
  const auto axes = call.axes(1, *rank, call.node.integer("noop_with_empty_axes") == 0);
  if (!axes) return std::nullopt;
  RowLayout out = *layout;
  for (size_t axis : *axes) {
    if (axis == layout->axis) return std::nullopt;
    out.axis -= call.node.integer("keepdims") == 0 && axis < layout->axis ? 1 : 0;
  }
  return out;
}

std::optional<RowLayout> arg_reduce(const RowCall& call, size_t) {
  const RowLayout* layout = data_alone(call);
  const auto rank = call.rank(0);
  const auto axis = rank ? call.axis("axis", *rank) : std::nullopt;
  if (!layout || !axis || *axis == layout->axis) return std::nullopt;
  RowLayout out = *layout;
  out.axis -= call.node.integer("keepdims") == 0 && *axis < layout->axis ? 1 : 0;
  return out;
}

std::optional<RowLayout> first_axis(const RowCall& call, size_t) {
  const RowLayout* layout = data_alone(call);
  return unless(!layout || layout->axis != 0, layout);
}

// Its indices are positions in the whole input.
std::optional<RowLayout> max_pool(const RowCall& call, size_t output) {
  return output == 0 ? first_axis(call, output) : std::nullopt;
}

std::optional<RowLayout> first_of_two(const RowCall& call, size_t output) {
  const auto rank = call.rank(0);
  if (!rank || *rank < 2) return std::nullopt;
  return first_axis(call, output);
}

namespace {

// Input 0 has the rows on its axis 0, and so have those of `by_row` that are there; all others are parameters.
std::optional<RowLayout> first_axes(const RowCall& call, const std::vector<size_t>& by_row) {
  const RowLayout* layout = call.layout(0);
  if (!layout || layout->axis != 0) return std::nullopt;
  for (size_t i = 1; i < call.node.in.size(); ++i) {
    if (!call.has(i)) continue;
    const bool wanted = std::find(by_row.begin(), by_row.end(), i) != by_row.end();
    if (wanted ? !call.layout(i) || *call.layout(i) != *layout : !call.same(i)) return std::nullopt;
  }
  return *layout;
}

struct AttentionInputs {
  std::string_view domain, type;
  std::vector<size_t> by_row;
  size_t mask;  // of four axes it has the batch, or 1; of fewer it is the same for all
};

const AttentionInputs& attention_inputs(const Node& node) {
  static const AttentionInputs kInputs[] = {
      {"", "Attention", {1, 2, 4, 5, 6}, 3},
      {"com.microsoft", "MultiHeadAttention", {1, 2, 4, 6, 7, 9}, 5},
      {"com.microsoft", "GroupQueryAttention", {1, 2, 3, 4, 5, 9}, 10},
  };
  for (const AttentionInputs& one : kInputs)
    if (one.domain == node.domain && one.type == node.type) return one;
  return kInputs[0];
}

}  // namespace

std::optional<RowLayout> attention(const RowCall& call, size_t) {
  constexpr size_t kMaskRank = 4;
  const AttentionInputs& inputs = attention_inputs(call.node);
  const auto rank = call.rank(inputs.mask);
  std::vector<size_t> by_row = inputs.by_row;
  if (call.has(inputs.mask) && (!rank || *rank > kMaskRank)) return std::nullopt;
  if (call.has(inputs.mask) && *rank == kMaskRank && (*call.in(inputs.mask).dims)[0] != Dim(1))
    by_row.push_back(inputs.mask);
  return first_axes(call, by_row);
}

// Sines and cosines are looked up by position, or are there for each row.
std::optional<RowLayout> rotary(const RowCall& call, size_t) {
  const bool ms = !call.node.domain.empty();
  std::vector<size_t> by_row;
  if (ms && call.rank(1) != 1) by_row.push_back(1);
  if (!ms && call.has(3)) by_row.push_back(3);
  if (!ms && !call.has(3)) by_row.insert(by_row.end(), {1, 2});
  return first_axes(call, by_row);
}

std::optional<RowLayout> grid_sample(const RowCall& call, size_t) { return first_axes(call, {1}); }

}  // namespace row_rules
}  // namespace anyshape
