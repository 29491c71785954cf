#include "ops/nn/attention_kernel.h"

#include <cmath>

#include "kernels/attention.h"
#include "kernels/copy.h"
#include "kernels/normalize.h"
#include "kernels/wide.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

double default_scale(int64_t size) { return 1 / std::sqrt(static_cast<double>(size)); }

// The keys or values of earlier calls with those of this one behind, [batch, heads, length, size].
Result<Tensor> behind(const Tensor& past, const Tensor& now) {
  if (!past) return now;
  const auto &a = past.dims(), &b = now.dims();
  if (a.size() != 4 || b.size() != 4 || a[0] != b[0] || a[1] != b[1] || a[3] != b[3] || past.dtype() != now.dtype())
    return refuse("kernel.shape", "the past does not fit the keys and values");
  TRY(Tensor out, Tensor::allocate(now.dtype(), {b[0], b[1], a[2] + b[2], b[3]}));
  for (int64_t head = 0; head < b[0] * b[1]; ++head) {
    const int64_t start = head * (a[2] + b[2]) * b[3];
    kernels::copy_elements(out, start, past, head * a[2] * b[3], a[2] * b[3]);
    kernels::copy_elements(out, start + a[2] * b[3], now, head * b[2] * b[3], b[2] * b[3]);
  }
  return out;
}

Result<kernels::Attention> read_attention(const Call& call, int64_t size) {
  kernels::Attention a;
  a.scale = call.has_attr("scale") ? static_cast<double>(call.f("scale")) : default_scale(size);
  a.softcap = static_cast<double>(call.f("softcap"));
  a.causal = call.i("is_causal") != 0;
  a.short_mask = call.version() >= 24;
  if (call.version() >= 25) {
    a.left = call.i("left_window_size");
    a.right = call.i("right_window_size");
  }
  if (a.left < -1 || a.right < -1)
    return refuse("attention.window", "a window is {}..{}, -1 is the least", a.left, a.right);
  const int64_t mode = call.i("qk_matmul_output_mode");
  if (mode < 0 || mode > 3) return refuse("attention.mode", "qk_matmul_output_mode is {}, 0..3 are defined", mode);
  a.scores = static_cast<kernels::Attention::Scores>(mode);
  return a;
}

Status attend(const Call& call, KernelArgs& wide, DType storage) {
  const bool packed = wide.in(0).rank() == 3;
  Tensor q = wide.in(0), k = wide.in(1), v = wide.in(2);
  if (packed) {
    TRY(q, kernels::split_heads(q, call.i("q_num_heads")));
    TRY(k, kernels::split_heads(k, call.i("kv_num_heads")));
    TRY(v, kernels::split_heads(v, call.i("kv_num_heads")));
  }
  if (q.rank() != 4 || v.rank() != 4) return refuse("kernel.shape", "Attention takes inputs of rank 3 or 4");
  TRY(kernels::Attention attention, read_attention(call, q.dims()[3]));
  const auto precision = softmax_precision(call, storage);
  if (!precision || !is_float(*precision))
    return refuse("attention.precision", "softmax_precision is no floating point type");
  attention.storage = storage;
  attention.softmax = *precision;
  if (wide.in(4)) attention.past = wide.in(4).rank() == 4 ? wide.in(4).dims()[2] : 0;
  TRY(k, behind(wide.in(4), k));
  TRY(v, behind(wide.in(5), v));
  Tensor y = wide.out(0), scores = call.has_output(3) ? wide.out(3) : Tensor();
  if (packed) {
    TRY(y, Tensor::allocate(y.dtype(), {q.dims()[0], q.dims()[1], q.dims()[2], v.dims()[3]}));
  }
  TRY_OK(kernels::attention(attention, {q, k, v, wide.in(3), wide.in(6)}, y, scores));
  if (packed) TRY_OK(kernels::merge_heads(y, wide.out(0)));
  if (call.has_output(1)) kernels::copy_elements(wide.out(1), 0, k, 0, k.count());
  if (call.has_output(2)) kernels::copy_elements(wide.out(2), 0, v, 0, v.count());
  return {};
}

