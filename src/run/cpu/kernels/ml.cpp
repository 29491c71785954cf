#include "base/bug.h"
#include "base/temporary.h"
#include "ops/ml/label_table.h"
#include "ops/ml/trees.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/ml_views.h"

// Trees and tables of ai.onnx.ml, read once for a plan.
namespace anyshape::cpu {
namespace {

using ops::TreeClassifier;
using ops::Trees;

std::string_view accepts_features(const Call& call) {
  return reads_as_numbers(call, 0) ? "" : "its features are no floats of 16 bits or more and no integers of 8 or more";
}

template <Result<Trees> (*read)(const Call&)>
Result<std::shared_ptr<const void>> prepare_trees(const Call& call) {
  // The lists of the trees would be lost with a scope.
  ANYSHAPE_CHECK(!TemporaryMemory::in_scope());
  TRY(Trees trees, read(call));
  return std::make_shared<const Trees>(std::move(trees));
}

Result<std::shared_ptr<const void>> prepare_classifier(const Call& call) {
  ANYSHAPE_CHECK(!TemporaryMemory::in_scope());
  TRY(TreeClassifier classifier, ops::read_tree_classes(call));
  return std::make_shared<const TreeClassifier>(std::move(classifier));
}

Status run_trees(const ViewArgs& args, int64_t, int64_t) {
  TRY(const Tensor x, tensor_of(args.in[0]));
  TRY(Tensor out, tensor_of(args.out[0]));
  return ops::run_trees(prepared_as<Trees>(args), x, out);
}

Status run_classifier(const ViewArgs& args, int64_t, int64_t) {
  const auto& classifier = prepared_as<TreeClassifier>(args);
  TRY(const Tensor x, tensor_of(args.in[0]));
  Tensor scores;
  if (args.out.size() > 1 && args.out[1]) {
    TRY(scores, tensor_of(args.out[1]));
  }
  TRY(const auto found, ops::run_tree_classes(classifier, x, scores ? &scores : nullptr));
  if (!args.out[0]) return {};
  for (size_t i = 0; i < found.size(); ++i) args.out[0].as<int64_t>()[i] = ops::tree_label(classifier, found[i]);
  return {};
}

std::string_view accepts_labels(const Call& call) {
  return call.version() >= 2 && reads_as_numbers(call, 0) ? "" : "it does not map numbers";
}

Result<std::shared_ptr<const void>> prepare_labels(const Call& call) {
  // The values would be lost with a scope.
  ANYSHAPE_CHECK(!TemporaryMemory::in_scope());
  return ops::read_label_table(call);
}

Status run_labels(const ViewArgs& args, int64_t, int64_t) {
  const int64_t flat[] = {args.in[0].count()};
  TRY(const Tensor x, tensor_of(args.in[0], flat));
  TRY(Tensor out, tensor_of(args.out[0], flat));
  return ops::look_up_labels(prepared_as<ops::LabelTable>(args), x, out);
}

}  // namespace

constexpr EngineKernel kTreeRegressor = {.name = "prepared trees",
                                         .accepts = accepts_features,
                                         .prepare = prepare_trees<ops::read_tree_regressor>,
                                         .run = run_trees};
constexpr EngineKernel kTreeEnsemble = {.name = "prepared trees",
                                        .accepts = accepts_features,
                                        .prepare = prepare_trees<ops::read_tree_ensemble>,
                                        .run = run_trees};
constexpr EngineKernel kTreeClassifier = {
    .name = "prepared trees", .accepts = accepts_features, .prepare = prepare_classifier, .run = run_classifier};
constexpr EngineKernel kLabelEncoder = {
    .name = "prepared table", .accepts = accepts_labels, .prepare = prepare_labels, .run = run_labels};

}  // namespace anyshape::cpu
