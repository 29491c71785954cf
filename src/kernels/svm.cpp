#include "kernels/svm.h"

#include <algorithm>
#include <cmath>

#include "kernels/scores.h"

namespace anyshape::kernels {
namespace {

double dot(std::span<const double> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * static_cast<double>(b[i]);
  return sum;
}

double squared_distance(std::span<const double> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = a[i] - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum;
}

// The shares p that are nearest to what all pairs say, by Gauss-Seidel steps on p' Q p.
Temporary<double> solve_shares(const Temporary<Temporary<double>>& q) {
  const size_t k = q.size();
  const double tolerance = 0.005 / static_cast<double>(k);
  Temporary<double> p(k, 1 / static_cast<double>(k)), qp(k);
  for (size_t round = 0; round < std::max<size_t>(100, k); ++round) {
    double whole = 0, worst = 0;
    for (size_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < k; ++j) qp[t] += q[t][j] * p[j];
      whole += p[t] * qp[t];
    }
    for (size_t t = 0; t < k; ++t) worst = std::max(worst, std::fabs(qp[t] - whole));
    if (worst < tolerance) break;
    for (size_t t = 0; t < k; ++t) {
      const double step = (whole - qp[t]) / q[t][t];
      p[t] += step;
      whole = (whole + step * (step * q[t][t] + 2 * qp[t])) / (1 + step) / (1 + step);
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t][j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
  return p;
}

}  // namespace

double similarity(const SvmKernel& kernel, std::span<const double> a, std::span<const float> b) {
  switch (kernel.type) {
    case SvmKernel::Type::linear:
      return dot(a, b);
    case SvmKernel::Type::poly:
      return std::pow(kernel.gamma * dot(a, b) + kernel.coef0, kernel.degree);
    case SvmKernel::Type::rbf:
      return std::exp(-kernel.gamma * squared_distance(a, b));
    case SvmKernel::Type::sigmoid:
      return std::tanh(kernel.gamma * dot(a, b) + kernel.coef0);
  }
  return 0;
}

SvmVotes vote(const SvmPairs& pairs, std::span<const double> similarities) {
  const size_t classes = pairs.vectors_per_class.size();
  Temporary<size_t> start{0};
  for (int64_t n : pairs.vectors_per_class) start.push_back(start.back() + static_cast<size_t>(n));
  const size_t vectors = start.back();
  SvmVotes out{{}, Temporary<int64_t>(classes)};
  const auto part = [&](size_t row, size_t of) {
    const size_t count = start[of + 1] - start[of];
    return dot(similarities.subspan(start[of], count), pairs.coefficients.subspan(row * vectors + start[of], count));
  };
  for (size_t i = 0; i < classes; ++i)
    for (size_t j = i + 1; j < classes; ++j) {
      const double score = part(j - 1, i) + part(i, j) + static_cast<double>(pairs.rho[out.scores.size()]);
      out.scores.push_back(score);
      ++out.votes[score > 0 ? i : j];
    }
  return out;
}

Temporary<double> couple(size_t classes, std::span<const double> scores, std::span<const float> a,
                         std::span<const float> b) {
  Temporary<Temporary<double>> share(classes, Temporary<double>(classes)), q = share;
  size_t pair = 0;
  for (size_t i = 0; i < classes; ++i)
    for (size_t j = i + 1; j < classes; ++j, ++pair) {
      const double x = scores[pair] * static_cast<double>(a[pair]) + static_cast<double>(b[pair]);
      share[i][j] = std::clamp(1 - logistic(x), 1e-7, 1 - 1e-7);
      share[j][i] = 1 - share[i][j];
    }
  for (size_t t = 0; t < classes; ++t)
    for (size_t j = 0; j < classes; ++j) {
      if (j == t) continue;
      q[t][t] += share[j][t] * share[j][t];
      q[t][j] = -share[j][t] * share[t][j];
    }
  return solve_shares(q);
}

}  // namespace anyshape::kernels
