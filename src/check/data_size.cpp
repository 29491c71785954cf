#include <set>

#include "check/rules.h"

namespace anyshape::rules {
namespace {

void scan(const Typed& typed, const Graph& graph, const Facts& facts, std::set<std::string>& seen, Findings& out) {
  for (const Node& node : graph.nodes) {
    for (ValueId id : node.out) {
      if (id == kNoValue || !facts[id].dims) continue;
      for (size_t i = 0; i < facts[id].rank(); ++i) {
        const Dim size = (*facts[id].dims)[i];
        for (Dim symbol : size.symbols()) {
          const std::string name(typed.symbols().name(symbol));
          if (typed.kind(symbol) != SymbolKind::data || !seen.insert(name).second) continue;
          out.add(graph.label(node),
                  fmt::format("axis {} of \"{}\" depends on the data of {}: its size is called {} here", i,
                              graph.values[id].name, node.type, print(size)),
                  "nothing, if it is meant; otherwise pad to a size that follows from the shapes");
        }
      }
    }
  }
}

}  // namespace

void data_dependent_size(const LintContext& context, Findings& out) {
  std::set<std::string> seen;
  scan(context.typed, context.typed.graph(), context.typed.facts(), seen, out);
}

}  // namespace anyshape::rules
