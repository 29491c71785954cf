#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/attention.h"
#include "kernels/copy.h"
#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "kernels/wide.h"
#include "kernels/zero_point.h"
#include "ops/microsoft/attention_parts.h"
#include "ops/microsoft/common.h"
#include "ops/microsoft/kernel.h"
#include "ops/wide.h"

namespace anyshape::ops {

Result<Tensor> columns(const Tensor& x, int64_t start, int64_t count) {
  const int64_t width = x.dims().back();
  if (start < 0 || count < 0 || start + count > width)
    return refuse("kernel.shape", "columns {}..{} of {}", start, start + count, width);
  auto dims = temporary(x.dims());
  dims.back() = count;
  TRY(Tensor out, Tensor::allocate(x.dtype(), dims));
  for (int64_t row = 0; count > 0 && row < out.count() / count; ++row)
    kernels::copy_elements(out, row * count, x, row * width + start, count);
  return out;
}

Result<Tensor> joined(const Tensor& past, const Tensor& now) {
  if (!past) return now;
  if (past.rank() != 4 || now.rank() != 4 || past.dtype() != now.dtype() || past.dims()[3] != now.dims()[3] ||
      past.dims()[0] != now.dims()[0] || past.dims()[1] != now.dims()[1])
    return refuse("attention.past", "the past does not fit the present");
  auto dims = temporary(now.dims());
  dims[2] += past.dims()[2];
  TRY(Tensor out, Tensor::allocate(now.dtype(), dims));
  const int64_t before = past.dims()[2] * past.dims()[3], after = now.dims()[2] * now.dims()[3];
  for (int64_t i = 0; i < dims[0] * dims[1]; ++i) {
    kernels::copy_elements(out, i * (before + after), past, i * before, before);
    kernels::copy_elements(out, i * (before + after) + before, now, i * after, after);
  }
  return out;
}

namespace {

// Whether the mask lets query s of a batch see key t; nullopt for a mask of no known form.
std::optional<bool> sees(const Tensor& mask, const AttentionSizes& sizes, int64_t b, int64_t s, int64_t t) {
  const auto& dims = mask.dims();
  if (std::ranges::equal(dims, std::array{sizes.batch})) return t < mask.int_at(b);
  if (std::ranges::equal(dims, std::array{2 * sizes.batch}))
    return t < mask.int_at(b) && t >= mask.int_at(sizes.batch + b);
  if (std::ranges::equal(dims, std::array{sizes.batch, sizes.keys})) return mask.int_at(b * sizes.keys + t) != 0;
  if (std::ranges::equal(dims, std::array{sizes.batch, sizes.queries, sizes.keys}))
    return mask.int_at((b * sizes.queries + s) * sizes.keys + t) != 0;
  const bool square = dims.size() == 4 && dims[0] == sizes.batch && dims[1] == 1 && dims[2] == dims[3];
  if (square && dims[2] >= sizes.keys) return mask.int_at((b * dims[2] + s + sizes.past) * dims[2] + t) != 0;
  return std::nullopt;
}

}  // namespace

Result<Tensor> additive_mask(const AttentionSizes& sizes, const Tensor& mask, const Tensor& bias, double filter,
                             bool causal, DType dtype) {
  if (mask && !is_integer(mask.dtype())) return refuse("dtype", "a mask of {}", name(mask.dtype()));
  if (bias && bias.rank() != 4) return refuse("attention.bias", "attention_bias has rank {}", bias.rank());
  TRY(Tensor out, Tensor::allocate(dtype, {sizes.batch, bias ? bias.dims()[1] : 1, sizes.queries, sizes.keys}));
  if (bias) TRY_OK(add_to(out, bias));
  TRY(Temporary<double> values, kernels::to_reals(out));
  const double lowest = static_cast<double>(std::numeric_limits<float>::lowest());
  const int64_t heads = out.dims()[1];
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t t = at % sizes.keys, s = at / sizes.keys % sizes.queries;
    const int64_t b = at / (sizes.keys * sizes.queries * heads);
    if (causal && t > sizes.past + s) {
      values[i] = lowest;
      continue;
    }
    if (!mask) continue;
    const auto seen = sees(mask, sizes, b, s, t);
    if (!seen) return unknown("attention.mask", "a mask of this shape is not known");
    if (!*seen) values[i] += filter;
  }
  TRY_OK(kernels::from_reals(values, out));
  return out;
}

