#pragma once

#include <cstdint>

// Linear models and machines of support vectors over rows of f32.
namespace anyshape::simd {

// y[row][set] = intercepts[set] + sum over features of x[row][feature] * weights[set][feature].
struct LinearModel {
  int64_t features = 0, sets = 0;
  const float* weights = nullptr;
  // The same by feature, each with the sets rounded up to whole vectors of kLinearLanes, zeros in the gaps.
  const float* by_feature = nullptr;
  const float* intercepts = nullptr;  // rounded up like by_feature
};
inline constexpr int64_t kLinearLanes = 16;
void linear_rows(const LinearModel& model, const float* x, int64_t rows, float* y);

// Models of up to kFewSets sets are done with rows in lanes, all of it at once.
inline constexpr int64_t kFewSets = 4;
enum class ScoreTransform : uint8_t { none, logistic, softmax };
struct FewScores {
  ScoreTransform transform = ScoreTransform::none;
  bool two_of_one = false;  // of one sum: scores of no and yes
};
// The scores of all rows, and for each row which sum is the largest (of one: whether it is positive); null: not wanted.
void linear_scores(const LinearModel& model, const FewScores& how, const float* x, int64_t rows, float* scores,
                   int32_t* largest);

// How near a row is to each of many vectors.
struct SupportVectors {
  enum class Kind : uint8_t { linear, poly, rbf, sigmoid };
  Kind kind = Kind::linear;
  float gamma = 0, coef0 = 0;
  int64_t degree = 1;  // of a polynomial, at least 1
  int64_t features = 0, count = 0;
  const float* by_feature = nullptr;  // [features, count rounded up to kSupportLanes]
};
inline constexpr int64_t kSupportLanes = 64;
// near has as many entries as by_feature has columns.
void similarities(const SupportVectors& vectors, const float* x, float* near);

// 1 / (1 + exp(-x)) of n floats; out may be in.
void logistic_row(const float* in, int64_t n, float* out);

// (x - offset) * scale, both by column; `step` 0: one for all columns.
void shift_and_scale_rows(const float* x, int64_t rows, int64_t n, const float* offset, const float* scale,
                          int64_t step, float* out);

enum class RowNorm : uint8_t { max, l1, l2 };
// Rows of n floats divided by their norm; those of norm 0 stay. out may be in.
void normalize_rows(RowNorm norm, const float* in, int64_t rows, int64_t n, float* out);

}  // namespace anyshape::simd
