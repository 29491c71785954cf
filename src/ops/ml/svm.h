#pragma once

#include "kernels/svm.h"
#include "ops/ml/common.h"

namespace anyshape::ops {

// What the attributes of SVMClassifier and SVMRegressor say; lists are the node's.
struct Svm {
  size_t classes = 0;  // of a classifier
  size_t features = 0, vectors = 0;
  kernels::SvmKernel kernel;
  kernels::PostTransform transform = kernels::PostTransform::none;
  std::span<const float> support;  // [vectors, features]
  std::span<const float> coefficients, rho, prob_a, prob_b;
  std::span<const int64_t> per_class;  // vectors of each class; none: a classifier is linear, with a vector a class
  bool positive = false;               // no coefficient is negative
  bool one_class = false;              // a regressor that tells 1 from -1
};
// Errors "svm.kernel", "svm.size" and "ml.transform".
Result<Svm> read_svm_classifier(const Call& call, size_t features);
Result<Svm> read_svm_regressor(const Call& call, size_t features);

struct SvmRow {
  size_t label = 0;  // number of the class
  Temporary<double> scores;
};
// What follows from the similarities of a row to all vectors.
SvmRow svm_classes(const Svm& svm, std::span<const double> near);
double svm_value(const Svm& svm, std::span<const double> near);

}  // namespace anyshape::ops
