#include <algorithm>

#include "ops/ml/common.h"
#include "ops/records.h"

namespace anyshape::ops {

Result<Rows> rows_of(const Call& call) {
  TRY(const Dims dims, call.dims(0));
  if (dims.size() == 1) return Rows{1, dims[0]};
  if (dims.size() == 2) return Rows{dims[0], dims[1]};
  return refuse("rank", "{} takes [N, F] or [F], the input is {}", call.type(), text(dims));
}

Labels labels_of(const Call& call, std::string_view ints, std::string_view strings) {
  const auto* numbers = call.ints(ints);
  if (numbers && !numbers->empty()) return {DType::i64, static_cast<int64_t>(numbers->size())};
  const auto* names = call.strings(strings);
  if (names && !names->empty()) return {DType::string, static_cast<int64_t>(names->size())};
  return {};
}

namespace {

constexpr AttributeDef kLinearClassifierAttributes[] = {
    {"classlabels_ints", AttributeDef::integers},
    {"classlabels_strings", AttributeDef::strings},
    {"coefficients", AttributeDef::reals, AttributeDef::required},
    {"intercepts", AttributeDef::reals},
    {"multi_class", 0},
    {"post_transform", "NONE"},
};
constexpr AttributeDef kLinearRegressorAttributes[] = {
    {"coefficients", AttributeDef::reals},
    {"intercepts", AttributeDef::reals},
    {"post_transform", "NONE"},
    {"targets", 1},
};
constexpr AttributeDef kSVMClassifierAttributes[] = {
    {"classlabels_ints", AttributeDef::integers},
    {"classlabels_strings", AttributeDef::strings},
    {"coefficients", AttributeDef::reals},
    {"kernel_params", AttributeDef::reals},
    {"kernel_type", "LINEAR"},
    {"post_transform", "NONE"},
    {"prob_a", AttributeDef::reals},
    {"prob_b", AttributeDef::reals},
    {"rho", AttributeDef::reals},
    {"support_vectors", AttributeDef::reals},
    {"vectors_per_class", AttributeDef::integers},
};
constexpr AttributeDef kSVMRegressorAttributes[] = {
    {"coefficients", AttributeDef::reals},
    {"kernel_params", AttributeDef::reals},
    {"kernel_type", "LINEAR"},
    {"n_supports", 0},
    {"one_class", 0},
    {"post_transform", "NONE"},
    {"rho", AttributeDef::reals},
    {"support_vectors", AttributeDef::reals},
};
constexpr AttributeDef kTreeEnsembleAttributes[] = {
    {"aggregate_function", 1},
    {"leaf_targetids", AttributeDef::integers, AttributeDef::required},
    {"leaf_weights", AttributeDef::tensor, AttributeDef::required},
    {"membership_values", AttributeDef::tensor},
    {"n_targets", 1},
    {"nodes_falseleafs", AttributeDef::integers, AttributeDef::required},
    {"nodes_falsenodeids", AttributeDef::integers, AttributeDef::required},
    {"nodes_featureids", AttributeDef::integers, AttributeDef::required},
    {"nodes_hitrates", AttributeDef::tensor},
    {"nodes_missing_value_tracks_true", AttributeDef::integers},
    {"nodes_modes", AttributeDef::tensor, AttributeDef::required},
    {"nodes_splits", AttributeDef::tensor, AttributeDef::required},
    {"nodes_trueleafs", AttributeDef::integers, AttributeDef::required},
    {"nodes_truenodeids", AttributeDef::integers, AttributeDef::required},
    {"post_transform", 0},
    {"tree_roots", AttributeDef::integers, AttributeDef::required},
};
constexpr AttributeDef kTreeEnsembleClassifierAttributes[] = {
    {"base_values", AttributeDef::reals},
    {"base_values_as_tensor", AttributeDef::tensor, {3}},
    {"class_ids", AttributeDef::integers},
    {"class_nodeids", AttributeDef::integers},
    {"class_treeids", AttributeDef::integers},
    {"class_weights", AttributeDef::reals},
    {"class_weights_as_tensor", AttributeDef::tensor, {3}},
    {"classlabels_int64s", AttributeDef::integers},
    {"classlabels_strings", AttributeDef::strings},
    {"nodes_falsenodeids", AttributeDef::integers},
    {"nodes_featureids", AttributeDef::integers},
    {"nodes_hitrates", AttributeDef::reals},
    {"nodes_hitrates_as_tensor", AttributeDef::tensor, {3}},
    {"nodes_missing_value_tracks_true", AttributeDef::integers},
    {"nodes_modes", AttributeDef::strings},
    {"nodes_nodeids", AttributeDef::integers},
    {"nodes_treeids", AttributeDef::integers},
    {"nodes_truenodeids", AttributeDef::integers},
    {"nodes_values", AttributeDef::reals},
    {"nodes_values_as_tensor", AttributeDef::tensor, {3}},
    {"post_transform", "NONE"},
};
constexpr AttributeDef kTreeEnsembleRegressorAttributes[] = {
    {"aggregate_function", "SUM"},
    {"base_values", AttributeDef::reals},
    {"base_values_as_tensor", AttributeDef::tensor, {3}},
    {"n_targets", 1},
    {"nodes_falsenodeids", AttributeDef::integers},
    {"nodes_featureids", AttributeDef::integers},
    {"nodes_hitrates", AttributeDef::reals},
    {"nodes_hitrates_as_tensor", AttributeDef::tensor, {3}},
    {"nodes_missing_value_tracks_true", AttributeDef::integers},
    {"nodes_modes", AttributeDef::strings},
    {"nodes_nodeids", AttributeDef::integers},
    {"nodes_treeids", AttributeDef::integers},
    {"nodes_truenodeids", AttributeDef::integers},
    {"nodes_values", AttributeDef::reals},
    {"nodes_values_as_tensor", AttributeDef::tensor, {3}},
    {"post_transform", "NONE"},
    {"target_ids", AttributeDef::integers},
    {"target_nodeids", AttributeDef::integers},
    {"target_treeids", AttributeDef::integers},
    {"target_weights", AttributeDef::reals},
    {"target_weights_as_tensor", AttributeDef::tensor, {3}},
};
constexpr AttributeDef kZipMapAttributes[] = {
    {"classlabels_int64s", AttributeDef::integers},
    {"classlabels_strings", AttributeDef::strings},
};

int64_t size_of_models(const auto* list) { return list ? static_cast<int64_t>(list->size()) : 0; }

Facts labels_and_scores(const Rows& rows, DType label, int64_t scores) {
  return {Fact::tensor(label, {rows.count}), Fact::tensor(DType::f32, {rows.count, scores})};
}

Status need_features(InferContext& context, const Rows& rows, int64_t expected) {
  return context.require(Condition::eq(rows.features, expected), "ml.features",
                         "the input must have the {} features the model was made for, it has {}", expected,
                         print(rows.features));
}

// There are at least as many coefficients as features, `sets` times.
Status need_coefficients(InferContext& context, const Rows& rows, int64_t coefficients, int64_t sets) {
  return context.require(Condition::le(rows.features * Dim(sets), coefficients), "ml.features",
                         "{} coefficients must cover {} times {} features", coefficients, sets, print(rows.features));
}

Result<Facts> infer_linear_classifier(const Call& call, InferContext& context) {
  TRY(const Rows rows, rows_of(call));
  const Labels labels = labels_of(call, "classlabels_ints", "classlabels_strings");
  const int64_t classes = size_of_models(call.floats("intercepts"));
  if (classes == 0) return refuse("linearclassifier.intercepts", "the intercepts are missing");
  if (classes == 1 && labels.count != 0 && labels.count != 2)
    return refuse("linearclassifier.labels", "one set of coefficients needs two class labels, there are {}",
                  labels.count);
  if (classes > 1 && labels.count == 0) return refuse("linearclassifier.labels", "the class labels are missing");
  TRY_OK(need_coefficients(context, rows, size_of_models(call.floats("coefficients")), classes));
  return labels_and_scores(rows, labels.dtype, classes == 1 && labels.count == 2 ? 2 : classes);
}

Result<Facts> infer_linear_regressor(const Call& call, InferContext& context) {
  TRY(const Rows rows, rows_of(call));
  const int64_t targets = call.i("targets");
  if (targets < 1) return refuse("linearregressor.targets", "targets is {}", targets);
  TRY_OK(need_coefficients(context, rows, size_of_models(call.floats("coefficients")), targets));
  return Facts{Fact::tensor(DType::f32, {rows.count, targets})};
}

// The features of each support vector (or of the weights, without support vectors).
Result<int64_t> svm_features(int64_t values, int64_t vectors) {
  if (vectors < 1 || values % vectors != 0)
    return refuse("svm.vectors", "{} numbers are no {} vectors", values, vectors);
  return values / vectors;
}

Result<Facts> infer_svm_classifier(const Call& call, InferContext& context) {
  TRY(const Rows rows, rows_of(call));
  const Labels labels = labels_of(call, "classlabels_ints", "classlabels_strings");
  const auto* per_class = call.ints("vectors_per_class");
  if (!per_class || per_class->empty()) {
    TRY(const int64_t features, svm_features(size_of_models(call.floats("coefficients")), labels.count));
    TRY_OK(need_features(context, rows, features));
    return labels_and_scores(rows, labels.dtype, labels.count);
  }
  int64_t vectors = 0;
  for (int64_t n : *per_class)
    if (n < 0 || __builtin_add_overflow(vectors, n, &vectors))
      return refuse("svm.vectors", "vectors_per_class is out of range");
  TRY(const int64_t features, svm_features(size_of_models(call.floats("support_vectors")), vectors));
  TRY_OK(need_features(context, rows, features));
  const int64_t classes = size_of_models(per_class);
  if (size_of_models(call.floats("prob_a")) > 0) return labels_and_scores(rows, labels.dtype, classes);
  return labels_and_scores(rows, labels.dtype, classes <= 2 ? 2 : classes * (classes - 1) / 2);
}

Result<Facts> infer_svm_regressor(const Call& call, InferContext& context) {
  TRY(const Rows rows, rows_of(call));
  const int64_t supports = call.i("n_supports");
  if (supports > 0) {
    TRY(const int64_t features, svm_features(size_of_models(call.floats("support_vectors")), supports));
    TRY_OK(need_features(context, rows, features));
  } else {
    TRY_OK(need_features(context, rows, size_of_models(call.floats("coefficients"))));
  }
  return Facts{Fact::tensor(DType::f32, {rows.count, 1})};
}

// The features the branches of the trees look at must be there.
Result<Dims> tree_rows(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 2));
  const Dims dims = *call.in(0).dims;
  const auto* features = call.ints("nodes_featureids");
  const auto* modes = call.type() == "TreeEnsemble" ? nullptr : call.strings("nodes_modes");
  int64_t highest = -1;
  for (size_t i = 0; features && i < features->size(); ++i) {
    const bool leaf = modes && i < modes->size() && (*modes)[i] == "LEAF";
    if (!leaf) highest = std::max(highest, (*features)[i]);
  }
  if (highest >= 0)
    TRY_OK(context.require(Condition::gt(dims[1], highest), "ml.features",
                           "the input must have feature {}, which the trees look at: it has {} features", highest,
                           print(dims[1])));
  return dims;
}

