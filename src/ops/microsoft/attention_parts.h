#pragma once

#include "ir/call.h"
#include "ir/op.h"

// What the attention operators of com.microsoft share.
namespace anyshape::ops {

struct AttentionSizes {
  int64_t batch = 0, queries = 0, keys = 0, past = 0;
};

struct Heads {
  Tensor q, k, v;  // [batch, heads, length, size]
};

// `count` columns of the last axis from `start` on.
Result<Tensor> columns(const Tensor& x, int64_t start, int64_t count);
// Two tensors [batch, heads, length, size] one after the other along the length; `past` may be absent.
Result<Tensor> joined(const Tensor& past, const Tensor& now);

// What is added to the scores: `bias` [batch or 1, heads or 1, queries, keys], `filter` where `mask` hides a key, and
// where `causal` is set the lowest float for keys after the query. Masks: [batch] how many keys count; [2 * batch]
// their ends, then their starts; [batch, keys]; [batch, queries, keys]; [batch, 1, n, n]. Error kind unknown for other
// shapes.
Result<Tensor> additive_mask(const AttentionSizes& sizes, const Tensor& mask, const Tensor& bias, double filter,
                             bool causal, DType dtype);

// softmax(scale * q * k^T + mask) * v with the heads merged: [batch, queries, heads * size]. `scores`: the products.
Status attend(const Tensor& q, const Tensor& k, const Tensor& v, double scale, const Tensor& mask, Tensor& out,
              Tensor* scores);

// Attribute scale, or 1 / sqrt(head size).
double scale_of(const Call& call, int64_t head_size);

// [1, heads, length, length] of the bias of batch b.
Result<Tensor> bias_of_sequence(const Tensor& bias, int64_t b, int64_t length);

}  // namespace anyshape::ops
