#include "lower/aten/attention.h"

#include <cmath>
#include <limits>

#include "tensor/real.h"

namespace anyshape::lower {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

// What a mask adds to the scores, and which rows it leaves with nothing to look at.
struct Masking {
  Ref added;
  Ref row_seen;  // bool, last axis 1; absent where every row sees something
};

bool has_blind_row(const Tensor& mask) {
  const int64_t width = mask.rank() == 0 ? 1 : mask.dims().back();
  const bool truths = mask.dtype() == DType::boolean;
  for (int64_t row = 0; width > 0 && row < mask.count() / width; ++row) {
    bool seen = false;
    for (int64_t i = row * width; i < (row + 1) * width && !seen; ++i)
      seen = truths ? mask.int_at(i) != 0 : !(real_at(mask, i).value_or(0) == kLowest);
    if (!seen) return true;
  }
  return false;
}

Ref row_seen(Lowering& l, Ref mask) {
  if (const Tensor* known = l->tensor(mask); known && !has_blind_row(*known)) return {};
  if (l->dtype(mask) != DType::boolean) {
    const Ref best = l.reduce("ReduceMax", mask, {-1}, true);
    return l.op("Greater", {best, l->number(kLowest, l->dtype(mask))});
  }
  return l->cast(l.reduce("ReduceMax", l->cast(mask, DType::i32), {-1}, true), DType::boolean);
}

Masking mask_of(Lowering& l, Ref mask, DType dtype, bool blind_nan) {
  if (!mask) return {};
  if (l->rank(mask) == 0) mask = l->unsqueeze(mask, {0});
  const Ref seen = blind_nan ? Ref() : row_seen(l, mask);
  if (l->dtype(mask) != DType::boolean) return {l->cast(mask, dtype), seen};
  return {l.op("Where", {mask, l->number(0.0, dtype), l->number(kLowest, dtype)}), seen};
}

// Row i sees the keys 0 .. i.
Ref causal_mask(Lowering& l, Dim rows, Dim columns, DType dtype) {
  if (l->opset() >= 14 && dtype != DType::bf16) {
    const Ref low = filled(l, {rows, columns}, kLowest, dtype);
    return l.op("Trilu", {low, l->number(int64_t{1})}, {attr("upper", 1)});
  }
  const Ref row = l->unsqueeze(counted(l, rows, DType::i64), {1}), column = counted(l, columns, DType::i64);
  return l.op("Where", {l.op("Less", {row, column}), l->number(kLowest, dtype), l->number(0.0, dtype)});
}

Ref scaled_attention(Lowering& l, const Attention& a, Ref scores) {
  const DType dtype = l->dtype(scores);
  if (a.scale.is_number()) {
    if (const auto* number = a.scale.get<double>(); number && *number == 1) return scores;
    return l.op("Mul", {scores, l.operand(a.scale, dtype)});
  }
  const Dim width = l->dim(a.query, l->rank(a.query) - 1);
  if (const auto number = width.constant())
    return times(l, scores, 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, *number))));
  return l.op("Div", {scores, l.op("Sqrt", {l->cast(l->scalar(width), dtype)})});
}

struct Heads {
  Dim kv, shared;  // heads of the keys; how many heads of the queries share one
};

std::optional<Heads> shared_heads(Lowering& l, const Attention& a) {
  const size_t rank = l->rank(a.query);
  if (!a.grouped || rank < 3 || l->rank(a.key) != rank || l->rank(a.value) != rank) return std::nullopt;
  const Dim heads = l->dim(a.query, rank - 3), kv = l->dim(a.key, rank - 3);
  if (l->same(heads, kv) || kv == Dim(1)) return std::nullopt;
  return Heads{kv, l->assumptions().exact_div(heads, kv).value_or(floordiv(heads, kv))};
}

// [..., heads, x, y] as [..., kv, shared, x, y].
Ref split_heads(Lowering& l, Ref x, const Heads& heads) {
  const size_t at = l->rank(x) - 3;
  if (l->dim(x, at) == Dim(1)) return l->unsqueeze(x, {static_cast<int64_t>(at)});
  Dims sizes = l->dims(x);
  sizes[at] = heads.shared;
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(at), heads.kv);
  return l->reshape(x, sizes);
}

bool has_operator(Lowering& l, const Attention& a) {
  const DType dtype = l->dtype(a.query);
  if (l->opset() < 23 || a.dropout != 0 || (dtype != DType::f32 && dtype != DType::f16)) return false;
  if (l->rank(a.query) != 4 || l->rank(a.key) != 4 || l->rank(a.value) != 4 || (a.causal && a.mask)) return false;
  if (a.mask && a.blind_nan) return false;
  if (a.mask && (l->rank(a.mask) < 2 || !l->same(l->dim(a.mask, l->rank(a.mask) - 1), l->dim(a.key, 2)) ||
                 !l->same(l->dim(a.mask, l->rank(a.mask) - 2), l->dim(a.query, 2))))
    return false;
  if (!l->same(l->dim(a.query, 0), l->dim(a.key, 0)) || !l->same(l->dim(a.key, 0), l->dim(a.value, 0))) return false;
  if (!l->same(l->dim(a.key, 1), l->dim(a.value, 1))) return false;
  if (!l->same(l->dim(a.query, 1), l->dim(a.key, 1)) && !a.grouped) return false;
  const auto* scale = a.scale.get<double>();
  return scale || (a.scale.is_none() && l->dim(a.query, 3).is_constant());
}

