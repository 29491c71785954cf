#include "kernels/loss.h"

#include "kernels/wide.h"

namespace anyshape::kernels {

Status likelihood_loss(const Loss& loss, const Tensor& log_probability, const Tensor& labels, const Tensor& weight,
                       Tensor& out) {
  TRY_OK(require_one_type({&log_probability, &weight, &out}));
  const auto& dims = log_probability.dims();
  if (dims.size() < 2) return refuse("kernel.shape", "a loss takes scores of rank 2 or more");
  const int64_t classes = dims[1];
  int64_t inner = 1;
  for (size_t i = 2; i < dims.size(); ++i) inner *= dims[i];
  if (!is_integer(labels.dtype())) return unknown("dtype", "no loss of labels of type {}", name(labels.dtype()));
  const bool each = loss.reduction == Reduction::none;
  if (labels.count() != dims[0] * inner || out.count() != (each ? labels.count() : 1) ||
      (weight && weight.count() != classes))
    return refuse("kernel.shape", "the tensors of a loss do not fit each other");
  return visit_real(out.dtype(), [&]<class T>(T) -> Status {
    double sum = 0, weights = 0;
    auto to = out.as_mutable<T>();
    for (int64_t i = 0; i < labels.count(); ++i) {
      const int64_t label = labels.int_at(i);
      if (loss.ignore && label == *loss.ignore) continue;
      if (label < 0 || label >= classes) return refuse("loss.label", "label {} is not in 0..{}", label, classes - 1);
      const double own = weight ? static_cast<double>(weight.as<T>()[static_cast<size_t>(label)]) : 1.0;
      const int64_t at = (i / inner * classes + label) * inner + i % inner;
      const double value = -static_cast<double>(log_probability.as<T>()[static_cast<size_t>(at)]) * own;
      if (each) to[static_cast<size_t>(i)] = static_cast<T>(value);
      sum += value;
      weights += own;
    }
    if (!each) to[0] = static_cast<T>(loss.reduction == Reduction::mean ? sum / weights : sum);
    return {};
  });
}

}  // namespace anyshape::kernels
