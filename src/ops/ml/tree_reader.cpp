#include <algorithm>
#include <optional>
#include <unordered_map>

#include "kernels/reals.h"
#include "ops/ml/trees.h"

namespace anyshape::ops {
namespace {

using kernels::Forest;

// Attribute `name` as a list of floats, or its twin `name`_as_tensor.
Result<Temporary<double>> numbers_of(const Call& call, const std::string& name) {
  if (const Tensor* tensor = call.version() >= 3 ? call.tensor(name + "_as_tensor") : nullptr)
    return kernels::to_reals(*tensor);
  const auto* list = call.floats(name);
  return list ? Temporary<double>(list->begin(), list->end()) : Temporary<double>();
}

Result<std::span<const int64_t>> ints_of_size(const Call& call, std::string_view name, size_t size) {
  const auto* list = call.ints(name);
  const size_t given = list ? list->size() : 0;
  if (given != size) return refuse("treeensemble.nodes", "{} has {} entries, {} are needed", name, given, size);
  return list ? std::span<const int64_t>(*list) : std::span<const int64_t>();
}

Result<Forest::Test> test_of(std::string_view mode) {
  constexpr std::pair<std::string_view, Forest::Test> kModes[] = {
      {"BRANCH_LEQ", Forest::Test::leq}, {"BRANCH_LT", Forest::Test::lt}, {"BRANCH_GTE", Forest::Test::gte},
      {"BRANCH_GT", Forest::Test::gt},   {"BRANCH_EQ", Forest::Test::eq}, {"BRANCH_NEQ", Forest::Test::neq},
      {"LEAF", Forest::Test::leaf}};
  for (const auto& [name, test] : kModes)
    if (name == mode) return test;
  return refuse("treeensemble.mode", "the mode {:?} does not exist", mode);
}

// Nodes by tree and number.
struct NodeKey {
  int64_t tree, node;
  bool operator==(const NodeKey&) const = default;
};
struct NodeHash {
  size_t operator()(const NodeKey& key) const {
    return std::hash<int64_t>()(key.tree * int64_t{0x9E3779B1} ^ key.node);
  }
};

class NodeIndex {
 public:
  // `roots`: the first node of each tree.
  NodeIndex(std::span<const int64_t> trees, std::span<const int64_t> ids, Temporary<int64_t>& roots) {
    for (size_t i = 0; i < trees.size(); ++i) {
      if (i == 0 || trees[i] != trees[i - 1]) runs_.push_back({trees[i], static_cast<int64_t>(i), 0});
      in_order_ &= ids[i] == runs_.back().count++;
    }
    for (size_t i = 1; i < runs_.size(); ++i) in_order_ &= runs_[i - 1].tree < runs_[i].tree;
    if (!in_order_) index_all(trees, ids, roots);
    for (size_t i = 0; in_order_ && i < runs_.size(); ++i) roots.push_back(runs_[i].first);
  }

  // Its place, or nothing.
  std::optional<int64_t> find(int64_t tree, int64_t node) {
    if (!in_order_) {
      const auto found = index_.find({tree, node});
      return found == index_.end() ? std::nullopt : std::optional(found->second);
    }
    if (runs_.empty()) return std::nullopt;
    if (runs_[last_].tree != tree) {
      const auto run = std::ranges::lower_bound(runs_, tree, {}, &Run::tree);
      if (run == runs_.end() || run->tree != tree) return std::nullopt;
      last_ = static_cast<size_t>(run - runs_.begin());
    }
    if (node < 0 || node >= runs_[last_].count) return std::nullopt;
    return runs_[last_].first + node;
  }

 private:
  struct Run {
    int64_t tree, first, count;
  };

