#include "ops/nn/normalization_kernel.h"

#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/normalize.h"
#include "ops/microsoft/common.h"
#include "ops/microsoft/kernel.h"
#include "ops/wide.h"

namespace anyshape::ops {

Status run_ms_layer_norm(const Call& call, KernelArgs& args) { return layer_normalization(call, args); }

namespace {

// Over the axes from `axis` on, in the type of the input; statistics where the outputs are there.
Status normalize(const Tensor& x, const Tensor& scale, const Tensor& bias, size_t axis, float epsilon, bool centered,
                 Tensor& out, Tensor* mean, Tensor* inverse) {
  Datum in[] = {x, scale, bias};
  Datum outputs[] = {out, mean ? *mean : Tensor(), inverse ? *inverse : Tensor()};
  KernelArgs args{in, outputs, nullptr, 0};
  return run_wide(args, [&](KernelArgs& wide) {
    return kernels::layer_norm({axis, epsilon, centered}, wide.in(0), wide.in(1), wide.in(2), wide.out(0), wide.out(1),
                               wide.out(2));
  });
}

}  // namespace

Status run_ms_simplified_layer_norm(const Call& call, KernelArgs& args) {
  TRY(const size_t axis, normalize_axis(call.i("axis"), args.in(0).rank()));
  Tensor none, *inverse = call.has_output(1) ? &args.out(1) : &none;
  return normalize(args.in(0), args.in(1), {}, axis, call.f("epsilon"), false, args.out(0), nullptr, inverse);
}

// The sum of input, skip and bias is an output of its own.
Status run_ms_skip_layer_norm(const Call& call, KernelArgs& args) {
  const bool simplified = call.type() == "SkipSimplifiedLayerNormalization";
  const Tensor &beta = simplified ? Tensor() : args.in(3), &bias = args.in(simplified ? 3 : 4);
  TRY(Tensor sum, Tensor::allocate(args.in(0).dtype(), args.in(0).dims()));
  TRY_OK(add_to(sum, args.in(0)));
  TRY_OK(add_to(sum, args.in(1)));
  if (bias) TRY_OK(add_to(sum, bias));
  if (args.in(0).rank() == 0) return refuse("rank", "a scalar cannot be normalised");
  Tensor *mean = call.has_output(1) && !simplified ? &args.out(1) : nullptr,
         *inverse = call.has_output(2) ? &args.out(2) : nullptr;
  TRY_OK(normalize(sum, args.in(2), beta, sum.rank() - 1, call.f("epsilon"), !simplified, args.out(0), mean, inverse));
  if (call.has_output(3)) TRY_OK(put(sum, args.out(3)));
  return {};
}

namespace {

// The row of a table an id names.
Result<size_t> row_of_normalization_kernel(const Tensor& ids, int64_t i, const Tensor& table) {
  const int64_t id = ids.int_at(i);
  if (id < 0 || id >= table.dims()[0])
    return refuse("embedlayernormalization.ids", "id {} must lie in 0..{}", id, table.dims()[0] - 1);
  return static_cast<size_t>(id);
}

Status check_ids_normalization_kernel(const KernelArgs& args, size_t ids, size_t table) {
  if (args.in(ids) && !is_integer(args.in(ids).dtype()))
    return refuse("dtype", "ids are {}", name(args.in(ids).dtype()));
  if (args.in(table) && args.in(table).rank() != 2) return refuse("rank", "input {} is no table", table);
  return {};
}

// position_ids may have one row for all of the batch.
int64_t position_at(const Tensor& positions, int64_t token, int64_t length) {
  if (!positions) return token % length;
  return positions.count() > length ? positions.int_at(token) : positions.int_at(token % length);
}

}  // namespace

Status run_ms_embed_layer_norm(const Call& call, KernelArgs& args) {
  const Tensor &ids = args.in(0), &segments = args.in(1), &positions = args.in(8);
  TRY_OK(check_ids_normalization_kernel(args, 0, 2));
  TRY_OK(check_ids_normalization_kernel(args, 1, 4));
  TRY_OK(check_ids_normalization_kernel(args, 8, 3));
  TRY(const auto words, kernels::to_reals(args.in(2)));
  TRY(const auto places, kernels::to_reals(args.in(3)));
  Temporary<double> kinds;
  if (segments && args.in(4)) {
    TRY(kinds, kernels::to_reals(args.in(4)));
  }
  const auto hidden = static_cast<size_t>(args.in(2).dims()[1]);
  const int64_t length = ids.dims()[1];
  if (positions && positions.count() < length) return refuse("embedlayernormalization.ids", "positions are missing");
  Temporary<double> values;
  for (int64_t token = 0; token < ids.count(); ++token) {
    TRY(const size_t word, row_of_normalization_kernel(ids, token, args.in(2)));
    const int64_t place = position_at(positions, token, length);
    if (place < 0 || place >= args.in(3).dims()[0])
      return refuse("embedlayernormalization.ids", "position {} must lie in 0..{}", place, args.in(3).dims()[0] - 1);
    size_t kind = 0;
    if (!kinds.empty()) {
      TRY(kind, row_of_normalization_kernel(segments, token, args.in(4)));
    }
    for (size_t k = 0; k < hidden; ++k)
      values.push_back(words[word * hidden + k] + places[static_cast<size_t>(place) * hidden + k] +
                       (kinds.empty() ? 0 : kinds[kind * hidden + k]));
  }
  TRY(Tensor sum, Tensor::allocate(args.out(0).dtype(), args.out(0).dims()));
  TRY_OK(kernels::from_reals(values, sum));
  TRY_OK(normalize(sum, args.in(5), args.in(6), 2, call.f("epsilon"), true, args.out(0), nullptr, nullptr));
  const Tensor& mask = args.in(7);
  for (int64_t i = 0; mask && is_integer(mask.dtype()) && i < mask.count(); ++i)
    if (mask.int_at(i) == 1) args.out(1).set_int(i / length, args.out(1).int_at(i / length) + 1);
  if (call.has_output(2)) TRY_OK(put(sum, args.out(2)));
  return {};
}

Status run_ms_group_norm(const Call& call, KernelArgs& args) {
  const bool last = call.i("channels_last") != 0, skip = call.type() == "SkipGroupNorm";
  TRY(Tensor x, Tensor::allocate(args.in(0).dtype(), args.in(0).dims()));
  TRY_OK(add_to(x, args.in(0)));
  for (size_t i : {size_t{3}, size_t{4}}) {
    if (!skip || !args.in(i)) continue;
    const Tensor& addend = args.in(i);
    const bool per_channel = addend.rank() == 1 && !last;
    TRY_OK(add_to(x, per_channel ? addend.reshaped({addend.count(), 1, 1}) : addend));
  }
  if (skip && call.has_output(1)) TRY_OK(put(x, args.out(1)));
  if (last) {
    TRY(x, channels_to_front(x));
  }
  TRY(Temporary<double> values, kernels::to_reals(x));
  TRY(const auto gamma, kernels::to_reals(args.in(1)));
  TRY(const auto beta, kernels::to_reals(args.in(2)));
  const auto channels = static_cast<size_t>(x.dims()[1]), groups = static_cast<size_t>(call.i("groups"));
  const size_t plane = static_cast<size_t>(x.dims()[2] * x.dims()[3]), length = channels / groups * plane;
  const double epsilon = static_cast<double>(call.f("epsilon"));
  for (size_t start = 0; length > 0 && start < values.size(); start += length) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < length; ++i) sum += values[start + i];
    const double mean = sum / static_cast<double>(length);
    for (size_t i = 0; i < length; ++i) squares += (values[start + i] - mean) * (values[start + i] - mean);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(length) + epsilon);
    for (size_t i = 0; i < length; ++i) {
      const size_t channel = (start + i) / plane % channels;
      double& value = values[start + i];
      value = (value - mean) * scale * gamma[channel] + beta[channel];
      if (call.i("activation") == 1) value /= 1 + std::exp(-value);
    }
  }
  TRY_OK(kernels::from_reals(values, x));
  if (!last) {
    return put(x, args.out(0));
  }
  TRY(const Tensor turned, channels_to_back(x));
  return put(turned, args.out(0));
}

}  // namespace anyshape::ops
