#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "tensor/tensor.h"

// Normalisations of f32 or f64 (one type in all tensors of a call), computed in double. Absent tensors are empty ones.
// Errors "dtype", "kernel.shape".
namespace anyshape::kernels {

// x taken as [outer, channels, inner].
struct Channels {
  int64_t outer = 1, channels = 1, inner = 1;
};

// out = (x - mean) / sqrt(variance + epsilon) * scale + bias with one parameter per channel.
struct ChannelNorm {
  Tensor scale, bias, mean, variance;
  float epsilon = 1e-5f;
};
Status channel_norm(const ChannelNorm& norm, const Channels& layout, const Tensor& x, Tensor& out);
// Mean and (population) variance per channel.
Status channel_moments(const Channels& layout, const Tensor& x, Tensor& mean, Tensor& variance);

// x is `rows` rows of equal length, each brought to mean 0 and variance 1; then times scale plus bias. Entry e of a row
// r has the parameter (r * length + e) / repeat % count of scale.
struct RowNorm {
  int64_t rows = 1, repeat = 1;
  float epsilon = 1e-5f;
};
Status row_norm(const RowNorm& norm, const Tensor& x, const Tensor& scale, const Tensor& bias, Tensor& out);

// Over the axes from `axis` on; scale and bias broadcast to x. mean and inverse (of the standard deviation) may be
// absent. `centered`: false leaves the mean where it is (root mean square).
struct LayerNorm {
  size_t axis = 0;
  float epsilon = 1e-5f;
  bool centered = true;
};
Status layer_norm(const LayerNorm& norm, const Tensor& x, const Tensor& scale, const Tensor& bias, Tensor& out,
                  Tensor& mean, Tensor& inverse);

// (x - mean) / (standard deviation + 1e-9) over the axes marked.
Status mean_variance_norm(const Temporary<bool>& axes, const Tensor& x, Tensor& out);

// x divided by its p-norm (1 or 2) along the middle axis; 0 where the norm is 0.
Status lp_norm(const Channels& layout, int64_t p, const Tensor& x, Tensor& out);

// x / (bias + alpha / size * sum of squares over `size` channels around)^beta.
struct LocalResponse {
  int64_t size = 1;
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
};
Status local_response_norm(const LocalResponse& norm, const Channels& layout, const Tensor& x, Tensor& out);

// Along the middle axis. hard: 1 at the first largest entry, else 0. `storage`: f16 or bf16 rounds every step of `soft`
// to that type, as ONNX's reference does.
enum class SoftmaxKind { soft, log, hard };
Status softmax(SoftmaxKind kind, const Channels& layout, const Tensor& x, Tensor& out, DType storage = DType::f32);

}  // namespace anyshape::kernels