  void index_all(std::span<const int64_t> trees, std::span<const int64_t> ids, Temporary<int64_t>& roots) {
    std::unordered_map<int64_t, bool> seen;
    for (size_t i = 0; i < ids.size(); ++i) {
      index_[{trees[i], ids[i]}] = static_cast<int64_t>(i);
      if (!seen[trees[i]]) roots.push_back(static_cast<int64_t>(i));
      seen[trees[i]] = true;
    }
  }

  // Most files have the nodes of a tree together, numbered from 0 on, and trees in order.
  bool in_order_ = true;
  std::vector<Run> runs_;
  size_t last_ = 0;
  std::unordered_map<NodeKey, int64_t, NodeHash> index_;
};

// The form with one list entry per node, leaves among them, and votes in lists of their own.
class ListForm {
 public:
  explicit ListForm(const Call& call) : call_(call) {}

  Result<Forest> read(std::string_view prefix, int64_t targets) {
    TRY_OK(read_nodes());
    TRY_OK(link());
    TRY_OK(read_votes(std::string(prefix), targets));
    return std::move(forest_);
  }

 private:
  Status read_nodes() {
    const auto* modes = call_.strings("nodes_modes");
    const size_t size = modes ? modes->size() : 0;
    TRY(trees_, ints_of_size(call_, "nodes_treeids", size));
    TRY(ids_, ints_of_size(call_, "nodes_nodeids", size));
    TRY(const auto features, ints_of_size(call_, "nodes_featureids", size));
    TRY(const auto splits, numbers_of(call_, "nodes_values"));
    if (splits.size() != size)
      return refuse("treeensemble.nodes", "there are {} splits for {} nodes", splits.size(), size);
    const auto* missing = call_.ints("nodes_missing_value_tracks_true");
    forest_.nodes.reserve(size);
    for (size_t i = 0; i < size; ++i) {
      Forest::Node node;
      TRY(node.test, test_of((*modes)[i]));
      node.feature = features[i];
      node.split = splits[i];
      node.missing_is_true = missing && i < missing->size() && (*missing)[i] != 0;
      forest_.nodes.push_back(node);
    }
    return {};
  }

  // The first node of a tree is its root.
  Status link() {
    TRY(const auto if_true, ints_of_size(call_, "nodes_truenodeids", ids_.size()));
    TRY(const auto if_false, ints_of_size(call_, "nodes_falsenodeids", ids_.size()));
    index_.emplace(trees_, ids_, forest_.roots);
    for (size_t i = 0; i < ids_.size(); ++i) {
      Forest::Node& node = forest_.nodes[i];
      if (node.test == Forest::Test::leaf) continue;
      TRY(node.if_true, find(trees_[i], if_true[i]));
      TRY(node.if_false, find(trees_[i], if_false[i]));
    }
    return {};
  }

  Result<int64_t> find(int64_t tree, int64_t node) {
    if (const auto found = index_->find(tree, node)) return *found;
    return refuse("treeensemble.nodes", "tree {} has no node {}", tree, node);
  }

  Status read_votes(const std::string& prefix, int64_t targets) {
    TRY(const auto weights, numbers_of(call_, prefix + "_weights"));
    TRY(const auto trees, ints_of_size(call_, prefix + "_treeids", weights.size()));
    TRY(const auto nodes, ints_of_size(call_, prefix + "_nodeids", weights.size()));
    TRY(const auto ids, ints_of_size(call_, prefix + "_ids", weights.size()));
    Temporary<std::pair<int64_t, size_t>> by_node;
    by_node.reserve(weights.size());
    forest_.votes.reserve(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
      if (ids[i] < 0 || ids[i] >= targets)
        return refuse("treeensemble.target", "a leaf votes for {} of {} targets", ids[i], targets);
      TRY(const int64_t node, find(trees[i], nodes[i]));
      by_node.emplace_back(node, i);
    }
    // In order of nodes, and of the file for each.
    if (!std::is_sorted(by_node.begin(), by_node.end())) std::sort(by_node.begin(), by_node.end());
    for (const auto& [at, i] : by_node) {
      Forest::Node& node = forest_.nodes[static_cast<size_t>(at)];
      if (node.test != Forest::Test::leaf) continue;
      if (node.count++ == 0) node.first = forest_.votes.size();
      forest_.votes.push_back({ids[i], weights[i]});
    }
    return {};
  }

