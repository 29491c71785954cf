#include <algorithm>
#include <unordered_map>

#include "base/among.h"
#include "lower/reroll/captured_steps.h"

namespace anyshape::lower::reroll {
namespace {

class Order {
 public:
  Order(const Graph& graph, const Facts& facts, int64_t length) : graph_(graph), facts_(facts), length_(length) {}

  std::vector<uint32_t> run();

 private:
  bool is_known(ValueId id) const { return graph_.values[id].producer == kNoValue && graph_.values[id].is_initializer; }
  // The one input that is no constant; kNoValue where there are several.
  ValueId only_input(const Node& node) const;
  bool takes_part(const Node& node) const;
  bool is_view(const Node& node) const;
  bool is_of_shapes(const Node& node) const;
  bool is_joined(uint32_t index) const;
  void classify();
  void place(uint32_t index);

  const Graph& graph_;
  const Facts& facts_;
  int64_t length_;
  std::vector<char> early_, late_;  // stands in front; stands where it is first read
  std::vector<char> done_;
  std::vector<std::vector<uint32_t>> readers_;
  std::unordered_map<ValueId, int> parts_of_;  // how many nodes take a part of the value
  std::vector<uint32_t> out_;
};

ValueId Order::only_input(const Node& node) const {
  ValueId found = kNoValue;
  for (ValueId id : node.in) {
    if (id == kNoValue || is_known(id)) continue;
    if (found != kNoValue && found != id) return kNoValue;
    found = id;
  }
  return found;
}

bool Order::takes_part(const Node& node) const {
  if (!node.domain.empty() || only_input(node) == kNoValue || node.in[0] != only_input(node)) return false;
  return node.type == "Slice" || (node.type == "Gather" && facts_[node.in[1]].single().has_value());
}

bool Order::is_view(const Node& node) const {
  constexpr std::string_view kViews[] = {"Squeeze", "Unsqueeze", "Reshape", "Transpose", "Cast", "Identity"};
  return node.domain.empty() && among(std::string_view(node.type), kViews) && only_input(node) != kNoValue;
}

// Shapes, and what is filled by them.
bool Order::is_of_shapes(const Node& node) const {
  if (node.domain.empty() && node.type == "ConstantOfShape") return true;
  const Fact& made = facts_[node.out[0]];
  return made.from_shapes && made.dtype == DType::i64;
}

void Order::classify() {
  const size_t count = graph_.nodes.size();
  for (const Node& node : graph_.nodes)
    if (takes_part(node)) ++parts_of_[only_input(node)];
  late_.resize(count), early_.resize(count), done_.resize(count), readers_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const Node& node = graph_.nodes[i];
    bool late_input = false, early_inputs = true;
    for (ValueId id : node.in) {
      if (id == kNoValue || graph_.values[id].producer == kNoValue) continue;
      const uint32_t producer = graph_.values[id].producer;
      readers_[producer].push_back(i);
      early_inputs &= early_[producer] != 0;
      late_input |= late_[producer] != 0;
    }
    early_[i] = early_inputs && is_of_shapes(node);
    const bool part = takes_part(node) && parts_of_[only_input(node)] > 1;
    late_[i] = !early_[i] && (part || (is_view(node) && late_input));
  }
}

// By a Concat that may be one of all steps, but for a few at the ends.
bool Order::is_joined(uint32_t index) const {
  if (readers_[index].size() != 1) return false;
  const Node& reader = graph_.nodes[readers_[index][0]];
  return reader.type == "Concat" && static_cast<int64_t>(reader.in.size()) + 4 > length_;
}

void Order::place(uint32_t index) {
  if (done_[index]) return;
  done_[index] = 1;
  const Node& node = graph_.nodes[index];
  for (ValueId id : node.in)
    if (id != kNoValue && graph_.values[id].producer != kNoValue) place(graph_.values[id].producer);
  out_.push_back(index);
  for (uint32_t reader : readers_[index]) {
    const Node& view = graph_.nodes[reader];
    if (is_view(view) && !late_[reader] && is_joined(reader) && !among(view.out[0], graph_.outputs)) place(reader);
  }
}

std::vector<uint32_t> Order::run() {
  classify();
  const uint32_t count = static_cast<uint32_t>(graph_.nodes.size());
  for (uint32_t i = 0; i < count; ++i)
    if (early_[i]) place(i);
  for (uint32_t i = 0; i < count; ++i)
    if (!late_[i]) place(i);
  for (uint32_t i = 0; i < count; ++i) place(i);
  return std::move(out_);
}

}  // namespace

std::vector<uint32_t> order_of(const Graph& graph, const Facts& facts, int64_t length) {
  return Order(graph, facts, length).run();
}

}  // namespace anyshape::lower::reroll
