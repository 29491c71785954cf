#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "passes/draft.h"

namespace anyshape {

// The step of a recurrent layer, with its weights as LSTM, GRU and RNN take them.
struct Cell {
  std::string type;
  int64_t units = 0, inputs = 0;  // entries of the state and of the input
  std::vector<std::string> activations;
  bool linear_before_reset = false;
  std::vector<float> w, r, b;  // [gates*units, inputs], [gates*units, units], [2*gates*units]
};

// What is known of the body of a loop that may be such a step.
struct Step {
  const Graph& body;
  std::function<const Tensor*(ValueId)> constant;  // null for what is none
  ValueId row = kNoValue;                          // the input of the step, [batch, inputs]
  int64_t inputs = 0;
  ValueId state = kNoValue, memory = kNoValue;            // as the step gets them, [batch, units]; memory: of an LSTM
  ValueId next_state = kNoValue, next_memory = kNoValue;  // as it leaves them
  int64_t units = 0;
};

// The layer whose step the body computes, be it written as one product or as many.
std::optional<Cell> recurrent_cell(const Step& step);

}  // namespace anyshape
