#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Recurrent layers of f32 as ONNX defines RNN, GRU and LSTM.
namespace anyshape::simd {

// Layers one behind the other: each reads what the one before it has written.
constexpr int64_t kMostLayers = 4;

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
  float clip = 0;  // of what the gates' activations take; infinity: none
  bool input_forget = false;
  bool linear_before_reset = false;
  CellWeights weights[2];

  int64_t gates() const { return cell == Cell::rnn ? 1 : cell == Cell::gru ? 3 : 4; }
};

// The state of a unit of a sequence in a direction is at [direction * .. + row * .. + unit * ..].
struct StateRows {
  float* data = nullptr;  // null: absent
  int64_t direction = 0, row = 0, unit = 0;
};

struct LayerStates {
  StateRows first_h, first_c, last_h, last_c;
};

// Where the tensors are; strides in elements, zero pointers are absent tensors. x is that of the first layer, y that of
// the last one.
struct LayersRun {
  int64_t steps = 0, batch = 0;
  const float* x = nullptr;
  int64_t x_step = 0, x_row = 0, x_column = 1;
  bool has_lengths = false;
  const int32_t* lengths = nullptr;  // null where data is not there yet, too
  float* y = nullptr;
  int64_t y_step = 0, y_row = 0, y_direction = 0;
  LayerStates states[kMostLayers];
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

// Layers are cut into pieces of whole sequences of one direction. Tasks follow each other through the layers of a piece
// in rounds of some steps, or, where a layer alone has few pieces with many weights, all tasks work on all of them,
// each on other units.
struct LayersCut {
  int64_t directions = 1, parts = 1, rows = 0;  // of the sequences; rows of a part
  int64_t at_once = 1;                          // steps whose input part one product makes
  int64_t round = 1;                            // steps
  int64_t shared = 0;                           // blocks of units that are claimed at once; 0: pieces are not shared
  int64_t tasks = 1;                            // at most; more of those that share would find nothing to do
  int64_t pieces() const { return directions * parts; }
};
// Of all that follows REQUIRES: 1 to kMostLayers layers, more than one only where all are of one and the same direction
// and there are no lengths.
using Layers = std::span<const Layer>;
LayersCut recurrent_cut(Layers layers, const LayersRun& run);

// Floats of scratch for that many tasks, aligned to 64 bytes.
int64_t recurrent_scratch(Layers layers, const LayersRun& run, int64_t tasks);
// Once, before any task.
void recurrent_begin(Layers layers, const LayersRun& run, float* scratch);
// Tasks first..last - 1 of `tasks`, at most as many as recurrent_cut says. REQUIRES: lengths are in 0..steps.
void recurrent_run(Layers layers, const LayersRun& run, int64_t first, int64_t last, int64_t tasks, float* scratch);

}  // namespace anyshape::simd
