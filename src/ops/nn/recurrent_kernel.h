#pragma once

#include "ir/call.h"
#include "ir/op.h"
#include "kernels/recurrent.h"

namespace anyshape::ops {

// The attributes of RNN, GRU and LSTM. Codes "rnn.activations", "rnn.clip".
Result<kernels::Recurrent> read_recurrent(const Call& call, kernels::Recurrent::Cell cell);

Status run_recurrent(const Call& call, KernelArgs& args, kernels::Recurrent::Cell cell);

}  // namespace anyshape::ops
