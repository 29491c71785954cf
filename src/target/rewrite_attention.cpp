#include <cmath>
#include <limits>

#include "ops/nn/attention_kernel.h"
#include "target/rewrites.h"

namespace anyshape::target::rewrites {
namespace {

// [batch, length, heads * size] as [batch, heads, length, size].
Ref split_heads(Builder& b, Ref x, int64_t heads) {
  const Dims sizes = b.dims(x);
  if (sizes.size() != 3) return x;
  return b.transpose(b.reshape(x, {sizes[0], sizes[1], heads, -1}), {0, 2, 1, 3});
}

Ref merge_heads(Builder& b, Ref x) {
  const Ref turned = b.transpose(x, {0, 2, 1, 3});
  const Dims sizes = b.dims(turned);
  if (sizes.size() != 4) return turned;
  return b.reshape(turned, {sizes[0], sizes[1], sizes[2] * sizes[3]});
}

// Every head as often as there are query heads for it.
Ref repeat_heads(Builder& b, Ref x, Dim heads) {
  const Dims sizes = b.dims(x);
  if (sizes.size() != 4 || b.same(sizes[1], heads)) return x;
  const auto times = b.assumptions().exact_div(heads, sizes[1]);
  if (!times) {
    b.refuse("attention.heads", "{} query heads are no multiple of {} key heads", print(heads), print(sizes[1]));
    return {};
  }
  const Ref wide = b.expand(b.unsqueeze(x, {2}), {sizes[0], sizes[1], *times, sizes[2], sizes[3]});
  return b.reshape(wide, {sizes[0], heads, sizes[2], sizes[3]});
}

// True where a query sees a key: those of the past and none behind its own place.
Ref causal_mask(Builder& b, Dim queries, Dim keys, Dim past) {
  const auto places = [&](Dim first, Dim count) {
    return b.op("Range", {b.scalar(first), b.scalar(first + count), b.number(int64_t{1})});
  };
  return b.op("GreaterOrEqual", {b.unsqueeze(places(past, queries), {1}), b.unsqueeze(places(0, keys), {0})});
}

Ref masked(Builder& b, Ref scores, Ref visible) {
  return b.op("Where", {visible, scores, b.number(-std::numeric_limits<double>::infinity(), b.dtype(scores))});
}

// A query that sees no key gives zeros, not the quotient of two zeros.
Ref weights_of(Builder& b, const Call& call, Ref scores) {
  const DType own = b.dtype(scores);
  const auto precision = ops::softmax_precision(call, own);
  const bool other = precision && *precision != own && is_float(*precision);
  const Ref exact = other ? b.cast(scores, *precision) : scores;
  Ref weights = b.softmax(exact, -1);
  if (call.has(3)) weights = b.op("Where", {b.op("IsNaN", {weights}), b.number(0.0, b.dtype(weights)), weights});
  return b.dtype(weights) == own ? weights : b.cast(weights, own);
}

Ref with_mask(Builder& b, const Call& call, Ref scores, Ref mask) {
  const Dims sizes = b.dims(mask);
  const Dim keys = b.dim(scores, 3);
  constexpr int64_t kShortMasks = 24;
  if (call.version() >= kShortMasks && !sizes.empty() && !b.same(sizes.back(), keys)) {
    b.refuse("attention.mask", "the mask covers {} keys of {}", print(sizes.back()), print(keys));
    return scores;
  }
  return b.dtype(mask) == DType::boolean ? masked(b, scores, mask) : b.op("Add", {scores, mask});
}

Status plain(const Call& call) {
  if (call.has(6)) return refuse("attention.nonpad", "nonpad_kv_seqlen has no equal");
  if (call.has_output(3)) return refuse("attention.scores", "qk_matmul_output is asked for");
  if (call.i("left_window_size") != -1 || call.i("right_window_size") != -1)
    return refuse("attention.window", "a window has no equal");
  return {};
}

Ref scores_of(Builder& b, const Call& call, Ref q, Ref k) {
  const auto size = b.dim(q, 3).constant();
  if (!call.has_attr("scale") && !size) {
    b.refuse("attention.scale", "the size of a head is no number");
    return {};
  }
  const double scale =
      call.has_attr("scale") ? static_cast<double>(call.f("scale")) : 1 / std::sqrt(static_cast<double>(*size));
  // Types of 16 bits are scaled on both sides, as ONNX defines it: their products may pass the largest number.
  const bool narrow = b.dtype(q) == DType::f16 || b.dtype(q) == DType::bf16;
  const auto scaled = [&](Ref x, double by) { return b.op("Mul", {x, b.number(by, b.dtype(x))}); };
  const Ref query = scaled(q, narrow ? std::sqrt(scale) : scale), turned = b.transpose(k, {0, 1, 3, 2});
  const Ref scores = b.op("MatMul", {query, narrow ? scaled(turned, std::sqrt(scale)) : turned});
  const double cap = static_cast<double>(call.f("softcap"));
  if (cap == 0) return scores;
  const Ref limit = b.number(cap, b.dtype(scores));
  return b.op("Mul", {b.op("Tanh", {b.op("Div", {scores, limit})}), limit});
}

}  // namespace

Refs attention(Builder& b, const Call& call, const Refs& in) {
  if (Status fits = plain(call); !fits) {
    b.fail(std::move(fits).error());
    return {};
  }
  const Ref q = split_heads(b, in[0], call.i("q_num_heads"));
  Ref k = split_heads(b, in[1], call.i("kv_num_heads")), v = split_heads(b, in[2], call.i("kv_num_heads"));
  const Dim past = call.has(4) ? b.dim(in[4], 2) : Dim(0);
  if (call.has(4)) k = b.concat({in[4], k}, 2);
  if (call.has(5)) v = b.concat({in[5], v}, 2);
  const Dim heads = b.dim(q, 1);
  Ref scores = scores_of(b, call, q, repeat_heads(b, k, heads));
  if (call.i("is_causal") != 0) scores = masked(b, scores, causal_mask(b, b.dim(q, 2), b.dim(k, 2), past));
  if (call.has(3)) scores = with_mask(b, call, scores, in[3]);
  const Ref y = b.op("MatMul", {weights_of(b, call, scores), repeat_heads(b, v, heads)});
  return {b.rank(in[0]) == 3 ? merge_heads(b, y) : y, k, v};
}

Refs rotary_embedding(Builder& b, const Call& call, const Refs& in) {
  const Ref x = split_heads(b, in[0], call.i("num_heads"));
  const auto table = [&](Ref cache) { return b.unsqueeze(call.has(3) ? b.gather(cache, in[3], 0) : cache, {1}); };
  const Dims sizes = b.dims(x);
  const int64_t part = call.i("rotary_embedding_dim");
  const auto turned = part != 0 ? std::optional(part) : sizes.size() == 4 ? sizes[3].constant() : std::nullopt;
  if (!turned || sizes.size() != 4) {
    b.refuse("rotary.size", "the size of a head is no number");
    return {};
  }
  const bool interleaved = call.i("interleaved") != 0;
  const Ref head = b.slice(x, 3, 0, *turned);
  const auto half = [&](int64_t which) {
    return interleaved ? b.slice(head, 3, which, *turned, 2)
                       : b.slice(head, 3, which * (*turned / 2), (which + 1) * (*turned / 2));
  };
  const Ref cos = table(in[1]), sin = table(in[2]), first = half(0), second = half(1);
  const Ref real = b.op("Sub", {b.op("Mul", {cos, first}), b.op("Mul", {sin, second})});
  const Ref imaginary = b.op("Add", {b.op("Mul", {sin, first}), b.op("Mul", {cos, second})});
  Ref y = interleaved ? b.reshape(b.concat({b.unsqueeze(real, {4}), b.unsqueeze(imaginary, {4})}, 4),
                                  {sizes[0], sizes[1], sizes[2], *turned})
                      : b.concat({real, imaginary}, 3);
  if (!b.same(sizes[3], *turned)) y = b.concat({y, b.slice(x, 3, *turned, std::numeric_limits<int64_t>::max())}, 3);
  return {b.rank(in[0]) == 3 ? merge_heads(b, y) : y};
}

}  // namespace anyshape::target::rewrites