Result<Facts> infer_tree_classifier(const Call& call, InferContext& context) {
  TRY(const Dims dims, tree_rows(call, context));
  const Labels labels = labels_of(call, "classlabels_int64s", "classlabels_strings");
  if (labels.count == 0) return refuse("treeensemble.labels", "the class labels are missing");
  return labels_and_scores({dims[0], dims[1]}, labels.dtype, labels.count);
}

Result<Facts> infer_tree_regressor(const Call& call, InferContext& context) {
  TRY(const Dims dims, tree_rows(call, context));
  const int64_t targets = call.i("n_targets");
  if (targets < 1) return refuse("treeensemble.targets", "n_targets is {}", targets);
  const DType dtype = call.type() == "TreeEnsemble" ? call.in(0).dtype : DType::f32;
  return Facts{Fact::tensor(dtype, {dims[0], targets})};
}

Result<Facts> infer_zip_map(const Call& call, InferContext& context) {
  const Labels labels = labels_of(call, "classlabels_int64s", "classlabels_strings");
  if (labels.count == 0) return refuse("zipmap.labels", "the class labels are missing");
  Fact map;
  map.kind = Fact::Kind::map;
  map.dtype = labels.dtype;
  map.item = std::make_shared<const Fact>(Fact::scalar(DType::f32));
  Fact out = Fact::sequence(map);
  if (!call.in(0).dims) return Facts{out};
  TRY(const Rows rows, rows_of(call));
  TRY_OK(context.require(Condition::eq(rows.features, labels.count), "zipmap.labels",
                         "there must be a class label for each score: {} labels, {} scores", labels.count,
                         print(rows.features)));
  out.length = rows.count;
  return Facts{out};
}

