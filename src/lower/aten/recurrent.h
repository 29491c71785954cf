#pragma once

#include "lower/aten/nn.h"

namespace anyshape::lower {

// One recurrent layer in one direction, in PyTorch's layout: gates in rows.
struct Direction {
  Ref input_weight, hidden_weight, input_bias, hidden_bias, projection;
};

enum class CellKind { tanh, relu, lstm, gru };

struct RecurrentCall {
  CellKind kind = CellKind::lstm;
  std::vector<std::vector<Direction>> layers;  // [layer][direction]
  Ref input;                                   // [time, batch, features]
  Ref hidden, cell;                            // [layers * directions, batch, size]; absent: zeros
  double dropout = 0;                          // between layers
  Ref lengths;                                 // i32[batch], of sequences that end before the last step; may be absent
};

struct RecurrentResult {
  Ref output;        // [time, batch, directions * size]
  Ref hidden, cell;  // [layers * directions, batch, size]
};

RecurrentResult recurrent(Lowering& l, const RecurrentCall& call);

// The flat list of weights of a call: per layer and direction w_ih, w_hh, then b_ih, b_hh, then w_hr where it projects.
std::optional<std::vector<std::vector<Direction>>> recurrent_weights(Lowering& l, const Args& a, CellKind kind);
// The state a call begins with; one of zeros is left out: the layer takes its sizes from the input then.
struct RecurrentState {
  Ref hidden, cell;
};
RecurrentState recurrent_state(Lowering& l, const Args& a, CellKind kind, bool batched);

struct StepResult {
  Ref hidden, cell;
};
// One step from gates that already hold the input's part.
StepResult lstm_step(Lowering& l, Ref gates, Ref cell);
// An LSTM whose hidden state is projected to another size: ONNX has no such operator, so it is a Scan.
RecurrentResult projected_lstm(Lowering& l, const Direction& weights, Ref input, Ref hidden, Ref cell, bool backwards);

}  // namespace anyshape::lower