// `scores` after the body of that attribute, if there is one; it sees them in `precision`.
Result<Tensor> modified(const Call& call, const KernelArgs& args, std::string_view attribute, DType precision,
                        Tensor scores) {
  const Graph* body = call.graph(attribute);
  if (!body) return scores;
  if (!args.bodies) return unknown("run.body", "there is nothing to run the body {} with", attribute);
  TRY(Tensor seen, kernels::converted(scores, precision));
  TRY(const auto results, args.bodies->run(*body, {Datum(std::move(seen))}));
  if (results.size() != 1 || !results[0].is_tensor() || results[0].tensor().dims() != scores.dims())
    return refuse("attention.modifier", "{} does not give scores of the shape it got", attribute);
  return kernels::converted(results[0].tensor(), scores.dtype());
}

}  // namespace

Status run_attention(const Call& call, KernelArgs& args) {
  return run_wide(args, [&](KernelArgs& wide) { return attend(call, wide, args.in(0).dtype()); });
}

Status run_flex_attention(const Call& call, KernelArgs& args) {
  const DType fallback = args.in(0).dtype() == DType::f64 ? DType::f64 : DType::f32;
  const auto precision = softmax_precision(call, fallback);
  if (!precision) return refuse("attention.precision", "softmax_precision is no floating point type");
  const auto &dq = args.in(0).dims(), &dv = args.in(2).dims();
  if (dq.size() != 4 || args.in(1).rank() != 4 || dv.size() != 4)
    return refuse("kernel.shape", "FlexAttention takes inputs of rank 4");
  if (!args.out(0)) {
    TRY(args.out(0), Tensor::allocate(args.in(0).dtype(), {dq[0], dq[1], dq[2], dv[3]}));
  }
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    const Tensor &q = wide.in(0), &k = wide.in(1);
    const int64_t dims[] = {q.dims()[0], q.dims()[1], q.dims()[2], k.dims()[2]};
    const double scale = call.has_attr("scale") ? static_cast<double>(call.f("scale")) : default_scale(q.dims()[3]);
    TRY(Tensor scores, Tensor::allocate(q.dtype(), dims));
    TRY_OK(kernels::attention_scores(scale, q, k, scores));
    TRY(scores, modified(call, args, "score_mod", *precision, scores));
    TRY(Tensor weights, Tensor::allocate(q.dtype(), dims));
    TRY_OK(kernels::softmax(kernels::SoftmaxKind::soft, {dims[0] * dims[1] * dims[2], dims[3], 1}, scores, weights));
    TRY(weights, modified(call, args, "prob_mod", *precision, weights));
    return kernels::attention_values(weights, wide.in(2), wide.out(0));
  });
}

Status run_linear_attention(const Call& call, KernelArgs& args) {
  kernels::LinearAttention attention{call.i("q_num_heads"), call.i("kv_num_heads"),
                                     static_cast<double>(call.f("scale"))};
  const auto rule = call.s("update_rule");
  const bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    if (wide.in(0).rank() != 3 || attention.q_heads < 1)
      return refuse("kernel.shape", "LinearAttention takes inputs of rank 3");
    if (attention.scale == 0) attention.scale = default_scale(wide.in(0).dims()[2] / attention.q_heads);
    const kernels::LinearAttentionInputs in{
        wide.in(0), wide.in(1), wide.in(2), wide.in(3), gated ? wide.in(4) : Tensor(), delta ? wide.in(5) : Tensor()};
    return kernels::linear_attention(attention, in, wide.out(0), wide.out(1));
  });
}

Status run_rotary_embedding(const Call& call, KernelArgs& args) {
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    const bool packed = wide.in(0).rank() == 3;
    Tensor x = wide.in(0), out = wide.out(0);
    if (packed) {
      TRY(x, kernels::split_heads(x, call.i("num_heads")));
      TRY(out, Tensor::allocate(x.dtype(), x.dims()));
    }
    if (x.rank() != 4) return refuse("kernel.shape", "RotaryEmbedding takes an input of rank 3 or 4");
    const int64_t part = call.i("rotary_embedding_dim");
    const kernels::Rotary rotary{part == 0 ? x.dims()[3] : part, call.i("interleaved") != 0};
    TRY_OK(kernels::rotary_embedding(rotary, x, wide.in(1), wide.in(2), wide.in(3), out));
    return packed ? kernels::merge_heads(out, wide.out(0)) : Status();
  });
}

}  // namespace anyshape::ops