constexpr Kernel kLinearClassifier[] = {{"reference", run_linear_classifier}};
constexpr Kernel kLinearRegressor[] = {{"reference", run_linear_regressor}};
constexpr Kernel kSVMClassifier[] = {{"reference", run_svm_classifier}};
constexpr Kernel kSVMRegressor[] = {{"reference", run_svm_regressor}};
constexpr Kernel kTreeEnsemble[] = {{"reference", run_tree_ensemble}};
constexpr Kernel kTreeEnsembleClassifier[] = {{"reference", run_tree_classifier}};
constexpr Kernel kTreeEnsembleRegressor[] = {{"reference", run_tree_regressor}};
constexpr Kernel kZipMap[] = {{"reference", run_zip_map}};

}  // namespace

constexpr OpDef kMlLinearClassifier1{
    .name = "LinearClassifier",
    .domain = kMl,
    .sig = {kMlIn, kMlLabelScores, "linear classification", kLinearClassifierAttributes},
    .infer = infer_linear_classifier,
    .kernels = kLinearClassifier};
constexpr OpDef kMlLinearRegressor1{.name = "LinearRegressor",
                                    .domain = kMl,
                                    .sig = {kMlIn, kMlOut, "linear regression", kLinearRegressorAttributes},
                                    .infer = infer_linear_regressor,
                                    .kernels = kLinearRegressor};
