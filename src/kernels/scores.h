#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/temporary.h"

namespace anyshape::kernels {

// What classifiers and regressors of ai.onnx.ml do to their scores at the end.
enum class PostTransform { none, softmax, logistic, softmax_zero, probit };

// From "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT".
std::optional<PostTransform> post_transform(std::string_view name);

// In place, over one row.
void transform_scores(PostTransform how, Temporary<double>& row);

// One score that stands for two classes, the second being the positive one. `shares`: the score is a share of 1, not a
// signed margin. As ONNX Runtime has it, probit leaves it a single one and softmax does nothing.
Temporary<double> two_scores(PostTransform how, double score, bool shares);

double logistic(double x);

}  // namespace anyshape::kernels
