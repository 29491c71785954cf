#pragma once

#include "ir/call.h"
#include "ir/op.h"

// The reference kernels of the records in attention.cpp and linear_attention.cpp.
namespace anyshape::ops {

// The type in which softmax computes; nullopt: what the node says is none.
inline std::optional<DType> softmax_precision(const Call& call, DType fallback) {
  return call.has_attr("softmax_precision") ? dtype_from_onnx(call.i("softmax_precision")) : fallback;
}

Status run_attention(const Call& call, KernelArgs& args);
Status run_flex_attention(const Call& call, KernelArgs& args);
Status run_linear_attention(const Call& call, KernelArgs& args);
Status run_rotary_embedding(const Call& call, KernelArgs& args);

}  // namespace anyshape::ops