Status attend(const Tensor& q, const Tensor& k, const Tensor& v, double scale, const Tensor& mask, Tensor& out,
              Tensor* scores) {
  kernels::Attention how;
  how.scale = scale;
  TRY(Tensor y, Tensor::allocate(q.dtype(), {q.dims()[0], q.dims()[1], q.dims()[2], v.dims()[3]}));
  Tensor none;
  TRY_OK(kernels::attention(how, {q, k, v, mask, {}}, y, scores ? *scores : none));
  return kernels::merge_heads(y, out);
}

double scale_of(const Call& call, int64_t head_size) {
  const auto given = static_cast<double>(call.f("scale"));
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(head_size));
}

namespace {

struct Projected {
  Tensor q, k, v;  // [batch, heads, length, size]
};

// q, k and v stand side by side in the columns of x.
Result<Projected> split_projection(const Call& call, const Tensor& x) {
  const int64_t heads = call.i("num_heads"), width = x.dims().back();
  if (heads < 1) return refuse("attention.heads", "num_heads is {}", heads);
  int64_t sizes[] = {width / 3, width / 3, width / 3};
  if (const auto* given = call.given<std::vector<int64_t>>("qkv_hidden_sizes"); given && given->size() == 3)
    std::copy(given->begin(), given->end(), sizes);
  if (sizes[0] != sizes[1]) return refuse("attention.hidden", "Q has {} features, K {}", sizes[0], sizes[1]);
  Projected out;
  int64_t start = 0;
  Tensor* parts[] = {&out.q, &out.k, &out.v};
  for (size_t i = 0; i < 3; ++i) {
    TRY(const Tensor part, columns(x, start, sizes[i]));
    TRY(*parts[i], kernels::split_heads(part, heads));
    start += sizes[i];
  }
  return out;
}

// past and present are [2, batch, heads, length, size]: keys, then values.
Result<Tensor> half_of(const Tensor& past, int64_t half) {
  if (!past) return Tensor();
  if (past.rank() != 5 || past.dims()[0] != 2) return refuse("attention.past", "the past must be [2, B, N, L, H]");
  TRY(Tensor out, Tensor::allocate(past.dtype(), {past.dims().begin() + 1, past.dims().end()}));
  kernels::copy_elements(out, 0, past, half * out.count(), out.count());
  return out;
}

Status check_sharing(const Call& call) {
  if (call.i("do_rotary") != 0) return unknown("attention.rotary", "do_rotary without caches is not known");
  if (call.i("past_present_share_buffer") != 0)
    return unknown("attention.past", "a past that shares its buffer with the present is not known");
  return {};
}

Status attend_projected(const Call& call, const Tensor& qkv, const Tensor& mask, const Tensor& past, const Tensor& bias,
                        KernelArgs& args) {
  TRY_OK(check_sharing(call));
  TRY(Projected p, split_projection(call, qkv));
  AttentionSizes sizes{p.q.dims()[0], p.q.dims()[2], 0, past ? past.dims()[3] : 0};
  TRY(const Tensor past_k, half_of(past, 0));
  TRY(const Tensor past_v, half_of(past, 1));
  TRY(p.k, joined(past_k, p.k));
  TRY(p.v, joined(past_v, p.v));
  sizes.keys = p.k.dims()[2];
  const auto filter = static_cast<double>(call.f("mask_filter_value"));
  TRY(const Tensor added, additive_mask(sizes, mask, bias, filter, call.i("unidirectional") != 0, qkv.dtype()));
  if (call.has_output(1)) {
    if (args.out(1).dtype() != p.k.dtype() || p.k.count() + p.v.count() != args.out(1).count())
      return refuse("attention.past", "keys and values do not fit the present");
    kernels::copy_elements(args.out(1), 0, p.k, 0, p.k.count());
    kernels::copy_elements(args.out(1), p.k.count(), p.v, 0, p.v.count());
  }
  return attend(p.q, p.k, p.v, scale_of(call, p.q.dims()[3]), added, args.out(0), nullptr);
}

}  // namespace

Status run_ms_attention(const Call& call, KernelArgs& args) {
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    auto dims = temporary(wide.in(0).dims());
    dims.back() = wide.in(1).dims().back();
    TRY(Tensor qkv, Tensor::allocate(wide.out(0).dtype(), dims));
    TRY_OK(kernels::matmul(wide.in(0), wide.in(1), qkv));
    if (wide.in(2)) TRY_OK(add_to(qkv, wide.in(2)));
    return attend_projected(call, qkv, wide.in(3), wide.in(4), wide.in(5), wide);
  });
}

