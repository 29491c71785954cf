#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "passes/draft.h"

namespace anyshape {
namespace {

bool is_recurrent(const Node& node) {
  return (is_op(node, "LSTM") || is_op(node, "GRU") || is_op(node, "RNN")) && node.version >= 7;
}

bool has_output(const Node& node, size_t i) { return i < node.out.size() && node.out[i] != kNoValue; }

bool is_zero(const Tensor& tensor) {
  constexpr int64_t kMost = 1 << 20;
  if (tensor.dtype() != DType::f32 || tensor.count() > kMost) return false;
  const auto bytes = tensor.bytes();
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Every entry of the value is zero, whatever its sizes are.
class Zeros {
 public:
  explicit Zeros(const Draft& draft) : draft_(draft), producers_(draft.producers()) {}

  bool known(ValueId id, int depth = 0) const {
    constexpr int kDeepest = 16;
    if (const Tensor* tensor = draft_.constant(id)) return is_zero(*tensor);
    if (depth > kDeepest || producers_[id] == kNoValue) return false;
    const Node& node = draft_.graph.nodes[producers_[id]];
    if (is_op(node, "ConstantOfShape")) {
      const Attribute* value = node.attribute("value");
      return !value ||
             (std::holds_alternative<Box<Tensor>>(value->value) && is_zero(*std::get<Box<Tensor>>(value->value)));
    }
    if (is_op(node, "Concat"))
      return std::all_of(node.in.begin(), node.in.end(), [&](ValueId in) { return known(in, depth + 1); });
    for (const char* name :
         {"Expand", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"})
      if (is_op(node, name)) return has_input(node, 0) && known(node.in[0], depth + 1);
    return false;
  }

 private:
  const Draft& draft_;
  std::vector<uint32_t> producers_;
};

}  // namespace

Status drop_zero_states(Draft& draft) {
  const Zeros zeros(draft);
  for (Node& node : draft.graph.nodes) {
    if (!is_recurrent(node) || draft.is_demanding(node)) continue;
    for (size_t i : {size_t{5}, size_t{6}})
      if (has_input(node, i) && zeros.known(node.in[i])) node.in[i] = kNoValue;
    while (!node.in.empty() && node.in.back() == kNoValue) node.in.pop_back();
  }
  return {};
}

namespace {

bool transposes(const Node& node, const std::vector<int64_t>& axes) {
  const Attribute* perm = is_op(node, "Transpose") ? node.attribute("perm") : nullptr;
  const auto* given = perm ? std::get_if<std::vector<int64_t>>(&perm->value) : nullptr;
  return given && *given == axes;
}
bool swaps_first_axes(const Node& node) { return transposes(node, {1, 0, 2}); }
bool moves_directions_back(const Node& node) { return transposes(node, {0, 2, 1, 3}); }

// Puts the batch before the time in layers whose results are wanted so: what else would be copied is then in place.
class BatchFirst {
 public:
  explicit BatchFirst(Draft& draft) : draft_(draft), pinned_(draft.pinned()), uses_(draft.uses()) {
    readers_.resize(draft.graph.values.size());
    for (uint32_t i = 0; i < draft.graph.nodes.size(); ++i)
      for (ValueId id : draft.graph.nodes[i].in)
        if (id != kNoValue) readers_[id].push_back(i);
    for (const Node& node : draft.graph.nodes)
      if (swaps_first_axes(node)) turned_.emplace(node.out[0], node.in[0]);
    dead_.assign(draft.graph.nodes.size(), false);
  }

  void run() {
    for (uint32_t i = 0; i < draft_.graph.nodes.size(); ++i)
      if (const auto chain = chain_of(draft_.graph.nodes[i])) dead_[i] = rewrite(i, *chain);
    std::vector<Node> nodes;
    for (uint32_t i = 0; i < draft_.graph.nodes.size(); ++i) {
      if (const auto made = made_.find(i); made != made_.end())
        for (Node& node : made->second) nodes.push_back(std::move(node));
      if (!dead_[i]) nodes.push_back(std::move(draft_.graph.nodes[i]));
    }
    draft_.graph.nodes = std::move(nodes);
  }

 private:
  // From the output Y of a layer to the value that has the directions side by side, time first.
  struct Chain {
    std::vector<uint32_t> nodes;
    ValueId joined;
  };

  const Dims* dims_of(ValueId id) const {
    const Fact& fact = draft_.facts[id];
    return fact.is_tensor() && fact.dims ? &*fact.dims : nullptr;
  }
  // The only node that reads a value which nobody else sees; kNoValue: there is none.
  uint32_t only_reader(ValueId id) const {
    if (pinned_.contains(id) || uses_[id] != 1 || readers_[id].size() != 1) return kNoValue;
    const uint32_t reader = readers_[id][0];
    return draft_.is_demanding(draft_.graph.nodes[reader]) ? kNoValue : reader;
  }

  std::optional<Chain> chain_of(const Node& node) const {
    if (!is_recurrent(node) || draft_.is_demanding(node) || !has_output(node, 0)) return std::nullopt;
    if (node.version >= 14 && node.integer("layout") != 0) return std::nullopt;
    if (!takes_op(draft_.target, "", node.type, kVersion)) return std::nullopt;
    const Dims *x = dims_of(node.in[0]), *y = dims_of(node.out[0]);
    if (!x || x->size() != 3 || !y || y->size() != 4 || !(*y)[1].constant() || !(*y)[3].constant()) return std::nullopt;
    Chain chain;
    uint32_t next = only_reader(node.out[0]);
    if (next == kNoValue) return std::nullopt;
    const bool moved = moves_directions_back(draft_.graph.nodes[next]);
    if (moved) {
      chain.nodes.push_back(next);
      next = only_reader(draft_.graph.nodes[next].out[0]);
    }
    if (next == kNoValue || !joins(draft_.graph.nodes[next], *y, moved)) return std::nullopt;
    chain.nodes.push_back(next);
    chain.joined = draft_.graph.nodes[next].out[0];
    return moved || wants_batch_first(chain.joined) ? std::optional(chain) : std::nullopt;
  }

  // Gives [time, batch, directions * units].
  bool joins(const Node& node, const Dims& y, bool moved) const {
    if (!is_op(node, "Reshape") && !is_op(node, "Squeeze")) return false;
    const int64_t directions = *y[1].constant(), units = *y[3].constant();
    if (!moved && directions != 1) return false;
    const Dims* out = dims_of(node.out[0]);
    return out && out->size() == 3 && (*out)[0] == y[0] && (*out)[1] == y[2] &&
           (*out)[2].constant() == std::optional(directions * units);
  }

  // All that read it swap its axes back, or take any strides.
  bool wants_batch_first(ValueId joined) const {
    if (pinned_.contains(joined)) return false;
    return std::all_of(readers_[joined].begin(), readers_[joined].end(), [&](uint32_t i) {
      const Node& reader = draft_.graph.nodes[i];
      return (swaps_first_axes(reader) && !draft_.is_demanding(reader)) ||
             (is_recurrent(reader) && reader.in[0] == joined);
    });
  }

  ValueId add_value(std::string name, DType dtype, Dims dims) {
    Value value;
    value.name = std::move(name);
    draft_.graph.values.push_back(std::move(value));
    draft_.facts.push_back(Fact::tensor(dtype, std::move(dims)));
    return static_cast<ValueId>(draft_.graph.values.size() - 1);
  }

  Node make(std::string_view type, int64_t version, std::vector<ValueId> in, ValueId out,
            const std::string& name) const {
    Node node;
    set_op(node, "", type, version);
    node.name = name;
    node.in = std::move(in);
    node.out = {out};
    return node;
  }
  Node swapped(ValueId in, ValueId out, const std::string& name) const {
    Node node = make("Transpose", 13, {in}, out, name);
    node.attributes.emplace_back("perm", std::vector<int64_t>{1, 0, 2});
    return node;
  }
  ValueId batch_first_value(ValueId id, size_t time, size_t batch) {
    Dims dims = *dims_of(id);
    std::swap(dims[time], dims[batch]);
    return add_value(draft_.graph.values[id].name + "/batch_first", draft_.facts[id].dtype, std::move(dims));
  }

  // The input with its first axes swapped: what it was made of, or a window on it.
  ValueId turned_input(ValueId id, std::vector<Node>& nodes, const std::string& name) {
    if (const auto known = turned_.find(id); known != turned_.end()) return known->second;
    const ValueId out = batch_first_value(id, 0, 1);
    nodes.push_back(swapped(id, out, name));
    return turned_[id] = out;
  }

  // The final state, time first again.
  void turn_state_back(Node& node, size_t i, std::vector<Node>& after) {
    const ValueId state = node.out[i], turned = batch_first_value(state, 0, 1);
    const std::string& name = node.name;
    node.out[i] = turned;
    if ((*dims_of(state))[0].constant() != std::optional<int64_t>(1)) {
      after.push_back(swapped(turned, state, name));
      return;
    }
    const ValueId rows = add_value(draft_.graph.values[state].name + "/rows", draft_.facts[state].dtype,
                                   {(*dims_of(state))[1], (*dims_of(state))[2]});
    after.push_back(make("Squeeze", 13, {turned, ints({1})}, rows, name));
    after.push_back(make("Unsqueeze", 13, {rows, ints({0})}, state, name));
  }
  ValueId ints(const std::vector<int64_t>& values) {
    return draft_.add_constant(fmt::format("ints_{}", fmt::join(values, "_")),
                               Tensor::of_ints({static_cast<int64_t>(values.size())}, values));
  }

  bool has_rank_three(const Node& node) const {
    const auto fits = [&](ValueId id) { return dims_of(id) && dims_of(id)->size() == 3; };
    for (size_t i : {size_t{5}, size_t{6}})
      if (has_input(node, i) && !fits(node.in[i])) return false;
    for (size_t i : {size_t{1}, size_t{2}})
      if (has_output(node, i) && !fits(node.out[i])) return false;
    return true;
  }

  bool rewrite(uint32_t index, const Chain& chain) {
    Node node = draft_.graph.nodes[index];
    if (!has_rank_three(node)) return false;
    std::vector<Node>& nodes = made_[index];
    std::vector<Node> after;
    for (size_t i : {size_t{0}, size_t{5}, size_t{6}})
      if (has_input(node, i)) node.in[i] = turned_input(node.in[i], nodes, node.name);
    for (size_t i : {size_t{1}, size_t{2}})
      if (has_output(node, i)) turn_state_back(node, i, after);
    turn_output(node, chain, after);
    for (uint32_t dead : chain.nodes) dead_[dead] = true;
    set_op(node, "", node.type, kVersion);
    std::erase_if(node.attributes, [](const Attribute& a) { return a.name == "layout"; });
    node.attributes.emplace_back("layout", int64_t{1});
    nodes.push_back(std::move(node));
    for (Node& one : after) nodes.push_back(std::move(one));
    return true;
  }

  void turn_output(Node& node, const Chain& chain, std::vector<Node>& after) {
    const Dims y = *dims_of(node.out[0]);
    const int64_t side_by_side = *y[1].constant() * *y[3].constant();
    const DType dtype = draft_.facts[node.out[0]].dtype;
    node.out[0] = add_value(draft_.graph.values[node.out[0]].name + "/batch_first", dtype, {y[2], y[0], y[1], y[3]});
    const ValueId joined = batch_first_value(chain.joined, 0, 1);
    after.push_back(make("Reshape", 14, {node.out[0], ints({0, 0, side_by_side})}, joined, node.name));
    turned_[chain.joined] = joined;
    after.push_back(swapped(joined, chain.joined, node.name));
    for (uint32_t reader : readers_[chain.joined]) give_directly(reader, node.out[0], side_by_side);
  }

  // One that swaps the axes back reads what is there already.
  void give_directly(uint32_t reader, ValueId y, int64_t side_by_side) {
    Node& node = draft_.graph.nodes[reader];
    if (!swaps_first_axes(node) || draft_.is_demanding(node)) return;
    node = make("Reshape", 14, {y, ints({0, 0, side_by_side})}, node.out[0], node.name);
  }

  static constexpr int64_t kVersion = 14;
  Draft& draft_;
  std::unordered_set<ValueId> pinned_;
  std::vector<uint32_t> uses_;
  std::vector<std::vector<uint32_t>> readers_;  // nodes
  std::vector<bool> dead_;
  std::unordered_map<ValueId, ValueId> turned_;           // the same with its first axes swapped
  std::unordered_map<uint32_t, std::vector<Node>> made_;  // to stand where a node was
};

}  // namespace

Status put_batch_first(Draft& draft) {
  if (std::any_of(draft.graph.nodes.begin(), draft.graph.nodes.end(), is_recurrent)) BatchFirst(draft).run();
  return {};
}

}  // namespace anyshape
