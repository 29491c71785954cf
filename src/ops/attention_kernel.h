#pragma once

#include "ir/call.h"
#include "ir/op.h"

// The reference kernels of the records in attention.cpp and linear_attention.cpp.
namespace anyshape::ops {

Status run_attention(const Call& call, KernelArgs& args);
Status run_flex_attention(const Call& call, KernelArgs& args);
Status run_linear_attention(const Call& call, KernelArgs& args);
Status run_rotary_embedding(const Call& call, KernelArgs& args);

}  // namespace anyshape::ops
