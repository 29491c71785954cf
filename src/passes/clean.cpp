#include <algorithm>
#include <functional>
#include <unordered_set>

#include "passes/draft.h"

namespace anyshape {
namespace {

bool same_dims(const Draft& draft, ValueId a, ValueId b) {
  const Fact &x = draft.facts[a], &y = draft.facts[b];
  return x.is_tensor() && y.is_tensor() && x.dtype == y.dtype && x.dims && y.dims && *x.dims == *y.dims;
}

bool is_false(const Draft& draft, ValueId id) {
  const Tensor* tensor = draft.constant(id);
  return tensor && tensor->count() == 1 && tensor->dtype() == DType::boolean && tensor->int_at(0) == 0;
}

bool is_inference_dropout(const Draft& draft, const Node& node) {
  if (!is_op(node, "Dropout")) return false;
  if (node.version < 7) return node.integer("is_test") != 0;
  return node.in.size() < 3 || node.in[2] == kNoValue || is_false(draft, node.in[2]);
}

// The only output that anybody reads is the first input as it is.
bool passes_on(const Draft& draft, const Node& node, const std::vector<uint32_t>& uses) {
  const auto read = [&](ValueId id) { return id != kNoValue && uses[id] != 0; };
  if (node.out.empty() || node.out[0] == kNoValue || !has_input(node, 0)) return false;
  if (std::any_of(node.out.begin() + 1, node.out.end(), read)) return false;
  if (is_op(node, "Identity") || is_inference_dropout(draft, node)) return true;
  if (!same_dims(draft, node.in[0], node.out[0])) return false;
  if (node.in.size() == 1)
    for (const char* name : {"Concat", "Sum", "Max", "Min", "Mean"})
      if (is_op(node, name)) return true;
  for (const char* name : {"Cast", "CastLike", "Reshape", "Expand", "Tile", "Flatten"})
    if (is_op(node, name)) return true;
  return false;
}

}  // namespace

Status remove_no_ops(Draft& draft) {
  const auto pinned = draft.pinned();
  const auto uses = draft.uses();
  std::vector<ValueId> now(draft.graph.values.size());
  for (ValueId id = 0; id < now.size(); ++id) now[id] = id;
  std::vector<bool> dead(draft.graph.nodes.size(), false);
  for (size_t i = 0; i < draft.graph.nodes.size(); ++i) {
    Node& node = draft.graph.nodes[i];
    for (ValueId& id : node.in)
      if (id != kNoValue) id = now[id];
    if (!passes_on(draft, node, uses) || pinned.contains(node.out[0])) continue;
    now[node.out[0]] = node.in[0];
    dead[i] = true;
  }
  draft.drop(dead);
  return {};
}

namespace {

// Attributes that can be compared; nothing for tensors and graphs.
std::optional<std::string> attribute_text(const Attribute& attribute) {
  std::string out = attribute.name + "=";
  if (const auto* i = std::get_if<int64_t>(&attribute.value)) return out + fmt::format("{}", *i);
  if (const auto* f = std::get_if<float>(&attribute.value)) return out + fmt::format("{:a}", *f);
  if (const auto* s = std::get_if<std::string>(&attribute.value)) return out + fmt::format("'{}'", *s);
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&attribute.value))
    return out + fmt::format("[{}]", fmt::join(*ints, ","));
  return std::nullopt;
}

std::optional<std::string> attributes_text(const Node& node) {
  std::string out;
  for (const Attribute& attribute : node.attributes) {
    const auto text = attribute_text(attribute);
    if (!text) return std::nullopt;
    out += *text + ";";
  }
  return out;
}

// Nodes by what they compute. Those whose attributes cannot be compared are like no other.
struct Hash {
  size_t operator()(const Node* node) const {
    size_t hash = std::hash<const void*>()(node->op);
    for (ValueId id : node->in) hash = (hash ^ id) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 32);
  }
};

struct Same {
  bool operator()(const Node* a, const Node* b) const {
    if (a->op != b->op || a->version != b->version || a->in != b->in || a->out.size() != b->out.size()) return false;
    if (a->attributes.empty() && b->attributes.empty()) return true;
    const auto of_a = attributes_text(*a);
    return of_a && of_a == attributes_text(*b);
  }
};

}  // namespace

Status share_equal_nodes(Draft& draft) {
  const auto pinned = draft.pinned();
  std::vector<ValueId> now(draft.graph.values.size());
  for (ValueId id = 0; id < now.size(); ++id) now[id] = id;
  std::unordered_set<const Node*, Hash, Same> seen;
  std::vector<bool> dead(draft.graph.nodes.size(), false);
  for (size_t i = 0; i < draft.graph.nodes.size(); ++i) {
    Node& node = draft.graph.nodes[i];
    for (ValueId& id : node.in)
      if (id != kNoValue) id = now[id];
    if (!node.op || !node.op->pure || node.has_graph_attribute()) continue;
    const auto [place, first] = seen.insert(&node);
    if (first) continue;
    const Node& same = **place;
    const auto replaceable = [&](size_t k) {
      return node.out[k] == kNoValue || (!pinned.contains(node.out[k]) && same.out[k] != kNoValue);
    };
    bool all = true;
    for (size_t k = 0; k < node.out.size(); ++k) all = all && replaceable(k);
    if (!all) continue;
    for (size_t k = 0; k < node.out.size(); ++k)
      if (node.out[k] != kNoValue) now[node.out[k]] = same.out[k];
    dead[i] = true;
  }
  draft.drop(dead);
  return {};
}

Status remove_dead_nodes(Draft& draft) {
  std::vector<uint32_t> uses = draft.uses();
  std::vector<bool> dead(draft.graph.nodes.size(), false);
  for (size_t i = draft.graph.nodes.size(); i-- > 0;) {
    const Node& node = draft.graph.nodes[i];
    const auto unused = [&](ValueId id) { return id == kNoValue || uses[id] == 0; };
    const auto known = [&](ValueId id) { return id == kNoValue || draft.constant(id); };
    const bool folded =
        std::all_of(node.out.begin(), node.out.end(), known) && !node.out.empty() && !draft.is_demanding(node);
    if (!folded && !std::all_of(node.out.begin(), node.out.end(), unused)) continue;
    if (folded)
      for (ValueId id : node.out) {
        if (id == kNoValue) continue;
        draft.graph.values[id].is_initializer = true;
        draft.graph.values[id].constant = std::make_shared<const Fact>(draft.facts[id]);
      }
    dead[i] = true;
    for (ValueId id : node.in)
      if (id != kNoValue) --uses[id];
  }
  draft.drop(dead);
  return {};
}

}  // namespace anyshape
