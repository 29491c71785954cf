#include "fix/resize_sizes.h"

#include <algorithm>

#include "passes/draft.h"

namespace anyshape::fixes {
namespace {

struct Sizes {
  ValueId id;
  int64_t count;
};

bool has_declared_rank(const Value& value) { return value.constant || (value.declared && value.declared->dims); }

// Those of a Resize, where the rank of what it resizes is known, not by the file, and their number is not.
std::optional<Sizes> uncounted_sizes(const Graph& graph, const Node& node, const Facts& facts) {
  constexpr size_t kSizes = 3;
  if (!is_op(node, "Resize") || !has_input(node, 0) || !has_input(node, kSizes)) return std::nullopt;
  if (has_declared_rank(graph.values[node.in[0]])) return std::nullopt;
  const auto &resized = facts[node.in[0]].dims, &sizes = facts[node.in[kSizes]].dims;
  if (!resized || (sizes && (sizes->size() != 1 || sizes->front().is_constant()))) return std::nullopt;
  const Attribute* attribute = node.attribute("axes");
  const auto* axes = attribute ? std::get_if<std::vector<int64_t>>(&attribute->value) : nullptr;
  return Sizes{node.in[kSizes], static_cast<int64_t>(axes ? axes->size() : resized->size())};
}

bool is_made_in(const Graph& graph, ValueId id) { return graph.values[id].producer != kNoValue; }

class Search {
 public:
  explicit Search(const Typed& typed) : typed_(typed) {}

  // No type can be written in the body of a function.
  bool run(const Graph& graph, const Facts& facts, bool in_function) const {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
      const auto sizes = uncounted_sizes(graph, node, facts);
      return (sizes && (in_function || !is_made_in(graph, sizes->id))) || run_bodies(node, in_function);
    });
  }

 private:
  bool run_bodies(const Node& node, bool in_function) const {
    bool found = node.body && run_body(*node.body, true);
    for_each_body(node, [&](const Graph& body) { found = found || run_body(body, in_function); });
    return found;
  }

  bool run_body(const Graph& body, bool in_function) const {
    const auto facts = typed_.bodies().find(&body);
    return facts != typed_.bodies().end() && run(body, facts->second, in_function);
  }

  const Typed& typed_;
};

}  // namespace

std::optional<Facts> with_counted_sizes(const Graph& graph, const Facts& facts) {
  std::optional<Facts> out;
  for (const Node& node : graph.nodes) {
    const auto sizes = uncounted_sizes(graph, node, facts);
    if (!sizes || !is_made_in(graph, sizes->id)) continue;
    if (!out) out = facts;
    (*out)[sizes->id] = Fact::tensor(DType::i64, {sizes->count});
  }
  return out;
}

bool has_uncounted_sizes(const Typed& typed) { return Search(typed).run(typed.graph(), typed.facts(), false); }

}  // namespace anyshape::fixes
