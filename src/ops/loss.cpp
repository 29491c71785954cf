#include "ops/elementwise.h"
#include "ops/records.h"

// SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss.
namespace anyshape::ops {
namespace {

constexpr Port kSoftmaxIn[] = {{"scores"}, {"labels"}, {"weights", Port::optional}};
constexpr Port kSoftmaxOut[] = {{"output"}, {"log_prob", Port::optional}};
constexpr Port kLikelihoodIn[] = {{"input"}, {"target"}, {"weight", Port::optional}};
constexpr Port kLikelihoodOut[] = {{"loss"}};

Status require_labels(InferContext& context, const Dims& scores, const Dims& labels) {
  if (labels.size() + 1 != scores.size())
    return refuse("loss.labels", "the labels {} have one axis less than the scores {}", text(labels), text(scores));
  for (size_t i = 0; i < labels.size(); ++i) {
    const Dim expected = scores[i == 0 ? 0 : i + 1];
    TRY_OK(context.require(Condition::eq(labels[i], expected), "loss.labels",
                           "the labels {} do not fit the scores {}: {} against {}", text(labels), text(scores),
                           print(labels[i]), print(expected)));
  }
  return {};
}

Result<Facts> infer(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskFloat));
  TRY_OK(require_tensor(call, 1, kMaskInt));
  TRY_OK(require_tensor(call, 2, kMaskFloat));
  TRY_OK(require_min_rank(call, 0, 2));
  const Dims& scores = *call.in(0).dims;
  TRY(const Dims labels, call.dims(1));
  TRY_OK(require_labels(context, scores, labels));
  if (call.has(2) && call.in(2).dims) {
    TRY_OK(require_rank(call, 2, 1));
    const Dim weights = (*call.in(2).dims)[0];
    TRY_OK(context.require(Condition::eq(weights, scores[1]), "loss.weights", "{} weights for the {} classes of {}",
                           print(weights), print(scores[1]), text(scores)));
  }
  context.data_condition("loss.label", "labels must be in 0..{}-1", print(scores[1]));
  const auto reduction = call.s("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    return refuse("loss.reduction", "the reduction is none, mean or sum, not \"{}\"", reduction);
  const DType dtype = call.in(0).dtype;
  return Facts{Fact::tensor(dtype, reduction == "none" ? labels : Dims()), Fact::tensor(dtype, scores)};
}

}  // namespace

constexpr OpDef kNegativeLogLikelihoodLoss12{.name = "NegativeLogLikelihoodLoss",
                                             .since = 12,
                                             .sig = {kLikelihoodIn, kLikelihoodOut, "loss of log-probabilities"},
                                             .infer = infer};
constexpr OpDef kSoftmaxCrossEntropyLoss12{.name = "SoftmaxCrossEntropyLoss",
                                           .since = 12,
                                           .sig = {kSoftmaxIn, kSoftmaxOut, "cross entropy of scores and labels"},
                                           .infer = infer};

}  // namespace anyshape::ops
