#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Ml, Rows) {
  check_rows({
      {"ai.onnx.ml:ArrayFeatureExtractor", 1, "f32[n, 4]; i64[2] = [0, 3]", "", "f32[n, 2]"},
      {"ai.onnx.ml:ArrayFeatureExtractor", 1, "f32[4]; i64[1] = [1]", "", "f32[1, 1]"},
      {"ai.onnx.ml:ArrayFeatureExtractor", 1, "f32[n, 4]; i64[1] = [4]", "", "error[arrayfeatureextractor.index]"},
      {"ai.onnx.ml:Scaler", 1, "f32[n, f]", "scale=[1.0, 2.0] offset=[0.0, 0.0]", "f32[n, 2]", "f == 2"},
      {"ai.onnx.ml:Scaler", 1, "f32[n, f]", "scale=[1.0] offset=[0.0]", "f32[n, f]"},
      {"ai.onnx.ml:OneHotEncoder", 1, "i64[n]", "cats_int64s=[1, 2, 3]", "f32[n, 3]"},
      {"ai.onnx.ml:Normalizer", 1, "f32[a, b, c]", "", "error[rank]"},
      {"ai.onnx.ml:LabelEncoder", 2, "i64[n, 2]", "keys_int64s=[1] values_strings=[a]", "string[n, 2]"},
      {"ai.onnx.ml:LinearClassifier", 1, "f32[n, f]",
       "coefficients=[1.0, 2.0] intercepts=[0.5] classlabels_ints=[0, 1]", "i64[n]; f32[n, 2]", "f <= 2"},
      {"ai.onnx.ml:SVMRegressor", 1, "f32[n, f]", "coefficients=[1.0, 2.0, 3.0] rho=[0.5]", "f32[n, 1]", "f == 3"},
      {"ai.onnx.ml:TreeEnsembleRegressor", 3, "f32[n, f]",
       "n_targets=2 nodes_featureids=[3, 9] nodes_modes=[BRANCH_LEQ, LEAF]", "f32[n, 2]", "f >= 4"},
      {"ai.onnx.ml:ZipMap", 1, "f32[n, f]", "classlabels_strings=[a, b]", "seq(map(string, f32[]))", "f == 2"},
      {"ai.onnx.preview.training:Momentum", 1, "f32[]; i64[]; f32[a]; f32[a]; f32[a]", "", "f32[a]; f32[a]"},
      {"ai.onnx.preview.training:Adam", 1, "f32[]; i64[]; f32[a]; f32[a]; f32[a]", "", "error[optimizer.inputs]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
