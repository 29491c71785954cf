#include "ir/builder_tidy.h"

#include <algorithm>
#include <unordered_map>

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

}  // namespace

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
