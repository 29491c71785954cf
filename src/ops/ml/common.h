#pragma once

#include "kernels/scores.h"
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

// For kernels: the rows of a tensor [N, F] or [F]. Integers come by way of float, as runtimes read them.
struct FeatureRows {
  size_t count = 0, features = 0;
  Temporary<double> values;

  std::span<const double> row(size_t i) const { return std::span(values).subspan(i * features, features); }
};
Result<FeatureRows> feature_rows(const Tensor& x);

// Writes class number `index` of the labels of the node into entry i of a tensor of labels; the number itself where
// there are no labels. REQUIRES: index lies in the labels.
void write_label(const Call& call, std::string_view ints, std::string_view strings, size_t index, Tensor& out,
                 int64_t i);

// Attribute post_transform of the node. Code "ml.transform".
Result<kernels::PostTransform> transform_of(const Call& call);

Status run_array_feature_extractor(const Call& call, KernelArgs& args);
Status run_binarizer(const Call& call, KernelArgs& args);
Status run_cast_map(const Call& call, KernelArgs& args);
Status run_category_mapper(const Call& call, KernelArgs& args);
Status run_dict_vectorizer(const Call& call, KernelArgs& args);
Status run_feature_vectorizer(const Call& call, KernelArgs& args);
Status run_imputer(const Call& call, KernelArgs& args);
Status run_label_encoder(const Call& call, KernelArgs& args);
Status run_linear_classifier(const Call& call, KernelArgs& args);
Status run_linear_regressor(const Call& call, KernelArgs& args);
Status run_normalizer(const Call& call, KernelArgs& args);
Status run_one_hot_encoder(const Call& call, KernelArgs& args);
Status run_scaler(const Call& call, KernelArgs& args);
Status run_svm_classifier(const Call& call, KernelArgs& args);
Status run_svm_regressor(const Call& call, KernelArgs& args);
Status run_tree_classifier(const Call& call, KernelArgs& args);
Status run_tree_ensemble(const Call& call, KernelArgs& args);
Status run_tree_regressor(const Call& call, KernelArgs& args);
Status run_zip_map(const Call& call, KernelArgs& args);

}  // namespace anyshape::ops
