#pragma once

#include "kernels/forest.h"
#include "ops/ml/common.h"

namespace anyshape::ops {

// What the attributes of TreeEnsembleRegressor, TreeEnsembleClassifier and TreeEnsemble say.
struct Trees {
  kernels::Forest forest;
  kernels::PostTransform transform = kernels::PostTransform::none;
  Temporary<double> base;  // added to the scores; empty: nothing is
};

// Codes "treeensemble.nodes", ".mode", ".target", ".aggregate", ".members", and "ml.transform".
Result<Trees> read_tree_regressor(const Call& call);
Result<Trees> read_tree_classifier(const Call& call);
Result<Trees> read_tree_ensemble(const Call& call);

// Base values and the transform of one row of sums. A single target is left as it is but by probit, as ONNX Runtime has
// it. REQUIRES: base values for all targets or none.
void finish_targets(const Trees& trees, std::span<double> score);

// The scores of all rows of x.
Status run_trees(const Trees& trees, const Tensor& x, Tensor& out);

struct TreeClassifier {
  Trees trees;
  size_t count = 0;             // of labels
  std::vector<int64_t> labels;  // empty: they are strings
  bool one_sided = false;       // all leaves vote for one and the same of two classes
  bool positive = true;         // no weight is negative
};
Result<TreeClassifier> read_tree_classes(const Call& call);
// The class of one row of sums, which become its scores; `voted` says which classes got a vote.
size_t finish_classes(const TreeClassifier& classifier, std::span<double> score, std::span<uint8_t> voted);
// The classes found, and the scores into a tensor that may be absent.
Result<Temporary<size_t>> run_tree_classes(const TreeClassifier& classifier, const Tensor& x, Tensor* out);
// The label of class `found`. One label stands for its own number, 0 or 1.
int64_t tree_label(const TreeClassifier& classifier, size_t found);

}  // namespace anyshape::ops
