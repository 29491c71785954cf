#include <algorithm>

#include "kernels/reals.h"
#include "ops/ml/trees.h"

// The trees, read once for a plan or at each run of a reference kernel, and the walks of all rows.
namespace anyshape::ops {
namespace {

using kernels::Forest;

void put_row(const Temporary<double>& scores, size_t row, size_t width, Temporary<double>& out) {
  const auto count = static_cast<ptrdiff_t>(std::min(scores.size(), width));
  std::copy(scores.begin(), scores.begin() + count, out.begin() + static_cast<ptrdiff_t>(row * width));
}

}  // namespace

void finish_targets(const Trees& trees, std::span<double> score) {
  for (size_t k = 0; k < trees.base.size(); ++k) score[k] += trees.base[k];
  if (score.size() > 1 || trees.transform == kernels::PostTransform::probit)
    kernels::transform_scores(trees.transform, score);
}

// Targets nobody voted for are zero.
Status run_trees(const Trees& trees, const Tensor& x, Tensor& out) {
  TRY(const FeatureRows rows, feature_rows(x));
  const auto targets = static_cast<size_t>(out.dims()[1]);
  if (!trees.base.empty() && trees.base.size() != targets)
    return refuse("treeensemble.base", "there are {} base values for {} targets", trees.base.size(), targets);
  Temporary<double> all(rows.count * targets);
  for (size_t i = 0; i < rows.count; ++i) {
    TRY(kernels::ForestScores scores, kernels::evaluate(trees.forest, rows.row(i), targets));
    finish_targets(trees, scores.score);
    put_row(scores.score, i, targets, all);
  }
  return kernels::from_reals(all, out);
}

namespace {

size_t best_of(std::span<const double> scores, std::span<const uint8_t> voted) {
  std::optional<size_t> best;
  for (size_t k = 0; k < scores.size(); ++k)
    if (voted[k] && (!best || scores[k] > scores[*best])) best = k;
  return best.value_or(0);
}

// Where all votes are for the first class, its score says how positive the row is, as ONNX Runtime reads it.
size_t finish_one_sided(const TreeClassifier& classifier, std::span<double> score, std::span<const uint8_t> voted) {
  const auto& [forest, transform, base] = classifier.trees;
  const double threshold = classifier.positive ? 0.5 : 0;
  if (!base.empty()) score[0] += base[0];
  if (!voted[1]) {
    const size_t label = score[0] > threshold ? 1 : 0;
    if (base.size() == 2)
      kernels::transform_scores(transform, score);
    else
      kernels::two_scores(transform, score[0], classifier.positive, score.first<2>());
    return label;
  }
  if (base.size() > 1) score[1] += base[1];
  const size_t label = score[1] > threshold ? 1 : 0;
  kernels::transform_scores(transform, score);
  return label;
}

}  // namespace

size_t finish_classes(const TreeClassifier& classifier, std::span<double> score, std::span<uint8_t> voted) {
  if (classifier.one_sided) return finish_one_sided(classifier, score, voted);
  const auto& [forest, transform, base] = classifier.trees;
  for (size_t k = 0; k < base.size() && k < score.size(); ++k) {
    score[k] += base[k];
    voted[k] = 1;
  }
  size_t label = best_of(score, voted);
  if (classifier.count == 1) label = score[0] > 0 ? 1 : 0;
  if (classifier.count == 2) label = score[1] > score[0] ? 1 : 0;
  if (classifier.count > 1 || transform == kernels::PostTransform::probit) kernels::transform_scores(transform, score);
  return label;
}

Result<TreeClassifier> read_tree_classes(const Call& call) {
  TreeClassifier out;
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

Result<Temporary<size_t>> run_tree_classes(const TreeClassifier& classifier, const Tensor& x, Tensor* out) {
  TRY(const FeatureRows rows, feature_rows(x));
  Temporary<size_t> labels(rows.count);
  Temporary<double> all(rows.count * classifier.count);
  for (size_t i = 0; i < rows.count; ++i) {
    TRY(kernels::ForestScores scores, kernels::evaluate(classifier.trees.forest, rows.row(i), classifier.count));
    labels[i] = finish_classes(classifier, scores.score, scores.voted);
    put_row(scores.score, i, classifier.count, all);
  }
  if (out) TRY_OK(kernels::from_reals(all, *out));
  return labels;
}

int64_t tree_label(const TreeClassifier& classifier, size_t found) {
  return classifier.count == 1 ? static_cast<int64_t>(found) : classifier.labels[std::min(found, classifier.count - 1)];
}

Status run_tree_regressor(const Call& call, KernelArgs& args) {
  TRY(const Trees trees, read_tree_regressor(call));
  return run_trees(trees, args.in(0), args.out(0));
}

Status run_tree_ensemble(const Call& call, KernelArgs& args) {
  TRY(const Trees trees, read_tree_ensemble(call));
  return run_trees(trees, args.in(0), args.out(0));
}

Status run_tree_classifier(const Call& call, KernelArgs& args) {
  TRY(const TreeClassifier classifier, read_tree_classes(call));
  TRY(const auto found, run_tree_classes(classifier, args.in(0), call.has_output(1) ? &args.out(1) : nullptr));
  if (!call.has_output(0)) return {};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (!classifier.labels.empty())
      args.out(0).set_int(at, tree_label(classifier, found[i]));
    else
      write_label(call, "classlabels_int64s", "classlabels_strings", std::min(found[i], classifier.count - 1),
                  args.out(0), at);
  }
  return {};
}

}  // namespace anyshape::ops
