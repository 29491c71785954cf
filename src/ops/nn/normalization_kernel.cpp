#include "ops/nn/normalization_kernel.h"

#include <algorithm>

#include "kernels/normalize.h"
#include "kernels/wide.h"
#include "ops/common.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

int64_t product_of(std::span<const int64_t> dims, size_t first, size_t last) {
  int64_t product = 1;
  for (size_t i = first; i < last; ++i) product *= dims[i];
  return product;
}

kernels::Channels around(std::span<const int64_t> dims, size_t axis) {
  return {product_of(dims, 0, axis), dims[axis], product_of(dims, axis + 1, dims.size())};
}

// The parameters are per channel, or before opset 9 per cell of a sample.
Result<kernels::Channels> batch_layout(const Call& call, std::span<const int64_t> dims) {
  if (dims.empty()) return refuse("kernel.shape", "BatchNormalization takes an input of rank 1 or more");
  if (dims.size() == 1) return kernels::Channels{dims[0], 1, 1};
  if (call.version() < 9 && call.i("spatial") == 0)
    return kernels::Channels{dims[0], product_of(dims, 1, dims.size()), 1};
  return around(dims, 1);
}

// Before opset 14 the number of outputs tells training, unless is_test says otherwise.
bool is_training(const Call& call) {
  if (call.version() >= 14) return call.i("training_mode") != 0;
  if (call.version() < 7 && call.i("is_test") != 0) return false;
  for (size_t i = 1; i < 5; ++i)
    if (call.has_output(i)) return true;
  return false;
}

// was * momentum + now * (1 - momentum).
Status blend(const Tensor& was, const Tensor& now, float momentum, Tensor& out) {
  TRY_OK(kernels::require_one_type({&was, &now, &out}));
  if (out.count() != now.count() || was.count() != now.count())
    return refuse("kernel.shape", "the running statistics do not fit the channels");
  return kernels::visit_real(out.dtype(), [&]<class T>(T) -> Status {
    auto to = out.as_mutable<T>();
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<T>(static_cast<double>(was.as<T>()[i]) * momentum +
                             static_cast<double>(now.as<T>()[i]) * (1.0 - momentum));
    return {};
  });
}

Status train_batch(const Call& call, const kernels::Channels& layout, kernels::ChannelNorm norm, KernelArgs& wide) {
  const Tensor &x = wide.in(0), mean = norm.mean, variance = norm.variance;
  TRY(norm.mean, Tensor::allocate(x.dtype(), {layout.channels}));
  TRY(norm.variance, Tensor::allocate(x.dtype(), {layout.channels}));
  TRY_OK(kernels::channel_moments(layout, x, norm.mean, norm.variance));
  TRY_OK(kernels::channel_norm(norm, layout, x, wide.out(0)));
  const float momentum = call.f("momentum");
  if (call.has_output(1)) TRY_OK(blend(mean, norm.mean, momentum, wide.out(1)));
  if (call.has_output(2)) TRY_OK(blend(variance, norm.variance, momentum, wide.out(2)));
  if (call.has_output(3)) TRY_OK(blend(norm.mean, norm.mean, 0, wide.out(3)));
  if (call.has_output(4)) TRY_OK(blend(norm.variance, norm.variance, 0, wide.out(4)));
  return {};
}

}  // namespace

Status batch_normalization(const Call& call, KernelArgs& args) {
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    TRY(const kernels::Channels layout, batch_layout(call, wide.in(0).dims()));
    const kernels::ChannelNorm norm{wide.in(1), wide.in(2), wide.in(3), wide.in(4), call.f("epsilon")};
    if (is_training(call)) return train_batch(call, layout, norm, wide);
    return kernels::channel_norm(norm, layout, wide.in(0), wide.out(0));
  });
}

Status instance_normalization(const Call& call, KernelArgs& args) {
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    const auto& dims = wide.in(0).dims();
    if (dims.size() < 2) return refuse("kernel.shape", "InstanceNormalization takes an input of rank 3 or more");
    const kernels::RowNorm norm{dims[0] * dims[1], std::max<int64_t>(1, product_of(dims, 2, dims.size())),
                                call.f("epsilon")};
    return kernels::row_norm(norm, wide.in(0), wide.in(1), wide.in(2), wide.out(0));
  });
}

Status group_normalization(const Call& call, KernelArgs& args) {
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    const auto& dims = wide.in(0).dims();
    const int64_t groups = call.i("num_groups"), parameters = wide.in(1).count();
    if (dims.size() < 2 || groups < 1 || dims[1] % groups != 0 || parameters < 1 || dims[1] % parameters != 0)
      return refuse("kernel.shape", "the groups do not fit the channels");
    const int64_t plane = product_of(dims, 2, dims.size());
    const kernels::RowNorm norm{dims[0] * groups, std::max<int64_t>(1, dims[1] / parameters * plane),
                                call.f("epsilon")};
    return kernels::row_norm(norm, wide.in(0), wide.in(1), wide.in(2), wide.out(0));
  });
}

Status layer_normalization(const Call& call, KernelArgs& args) {
  TRY(const size_t axis, normalize_axis(call.i("axis"), args.in(0).rank()));
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    Tensor mean = call.has_output(1) ? wide.out(1) : Tensor(), inverse = call.has_output(2) ? wide.out(2) : Tensor();
    return kernels::layer_norm({axis, call.f("epsilon"), true}, wide.in(0), wide.in(1), wide.in(2), wide.out(0), mean,
                               inverse);
  });
}

Status rms_normalization(const Call& call, KernelArgs& args) {
  TRY(const size_t axis, normalize_axis(call.i("axis"), args.in(0).rank()));
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    Tensor none;
    return kernels::layer_norm({axis, call.f("epsilon"), false}, wide.in(0), wide.in(1), {}, wide.out(0), none, none);
  });
}

Status lp_normalization(const Call& call, KernelArgs& args) {
  TRY(const size_t axis, normalize_axis(call.i("axis"), args.in(0).rank()));
  return run_wide(args, [&](KernelArgs& wide) {
    return kernels::lp_norm(around(wide.in(0).dims(), axis), call.i("p"), wide.in(0), wide.out(0));
  });
}

Status mean_variance_normalization(const Call& call, KernelArgs& args) {
  TRY(const auto axes, normalize_axes(call.ints_or_default("axes"), args.in(0).rank()));
  Temporary<bool> marked(args.in(0).rank());
  for (size_t axis : axes) marked[axis] = true;
  return run_wide(args, [&](KernelArgs& wide) { return kernels::mean_variance_norm(marked, wide.in(0), wide.out(0)); });
}

Status local_response_normalization(const Call& call, KernelArgs& args) {
  const kernels::LocalResponse norm{call.i("size"), call.f("alpha"), call.f("beta"), call.f("bias")};
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    if (wide.in(0).rank() < 2) return refuse("kernel.shape", "LRN takes an input of rank 2 or more");
    return kernels::local_response_norm(norm, around(wide.in(0).dims(), 1), wide.in(0), wide.out(0));
  });
}

}  // namespace anyshape::ops