Ref by_operator(Lowering& l, const Attention& a) {
  std::vector<Attribute> attributes;
  if (a.causal) attributes.push_back(attr("is_causal", 1));
  if (const auto* scale = a.scale.get<double>()) attributes.push_back(attr("scale", *scale));
  const Ref mask = a.mask && l->dtype(a.mask) != DType::boolean ? l->cast(a.mask, l->dtype(a.query)) : a.mask;
  const Ref value = l.op("Attention", {a.query, a.key, a.value, mask}, std::move(attributes));
  const Ref seen = mask ? row_seen(l, mask) : Ref();
  return seen ? l.op("Where", {seen, value, l->number(0.0, l->dtype(value))}) : value;
}

std::optional<Attention> attention_of(Lowering& l, const Args& a) {
  Attention parts;
  parts.query = a.tensor("query");
  parts.key = a.tensor("key");
  parts.value = a.tensor("value");
  parts.mask = a.tensor("attn_mask");
  if (!parts.mask) parts.mask = a.tensor("attn_bias");
  parts.causal = a.flag("is_causal");
  parts.scale = a.arg("scale");
  parts.grouped = a.flag("enable_gqa");
  if (!l.need_rank(parts.query, 2, 8) || !l.need_rank(parts.key, 2, 8) || !l.need_rank(parts.value, 2, 8))
    return std::nullopt;
  parts.dropout = a.f("dropout_p");
  return parts;
}

Arg attention(Lowering& l, const Args& a) {
  const auto parts = attention_of(l, a);
  if (!parts) return {};
  return attended(l, *parts);
}

Arg attention_math(Lowering& l, const Args& a) {
  const auto parts = attention_of(l, a);
  if (!parts) return {};
  const Attended result = attend(l, *parts);
  return Arguments{result.value, result.weights};
}

// The result, then what only the backward pass reads: None, so that its use is refused.
Arg attention_first(Lowering& l, const Args& a) {
  Arguments out{attention(l, a)};
  out.resize(a.schema().results);
  return out;
}

constexpr AtenOp kAttentionOps[] = {
    {"_scaled_dot_product_attention_math", attention_math},
    {"_scaled_dot_product_efficient_attention", attention_first},
    {"_scaled_dot_product_flash_attention", attention_first},
    {"_scaled_dot_product_flash_attention_for_cpu", attention_first},
    {"scaled_dot_product_attention", attention},
};

}  // namespace

Attended attend(Lowering& l, Attention a) {
  const DType dtype = l->dtype(a.query);
  const Dim rows = l->dim(a.query, l->rank(a.query) - 2), columns = l->dim(a.key, l->rank(a.key) - 2);
  const auto heads = shared_heads(l, a);
  if (heads) {
    const int64_t at = static_cast<int64_t>(l->rank(a.query)) - 2;
    a.query = split_heads(l, a.query, *heads);
    a.key = l->unsqueeze(a.key, {at});
    a.value = l->unsqueeze(a.value, {at});
    if (a.mask && l->rank(a.mask) >= 3) a.mask = split_heads(l, a.mask, *heads);
  }
  Ref scores = scaled_attention(l, a, l.op("MatMul", {a.query, swap_last(l, a.key)}));
  const Masking mask = mask_of(l, a.mask, dtype, a.blind_nan);
  if (mask.added) scores = l.op("Add", {scores, mask.added});
  if (a.causal) scores = l.op("Add", {scores, causal_mask(l, rows, columns, dtype)});
  Ref weights = l.softmax(scores, -1);
  if (a.dropout != 0) weights = dropped(l, weights, a.dropout, "scaled_dot_product_attention");
  Ref value = l.op("MatMul", {weights, a.value});
  // What is divided by nothing is not a number: such rows are 0, and only they.
  if (mask.row_seen) {
    value = l.op("Where", {mask.row_seen, value, l->number(0.0, dtype)});
    weights = l.op("Where", {mask.row_seen, weights, l->number(0.0, dtype)});
  }
  if (!heads) return {value, weights};
  const auto joined = [&](Ref x) {
    Dims sizes = l->dims(x);
    const auto at = sizes.end() - 4;
    *at = *at * *(at + 1);
    sizes.erase(at + 1);
    return l->reshape(x, sizes);
  };
  return {joined(value), joined(weights)};
}

Ref attended(Lowering& l, const Attention& a) { return has_operator(l, a) ? by_operator(l, a) : attend(l, a).value; }

std::span<const AtenOp> attention_ops() { return kAttentionOps; }

}  // namespace anyshape::lower
