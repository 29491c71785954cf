#include <algorithm>

#include "lower/aten/recurrent.h"

namespace anyshape::lower {

std::optional<std::vector<std::vector<Direction>>> recurrent_weights(Lowering& l, const Args& a, CellKind kind) {
  const Refs all = a.tensors("params");
  const size_t layers = static_cast<size_t>(a.i("num_layers", 1)), directions = a.flag("bidirectional") ? 2 : 1;
  const size_t plain = a.flag("has_biases", true) ? 4 : 2, cells = layers * directions;
  const bool projected = kind == CellKind::lstm && all.size() == cells * (plain + 1);
  const size_t each = plain + (projected ? 1 : 0);
  if (layers == 0 || all.size() != cells * each) {
    if (!l->failed()) l->refuse("aten.arguments", "a recurrent layer has {} weights for {} layers", all.size(), layers);
    return std::nullopt;
  }
  std::vector<std::vector<Direction>> out(layers);
  for (size_t cell = 0; cell < cells; ++cell) {
    const Ref* first = all.data() + cell * each;
    Direction one{first[0], first[1], {}, {}, {}};
    if (plain == 4) {
      one.input_bias = first[2];
      one.hidden_bias = first[3];
    }
    if (projected) one.projection = first[plain];
    out[cell / directions].push_back(one);
  }
  return out;
}

RecurrentState recurrent_state(Lowering& l, const Args& a, CellKind kind, bool batched) {
  const Refs given = kind == CellKind::lstm ? a.tensors("hx") : Refs{a.tensor("hx")};
  const bool zeros = std::all_of(given.begin(), given.end(), [&](Ref one) { return !one || is_zero(l, one); });
  // Both or none: ONNX Runtime reads the cell state only where there is a hidden state, and the other way round.
  if (zeros) return {};
  const auto state = [&](size_t i) {
    if (i >= given.size() || !given[i]) return Ref();
    return batched ? given[i] : l->unsqueeze(given[i], {1});
  };
  return {state(0), state(1)};
}

namespace {

Arg whole_layers(Lowering& l, const Args& a, CellKind kind) {
  const Ref x = a.tensor("input");
  if (!l.need_rank(x, 2, 3)) return {};
  auto layers = recurrent_weights(l, a, kind);
  if (!layers) return {};
  const bool batched = l->rank(x) == 3, turned = batched && a.flag("batch_first");
  const RecurrentState state = recurrent_state(l, a, kind, batched);
  RecurrentCall call{kind, *std::move(layers), x, state.hidden, state.cell, a.flag("train") ? a.f("dropout") : 0, {}};
  if (!batched) call.input = l->unsqueeze(x, {1});
  if (turned) call.input = permuted(l, x, {1, 0, 2});
  RecurrentResult result = recurrent(l, call);
  if (turned) result.output = l->transpose(result.output, {1, 0, 2});
  if (!batched) {
    result.output = l->squeeze(result.output, {1});
    result.hidden = l->squeeze(result.hidden, {1});
    if (result.cell) result.cell = l->squeeze(result.cell, {1});
  }
  if (kind == CellKind::lstm) return Arguments{result.output, result.hidden, result.cell};
  return Arguments{result.output, result.hidden};
}

template <CellKind Kind>
Arg layers(Lowering& l, const Args& a) {
  return whole_layers(l, a, Kind);
}

Ref affine_recurrent_ops(Lowering& l, Ref x, Ref weight, Ref bias) {
  if (l->rank(x) == 2) return l.op("Gemm", {x, weight, bias}, {attr("transB", 1)});
  const Ref y = l.op("MatMul", {x, swap_last(l, weight)});
  return bias ? l.op("Add", {y, bias}) : y;
}

struct CellParts {
  Ref from_input, from_hidden;
};

CellParts cell_parts(Lowering& l, const Args& a, Ref hidden) {
  return {affine_recurrent_ops(l, a.tensor("input"), a.tensor("w_ih"), a.tensor("b_ih")),
          affine_recurrent_ops(l, hidden, a.tensor("w_hh"), a.tensor("b_hh"))};
}

Arg lstm_cell(Lowering& l, const Args& a) {
  const Refs states = a.tensors("hx");
  if (states.size() != 2) return {};
  const CellParts parts = cell_parts(l, a, states[0]);
  const StepResult step = lstm_step(l, l.op("Add", {parts.from_input, parts.from_hidden}), states[1]);
  return Arguments{step.hidden, step.cell};
}

Arg gru_cell(Lowering& l, const Args& a) {
  const Ref hidden = a.tensor("hx");
  const CellParts parts = cell_parts(l, a, hidden);
  const int64_t axis = static_cast<int64_t>(l->rank(parts.from_input)) - 1;
  const Dim size = l->dim(hidden, l->rank(hidden) - 1);
  const Refs in = l->split(parts.from_input, axis, {size, size, size});
  const Refs past = l->split(parts.from_hidden, axis, {size, size, size});
  const Ref reset = l.op("Sigmoid", {l.op("Add", {in[0], past[0]})});
  const Ref update = l.op("Sigmoid", {l.op("Add", {in[1], past[1]})});
  const Ref fresh = l.op("Tanh", {l.op("Add", {in[2], l.op("Mul", {reset, past[2]})})});
  return l.op("Add", {l.op("Mul", {update, l.op("Sub", {hidden, fresh})}), fresh});
}

template <bool Tanh>
Arg rnn_cell(Lowering& l, const Args& a) {
  const CellParts parts = cell_parts(l, a, a.tensor("hx"));
  return l.op(Tanh ? "Tanh" : "Relu", {l.op("Add", {parts.from_input, parts.from_hidden})});
}

constexpr AtenOp kRecurrentOps[] = {
    {"gru.input", layers<CellKind::gru>},       {"gru_cell", gru_cell},
    {"lstm.input", layers<CellKind::lstm>},     {"lstm_cell", lstm_cell},
    {"rnn_relu.input", layers<CellKind::relu>}, {"rnn_relu_cell", rnn_cell<false>},
    {"rnn_tanh.input", layers<CellKind::tanh>}, {"rnn_tanh_cell", rnn_cell<true>},
};

}  // namespace

std::span<const AtenOp> recurrent_ops() { return kRecurrentOps; }

}  // namespace anyshape::lower
