#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

// One function of the gates with its parameters.
struct Activation {
  enum class Kind {
    affine,
    elu,
    hard_sigmoid,
    leaky_relu,
    relu,
    scaled_tanh,
    sigmoid,
    softplus,
    softsign,
    tanh,
    thresholded_relu
  };
  Kind kind = Kind::tanh;
  double alpha = 0, beta = 0;

  // By the name ONNX has for it in any case of letters, with its default parameters; nullopt for other names.
  static std::optional<Activation> named(std::string_view name);
  bool takes_alpha() const;
  bool takes_beta() const;
  double operator()(double x) const;
};

// Recurrent layers as ONNX defines RNN, GRU and LSTM.
struct Recurrent {
  enum class Cell { rnn, gru, lstm };
  Cell cell = Cell::rnn;
  Temporary<bool> reverse = {false};  // one entry per direction
  Temporary<Activation> activations;  // f of RNN; f, g of GRU; f, g, h of LSTM; per direction
  std::optional<double> clip;         // of the inputs of activations
  bool batch_first = false;
  bool input_forget = false;         // LSTM: the forget gate is 1 - the input gate
  bool linear_before_reset = false;  // GRU

  int64_t gates() const { return cell == Cell::rnn ? 1 : cell == Cell::gru ? 3 : 4; }
  size_t functions() const { return cell == Cell::rnn ? 1 : cell == Cell::gru ? 2 : 3; }
};

// x, w and r are always there; `lengths` are integers.
struct RecurrentInputs {
  Tensor x, w, r, bias, lengths, initial_h, initial_c, peepholes;
};
// Each may be absent.
struct RecurrentOutputs {
  Tensor y, h, c;
};

// f32 or f64 (one type in all tensors), computed in double. Steps past the length of a sequence give 0 in y; h and c
// are those of the last step, 0 for a sequence without any (as ONNX Runtime has it). Errors "dtype", "kernel.shape",
// "rnn.sequence_lens".
Status recurrent(const Recurrent& layer, const RecurrentInputs& in, RecurrentOutputs& out);

}  // namespace anyshape::kernels
