#include <algorithm>

#include "base/bug.h"
#include "kernels/reals.h"
#include "ops/ml_trees.h"
#include "ops/ml_views.h"
#include "ops/planned.h"

// The trees, read once for a plan or at each run of a reference kernel, and the walks of all rows.
namespace anyshape::ops {
namespace {

using kernels::Forest;

void put_row(const Temporary<double>& scores, size_t row, size_t width, Temporary<double>& out) {
  const auto count = static_cast<ptrdiff_t>(std::min(scores.size(), width));
  std::copy(scores.begin(), scores.begin() + count, out.begin() + static_cast<ptrdiff_t>(row * width));
}

// Targets nobody voted for are zero. A single target is left as it is but by probit, as ONNX Runtime has it.
Status run_regression(const Trees& trees, const Tensor& x, Tensor& out) {
  TRY(const FeatureRows rows, feature_rows(x));
  const auto targets = static_cast<size_t>(out.dims()[1]);
  if (!trees.base.empty() && trees.base.size() != targets)
    return refuse("treeensemble.base", "there are {} base values for {} targets", trees.base.size(), targets);
  Temporary<double> all(rows.count * targets);
  for (size_t i = 0; i < rows.count; ++i) {
    TRY(kernels::ForestScores scores, kernels::evaluate(trees.forest, rows.row(i), targets));
    for (size_t k = 0; k < trees.base.size(); ++k) scores.score[k] += trees.base[k];
    if (targets > 1 || trees.transform == kernels::PostTransform::probit)
      kernels::transform_scores(trees.transform, scores.score);
    put_row(scores.score, i, targets, all);
  }
  return kernels::from_reals(all, out);
}

struct Classified {
  size_t label = 0;
  Temporary<double> scores;
};

struct Classifier {
  Trees trees;
  size_t count = 0;             // of labels
  std::vector<int64_t> labels;  // empty: they are strings
  bool one_sided = false;       // all leaves vote for one and the same of two classes
  bool positive = true;         // no weight is negative
};

size_t best_of(const Temporary<double>& scores, const Temporary<bool>& voted) {
  std::optional<size_t> best;
  for (size_t k = 0; k < scores.size(); ++k)
    if (voted[k] && (!best || scores[k] > scores[*best])) best = k;
  return best.value_or(0);
}

// Where all votes are for the first class, its score says how positive the row is, as ONNX Runtime reads it. What it
// takes of memory is the same for every row.
Classified classify_one_sided(const Classifier& classifier, kernels::ForestScores found) {
  const auto& [forest, transform, base] = classifier.trees;
  const double threshold = classifier.positive ? 0.5 : 0;
  Temporary<double>& score = found.score;
  if (!base.empty()) score[0] += base[0];
  Temporary<double> two = kernels::two_scores(transform, score[0], classifier.positive);
  if (!found.voted[1]) {
    Classified out{score[0] > threshold ? size_t{1} : size_t{0}, std::move(score)};
    if (base.size() == 2)
      kernels::transform_scores(transform, out.scores);
    else
      out.scores = std::move(two);
    return out;
  }
  if (base.size() > 1) score[1] += base[1];
  Classified out{score[1] > threshold ? size_t{1} : size_t{0}, std::move(score)};
  kernels::transform_scores(transform, out.scores);
  return out;
}

Classified classify(const Classifier& classifier, kernels::ForestScores found) {
  if (classifier.one_sided) return classify_one_sided(classifier, std::move(found));
  const auto& [forest, transform, base] = classifier.trees;
  for (size_t k = 0; k < base.size() && k < found.score.size(); ++k) {
    found.score[k] += base[k];
    found.voted[k] = true;
  }
  Classified out{best_of(found.score, found.voted), std::move(found.score)};
  if (classifier.count == 1) out.label = out.scores[0] > 0 ? 1 : 0;
  if (classifier.count == 2) out.label = out.scores[1] > out.scores[0] ? 1 : 0;
  if (classifier.count > 1 || transform == kernels::PostTransform::probit)
    kernels::transform_scores(transform, out.scores);
  return out;
}

Result<Classifier> read_classifier(const Call& call) {
  Classifier out;
  const Labels labels = labels_of(call, "classlabels_int64s", "classlabels_strings");
  out.count = static_cast<size_t>(labels.count);
  if (labels.dtype == DType::i64 && labels.count > 0) out.labels = *call.ints("classlabels_int64s");
  TRY(out.trees, read_tree_classifier(call));
  const auto& votes = out.trees.forest.votes;
  bool same = true;
  for (const Forest::Vote& vote : votes) {
    same &= vote.target == votes.front().target;
    out.positive &= vote.weight >= 0;
  }
  out.one_sided = same && out.count == 2;
  return out;
}

// The classes found, and the scores into a tensor that may be absent.
Result<Temporary<size_t>> run_classification(const Classifier& classifier, const Tensor& x, Tensor* out) {
  TRY(const FeatureRows rows, feature_rows(x));
  Temporary<size_t> labels(rows.count);
  Temporary<double> all(rows.count * classifier.count);
  for (size_t i = 0; i < rows.count; ++i) {
    TRY(kernels::ForestScores scores, kernels::evaluate(classifier.trees.forest, rows.row(i), classifier.count));
    const Classified found = classify(classifier, std::move(scores));
    labels[i] = found.label;
    put_row(found.scores, i, classifier.count, all);
  }
  if (out) TRY_OK(kernels::from_reals(all, *out));
  return labels;
}

// One label stands for its own number, 0 or 1.
int64_t label_of(const Classifier& classifier, size_t found) {
  return classifier.count == 1 ? static_cast<int64_t>(found) : classifier.labels[std::min(found, classifier.count - 1)];
}

}  // namespace

Status run_tree_regressor(const Call& call, KernelArgs& args) {
  TRY(const Trees trees, read_tree_regressor(call));
  return run_regression(trees, args.in(0), args.out(0));
}

Status run_tree_ensemble(const Call& call, KernelArgs& args) {
  TRY(const Trees trees, read_tree_ensemble(call));
  return run_regression(trees, args.in(0), args.out(0));
}

Status run_tree_classifier(const Call& call, KernelArgs& args) {
  TRY(const Classifier classifier, read_classifier(call));
  TRY(const auto found, run_classification(classifier, args.in(0), call.has_output(1) ? &args.out(1) : nullptr));
  if (!call.has_output(0)) return {};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (!classifier.labels.empty())
      args.out(0).set_int(at, label_of(classifier, found[i]));
    else
      write_label(call, "classlabels_int64s", "classlabels_strings", std::min(found[i], classifier.count - 1),
                  args.out(0), at);
  }
  return {};
}

