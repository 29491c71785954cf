#include "passes/draft.h"

#include <algorithm>

#include "ops/all.h"

namespace anyshape {
namespace {

template <class Visit>
void for_each_capture(const Graph& graph, Visit visit) {
  for (const Node& node : graph.nodes)
    for_each_body(node, [&](const Graph& body) {
      for (const auto& capture : body.captures) visit(capture.outer);
    });
}

}  // namespace

Draft::Draft(const Typed& source, const Target& engine)
    : typed(source), target(engine), graph(source.graph()), facts(source.facts()) {
  // Errors name the nodes of the source, whatever is left around them.
  for (size_t i = 0; i < graph.nodes.size(); ++i) graph.nodes[i].name = source.graph().label(source.graph().nodes[i]);
  demanding = source.unanswered();
  for (const Requirement& r : source.requirements())
    if (asked_at_run_time(r)) demanding.insert(r.site);
}

std::vector<uint32_t> Draft::uses() const {
  std::vector<uint32_t> out(graph.values.size(), 0);
  for (const Node& node : graph.nodes)
    for (ValueId id : node.in)
      if (id != kNoValue) ++out[id];
  for (ValueId id : graph.outputs) ++out[id];
  for_each_capture(graph, [&](ValueId id) { ++out[id]; });
  for (ValueId id : demanding)
    if (id != kNoValue) ++out[id];
  return out;
}

std::unordered_set<ValueId> Draft::pinned() const {
  std::unordered_set<ValueId> out(graph.outputs.begin(), graph.outputs.end());
  for_each_capture(graph, [&](ValueId id) { out.insert(id); });
  out.insert(demanding.begin(), demanding.end());
  return out;
}

std::vector<uint32_t> Draft::producers() const {
  std::vector<uint32_t> out(graph.values.size(), kNoValue);
  for (uint32_t i = 0; i < graph.nodes.size(); ++i)
    for (ValueId id : graph.nodes[i].out)
      if (id != kNoValue) out[id] = i;
  return out;
}

const Graph* Draft::source_of(const Graph* body) const {
  const auto found = sources.find(body);
  return found == sources.end() ? body : found->second;
}

ValueId Draft::add_constant(std::string_view name, Tensor tensor) {
  Value value;
  value.name = name;
  value.is_initializer = true;
  value.constant = std::make_shared<const Fact>(Fact::of_constant(std::move(tensor)));
  facts.push_back(*value.constant);
  graph.values.push_back(std::move(value));
  return static_cast<ValueId>(graph.values.size() - 1);
}

ValueId Draft::add_value(std::string_view name, Fact fact) {
  graph.values.emplace_back().name = name;
  facts.push_back(std::move(fact));
  return static_cast<ValueId>(graph.values.size() - 1);
}

const Tensor* Draft::constant(ValueId id) const {
  return id == kNoValue || !facts[id].constant ? nullptr : facts[id].constant.get();
}

void Draft::drop(const std::vector<bool>& dead) {
  const auto first = std::find(dead.begin(), dead.end(), true);
  size_t kept = static_cast<size_t>(first - dead.begin());
  for (size_t i = kept; i < graph.nodes.size(); ++i)
    if (!dead[i]) graph.nodes[kept++] = std::move(graph.nodes[i]);
  graph.nodes.resize(kept);
}

bool takes_op(const Target& target, std::string_view domain, std::string_view type, int64_t version) {
  const OpDef* op = all_ops().find(domain, type, version);
  return op && target.has_kernel(*op);
}

void set_op(Node& node, std::string_view domain, std::string_view type, int64_t version) {
  node.domain = std::string(domain);
  node.type = std::string(type);
  node.version = version;
  node.op = all_ops().find(domain, type, version);
}

Node identity(ValueId from, ValueId to, std::string_view name) {
  Node node;
  set_op(node, "", "Identity", 16);
  node.name = name;
  node.in = {from};
  node.out = {to};
  return node;
}

bool is_op(const Node& node, std::string_view name) {
  return node.op && node.op->domain.empty() && node.op->name == name;
}

}  // namespace anyshape