constexpr OpDef kMlSVMClassifier1{
    .name = "SVMClassifier",
    .domain = kMl,
    .sig = {kMlIn, kMlLabelScores, "support vector classification", kSVMClassifierAttributes},
    .infer = infer_svm_classifier,
    .kernels = kSVMClassifier};
constexpr OpDef kMlSVMRegressor1{.name = "SVMRegressor",
                                 .domain = kMl,
                                 .sig = {kMlIn, kMlOut, "support vector regression", kSVMRegressorAttributes},
                                 .infer = infer_svm_regressor,
                                 .kernels = kSVMRegressor};
constexpr OpDef kMlTreeEnsemble5{.name = "TreeEnsemble",
                                 .since = 5,
                                 .domain = kMl,
                                 .sig = {kMlIn, kMlOut, "trees that vote for targets", kTreeEnsembleAttributes},
                                 .infer = infer_tree_regressor,
                                 .kernels = kTreeEnsemble};
constexpr OpDef kMlTreeEnsembleClassifier1{
    .name = "TreeEnsembleClassifier",
    .domain = kMl,
    .sig = {kMlIn, kMlLabelScores, "trees that vote for classes", kTreeEnsembleClassifierAttributes},
    .infer = infer_tree_classifier,
    .kernels = kTreeEnsembleClassifier};
constexpr OpDef kMlTreeEnsembleRegressor1{
    .name = "TreeEnsembleRegressor",
    .domain = kMl,
    .sig = {kMlIn, kMlOut, "trees that vote for targets", kTreeEnsembleRegressorAttributes},
    .infer = infer_tree_regressor,
    .kernels = kTreeEnsembleRegressor};
constexpr OpDef kMlZipMap1{.name = "ZipMap",
                           .domain = kMl,
                           .sig = {kMlIn, kMlOut, "scores as maps from class labels", kZipMapAttributes},
                           .infer = infer_zip_map,
                           .kernels = kZipMap};

}  // namespace anyshape::ops
