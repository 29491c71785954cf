#pragma once

#include "base/temporary.h"
#include "ir/call.h"
#include "kernels/pad.h"

// What attributes of Pad say, for its kernels.
namespace anyshape::ops {

// Error "pad.mode".
Result<kernels::PadMode> pad_mode_of(const Call& call);

// Versions before 11 have the pads and the fill value as attributes, not as inputs.
inline bool has_pad_attributes(const Call& call) { return call.version() < 11; }
Result<Temporary<kernels::AxisPads>> pads_of_attributes(const Call& call, size_t rank);
// Empty: zeros.
Result<Tensor> fill_of_attributes(const Call& call, DType dtype);

}  // namespace anyshape::ops
