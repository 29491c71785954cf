#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace anyshape::kernels {

// What classifiers and regressors of ai.onnx.ml do to their scores at the end.
enum class PostTransform { none, softmax, logistic, softmax_zero, probit };

// From "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT".
std::optional<PostTransform> post_transform(std::string_view name);

// In place, over one row.
void transform_scores(PostTransform how, std::span<double> row);

// One score that stands for two classes, the second being the positive one. `shares`: the score is a share of 1, not a
// signed margin. As ONNX Runtime has it, probit leaves it a single one, beside a 0, and softmax does nothing.
void two_scores(PostTransform how, double score, bool shares, std::span<double, 2> out);

double logistic(double x);

}  // namespace anyshape::kernels
