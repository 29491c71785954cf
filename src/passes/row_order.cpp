#include <algorithm>

#include "ir/fact.h"
#include "passes/reading.h"

namespace anyshape {
namespace {

// The order of axes, where the last one keeps its place; else null.
const std::vector<int64_t>* order_of_rows(const Node& node) {
  if (!is_op(node, "Transpose")) return nullptr;
  const auto* perm = node.attribute("perm");
  const auto* order = perm ? std::get_if<std::vector<int64_t>>(&perm->value) : nullptr;
  const bool keeps_last = order && !order->empty() && order->back() + 1 == static_cast<int64_t>(order->size());
  return keeps_last ? order : nullptr;
}

struct RowOrder {
  Draft& draft;
  Reading reading;

  // Reads its input by strides alone: another order of rows costs it nothing.
  bool reads_any_order(const Node& node, ValueId id) const {
    if (is_op(node, "Transpose")) return true;
    const Dims *from = reading.dims(id), *to = node.out.empty() ? nullptr : reading.dims(node.out[0]);
    if (!is_op(node, "Reshape") || node.in[0] != id || !from || !to || to->size() < from->size()) return false;
    return std::equal(from->begin(), from->end() - 1, to->begin());
  }

  bool only_read_in_any_order(ValueId id) const {
    if (reading.pinned.contains(id)) return false;
    return std::all_of(draft.graph.nodes.begin(), draft.graph.nodes.end(), [&](const Node& node) {
      return std::find(node.in.begin(), node.in.end(), id) == node.in.end() || reads_any_order(node, id);
    });
  }

  // One matrix for all rows, and nothing added that has rows of its own.
  bool treats_rows_alike(const Node& node) const {
    const bool fused = node.domain == "anyshape" && node.type == "FusedMatMul";
    if ((!fused && !is_op(node, "MatMul")) || draft.is_demanding(node) || has_input(node, 3)) return false;
    const Dims* b = reading.dims(node.in[1]);
    return b && b->size() == 2;
  }

  // The Transpose that gives the product its rows in another order; null: it stays where it is.
  const Node* transpose_before(const Node& product) const {
    if (!treats_rows_alike(product)) return nullptr;
    const uint32_t maker = reading.producers[product.in[0]];
    const Node* node = maker == kNoValue ? nullptr : &draft.graph.nodes[maker];
    if (!node || draft.is_demanding(*node) || !order_of_rows(*node) || !reading.dims(product.out[0])) return nullptr;
    return only_read_in_any_order(product.out[0]) ? node : nullptr;
  }

  // The product of the rows as they are, and the Transpose of it that makes what there was.
  std::pair<Node, Node> turned(const Node& transpose, const Node& product) const {
    const auto& order = *order_of_rows(transpose);
    const ValueId result = product.out[0];
    const Dims& wanted = *reading.dims(result);
    Dims dims = wanted;
    for (size_t i = 0; i < order.size(); ++i) dims[static_cast<size_t>(order[i])] = wanted[i];
    std::pair<Node, Node> out(product, transpose);
    const ValueId rows =
        draft.add_value(draft.graph.values[result].name + ".rows", Fact::tensor(draft.facts[result].dtype, dims));
    out.first.in[0] = transpose.in[0];
    out.first.out[0] = out.second.in[0] = rows;
    out.second.out[0] = result;
    return out;
  }

  void run() {
    const auto turns = [&](const Node& node) { return transpose_before(node) != nullptr; };
    if (std::none_of(draft.graph.nodes.begin(), draft.graph.nodes.end(), turns)) return;
    std::vector<Node> nodes;
    for (const Node& node : draft.graph.nodes) {
      const Node* transpose = transpose_before(node);
      if (!transpose) {
        nodes.push_back(node);
        continue;
      }
      auto [product, after] = turned(*transpose, node);
      nodes.push_back(std::move(product));
      nodes.push_back(std::move(after));
    }
    draft.graph.nodes = std::move(nodes);
  }
};

}  // namespace

Status order_rows(Draft& draft) {
  RowOrder{draft, Reading(draft)}.run();
  return {};
}

}  // namespace anyshape
