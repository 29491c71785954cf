#include "target/edits.h"

// TreeEnsemble, whose inner nodes and leaves lie in two lists, as TreeEnsembleRegressor, which has one list of both.
namespace anyshape::target::edits {
namespace {

using onnx::AttributeType;

constexpr std::string_view kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
constexpr std::string_view kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
constexpr std::string_view kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

class TreeLists {
 public:
  TreeLists(const Call& call, onnx::NodeProto& node) : call_(call), node_(node) {}
  Status run();

 private:
  Status read();
  Status walk(int64_t tree, int64_t root);
  Status add(int64_t tree, int64_t id);
  // The number of the node or leaf that follows; -1: there is none.
  int64_t child(size_t i, const std::vector<int64_t>& to, const std::vector<int64_t>& is_leaf) const {
    const size_t first = is_leaf[i] != 0 ? inner_ : 0, count = is_leaf[i] != 0 ? leaves_ : inner_;
    return to[i] >= 0 && static_cast<size_t>(to[i]) < count ? static_cast<int64_t>(first) + to[i] : -1;
  }
  template <class T>
  std::vector<T>& list(std::string_view name);

  const Call& call_;
  onnx::NodeProto& node_;
  size_t inner_ = 0, leaves_ = 0;
  const Tensor *splits_ = nullptr, *modes_ = nullptr, *weights_ = nullptr;
  const std::vector<int64_t>*features_ = nullptr, *if_true_ = nullptr, *if_false_ = nullptr, *true_leaf_ = nullptr,
        *false_leaf_ = nullptr, *targets_ = nullptr, *missing_ = nullptr;
  std::vector<bool> met_;
};

template <class T>
std::vector<T>& TreeLists::list(std::string_view name) {
  constexpr bool ints = std::is_same_v<T, int64_t>, floats = std::is_same_v<T, float>;
  onnx::NodeProto& out = node_;
  auto& made = attribute(out, name,
                         ints     ? AttributeType::ints
                         : floats ? AttributeType::floats
                                  : AttributeType::strings);
  if constexpr (ints) return made.ints;
  if constexpr (floats) return made.floats.edit();
  if constexpr (!ints && !floats) return made.strings.edit();
}

Status TreeLists::read() {
  splits_ = call_.tensor("nodes_splits");
  modes_ = call_.tensor("nodes_modes");
  weights_ = call_.tensor("leaf_weights");
  if (!splits_ || !modes_ || !weights_) return refuse("treeensemble.nodes", "splits, modes or weights are missing");
  if (splits_->dtype() != DType::f32 || weights_->dtype() != DType::f32)
    return refuse("treeensemble.type", "splits and weights of {} have no equal", name(splits_->dtype()));
  if (modes_->dtype() != DType::u8)
    return refuse("treeensemble.mode", "the modes are {}, not u8", name(modes_->dtype()));
  inner_ = static_cast<size_t>(splits_->count());
  leaves_ = static_cast<size_t>(weights_->count());
  const std::pair<std::string_view, const std::vector<int64_t>**> lists[] = {{"nodes_featureids", &features_},
                                                                             {"nodes_truenodeids", &if_true_},
                                                                             {"nodes_falsenodeids", &if_false_},
                                                                             {"nodes_trueleafs", &true_leaf_},
                                                                             {"nodes_falseleafs", &false_leaf_}};
  for (const auto& [name, list] : lists) {
    *list = call_.ints(name);
    if (!*list || (*list)->size() != inner_) return refuse("treeensemble.nodes", "{} has not {} entries", name, inner_);
  }
  targets_ = call_.ints("leaf_targetids");
  missing_ = call_.ints("nodes_missing_value_tracks_true");
  if (!targets_ || targets_->size() != leaves_ || static_cast<size_t>(modes_->count()) != inner_ ||
      (missing_ && !missing_->empty() && missing_->size() != inner_))
    return refuse("treeensemble.nodes", "the lists of nodes and leaves do not fit each other");
  met_.resize(inner_ + leaves_);
  return {};
}

Status TreeLists::add(int64_t tree, int64_t id) {
  const auto at = static_cast<size_t>(id);
  const bool leaf = at >= inner_;
  const int64_t mode = leaf ? 0 : modes_->int_at(id);
  if (mode < 0 || mode >= static_cast<int64_t>(std::size(kModes)))
    return refuse("treeensemble.mode", "the mode {} (a test for membership) has no equal", mode);
  list<int64_t>("nodes_treeids").push_back(tree);
  list<int64_t>("nodes_nodeids").push_back(id);
  list<int64_t>("nodes_featureids").push_back(leaf ? 0 : (*features_)[at]);
  list<float>("nodes_values").push_back(leaf ? 0 : splits_->at<float>(id));
  list<std::string_view>("nodes_modes").push_back(leaf ? "LEAF" : kModes[mode]);
  list<int64_t>("nodes_truenodeids").push_back(leaf ? 0 : child(at, *if_true_, *true_leaf_));
  list<int64_t>("nodes_falsenodeids").push_back(leaf ? 0 : child(at, *if_false_, *false_leaf_));
  const bool tracks = !leaf && missing_ && !missing_->empty() && (*missing_)[at] != 0;
  list<int64_t>("nodes_missing_value_tracks_true").push_back(tracks ? 1 : 0);
  if (!leaf) return {};
  list<int64_t>("target_treeids").push_back(tree);
  list<int64_t>("target_nodeids").push_back(id);
  list<int64_t>("target_ids").push_back((*targets_)[at - inner_]);
  list<float>("target_weights").push_back(weights_->at<float>(id - static_cast<int64_t>(inner_)));
  return {};
}

Status TreeLists::walk(int64_t tree, int64_t root) {
  std::vector<int64_t> open{root};
  while (!open.empty()) {
    const int64_t id = open.back();
    open.pop_back();
    if (id < 0 || static_cast<size_t>(id) >= met_.size())
      return refuse("treeensemble.nodes", "tree {} has no node {}", tree, id);
    if (met_[static_cast<size_t>(id)]) return refuse("treeensemble.nodes", "node {} is reached twice", id);
    met_[static_cast<size_t>(id)] = true;
    TRY_OK(add(tree, id));
    if (static_cast<size_t>(id) >= inner_) continue;
    open.push_back(child(static_cast<size_t>(id), *if_false_, *false_leaf_));
    open.push_back(child(static_cast<size_t>(id), *if_true_, *true_leaf_));
  }
  return {};
}

Status TreeLists::run() {
  TRY_OK(read());
  const int64_t aggregate = call_.i("aggregate_function"), transform = call_.i("post_transform");
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4)
    return refuse("treeensemble.aggregate", "its aggregate function or transform does not exist");
  const auto* roots = call_.ints("tree_roots");
  node_.attribute.clear();
  for (size_t i = 0; roots && i < roots->size(); ++i) {
    const int64_t root = (*roots)[i];
    if (root < 0 || static_cast<size_t>(root) >= inner_)
      return refuse("treeensemble.nodes", "there is no root {}", root);
    // A root with one leaf on both sides is that leaf.
    const auto at = static_cast<size_t>(root);
    const int64_t yes = child(at, *if_true_, *true_leaf_), no = child(at, *if_false_, *false_leaf_);
    TRY_OK(walk(static_cast<int64_t>(i), yes == no && (*true_leaf_)[at] != 0 ? yes : root));
  }
  node_.op_type = "TreeEnsembleRegressor";
  attribute(node_, "n_targets", AttributeType::int_).i = call_.i("n_targets");
  attribute(node_, "aggregate_function", AttributeType::string).s = kAggregates[aggregate];
  attribute(node_, "post_transform", AttributeType::string).s = kTransforms[transform];
  return {};
}

}  // namespace

Status tree_regressor(const Call& call, onnx::NodeProto& node, fixes::Edit&) {
  if (call.in(0).dtype != DType::f32)
    return refuse("treeensemble.type", "its input is {}, the older operators give f32 only", name(call.in(0).dtype));
  return TreeLists(call, node).run();
}

}  // namespace anyshape::target::edits
