#include "kernels/loss.h"

#include "kernels/normalize.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"
#include "ops/wide.h"

// SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss.
namespace anyshape::ops {
namespace {

constexpr Port kSoftmaxIn[] = {{"scores"}, {"labels"}, {"weights", Port::optional}};
constexpr Port kSoftmaxOut[] = {{"output"}, {"log_prob", Port::optional}};
constexpr Port kLikelihoodIn[] = {{"input"}, {"target"}, {"weight", Port::optional}};
constexpr Port kLikelihoodOut[] = {{"loss"}};
constexpr AttributeDef kAttributes[] = {
    {"ignore_index", AttributeDef::integer},
    {"reduction", "mean"},
};

Status require_labels(InferContext& context, const Dims& scores, const Dims& labels) {
  if (labels.size() + 1 != scores.size())
    return refuse("loss.labels", "the labels {} have one axis less than the scores {}", text(labels), text(scores));
  for (size_t i = 0; i < labels.size(); ++i) {
    const Dim expected = scores[i == 0 ? 0 : i + 1];
    TRY_OK(context.require(Condition::eq(labels[i], expected), "loss.labels",
                           "the labels {} must fit the scores {}: {} and {} must be equal", text(labels), text(scores),
                           print(labels[i]), print(expected)));
  }
  return {};
}

Result<Facts> infer_loss(const Call& call, InferContext& context) {
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
    TRY_OK(context.require(Condition::eq(weights, scores[1]), "loss.weights",
                           "there must be a weight for each class: {} weights, {} classes of {}", print(weights),
                           print(scores[1]), text(scores)));
  }
  context.data_condition("loss.label", "labels must be in 0..{}", print(scores[1] - 1));
  const auto reduction = call.s("reduction");
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    return refuse("loss.reduction", "the reduction is none, mean or sum, not {:?}", reduction);
  const DType dtype = call.in(0).dtype;
  return Facts{Fact::tensor(dtype, reduction == "none" ? labels : Dims()), Fact::tensor(dtype, scores)};
}

kernels::Loss read_loss(const Call& call) {
  kernels::Loss loss;
  const auto reduction = call.s("reduction");
  if (reduction == "none") loss.reduction = kernels::Reduction::none;
  if (reduction == "sum") loss.reduction = kernels::Reduction::sum;
  if (call.has_attr("ignore_index")) loss.ignore = call.i("ignore_index");
  return loss;
}

Status reference_likelihood(const Call& call, KernelArgs& args) {
  return run_wide(args, [&](KernelArgs& wide) {
    return kernels::likelihood_loss(read_loss(call), wide.in(0), wide.in(1), wide.in(2), wide.out(0));
  });
}

Status reference_softmax(const Call& call, KernelArgs& args) {
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    const Tensor& scores = wide.in(0);
    if (scores.rank() < 2) return refuse("kernel.shape", "a loss takes scores of rank 2 or more");
    Tensor logs = call.has_output(1) ? wide.out(1) : Tensor();
    if (!logs) {
      TRY(logs, Tensor::allocate(scores.dtype(), scores.dims()));
    }
    kernels::Channels layout{scores.dims()[0], scores.dims()[1], 1};
    for (size_t i = 2; i < scores.rank(); ++i) layout.inner *= scores.dims()[i];
    TRY_OK(kernels::softmax(kernels::SoftmaxKind::log, layout, scores, logs));
    return kernels::likelihood_loss(read_loss(call), logs, wide.in(1), wide.in(2), wide.out(0));
  });
}

constexpr Kernel kLikelihoodKernels[] = {{"reference", reference_likelihood}};
constexpr Kernel kSoftmaxKernels[] = {{"reference", reference_softmax}};

}  // namespace

constexpr OpDef kNegativeLogLikelihoodLoss12{
    .name = "NegativeLogLikelihoodLoss",
    .since = 12,
    .sig = {kLikelihoodIn, kLikelihoodOut, "loss of log-probabilities", kAttributes},
    .infer = infer_loss,
    .kernels = kLikelihoodKernels};
constexpr OpDef kSoftmaxCrossEntropyLoss12{
    .name = "SoftmaxCrossEntropyLoss",
    .since = 12,
    .sig = {kSoftmaxIn, kSoftmaxOut, "cross entropy of scores and labels", kAttributes},
    .infer = infer_loss,
    .kernels = kSoftmaxKernels};

}  // namespace anyshape::ops
