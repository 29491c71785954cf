#include <limits>

#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

Arg embedding(Lowering& l, const Args& a) { return l->gather(a.tensor("weight"), a.tensor("indices"), 0); }

enum Mode : int64_t { kSum = 0, kMean = 1, kMax = 2 };

// bool[bags, n]: bag b holds the indices offsets[b] .. offsets[b + 1] - 1, the last one those up to the end.
Ref membership(Lowering& l, const Args& a, Ref indices, Ref offsets) {
  const Dim count = l->dim(indices, 0);
  Dim bags = l->dim(offsets, 0);
  offsets = l->cast(offsets, DType::i64);
  Ref first = offsets, behind;
  if (a.flag("include_last_offset")) {
    first = l->slice(offsets, 0, 0, bags - 1);
    behind = l->slice(offsets, 0, 1, bags);
  } else {
    behind = l->concat({l->slice(offsets, 0, 1, bags), l->size(count)}, 0);
  }
  const Ref place = counted(l, count, DType::i64);
  const Ref from = l->unsqueeze(first, {1}), to = l->unsqueeze(behind, {1});
  Ref inside = l.op("And", {l.op("Not", {l.op("Less", {place, from})}), l.op("Less", {place, to})});
  if (a.has("padding_idx") && a.i("padding_idx", -1) >= 0) {
    const Ref padding = l->integer(a.i("padding_idx"), l->dtype(indices));
    inside = l.op("And", {inside, l.op("Not", {l.op("Equal", {indices, padding})})});
  }
  return inside;
}

Ref bag_max(Lowering& l, Ref rows, Ref inside) {
  const DType dtype = l->dtype(rows);
  const Ref lowest = l->number(-std::numeric_limits<double>::infinity(), dtype);
  const Ref best = l.reduce("ReduceMax", l.op("Where", {l->unsqueeze(inside, {2}), rows, lowest}), {1}, false);
  const Ref counts = l.reduce("ReduceSum", l->cast(inside, DType::i64), {1}, true);
  return l.op("Where", {l.op("Equal", {counts, l->number(int64_t{0})}), l->number(0.0, dtype), best});
}

Arg embedding_bag(Lowering& l, const Args& a) {
  const Ref weight = a.tensor("weight"), indices = a.tensor("indices"), offsets = a.tensor("offsets");
  if (!l.need_rank(weight, 2, 2) || !l.need_rank(indices, 1, 1) || !l.need_rank(offsets, 1, 1)) return {};
  const DType dtype = l->dtype(weight);
  Ref rows = l->gather(weight, indices, 0);
  if (const Ref factors = a.tensor("per_sample_weights"))
    rows = l.op("Mul", {rows, l->unsqueeze(l->cast(factors, dtype), {1})});
  const Ref inside = membership(l, a, indices, offsets);
  Ref out;
  if (a.i("mode") == kMax) {
    out = bag_max(l, rows, inside);
  } else {
    out = l.op("MatMul", {l->cast(inside, dtype), rows});
    const Ref counts = l.reduce("ReduceSum", l->cast(inside, DType::i64), {1}, false);
    const Ref one = l->number(int64_t{1});
    const Ref divisor = l.op("Where", {l.op("Less", {counts, one}), one, counts});
    if (a.i("mode") == kMean) out = l.op("Div", {out, l->unsqueeze(l->cast(divisor, dtype), {1})});
  }
  // The other results are read by the backward pass only.
  Arguments results{out};
  results.resize(a.schema().results);
  return results;
}

constexpr AtenOp kEmbeddingOps[] = {
    {"_embedding_bag", embedding_bag},
    {"_embedding_bag_forward_only", embedding_bag},
    {"embedding", embedding},
    {"embedding_bag", embedding_bag},
};

}  // namespace

std::span<const AtenOp> embedding_ops() { return kEmbeddingOps; }

}  // namespace anyshape::lower