namespace {

std::string_view accepts(const Call& call) {
  return reads_as_numbers(call, 0) ? "" : "its features are no floats of 16 bits or more and no integers of 8 or more";
}

template <Result<Trees> (*read)(const Call&)>
Result<std::shared_ptr<const void>> prepare(const Call& call) {
  // The lists of the trees would be lost with a scope.
  ANYSHAPE_CHECK(!TemporaryMemory::in_scope());
  TRY(Trees trees, read(call));
  return std::make_shared<const Trees>(std::move(trees));
}

Result<std::shared_ptr<const void>> prepare_classifier(const Call& call) {
  ANYSHAPE_CHECK(!TemporaryMemory::in_scope());
  TRY(Classifier classifier, read_classifier(call));
  return std::make_shared<const Classifier>(std::move(classifier));
}

Status run_trees(const ViewArgs& args, int64_t, int64_t) {
  TRY(const Tensor x, tensor_of(args.in[0]));
  TRY(Tensor out, tensor_of(args.out[0]));
  return run_regression(*static_cast<const Trees*>(args.prepared), x, out);
}

Status run_classifier(const ViewArgs& args, int64_t, int64_t) {
  const auto& classifier = *static_cast<const Classifier*>(args.prepared);
  TRY(const Tensor x, tensor_of(args.in[0]));
  Tensor scores;
  if (args.out.size() > 1 && args.out[1]) {
    TRY(scores, tensor_of(args.out[1]));
  }
  TRY(const auto found, run_classification(classifier, x, scores ? &scores : nullptr));
  if (!args.out[0]) return {};
  for (size_t i = 0; i < found.size(); ++i) args.out[0].as<int64_t>()[i] = label_of(classifier, found[i]);
  return {};
}

}  // namespace

constexpr PlannedKernel kTreeRegressorPlanned[1] = {
    {.name = "prepared trees", .accepts = accepts, .prepare = prepare<read_tree_regressor>, .run = run_trees}};
constexpr PlannedKernel kTreeEnsemblePlanned[1] = {
    {.name = "prepared trees", .accepts = accepts, .prepare = prepare<read_tree_ensemble>, .run = run_trees}};
constexpr PlannedKernel kTreeClassifierPlanned[1] = {
    {.name = "prepared trees", .accepts = accepts, .prepare = prepare_classifier, .run = run_classifier}};

}  // namespace anyshape::ops
