#pragma once

#include "kernels/forest.h"
#include "ops/ml_common.h"

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

}  // namespace anyshape::ops
