#include "kernels/scores.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace anyshape::kernels {
namespace {

// Winitzki's approximation, which the runtimes of ai.onnx.ml share.
double inverse_erf(double x) {
  const double sign = x < 0 ? -1 : 1, log = std::log((1 - x) * (1 + x));
  const double v = 2 / (std::numbers::pi * 0.147) + 0.5 * log;
  return sign * std::sqrt(-v + std::sqrt(v * v - log / 0.147));
}

double probit(double x) { return std::numbers::sqrt2 * inverse_erf(2 * x - 1); }

// Scores of zero keep their place: they count as exp(-max), not as zero or one.
void softmax(std::span<double> row, bool keep_zeros) {
  if (row.empty()) return;
  const double most = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& x : row) {
    const bool zero = keep_zeros && std::fabs(x) <= 1e-7;
    x = zero ? x * std::exp(-most) : std::exp(x - most);
    sum += x;
  }
  for (double& x : row) x = sum == 0 ? 0.5 : x / sum;
}

}  // namespace

double logistic(double x) {
  const double v = 1 / (1 + std::exp(-std::fabs(x)));
  return x < 0 ? 1 - v : v;
}

std::optional<PostTransform> post_transform(std::string_view name) {
  constexpr std::pair<std::string_view, PostTransform> kNames[] = {{"NONE", PostTransform::none},
                                                                   {"SOFTMAX", PostTransform::softmax},
                                                                   {"LOGISTIC", PostTransform::logistic},
                                                                   {"SOFTMAX_ZERO", PostTransform::softmax_zero},
                                                                   {"PROBIT", PostTransform::probit}};
  for (const auto& [text, value] : kNames)
    if (text == name) return value;
  return std::nullopt;
}

void transform_scores(PostTransform how, std::span<double> row) {
  switch (how) {
    case PostTransform::none:
      return;
    case PostTransform::softmax:
      return softmax(row, false);
    case PostTransform::softmax_zero:
      return softmax(row, true);
    case PostTransform::logistic:
      for (double& x : row) x = logistic(x);
      return;
    case PostTransform::probit:
      for (double& x : row) x = probit(x);
      return;
  }
}

void two_scores(PostTransform how, double score, bool shares, std::span<double, 2> out) {
  if (how == PostTransform::probit) {
    out[0] = probit(score);
    out[1] = 0;
  } else if (how == PostTransform::logistic) {
    out[0] = logistic(-score);
    out[1] = logistic(score);
  } else {
    out[0] = shares ? 1 - score : -score;
    out[1] = score;
  }
}

}  // namespace anyshape::kernels
