#include <algorithm>
#include <map>

#include "base/effort.h"
#include "check/rules.h"

namespace anyshape::rules {
namespace {

constexpr size_t kFewestSteps = 4;
constexpr size_t kMostGroups = 256;

bool is_squash(std::string_view type) { return type == "Sigmoid" || type == "Tanh" || type == "Relu"; }
bool is_product_recurrent_unrolled(std::string_view type) { return type == "MatMul" || type == "Gemm"; }

// Steps take different pieces of one value: x[0], x[1], ...
bool has_pieces(const Graph& graph, size_t count) {
  std::map<ValueId, size_t> pieces;
  for (const Node& node : graph.nodes) {
    if (node.in.empty() || node.in[0] == kNoValue) continue;
    if (node.type == "Gather" || node.type == "Slice") pieces[node.in[0]] += 1;
    if (node.type == "Split") pieces[node.in[0]] += node.out.size();
  }
  return std::any_of(pieces.begin(), pieces.end(), [&](const auto& entry) { return entry.second >= count; });
}

// Products by constant weights that are used more than a few times, by the weights.
std::map<ValueId, std::vector<size_t>> shared_products(const Typed& typed) {
  const Graph& graph = typed.graph();
  std::map<ValueId, std::vector<size_t>> groups;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!is_product_recurrent_unrolled(node.type) || node.in.size() < 2 || node.in[1] == kNoValue) continue;
    if (typed.facts()[node.in[1]].from_shapes) groups[node.in[1]].push_back(n);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.size() < kFewestSteps; });
  return groups;
}

// How many products of the group follow one another, each after a squashing of the one before.
struct Chain {
  size_t length = 0;
  size_t pending = 0;  // length reached since the last squashing
};

size_t longest_chain(const Graph& graph, const std::vector<size_t>& group, size_t& last) {
  std::vector<Chain> chains(graph.values.size());
  size_t best = 0;
  for (size_t n = group.front(); n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    Chain chain;
    for (ValueId id : node.in) {
      if (id == kNoValue) continue;
      chain.length = std::max(chain.length, chains[id].length);
      chain.pending = std::max(chain.pending, chains[id].pending);
    }
    if (is_squash(node.type)) chain.length = std::max(chain.length, std::exchange(chain.pending, 0));
    if (std::binary_search(group.begin(), group.end(), n)) {
      chain.pending = chain.length + 1;
      if (chain.pending > best) {
        best = chain.pending;
        last = n;
      }
    }
    for (ValueId id : node.out)
      if (id != kNoValue) chains[id] = chain;
  }
  return best;
}

}  // namespace

void recurrent_unrolled(const LintContext& context, Findings& out) {
  const Graph& graph = context.typed.graph();
  size_t examined = 0;
  size_t longest = 0, last = 0;
  for (const auto& [weights, group] : shared_products(context.typed)) {
    if (++examined > kMostGroups || Effort::tired()) break;
    Effort::step(static_cast<int64_t>(graph.nodes.size()) / 8);
    size_t node = 0;
    const size_t length = longest_chain(graph, group, node);
    if (length > longest) {
      longest = length;
      last = node;
    }
  }
  if (longest < kFewestSteps || !has_pieces(graph, longest)) return;
  out.add(graph.label(graph.nodes[last]),
          fmt::format("a recurrent layer is unrolled into {} steps, the last at {:?}: the length is fixed, and each "
                      "step is run by itself",
                      longest, graph.label(graph.nodes[last])),
          "export the layer as torch.nn.LSTM, GRU or RNN, not as a loop");
}

}  // namespace anyshape::rules
