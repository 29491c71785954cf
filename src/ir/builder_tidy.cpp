#include "ir/builder_tidy.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/graph.h"
#include "ir/relevance.h"

namespace anyshape {
namespace {

bool broadcasts(const Node& node) {
  static constexpr std::string_view kTypes[] = {
      "Add",  "And", "BitwiseAnd",  "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual",
      "Less", "Max", "LessOrEqual", "Mean",      "Min",        "Mod", "Mul",   "Or",      "Pow",
      "Sub",  "Sum", "Where",       "Xor"};
  return node.domain.empty() && std::find(std::begin(kTypes), std::end(kTypes), node.type) != std::end(kTypes);
}

// The node's result keeps its sizes when input `at` is `instead`: each is still given by some input.
bool keeps_sizes(const Node& node, const Facts& facts, size_t at, ValueId instead) {
  if (node.out.size() != 1 || !facts[node.out[0]].dims) return false;
  const Dims& out = *facts[node.out[0]].dims;
  std::vector<bool> given(out.size());
  for (size_t i = 0; i < out.size(); ++i) given[i] = out[i] == Dim(1);
  for (size_t k = 0; k < node.in.size(); ++k) {
    const ValueId id = k == at ? instead : node.in[k];
    if (id == kNoValue || !facts[id].dims || facts[id].dims->size() > out.size()) return false;
    const Dims& dims = *facts[id].dims;
    const size_t added = out.size() - dims.size();
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] == out[i + added]) given[i + added] = true;
  }
  return std::all_of(given.begin(), given.end(), [](bool g) { return g; });
}

void mark_live(const Node& node, std::vector<bool>& live) {
  for (ValueId id : node.in)
    if (id != kNoValue) live[id] = true;
  for_each_body(node, [&](const Graph& body) {
    for (const auto& capture : body.captures) live[capture.outer] = true;
  });
}

using NewIds = std::vector<ValueId>;  // by old id; kNoValue: gone

// The values that something speaks of, in their order.
NewIds kept_values(const Graph& graph) {
  std::vector<bool> kept(graph.values.size());
  const auto keep = [&](const std::vector<ValueId>& ids) {
    for (ValueId id : ids)
      if (id != kNoValue) kept[id] = true;
  };
  keep(graph.inputs);
  keep(graph.outputs);
  for (const auto& capture : graph.captures) kept[capture.inner] = true;
  for (const Node& node : graph.nodes) {
    keep(node.out);
    mark_live(node, kept);
  }
  NewIds out(kept.size(), kNoValue);
  ValueId next = 0;
  for (ValueId id = 0; id < kept.size(); ++id)
    if (kept[id]) out[id] = next++;
  return out;
}

template <class T>
void keep_those(std::vector<T>& all, const NewIds& ids) {
  size_t next = 0;
  for (size_t i = 0; i < all.size(); ++i)
    if (ids[i] != kNoValue) std::swap(all[next++], all[i]);
  all.resize(next);
}

void renumber(std::vector<ValueId>& ids, const NewIds& to) {
  for (ValueId& id : ids)
    if (id != kNoValue) id = to[id];
}

// The bodies of a graph that is being made, each once: two nodes may have the same. Nobody else has them yet.
std::vector<Graph*> bodies_of(const Graph& graph) {
  std::vector<Graph*> out;
  std::unordered_set<const Graph*> seen;
  for (const Node& node : graph.nodes)
    for_each_body(node, [&](const Graph& body) {
      if (seen.insert(&body).second) out.push_back(const_cast<Graph*>(&body));
    });
  return out;
}

void drop_values(Graph& graph, Facts* facts) {
  const NewIds ids = kept_values(graph);
  keep_those(graph.values, ids);
  if (facts) keep_those(*facts, ids);
  renumber(graph.inputs, ids);
  renumber(graph.outputs, ids);
  for (auto& capture : graph.captures) capture.inner = ids[capture.inner];
  for (Node& node : graph.nodes) {
    renumber(node.in, ids);
    renumber(node.out, ids);
  }
  for (Graph* body : bodies_of(graph))
    for (auto& capture : body->captures) {
      capture.outer = ids[capture.outer];
      body->values[capture.inner].name = graph.values[capture.outer].name;
    }
}

