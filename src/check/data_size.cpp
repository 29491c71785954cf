#include <set>

#include "check/rules.h"

namespace anyshape::rules {
namespace {

// The axes of a node's outputs that bring a new data-dependent symbol.
std::vector<std::string> new_sizes(const Typed& typed, const Facts& facts, const Node& node,
                                   std::set<std::string>& seen) {
  std::vector<std::string> out;
  for (ValueId id : node.out) {
    if (id == kNoValue || !facts[id].dims) continue;
    for (size_t i = 0; i < facts[id].rank(); ++i) {
      const Dim size = (*facts[id].dims)[i];
      for (Dim symbol : size.symbols())
        if (typed.kind(symbol) == SymbolKind::data && seen.emplace(typed.symbols().name(symbol)).second)
          out.push_back(fmt::format("axis {} of {:?} is {}", i, typed.graph().values[id].name, print(size)));
    }
  }
  return out;
}

}  // namespace

void data_dependent_size(const LintContext& context, Findings& out) {
  std::set<std::string> seen;
  const Graph& graph = context.typed.graph();
  for (const Node& node : graph.nodes) {
    const auto sizes = new_sizes(context.typed, context.typed.facts(), node, seen);
    if (sizes.empty()) continue;
    out.add(graph.label(node),
            fmt::format("{} makes sizes that depend on the data: {}", node.type, fmt::join(sizes, ", ")),
            "nothing, if it is meant; otherwise pad to a size that follows from the shapes");
  }
}

}  // namespace anyshape::rules
