#pragma once

#include <optional>

#include "base/error.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

enum class Reduction { none, mean, sum };

struct Loss {
  Reduction reduction = Reduction::mean;
  std::optional<int64_t> ignore;  // the label that counts for nothing
};

// -log_probability[n, label, ...] * weight[label] for every label; the mean is that weighted by `weight` (absent: 1).
// log_probability is [batch, classes, rest...] of f32 or f64, labels [batch, rest...] of integers. Errors "dtype",
// "kernel.shape", "loss.label".
Status likelihood_loss(const Loss& loss, const Tensor& log_probability, const Tensor& labels, const Tensor& weight,
                       Tensor& out);

}  // namespace anyshape::kernels