// What a body gives may be read outside of it.
void settle_body(Graph& body);

void finish_anew(Graph& graph, const std::vector<ValueId>& relevant) {
  for (Value& value : graph.values) value.shape_relevant = false;
  for (ValueId id : relevant) graph.values[id].shape_relevant = true;
  for (Graph* body : bodies_of(graph)) settle_body(*body);
  graph.finish();
}

void settle_body(Graph& body) {
  drop_values(body, nullptr);
  finish_anew(body, body.outputs);
}

Declared declared_as(const Fact& fact) {
  Declared out{fact.kind, fact.dtype, {}, {}};
  if (fact.item) out.item = std::make_shared<const Declared>(declared_as(*fact.item));
  if (!fact.dims) return out;
  out.dims.emplace();
  for (Dim size : *fact.dims) {
    const bool named = !size.is_constant() && !size.is_unknown();
    out.dims->push_back({size.constant(), !named             ? ""
                                          : size.is_symbol() ? std::string(symbol_name(size))
                                                             : print(size)});
  }
  return out;
}

// What comes into bodies from outside and no node makes is declared there as it is outside.
void declare_captures(const Graph& graph) {
  for (Graph* body : bodies_of(graph)) {
    for (const auto& capture : body->captures)
      if (const Value& outer = graph.values[capture.outer]; outer.producer == kNoValue)
        body->values[capture.inner].declared = outer.declared;
    declare_captures(*body);
  }
}

}  // namespace

void drop_dead(Graph& graph) {
  std::vector<bool> live(graph.values.size());
  for (ValueId id : graph.outputs) live[id] = true;
  std::vector<bool> keep(graph.nodes.size());
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    keep[n] = std::any_of(node.out.begin(), node.out.end(), [&](ValueId id) { return id != kNoValue && live[id]; });
    if (keep[n]) mark_live(node, live);
  }
  std::vector<Node> nodes;
  for (size_t n = 0; n < keep.size(); ++n)
    if (keep[n]) nodes.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(nodes);
  std::erase_if(graph.captures, [&](const Graph::Capture& c) { return !live[c.inner]; });
  for (ValueId id = 0; id < graph.values.size(); ++id)
    if (graph.values[id].is_initializer && !live[id]) graph.values[id].is_initializer = false;
}

void settle(Graph& graph, Facts& facts) {
  drop_values(graph, &facts);
  finish_anew(graph, {});
  narrow_relevance(graph);
}

void resolve(Graph& graph, const std::shared_ptr<const OpTable>& ops) {
  graph.ops = ops;
  for (Node& node : graph.nodes) node.op = ops->find(node.domain, node.type, node.version);
  for (Graph* body : bodies_of(graph)) resolve(*body, ops);
}

void declare_ends(Graph& graph, const Facts& facts) {
  for (const auto* ends : {&graph.inputs, &graph.outputs})
    for (ValueId id : *ends) graph.values[id].declared = declared_as(facts[id]);
  declare_captures(graph);
}

void skip_expands(Graph& graph, const Facts& facts) {
  std::unordered_map<ValueId, ValueId> source;  // of an Expand
  for (Node& node : graph.nodes) {
    if (node.domain.empty() && node.type == "Expand" && node.in.size() == 2) {
      source[node.out[0]] = node.in[0];
      continue;
    }
    if (!broadcasts(node)) continue;
    for (size_t k = 0; k < node.in.size(); ++k) {
      const auto it = source.find(node.in[k]);
      if (it != source.end() && keeps_sizes(node, facts, k, it->second)) node.in[k] = it->second;
    }
  }
}

}  // namespace anyshape
