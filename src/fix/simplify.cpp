#include "fix/simplify.h"

#include <algorithm>
#include <unordered_map>

#include "fix/targets.h"
#include "format/onnx/walk.h"
#include "ir/defaults.h"
#include "passes/draft.h"

namespace anyshape::fixes {
namespace {

// A constant in the file may be this much larger than what it is made of.
constexpr int64_t kGrowth = 4096;

void note_constants(Draft& draft) {
  for (Fact& fact : draft.facts) {
    if (!fact.is_tensor() || fact.constant || !fact.elements) continue;
    if (Tensor tensor = fact.as_tensor()) fact.constant = std::make_shared<const Tensor>(std::move(tensor));
  }
}

void set_constant_targets(Draft& draft, Edit& edit) {
  const auto known = draft.typed.ground();
  for (size_t i = 0; i < draft.graph.nodes.size(); ++i) {
    const Node& node = draft.graph.nodes[i];
    if (!is_op(node, "Reshape") || node.in.size() < 2 || draft.constant(node.in[1])) continue;
    if (node.in[0] == kNoValue || node.out[0] == kNoValue) continue;
    const auto &from = draft.facts[node.in[0]].dims, &to = draft.facts[node.out[0]].dims;
    if (!from || !to || zero_is_a_size(node)) continue;
    const auto target = constant_target(*from, *to, known.get());
    if (!target) continue;
    const std::string_view name = edit.unused_name(draft.graph.label(node) + "_target");
    const ValueId id = draft.add_constant(name, Tensor::of_ints({static_cast<int64_t>(target->size())}, *target));
    draft.graph.nodes[i].in[1] = id;
  }
}

// The nodes of the draft in the message. Nodes keep their place, values their names.
void write_back(const Draft& draft, Edit& edit) {
  const auto name_of = [&](ValueId id) {
    return id == kNoValue ? std::string_view("") : edit.keep(draft.graph.values[id].name);
  };
  std::unordered_map<std::string_view, const Node*> makers;
  for (const Node& node : draft.graph.nodes)
    for (ValueId id : node.out)
      if (id != kNoValue) makers.emplace(draft.graph.values[id].name, &node);
  std::vector<onnx::NodeProto>& nodes = edit.graph().node;
  auto end = nodes.begin();
  for (onnx::NodeProto& node : nodes) {
    const auto made = std::find_if(node.output.begin(), node.output.end(), [](auto name) { return !name.empty(); });
    const auto maker = made == node.output.end() ? makers.end() : makers.find(*made);
    if (maker == makers.end()) continue;
    for (size_t i = 0; i < node.input.size() && i < maker->second->in.size(); ++i)
      node.input[i] = name_of(maker->second->in[i]);
    if (&*end != &node) *end = std::move(node);
    ++end;
  }
  nodes.erase(end, nodes.end());
  const Graph& before = draft.typed.graph();
  const auto uses = draft.uses();
  std::vector<std::pair<std::string, Tensor>> constants;
  for (ValueId id = 0; id < draft.graph.values.size(); ++id) {
    const Value& value = draft.graph.values[id];
    const bool there = id < before.values.size() && before.values[id].is_initializer;
    if (value.is_initializer && !there && uses[id] > 0) constants.emplace_back(value.name, *value.constant->constant);
  }
  edit.add_constants(std::move(constants));
}

void add_read(const onnx::GraphProto& graph, std::unordered_set<std::string_view>& out) {
  for (const onnx::ValueInfoProto& info : graph.output) out.insert(info.name);
  for (const onnx::NodeProto& node : graph.node) out.insert(node.input.begin(), node.input.end());
}

}  // namespace

Typed certain_facts(std::shared_ptr<const Graph> graph, const onnx::ModelProto& model) {
  constexpr int64_t kDefaults = 4;  // the first IR version in which an initializer that is an input may be overridden
  if (const auto open = optional_inputs(*graph); !open.empty() && model.ir_version.value_or(0) >= kDefaults)
    graph = without_defaults(*graph, open);
  return solve(std::move(graph), {.certain = true});
}

Status simplify(std::shared_ptr<const Graph> graph, Edit& edit) {
  const Typed typed = certain_facts(std::move(graph), edit.proto);
  Draft draft(typed);
  draft.fold_growth = kGrowth;
  draft.fold_weights = false;
  note_constants(draft);
  TRY_OK(fold_constants(draft));
  set_constant_targets(draft, edit);
  TRY_OK(remove_no_ops(draft));
  TRY_OK(share_equal_nodes(draft));
  TRY_OK(remove_dead_nodes(draft));
  write_back(draft, edit);
  drop_unused(edit);
  return {};
}

void drop_unused(Edit& edit) {
  onnx::GraphProto& graph = edit.graph();
  std::unordered_set<std::string_view> read;
  onnx::for_each_graph(graph, [&](const onnx::GraphProto& one) { add_read(one, read); });
  for (const onnx::ValueInfoProto& input : graph.input) read.insert(input.name);
  std::erase_if(graph.initializer, [&](const onnx::TensorProto& tensor) { return !read.contains(tensor.name); });
  std::erase_if(graph.sparse_initializer, [&](const onnx::SparseTensorProto& tensor) {
    return tensor.values && !read.contains(tensor.values->name);
  });
  std::unordered_set<std::string_view> made;
  for (const onnx::NodeProto& node : graph.node) made.insert(node.output.begin(), node.output.end());
  std::erase_if(graph.value_info, [&](const onnx::ValueInfoProto& info) { return !made.contains(info.name); });
}

}  // namespace anyshape::fixes