Status run_ms_q_attention(const Call& call, KernelArgs& args) {
  const Tensor &x = args.in(0), &w = args.in(1), &w_scale = args.in(4), &w_zero = args.in(7);
  const auto parameter = [](const Tensor& tensor) {
    return kernels::Parameter{tensor, tensor && tensor.count() != 1 ? temporary(tensor.dims()) : Temporary<int64_t>()};
  };
  TRY(const Tensor left, kernels::centered(x, {args.in(6), {}}));
  TRY(const Tensor right, kernels::centered(w, parameter(w_zero)));
  auto dims = temporary(x.dims());
  dims.back() = w.dims().back();
  TRY(Tensor sums, Tensor::allocate(DType::f64, dims));
  TRY_OK(kernels::matmul(left, right, sums));
  TRY(const auto x_scales, kernels::to_reals(args.in(3)));
  TRY(const auto w_scales, kernels::to_reals(w_scale));
  if (x_scales.size() != 1 || w_scales.empty() ||
      (w_scales.size() != 1 && static_cast<int64_t>(w_scales.size()) != dims.back()))
    return refuse("quantize.scale", "the scales do not fit");
  size_t i = 0;
  TRY_OK(map_reals(sums, [&](double v) { return v * x_scales[0] * w_scales[i++ % w_scales.size()]; }));
  TRY_OK(add_to(sums, args.in(2)));
  TRY(const Tensor qkv, kernels::converted(sums, DType::f32));
  return run_wide(args,
                  [&](KernelArgs& wide) { return attend_projected(call, qkv, wide.in(5), wide.in(8), {}, wide); });
}

// Each sequence attends to its own tokens only.
Status run_ms_packed_attention(const Call& call, KernelArgs& args) {
  const Tensor &ends = args.in(4), &bias = args.in(5);
  if (ends.dtype() != DType::i32 || ends.rank() != 1) return refuse("attention.sequences", "the lengths are missing");
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    const int64_t tokens = wide.in(0).dims()[0], width = wide.in(1).dims()[1];
    TRY(Tensor qkv, Tensor::allocate(wide.out(0).dtype(), {tokens, width}));
    TRY_OK(kernels::matmul(wide.in(0), wide.in(1), qkv));
    TRY_OK(add_to(qkv, wide.in(2)));
    const int64_t features = wide.out(0).dims()[1];
    for (int64_t b = 0; b + 1 < ends.count(); ++b) {
      const int64_t first = ends.int_at(b), length = ends.int_at(b + 1) - first;
      if (first < 0 || length < 0 || first + length > tokens)
        return refuse("attention.sequences", "sequence {} has {} tokens from {} on", b, length, first);
      TRY(Tensor part, Tensor::allocate(qkv.dtype(), {1, length, width}));
      kernels::copy_elements(part, 0, qkv, first * width, length * width);
      TRY(const Projected p, split_projection(call, part));
      Tensor added;
      if (bias) {
        TRY(added, bias_of_sequence(wide.in(5), b, length));
      }
      TRY(Tensor y, Tensor::allocate(qkv.dtype(), {1, length, features}));
      TRY_OK(attend(p.q, p.k, p.v, scale_of(call, p.q.dims()[3]), added, y, nullptr));
      kernels::copy_elements(wide.out(0), first * features, y, 0, y.count());
    }
    return {};
  });
}

Result<Tensor> bias_of_sequence(const Tensor& bias, int64_t b, int64_t length) {
  if (bias.rank() != 4 || bias.dims()[2] < length || bias.dims()[3] < length)
    return refuse("attention.bias", "attention_bias does not cover {} tokens", length);
  const int64_t heads = bias.dims()[1], rows = bias.dims()[2], width = bias.dims()[3];
  const int64_t batch = bias.dims()[0] == 1 ? 0 : b;
  if (batch >= bias.dims()[0]) return refuse("attention.bias", "attention_bias has no sequence {}", b);
  TRY(Tensor out, Tensor::allocate(bias.dtype(), {1, heads, length, length}));
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t s = 0; s < length; ++s)
      kernels::copy_elements(out, (h * length + s) * length, bias, ((batch * heads + h) * rows + s) * width, length);
  return out;
}

}  // namespace anyshape::ops