  const Call& call_;
  Forest forest_;
  std::span<const int64_t> trees_, ids_;
  std::optional<NodeIndex> index_;
};

Result<Forest::Aggregate> aggregate_of(const Call& call) {
  constexpr std::pair<std::string_view, Forest::Aggregate> kNames[] = {{"AVERAGE", Forest::Aggregate::average},
                                                                       {"SUM", Forest::Aggregate::sum},
                                                                       {"MIN", Forest::Aggregate::min},
                                                                       {"MAX", Forest::Aggregate::max}};
  const std::string_view text = call.s("aggregate_function");
  for (const auto& [name, value] : kNames)
    if (name == text) return value;
  return refuse("treeensemble.aggregate", "the function {:?} does not exist", text);
}

// The form of version 5: inner nodes and leaves in two lists.
class SplitForm {
 public:
  explicit SplitForm(const Call& call) : call_(call) {}

  Result<Forest> read(int64_t targets) {
    TRY_OK(read_nodes());
    TRY_OK(read_leaves(targets));
    TRY_OK(read_members());
    TRY_OK(read_roots());
    const int64_t aggregate = call_.i("aggregate_function");
    if (aggregate < 0 || aggregate > 3)
      return refuse("treeensemble.aggregate", "the function {} does not exist", aggregate);
    forest_.aggregate = static_cast<Forest::Aggregate>(aggregate);
    return std::move(forest_);
  }

 private:
  Result<Temporary<double>> reals(std::string_view name) const {
    const Tensor* tensor = call_.tensor(name);
    if (!tensor) return Temporary<double>();
    return kernels::to_reals(*tensor);
  }

  Status read_nodes() {
    TRY(const auto splits, reals("nodes_splits"));
    TRY(const auto modes, reals("nodes_modes"));
    inner_ = splits.size();
    if (modes.size() != inner_)
      return refuse("treeensemble.nodes", "there are {} modes for {} nodes", modes.size(), inner_);
    TRY(const auto features, ints_of_size(call_, "nodes_featureids", inner_));
    const auto* missing = call_.ints("nodes_missing_value_tracks_true");
    for (size_t i = 0; i < inner_; ++i) {
      if (!(modes[i] >= 0 && modes[i] <= 6)) return refuse("treeensemble.mode", "the mode {} does not exist", modes[i]);
      Forest::Node node;
      node.test = static_cast<Forest::Test>(static_cast<int>(modes[i]));
      node.feature = features[i];
      node.split = splits[i];
      node.missing_is_true = missing && i < missing->size() && (*missing)[i] != 0;
      forest_.nodes.push_back(node);
    }
    return {};
  }

  // Leaf i is node `inner_` + i.
  Status read_leaves(int64_t targets) {
    TRY(const auto weights, reals("leaf_weights"));
    TRY(const auto ids, ints_of_size(call_, "leaf_targetids", weights.size()));
    for (size_t i = 0; i < weights.size(); ++i) {
      if (ids[i] < 0 || ids[i] >= targets)
        return refuse("treeensemble.target", "a leaf votes for {} of {} targets", ids[i], targets);
      Forest::Node leaf;
      leaf.first = i;
      leaf.count = 1;
      forest_.nodes.push_back(leaf);
      forest_.votes.push_back({ids[i], weights[i]});
    }
    TRY_OK(link("nodes_truenodeids", "nodes_trueleafs", &Forest::Node::if_true));
    return link("nodes_falsenodeids", "nodes_falseleafs", &Forest::Node::if_false);
  }

