#include "lower/aten/move.h"
#include "lower/aten/recurrent.h"

namespace anyshape::lower {
namespace {

using RecurrentPackedSteps = PackedSequences::Steps;

// The length of the longest sequence, which PyTorch refuses to be more than there are steps.
Dim longest_of(Lowering& l, Ref lengths, Dim steps) {
  const Ref longest = l->reduce("ReduceMax", lengths, {}, false);
  if (const auto known = l->fact(longest).single()) return *known;
  if (l->failed()) return 0;
  const Dim symbol = l->walk().data_symbol("longest", 0, steps);
  l->define(symbol, longest);
  return symbol;
}

// Which entries of [longest, batch] are there.
Ref present(Lowering& l, Ref lengths, Dim longest) {
  return l.op("Less", {l->unsqueeze(iota(l, longest), {1}), l->unsqueeze(lengths, {0})});
}

Arg pack(Lowering& l, const Args& a) {
  const Ref x = a.tensor("input"), lengths = l->cast(a.tensor("lengths"), DType::i64);
  if (l->failed() || !l.need_rank(x, 2, SIZE_MAX) || !l.need_rank(lengths, 1, 1)) return {};
  Ref padded = a.flag("batch_first") ? move_axis(l, x, 1, 0) : x;
  RecurrentPackedSteps steps{{}, lengths, {}, longest_of(l, lengths, l->dim(padded, 0)), l->dim(padded, 1)};
  padded = l->slice(padded, 0, 0, steps.longest);
  const Ref mask = present(l, lengths, steps.longest);
  steps.counts = l->reduce("ReduceSum", l->cast(mask, DType::i64), {1}, false);
  steps.places = l->transpose(l.op("NonZero", {mask}), {1, 0});
  const Ref entries = l.op("GatherND", {padded, steps.places});
  if (l->failed()) return {};
  l.packed().remember(entries, padded);
  l.packed().remember(steps);
  return Arguments{entries, steps.counts};
}

const RecurrentPackedSteps* steps_of_recurrent_packed(Lowering& l, const Args& a) {
  const RecurrentPackedSteps* known = l.packed().steps(a.tensor("batch_sizes"));
  if (!known && !l->failed())
    l->refuse("aten.packed",
              "{} on a packed sequence that does not come from pack_padded_sequence in this model cannot be exported",
              a.schema().name);
  return known;
}

// [longest, batch, ...] of the entries; zeros elsewhere where it has to be made.
Ref padded_form(Lowering& l, Ref entries, const RecurrentPackedSteps& steps) {
  if (const Ref known = l.packed().padded(entries)) return known;
  Dims sizes = l->dims(entries);
  if (sizes.empty()) return {};
  sizes.erase(sizes.begin());
  sizes.insert(sizes.begin(), {steps.longest, steps.batch});
  return l.op("ScatterND", {filled(l, sizes, 0, l->dtype(entries)), steps.places, entries});
}

template <CellKind Kind>
Arg packed_layers(Lowering& l, const Args& a) {
  const RecurrentPackedSteps* found = steps_of_recurrent_packed(l, a);
  auto layers = recurrent_weights(l, a, Kind);
  if (!found || !layers) return {};
  if (layers->front().front().projection) {
    l->refuse("aten.packed",
              "an LSTM with proj_size on a packed sequence cannot be exported: run it on the padded tensor and mask "
              "its output");
    return {};
  }
  const RecurrentPackedSteps steps = *found;
  const RecurrentState state = recurrent_state(l, a, Kind, true);
  const Ref padded = padded_form(l, a.tensor("data"), steps);
  const RecurrentResult result =
      recurrent(l, {Kind, *std::move(layers), padded, state.hidden, state.cell, a.flag("train") ? a.f("dropout") : 0,
                    l->cast(steps.lengths, DType::i32)});
  const Ref entries = l.op("GatherND", {result.output, steps.places});
  if (l->failed()) return {};
  l.packed().remember(entries, result.output);
  if constexpr (Kind == CellKind::lstm) return Arguments{entries, result.hidden, result.cell};
  return Arguments{entries, result.hidden};
}

Arg pad_packed(Lowering& l, const Args& a) {
  const RecurrentPackedSteps* found = steps_of_recurrent_packed(l, a);
  if (!found) return {};
  const RecurrentPackedSteps steps = *found;
  Ref padded = padded_form(l, a.tensor("data"), steps);
  if (l->failed()) return {};
  const Ref fill = l.operand(a.arg("padding_value"), l->dtype(padded));
  const Ref mask = with_trailing_ones(l, present(l, steps.lengths, steps.longest), l->rank(padded) - 2);
  padded = l.op("Where", {mask, padded, fill});
  const Dim total = a.dim("total_length");
  if (total != Dim(-1) && total != Dim(0) && total != steps.longest) {
    Dims edges(2 * l->rank(padded), Dim(0));
    edges[l->rank(padded)] = total - steps.longest;
    padded = l->pad(padded, edges, fill);
  }
  return Arguments{a.flag("batch_first") ? move_axis(l, padded, 1, 0) : padded, steps.lengths};
}

constexpr AtenOp kPackedOps[] = {
    {"_pack_padded_sequence", pack},
    {"_pad_packed_sequence", pad_packed},
    {"gru.data", packed_layers<CellKind::gru>},
    {"lstm.data", packed_layers<CellKind::lstm>},
    {"rnn_relu.data", packed_layers<CellKind::relu>},
    {"rnn_tanh.data", packed_layers<CellKind::tanh>},
};

}  // namespace

std::span<const AtenOp> recurrent_packed_ops() { return kPackedOps; }

}  // namespace anyshape::lower
