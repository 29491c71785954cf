#include "lower/aten/attention.h"

namespace anyshape::lower {
namespace {

Ref affine_transformer(Lowering& l, Ref x, Ref weight, Ref bias) {
  const Ref y = l.op("MatMul", {x, swap_last(l, weight)});
  return bias ? l.op("Add", {y, bias}) : y;
}

// [batch, rows, heads * width] as [batch, heads, rows, width].
Ref split_heads(Lowering& l, Ref x, int64_t heads) {
  const Dim width = floordiv(l->dim(x, 2), heads);
  return l->transpose(l->reshape(x, {l->dim(x, 0), l->dim(x, 1), heads, width}), {0, 2, 1, 3});
}

Ref join_heads(Lowering& l, Ref x) {
  const Ref rows = l->transpose(x, {0, 2, 1, 3});
  return l->reshape(rows, {l->dim(rows, 0), l->dim(rows, 1), l->dim(rows, 2) * l->dim(rows, 3)});
}

// These masks say what is not seen. 0: [rows, columns]; 1: padding, [batch, columns]; 2: as the scores.
Ref seen_of(Lowering& l, const Args& a) {
  if (const Ref there = l.nested().mask(a.self())) return l->unsqueeze(there, {1, 2});
  Ref mask = a.tensor("mask");
  if (!mask) return {};
  mask = l.op("Not", {l->cast(mask, DType::boolean)});
  const int64_t type = a.i("mask_type", l->rank(mask) == 2 ? 1 : 2);
  return type == 1 ? l->unsqueeze(mask, {1, 2}) : mask;
}

struct Weights {
  Ref in, in_bias, out, out_bias;
};

Weights weights_of(const Args& a) {
  return {a.tensor("qkv_weight"), a.tensor("qkv_bias"), a.tensor("proj_weight"), a.tensor("proj_bias")};
}

// Query, key and value of one tensor by one product, else by three.
Refs projections(Lowering& l, Ref query, Ref key, Ref value, const Weights& w) {
  const Dim width = floordiv(l->dim(w.in, 0), 3);
  if (query == key && key == value)
    return l->split(affine_transformer(l, query, w.in, w.in_bias), 2, {width, width, width});
  const Refs weights = l->split(w.in, 0, {width, width, width}), biases = l->split(w.in_bias, 0, {width, width, width});
  return {affine_transformer(l, query, weights[0], biases[0]), affine_transformer(l, key, weights[1], biases[1]),
          affine_transformer(l, value, weights[2], biases[2])};
}

Attention heads_of(Lowering& l, const Args& a, const Refs& qkv, int64_t heads) {
  Attention attention;
  attention.query = split_heads(l, qkv[0], heads);
  attention.key = split_heads(l, qkv[1], heads);
  attention.value = split_heads(l, qkv[2], heads);
  attention.mask = seen_of(l, a);
  attention.blind_nan = true;
  return attention;
}

Arg multi_head(Lowering& l, const Args& a) {
  const Ref query = a.tensor("query"), key = a.tensor("key"), value = a.tensor("value");
  if (!l.need_rank(query, 3, 3) || !l.need_rank(key, 3, 3)) return {};
  const Weights w = weights_of(a);
  const Attention attention = heads_of(l, a, projections(l, query, key, value, w), a.i("num_head", 1));
  const bool wanted = a.flag("need_weights", true);
  const Attended result = wanted ? attend(l, attention) : Attended{attended(l, attention), {}};
  const Ref out = affine_transformer(l, join_heads(l, result.value), w.out, w.out_bias);
  if (!wanted) return Arguments{out, Arg()};
  const bool averaged = a.flag("average_attn_weights", true);
  return Arguments{out, averaged ? l.reduce("ReduceMean", result.weights, {1}, false) : result.weights};
}

Ref normed(Lowering& l, const Args& a, Ref x, std::string_view weight, std::string_view bias) {
  const Arg result = l.call("layer_norm", "",
                            {Arg(x), Arg(Arguments{Arg(l->dim(x, 2))}), a.arg(weight), a.arg(bias), Arg(a.f("eps"))});
  return l.ref(result);
}

Ref feed_forward(Lowering& l, const Args& a, Ref x) {
  const Ref inner = affine_transformer(l, x, a.tensor("ffn_weight_1"), a.tensor("ffn_bias_1"));
  const Ref active = l.ref(l.call(a.flag("use_gelu") ? "gelu" : "relu", "", {Arg(inner)}));
  return affine_transformer(l, active, a.tensor("ffn_weight_2"), a.tensor("ffn_bias_2"));
}

Ref encoded(Lowering& l, const Args& a, Ref x) {
  const bool norm_first = a.flag("norm_first");
  const Weights w = weights_of(a);
  const auto self_attention = [&](Ref y) {
    const Attention attention = heads_of(l, a, projections(l, y, y, y, w), a.i("num_heads", 1));
    return affine_transformer(l, join_heads(l, attended(l, attention)), w.out, w.out_bias);
  };
  const auto norm_1 = [&](Ref y) { return normed(l, a, y, "norm_weight_1", "norm_bias_1"); };
  const auto norm_2 = [&](Ref y) { return normed(l, a, y, "norm_weight_2", "norm_bias_2"); };
  if (norm_first) {
    const Ref y = l.op("Add", {x, self_attention(norm_1(x))});
    return l.op("Add", {y, feed_forward(l, a, norm_2(y))});
  }
  const Ref y = norm_1(l.op("Add", {x, self_attention(x)}));
  return norm_2(l.op("Add", {y, feed_forward(l, a, y)}));
}

Arg encoder_layer(Lowering& l, const Args& a) {
  const Ref x = a.tensor("src");
  if (!l.need_rank(x, 3, 3)) return {};
  const Ref y = encoded(l, a, x), places = l.nested().mask(x);
  return places ? l.nested().of(y, places) : y;
}

// Which places of [batch, longest] a nested tensor fills that has as many entries in each row as the mask.
Ref filled_places(Lowering& l, Ref mask) {
  const Ref counts = l.reduce("ReduceSum", l->cast(mask, DType::i64), {1}, true);
  return l.op("Less", {counted(l, l->dim(mask, 1), DType::i64), counts});
}

Arg left_aligned(Lowering& l, const Args& a) {
  const Ref mask = l->cast(a.tensor("mask"), DType::boolean);
  if (!l.need_rank(mask, 2, 2)) return {};
  const Ref wrong = l->cast(l.op("Xor", {filled_places(l, mask), mask}), DType::i64);
  return l.op("Equal", {l.reduce("ReduceSum", wrong, {0, 1}, false), l->number(int64_t{0})});
}

// What lies in the padding is never looked at, not even where it is not a number.
Arg nested_from_mask(Lowering& l, const Args& a) {
  const Ref x = a.self(), mask = l->cast(a.tensor("mask"), DType::boolean);
  if (!l.need_rank(x, 3, 3) || !l.need_rank(mask, 2, 2)) return {};
  const Ref places = filled_places(l, mask);
  return l.nested().of(l.op("Where", {l->unsqueeze(places, {2}), x, l->number(0.0, l->dtype(x))}), places);
}

Arg padded(Lowering& l, const Args& a) {
  Ref x = a.self(), places = l.nested().mask(x);
  if (!places) return x;
  if (!a.has("output_size")) {
    const Ref counts = l.reduce("ReduceSum", l->cast(places, DType::i64), {1}, false);
    const Dim longest = l.item(l.reduce("ReduceMax", counts, {0}, false));
    x = l->slice(x, 1, 0, longest);
    places = l->slice(places, 1, 0, longest);
  } else if (const Dims wanted = a.dims("output_size"); wanted.size() != 3 || !l->same(wanted[1], l->dim(x, 1))) {
    l->refuse("aten.nested", "a nested tensor is padded to other sizes than those it was made of");
    return {};
  }
  return l.op("Where", {l->unsqueeze(places, {2}), x, l->number(a.f("padding"), l->dtype(x))});
}

constexpr AtenOp kTransformerOps[] = {
    {.name = "_native_multi_head_attention", .lower = multi_head},
    {.name = "_nested_tensor_from_mask", .lower = nested_from_mask},
    {.name = "_nested_tensor_from_mask_left_aligned", .lower = left_aligned},
    {.name = "_transformer_encoder_layer_fwd", .lower = encoder_layer, .nested = true},
    {.name = "to_padded_tensor", .lower = padded, .nested = true},
};

}  // namespace

std::span<const AtenOp> transformer_ops() { return kTransformerOps; }

}  // namespace anyshape::lower
