#include "lower/aten/recurrent.h"

namespace anyshape::lower {
namespace {

Ref affine_recurrent_projected(Lowering& l, Ref x, Ref weight, Ref bias) {
  const Ref y = l.op("MatMul", {x, swap_last(l, weight)});
  return bias ? l.op("Add", {y, bias}) : y;
}

}  // namespace

StepResult lstm_step(Lowering& l, Ref gates, Ref cell) {
  const int64_t axis = static_cast<int64_t>(l->rank(gates)) - 1;
  const Dim size = floordiv(l->dim(gates, static_cast<size_t>(axis)), 4);
  const Refs parts = l->split(gates, axis, {size, size, size, size});
  const Ref in = l.op("Sigmoid", {parts[0]}), forget = l.op("Sigmoid", {parts[1]});
  const Ref fresh = l.op("Tanh", {parts[2]}), out = l.op("Sigmoid", {parts[3]});
  const Ref next = l.op("Add", {l.op("Mul", {forget, cell}), l.op("Mul", {in, fresh})});
  return {l.op("Mul", {out, l.op("Tanh", {next})}), next};
}

RecurrentResult projected_lstm(Lowering& l, const Direction& w, Ref input, Ref hidden, Ref cell, bool backwards) {
  const DType dtype = l->dtype(input);
  const Dim batch = l->dim(input, 1), size = l->dim(w.projection, 1), outer = l->dim(w.projection, 0);
  const Ref bias = w.input_bias ? l.op("Add", {w.input_bias, w.hidden_bias}) : Ref();
  const Ref gates = affine_recurrent_projected(l, input, w.input_weight, bias);
  if (!hidden) hidden = filled(l, {batch, outer}, 0, dtype);
  if (!cell) cell = filled(l, {batch, size}, 0, dtype);
  if (l->failed()) return {};
  l->begin_body("step", {{"hidden", l->fact(hidden).type_only()},
                         {"cell", l->fact(cell).type_only()},
                         {"gates", Fact::tensor(dtype, {batch, l->dim(gates, 2)})}});
  const Ref now = l.op("Add", {l->body_input(2), affine_recurrent_projected(l, l->body_input(0), w.hidden_weight, {})});
  const StepResult step = lstm_step(l, now, l->body_input(1));
  const Ref projected = affine_recurrent_projected(l, step.hidden, w.projection, {});
  const auto body = l->end_body({projected, step.cell, projected});
  const int64_t direction = backwards ? 1 : 0;
  const Refs out = l->emit(
      "Scan", {hidden, cell, gates},
      {attr("body", body), attr("num_scan_inputs", 1), attr("scan_input_directions", std::vector<int64_t>{direction}),
       attr("scan_output_directions", std::vector<int64_t>{direction})},
      3);
  return {out[2], out[0], out[1]};
}

}  // namespace anyshape::lower
