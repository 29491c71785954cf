#include "kernels/forest.h"

#include <algorithm>
#include <cmath>

namespace anyshape::kernels {
namespace {

bool holds(const Forest& forest, const Forest::Node& node, double x) {
  switch (node.test) {
    case Forest::Test::leq:
      return x <= node.split;
    case Forest::Test::lt:
      return x < node.split;
    case Forest::Test::gte:
      return x >= node.split;
    case Forest::Test::gt:
      return x > node.split;
    case Forest::Test::eq:
      return x == node.split;
    case Forest::Test::neq:
      return x != node.split;
    case Forest::Test::member: {
      const auto members = std::span(forest.members).subspan(node.first, node.count);
      return std::find(members.begin(), members.end(), x) != members.end();
    }
    case Forest::Test::leaf:
      break;
  }
  return false;
}

Result<const Forest::Node*> leaf_of(const Forest& forest, int64_t root, std::span<const double> row) {
  const Forest::Node* node = &forest.nodes[static_cast<size_t>(root)];
  for (size_t steps = 0; node->test != Forest::Test::leaf; ++steps) {
    if (steps > forest.nodes.size()) return refuse("treeensemble.cycle", "the nodes of a tree form a cycle");
    if (node->feature < 0 || static_cast<size_t>(node->feature) >= row.size())
      return refuse("treeensemble.feature", "a node looks at feature {}, there are {}", node->feature, row.size());
    const double x = row[static_cast<size_t>(node->feature)];
    const bool yes = holds(forest, *node, x) || (node->missing_is_true && std::isnan(x));
    node = &forest.nodes[static_cast<size_t>(yes ? node->if_true : node->if_false)];
  }
  return node;
}

void add_vote(const Forest& forest, const Forest::Vote& vote, ForestScores& out) {
  const auto target = static_cast<size_t>(vote.target);
  double& score = out.score[target];
  if (!out.voted[target])
    score = vote.weight;
  else if (forest.aggregate == Forest::Aggregate::min)
    score = std::min(score, vote.weight);
  else if (forest.aggregate == Forest::Aggregate::max)
    score = std::max(score, vote.weight);
  else
    score += vote.weight;
  if (forest.in_float) score = static_cast<double>(static_cast<float>(score));
  out.voted[target] = true;
}

}  // namespace

Result<ForestScores> evaluate(const Forest& forest, std::span<const double> row, size_t targets) {
  ForestScores out{Temporary<double>(targets), Temporary<uint8_t>(targets)};
  for (int64_t root : forest.roots) {
    TRY(const Forest::Node* leaf, leaf_of(forest, root, row));
    for (size_t i = 0; i < leaf->count; ++i) add_vote(forest, forest.votes[leaf->first + i], out);
  }
  if (forest.aggregate == Forest::Aggregate::average)
    for (double& score : out.score) score /= static_cast<double>(forest.roots.size());
  return out;
}

}  // namespace anyshape::kernels
