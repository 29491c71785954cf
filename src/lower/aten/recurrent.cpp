#include "lower/aten/recurrent.h"

namespace anyshape::lower {
namespace {

int64_t gate_count(CellKind kind) { return kind == CellKind::lstm ? 4 : kind == CellKind::gru ? 3 : 1; }

// PyTorch's gates i f g o and r z n, ONNX's i o f c and z r h.
std::vector<size_t> gate_order(CellKind kind) {
  if (kind == CellKind::lstm) return {0, 3, 1, 2};
  return kind == CellKind::gru ? std::vector<size_t>{1, 0, 2} : std::vector<size_t>{0};
}

Ref reordered(Lowering& l, Ref x, CellKind kind) {
  const int64_t gates = gate_count(kind);
  if (gates == 1) return x;
  const Dim part = floordiv(l->dim(x, 0), gates);
  const Refs parts = l->split(x, 0, Dims(static_cast<size_t>(gates), part));
  Refs out;
  for (size_t i : gate_order(kind)) out.push_back(parts[i]);
  return l->concat(out, 0);
}

// The tensors of all directions under a new first axis.
Ref stacked(Lowering& l, const Refs& parts) {
  Refs rows;
  for (Ref part : parts) rows.push_back(l->unsqueeze(part, {0}));
  return l->concat(rows, 0);
}

struct Packed {
  Ref w, r, b;
};

Packed packed(Lowering& l, const std::vector<Direction>& directions, CellKind kind) {
  Refs w, r, b;
  for (const Direction& one : directions) {
    w.push_back(reordered(l, one.input_weight, kind));
    r.push_back(reordered(l, one.hidden_weight, kind));
    if (one.input_bias)
      b.push_back(l->concat({reordered(l, one.input_bias, kind), reordered(l, one.hidden_bias, kind)}, 0));
  }
  return {stacked(l, w), stacked(l, r), b.empty() ? Ref() : stacked(l, b)};
}

std::vector<Attribute> attributes_of(Lowering& l, CellKind kind, size_t directions, const Packed& weights) {
  std::vector<Attribute> out;
  if (kind == CellKind::tanh || kind == CellKind::relu)
    out.push_back({"activations", std::vector<std::string>(directions, kind == CellKind::tanh ? "Tanh" : "Relu")});
  out.push_back(attr("direction", directions == 2 ? "bidirectional" : "forward"));
  const auto size = l->dim(weights.r, 2).constant();
  if (size)
    out.push_back(attr("hidden_size", *size));
  else
    l->refuse("aten.symbolic", "the hidden size of a recurrent layer must be a number");
  if (kind == CellKind::gru) out.push_back(attr("linear_before_reset", 1));
  return out;
}

// ONNX Runtime computes these layers in f32 only, f16 in f32.
RecurrentResult layer(Lowering& l, CellKind kind, const std::vector<Direction>& directions, Ref x, RecurrentState start,
                      Ref lengths) {
  const DType given = l->dtype(x), used = given == DType::f64 || given == DType::bf16 ? DType::f32 : given;
  const auto as_used = [&](Ref t) { return t ? l->cast(t, used) : t; };
  Packed weights = packed(l, directions, kind);
  weights = {as_used(weights.w), as_used(weights.r), as_used(weights.b)};
  auto attributes = attributes_of(l, kind, directions.size(), weights);
  Refs in{as_used(x), weights.w, weights.r, weights.b, lengths, as_used(start.hidden)};
  if (kind == CellKind::lstm) in.push_back(as_used(start.cell));
  const std::string_view type = kind == CellKind::lstm ? "LSTM" : kind == CellKind::gru ? "GRU" : "RNN";
  Refs out = l->emit(type, in, std::move(attributes), kind == CellKind::lstm ? 3 : 2);
  for (Ref& one : out) one = l->cast(one, given);
  RecurrentResult result{out[0], out[1], kind == CellKind::lstm ? out[2] : Ref()};
  if (directions.size() == 1) {
    result.output = l->squeeze(out[0], {1});
    return result;
  }
  const Ref turned = l->transpose(out[0], {0, 2, 1, 3});
  result.output = l->reshape(turned, {l->dim(turned, 0), l->dim(turned, 1), l->dim(turned, 2) * l->dim(turned, 3)});
  return result;
}

RecurrentResult projected_layer(Lowering& l, const std::vector<Direction>& directions, Ref x, RecurrentState start) {
  Refs outputs, hidden, cells;
  for (size_t d = 0; d < directions.size(); ++d) {
    const auto state = [&](Ref all) {
      const int64_t at = static_cast<int64_t>(d);
      return all ? l->squeeze(l->slice(all, 0, at, at + 1), {0}) : all;
    };
    const RecurrentResult one = projected_lstm(l, directions[d], x, state(start.hidden), state(start.cell), d == 1);
    outputs.push_back(one.output);
    hidden.push_back(one.hidden);
    cells.push_back(one.cell);
  }
  return {l->concat(outputs, 2), stacked(l, hidden), stacked(l, cells)};
}

}  // namespace

RecurrentResult recurrent(Lowering& l, const RecurrentCall& call) {
  const int64_t directions = call.layers.empty() ? 1 : static_cast<int64_t>(call.layers[0].size());
  const auto start = [&](Ref all, size_t i) {
    const int64_t at = static_cast<int64_t>(i) * directions;
    return all && call.layers.size() > 1 ? l->slice(all, 0, at, at + directions) : all;
  };
  RecurrentResult result;
  Ref x = call.input;
  Refs hidden, cells;
  for (size_t i = 0; i < call.layers.size(); ++i) {
    const RecurrentState state{start(call.hidden, i), start(call.cell, i)};
    const bool projected = static_cast<bool>(call.layers[i][0].projection);
    result = projected ? projected_layer(l, call.layers[i], x, state)
                       : layer(l, call.kind, call.layers[i], x, state, call.lengths);
    const bool last = i + 1 == call.layers.size();
    x = last || call.dropout == 0 ? result.output : dropped(l, result.output, call.dropout, "a recurrent layer");
    hidden.push_back(result.hidden);
    if (result.cell) cells.push_back(result.cell);
  }
  result.hidden = l->concat(hidden, 0);
  if (!cells.empty()) result.cell = l->concat(cells, 0);
  return result;
}

}  // namespace anyshape::lower
