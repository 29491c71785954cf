#pragma once

#include <cstddef>
#include <cstdint>

// Recurrent layers of f32 as ONNX defines RNN, GRU and LSTM.
namespace anyshape::simd {

enum class Cell : uint8_t { rnn, gru, lstm };
enum class RnnFunction : uint8_t { tanh, relu, sigmoid };

// The weights of one direction in the form the steps read: columns of gates in blocks of one vector of units, all gates
// of a block side by side.
struct CellWeights {
  const float* input = nullptr;        // W, packed for gemm_tile
  const float* hidden = nullptr;       // R
  const float* bias = nullptr;         // one entry per column
  const float* hidden_bias = nullptr;  // of GRU's last gate where the reset gate multiplies it, one entry per unit
  const float* peepholes = nullptr;    // of LSTM, three times a padded row of units; null: none
};

struct Layer {
  Cell cell = Cell::lstm;
  RnnFunction function = RnnFunction::tanh;  // of RNN
  int64_t input = 0, hidden = 0;
  int64_t directions = 1;
  bool reverse[2] = {false, true};
  float clip = 0;  // of the inputs of activations; infinity: none
  bool input_forget = false;
  bool linear_before_reset = false;
  CellWeights weights[2];

  int64_t gates() const { return cell == Cell::rnn ? 1 : cell == Cell::gru ? 3 : 4; }
};

// Where the tensors are; strides in elements, zero pointers are absent tensors.
struct LayerRun {
  int64_t steps = 0, batch = 0;
  const float* x = nullptr;
  int64_t x_step = 0, x_row = 0;
  const int32_t* lengths = nullptr;
  float* y = nullptr;
  int64_t y_step = 0, y_row = 0, y_direction = 0;
  const float *first_h = nullptr, *first_c = nullptr;
  float *last_h = nullptr, *last_c = nullptr;
  int64_t state_row = 0, state_direction = 0;  // of all four
};

// Units and columns with what fills up the last block.
int64_t padded_units(int64_t hidden);
int64_t recurrent_columns(const Layer& layer);

// What pack_recurrent writes, in floats.
struct PackedSizes {
  int64_t input, hidden, bias, hidden_bias, peepholes;
};
PackedSizes packed_sizes(const Layer& layer);

// One direction of the tensors of ONNX, aligned or not; bias and peepholes may be null. `to` has the packed_sizes; the
// pointers of the result are those of `to`.
struct PackTarget {
  float *input, *hidden, *bias, *hidden_bias, *peepholes;
};
void pack_recurrent(const Layer& layer, const std::byte* w, const std::byte* r, const std::byte* bias,
                    const std::byte* peepholes, const PackTarget& to);

// A layer is cut into pieces of whole sequences. Pieces first..last - 1; scratch has recurrent_scratch() floats,
// aligned to 64 bytes. REQUIRES: lengths are in 0..steps.
int64_t recurrent_items(const Layer& layer, const LayerRun& run);
int64_t recurrent_scratch(const Layer& layer, const LayerRun& run);
void recurrent_run(const Layer& layer, const LayerRun& run, int64_t first, int64_t last, float* scratch);

}  // namespace anyshape::simd