  Status link(std::string_view ids, std::string_view leafs, int64_t Forest::Node::*child) {
    TRY(const auto to, ints_of_size(call_, ids, inner_));
    TRY(const auto is_leaf, ints_of_size(call_, leafs, inner_));
    for (size_t i = 0; i < inner_; ++i) {
      const size_t first = is_leaf[i] ? inner_ : 0, count = is_leaf[i] ? forest_.nodes.size() - inner_ : inner_;
      if (to[i] < 0 || static_cast<size_t>(to[i]) >= count)
        return refuse("treeensemble.nodes", "node {} leads to {} of {}", i, to[i], count);
      forest_.nodes[i].*child = static_cast<int64_t>(first) + to[i];
    }
    return {};
  }

  // One list per membership node, in order of the nodes as a walk from the roots meets them, each ended by a NaN.
  Status read_members() {
    TRY(forest_.members, reals("membership_values"));
    return {};
  }

  // A tree whose root has one leaf on both sides is that leaf.
  Status read_roots() {
    const auto* roots = call_.ints("tree_roots");
    size_t next = 0;
    Temporary<bool> met(forest_.nodes.size());
    for (size_t i = 0; roots && i < roots->size(); ++i) {
      const int64_t root = (*roots)[i];
      if (root < 0 || static_cast<size_t>(root) >= inner_)
        return refuse("treeensemble.nodes", "tree {} starts at node {} of {}", i, root, inner_);
      const Forest::Node& node = forest_.nodes[static_cast<size_t>(root)];
      const bool leaf = node.if_true == node.if_false && static_cast<size_t>(node.if_true) >= inner_;
      forest_.roots.push_back(leaf ? node.if_true : root);
      if (!leaf) TRY_OK(take_members(root, next, met));
    }
    return {};
  }

  Status take_members(int64_t root, size_t& next, Temporary<bool>& met) {
    Temporary<int64_t> open{root};
    while (!open.empty()) {
      const auto at = static_cast<size_t>(open.back());
      open.pop_back();
      if (at >= inner_ || met[at]) continue;
      met[at] = true;
      Forest::Node& node = forest_.nodes[at];
      if (node.test == Forest::Test::member) {
        node.first = next;
        while (next < forest_.members.size() && forest_.members[next] == forest_.members[next]) ++next;
        if (next >= forest_.members.size())
          return refuse("treeensemble.members", "node {} has no end of its membership values", at);
        node.count = next++ - node.first;
      }
      open.push_back(node.if_false);
      open.push_back(node.if_true);
    }
    return {};
  }

  const Call& call_;
  Forest forest_;
  size_t inner_ = 0;
};

}  // namespace

Result<Trees> read_tree_regressor(const Call& call) {
  Trees trees;
  TRY(trees.forest, ListForm(call).read("target", call.i("n_targets")));
  TRY(trees.forest.aggregate, aggregate_of(call));
  TRY(trees.base, numbers_of(call, "base_values"));
  TRY(trees.transform, transform_of(call));
  return trees;
}

Result<Trees> read_tree_classifier(const Call& call) {
  const Labels labels = labels_of(call, "classlabels_int64s", "classlabels_strings");
  Trees trees;
  TRY(trees.forest, ListForm(call).read("class", std::max<int64_t>(labels.count, 1)));
  trees.forest.in_float = call.in(0).dtype != DType::f64;
  TRY(trees.base, numbers_of(call, "base_values"));
  TRY(trees.transform, transform_of(call));
  return trees;
}

Result<Trees> read_tree_ensemble(const Call& call) {
  Trees trees;
  TRY(trees.forest, SplitForm(call).read(call.i("n_targets")));
  const int64_t transform = call.i("post_transform");
  if (transform < 0 || transform > 4) return refuse("ml.transform", "the transform {} does not exist", transform);
  trees.transform = static_cast<kernels::PostTransform>(transform);
  return trees;
}

}  // namespace anyshape::ops
