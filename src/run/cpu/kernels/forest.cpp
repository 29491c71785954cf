#include <algorithm>
#include <cmath>

#include "ops/ml/trees.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/kernels/flat_forest.h"

// Trees of ai.onnx.ml over rows of f32.
namespace anyshape::cpu {
namespace {

using ops::TreeClassifier;
using ops::Trees;

// Either kind of ensemble; of a regressor only `trees` of the classifier is there.
struct ForestPrepared {
  TreeClassifier model;
  simd::FlatForest forest;
  std::vector<uint8_t> voted;
};

using ForestRead = Result<TreeClassifier> (*)(const Call&);

template <Result<Trees> (*read)(const Call&)>
Result<TreeClassifier> read_targets(const Call& call) {
  TreeClassifier out;
  TRY(out.trees, read(call));
  out.count = static_cast<size_t>(std::max<int64_t>(call.i("n_targets"), 0));
  return out;
}

bool is_classifier_forest(const Call& call) { return call.type() == "TreeEnsembleClassifier"; }

std::string_view flatten(const Call& call, const TreeClassifier& model, ForestPrepared& p) {
  const auto& [forest, transform, base] = model.trees;
  if (model.count == 0 || model.count > 1000) return "it has no targets, or more than 1000";
  if (is_classifier_forest(call) && model.labels.empty()) return "its labels are strings";
  if (!is_classifier_forest(call) && !base.empty() && base.size() != model.count)
    return "its base values are not one a target";
  if (const auto why = flat_forest(forest, static_cast<int64_t>(model.count), p.forest, p.voted); !why.empty())
    return why;
  if (is_classifier_forest(call) && std::find(p.voted.begin(), p.voted.end(), kVotedBySome) != p.voted.end())
    return "whether a class gets a vote hangs on the row";
  const auto features = call.in(0).dims ? call.in(0).dims->back().constant() : std::nullopt;
  if (!features) return "the number of its features is not known";
  for (const auto& node : p.forest.nodes)
    if (node.feature >= *features) return "it looks at features that are not there";
  return {};
}

// Lists of all nodes are read once: what is wrong with them, prepare() tells.
std::string_view accepts_forest(const Call& call) {
  if (!is_f32(call, 0)) return "its features are not f32";
  const auto& dims = call.in(0).dims;
  return !dims || dims->empty() || dims->size() > 2 ? "its input is not known to be rows of features" : "";
}

template <ForestRead read>
Result<std::shared_ptr<const void>> prepare_forest(const Call& call) {
  auto p = std::make_shared<ForestPrepared>();
  auto model = read(call);
  if (!model) return unknown("kernel.trees", "its trees are not legal");
  p->model = *std::move(model);
  if (const auto why = flatten(call, p->model, *p); !why.empty()) return unknown("kernel.trees", "{}", why);
  // What is flat is not needed as a list.
  p->model.trees.forest.nodes = {};
  p->model.trees.forest.votes = {};
  return p;
}

struct ForestRows {
  int64_t count, features;
  int64_t blocks() const { return (count + simd::kForestRows - 1) / simd::kForestRows; }
};
ForestRows rows_of_forest(const ViewArgs& args) {
  const auto dims = args.in[0].dims;
  return {dims.size() == 2 ? dims[0] : 1, dims.back()};
}

int64_t tasks_forest(const ViewArgs& args) {
  const auto& forest = prepared_as<ForestPrepared>(args).forest;
  const double nodes = static_cast<double>(forest.nodes.size());
  return tasks_for(rows_of_forest(args).blocks(), 8 * nodes + 200 * static_cast<double>(forest.trees.size()));
}

int64_t sums_of(const ForestPrepared& p) { return p.forest.targets * simd::kForestRows; }

int64_t task_bytes(const ViewArgs& args) {
  const ForestPrepared& p = prepared_as<ForestPrepared>(args);
  return sums_of(p) * 8 + round_up(simd::forest_scratch(p.forest, rows_of_forest(args).features) * 4, 64) +
         round_up(p.forest.targets * 9, 64);
}

int64_t scratch_forest(const ViewArgs& args) { return tasks_forest(args) * task_bytes(args); }

// Finishes the sums of rows of one block.
void finish_rows(const ViewArgs& args, const double* sums, int64_t first, int64_t count, double* score,
                 uint8_t* voted) {
  const ForestPrepared& p = prepared_as<ForestPrepared>(args);
  const auto targets = static_cast<size_t>(p.forest.targets);
  const bool classes = !p.model.labels.empty();
  const auto& forest = p.model.trees.forest;
  const View& to = classes ? (args.out.size() > 1 ? args.out[1] : View()) : args.out[0];
  for (int64_t r = 0; r < count; ++r) {
    for (size_t k = 0; k < targets; ++k) score[k] = sums[static_cast<int64_t>(k) * simd::kForestRows + r];
    if (forest.aggregate == kernels::Forest::Aggregate::average)
      for (size_t k = 0; k < targets; ++k) score[k] /= static_cast<double>(forest.roots.size());
    if (classes) {
      std::copy(p.voted.begin(), p.voted.end(), voted);
      const size_t found = ops::finish_classes(p.model, std::span(score, targets), std::span(voted, targets));
      if (args.out[0]) args.out[0].as<int64_t>()[first + r] = ops::tree_label(p.model, found);
    } else {
      ops::finish_targets(p.model.trees, std::span(score, targets));
    }
    for (size_t k = 0; to && k < targets; ++k)
      to.as<float>()[static_cast<size_t>(first + r) * targets + k] = static_cast<float>(score[k]);
  }
}

Status run_forest(const ViewArgs& args, int64_t first, int64_t last) {
  const ForestPrepared& p = prepared_as<ForestPrepared>(args);
  const ForestRows rows = rows_of_forest(args);
  const int64_t all = tasks_forest(args);
  auto* sums = reinterpret_cast<double*>(args.scratch + first * task_bytes(args));
  auto* turned = reinterpret_cast<float*>(sums + sums_of(p));
  auto* score = reinterpret_cast<double*>(turned + simd::forest_scratch(p.forest, rows.features));
  auto* voted = reinterpret_cast<uint8_t*>(score + p.forest.targets);
  const int64_t end = share_of(rows.blocks(), all, last - 1).last;
  for (int64_t b = share_of(rows.blocks(), all, first).first; b < end; ++b) {
    const int64_t at = b * simd::kForestRows, count = std::min(simd::kForestRows, rows.count - at);
    simd::forest_block(p.forest, args.in[0].as<const float>() + at * rows.features, count, rows.features, turned, sums);
    finish_rows(args, sums, at, count, score, voted);
  }
  return {};
}

template <ForestRead read>
constexpr EngineKernel kForest = {.name = "f32 forest",
                                  .accepts = accepts_forest,
                                  .prepare = prepare_forest<read>,
                                  .scratch = scratch_forest,
                                  .tasks = tasks_forest,
                                  .run = run_forest};

}  // namespace

constexpr EngineKernel kForestRegressor = kForest<read_targets<ops::read_tree_regressor>>;
constexpr EngineKernel kForestEnsemble = kForest<read_targets<ops::read_tree_ensemble>>;
constexpr EngineKernel kForestClassifier = kForest<ops::read_tree_classes>;

}  // namespace anyshape::cpu
