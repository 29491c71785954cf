#pragma once

#include "ops/common.h"

// The domain ai.onnx.ml: operators over rows of features, as in classical machine learning.
namespace anyshape::ops {

inline constexpr std::string_view kMl = "ai.onnx.ml";
inline constexpr Port kMlIn[] = {{"X"}};
inline constexpr Port kMlOut[] = {{"Y"}};
inline constexpr Port kMlLabelScores[] = {{"Y"}, {"Z", Port::optional}};

// [N, F], or [F] for one row.
struct Rows {
  Dim count, features;
};
Result<Rows> rows_of(const Call& call);

// The number of class labels and their type; strings when both lists are there and the integers are empty.
struct Labels {
  DType dtype = DType::i64;
  int64_t count = 0;
};
Labels labels_of(const Call& call, std::string_view ints, std::string_view strings);

}  // namespace anyshape::ops
