#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/temporary.h"

namespace anyshape::kernels {

struct SvmKernel {
  enum class Type : uint8_t { linear, poly, rbf, sigmoid };
  Type type = Type::linear;
  double gamma = 0, coef0 = 0, degree = 0;
};

// The similarity of two rows. REQUIRES: equal sizes.
double similarity(const SvmKernel& kernel, std::span<const double> a, std::span<const float> b);

// One machine for each pair of classes.
struct SvmPairs {
  std::span<const int64_t> vectors_per_class;
  std::span<const float> coefficients, rho;  // [classes - 1, vectors], one per pair
};
struct SvmVotes {
  Temporary<double> scores;  // of the pairs (0, 1), (0, 2), ..., (1, 2), ...
  Temporary<int64_t> votes;  // per class
};
// `similarities`: to each support vector. REQUIRES: sizes fit.
SvmVotes vote(const SvmPairs& pairs, std::span<const double> similarities);

// The shares of the classes from those of each pair, as libsvm couples them. `a`, `b`: of the logistic curve of each
// pair. REQUIRES: one score, a and b per pair of `classes`.
Temporary<double> couple(size_t classes, std::span<const double> scores, std::span<const float> a,
                         std::span<const float> b);

}  // namespace anyshape::kernels
