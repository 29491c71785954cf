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
};

struct RecurrentResult {
  Ref output;        // [time, batch, directions * size]
  Ref hidden, cell;  // [layers * directions, batch, size]
};

RecurrentResult recurrent(Lowering& l, const RecurrentCall& call);

struct StepResult {
  Ref hidden, cell;
};
// One step from gates that already hold the input's part.
StepResult lstm_step(Lowering& l, Ref gates, Ref cell);
// An LSTM whose hidden state is projected to another size: ONNX has no such operator, so it is a Scan.
RecurrentResult projected_lstm(Lowering& l, const Direction& weights, Ref input, Ref hidden, Ref cell, bool backwards);

}  // namespace anyshape::lower
