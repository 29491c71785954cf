#pragma once

#include "base/error.h"
#include "tensor/tensor.h"

// Attention over tensors [batch, heads, length, size] of f32 or f64 (one type in a call), computed in double. Query
// heads that outnumber the key heads share them in runs. Errors "dtype", "kernel.shape".
namespace anyshape::kernels {

struct Attention {
  double scale = 1;
  double softcap = 0;  // 0: none
  // f16 or bf16: every step is rounded to that type, as the chain of operators that ONNX defines attention by does, and
  // q and k are multiplied by the square root of scale before their product. Other types: nothing is rounded.
  DType storage = DType::f32;
  DType softmax = DType::f32;  // the same for the steps inside of the softmax
  bool causal = false;
  // Keys more than `left` before or `right` after a query are masked; -1: none are.
  int64_t left = -1, right = -1;
  int64_t past = 0;  // keys that come before the first query
  // A mask that covers fewer keys than there are masks the others, else its last axis broadcasts.
  bool short_mask = false;
  // What `scores` gets: products, softcapped, with the mask, after softmax.
  enum class Scores { raw, capped, masked, softmax };
  Scores scores = Scores::raw;
};

struct AttentionInputs {
  Tensor q, k, v;
  Tensor mask;     // absent, bool (true: take part), or numbers to add; broadcasts to the scores
  Tensor lengths;  // absent, or integers: how many keys of each batch count
};

// y = softmax(mask + softcap(scale * q * k^T)) * v; a query without any key gives 0. `scores` may be absent.
Status attention(Attention attention, AttentionInputs in, Tensor& y, Tensor& scores);

// The two products alone: scores = scale * q * k^T, and y = weights * v.
Status attention_scores(double scale, const Tensor& q, const Tensor& k, Tensor& scores);
Status attention_values(const Tensor& weights, const Tensor& v, Tensor& y);

// [batch, length, heads * size] as [batch, heads, length, size], and back. Any dtype.
Result<Tensor> split_heads(const Tensor& packed, int64_t heads);
Status merge_heads(const Tensor& split, Tensor& packed);

// Pairs of entries turned by angles. x is [batch, heads, length, size], of which `rotated` entries are turned in pairs
// (i, i + rotated / 2), or (2i, 2i + 1) when interleaved. cos and sin are [batch, length, rotated / 2], or with
// `positions` (integers [batch, length]) [rows, rotated / 2]. Error "rotary.positions".
struct Rotary {
  int64_t rotated = 0;
  bool interleaved = false;
};
Status rotary_embedding(const Rotary& rotary, const Tensor& x, const Tensor& cos, const Tensor& sin,
                        const Tensor& positions, Tensor& out);

// Attention through a state [batch, kv heads, key size, value size] per step t:
//   state *= exp(decay_t); v_t = beta_t * (v_t - state^T k_t); state += k_t v_t^T; out_t = scale * state^T q_t.
struct LinearAttention {
  int64_t q_heads = 1, kv_heads = 1;
  double scale = 1;
};
// query, key, value are [batch, steps, heads * size]; past, decay ([batch, steps, kv heads * (1 or key size)]) and beta
// ([batch, steps, kv heads or 1]) may be absent: zeros, no decay, v_t as it is.
struct LinearAttentionInputs {
  Tensor query, key, value, past, decay, beta;
};
Status linear_attention(const LinearAttention& attention, const LinearAttentionInputs& in, Tensor& out,
                        Tensor& present);

}  // namespace anyshape::kernels
