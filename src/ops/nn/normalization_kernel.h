#pragma once

#include "ir/call.h"
#include "ir/op.h"

// The reference kernels of the records in normalization.cpp.
namespace anyshape::ops {

Status batch_normalization(const Call& call, KernelArgs& args);
Status group_normalization(const Call& call, KernelArgs& args);
Status instance_normalization(const Call& call, KernelArgs& args);
Status layer_normalization(const Call& call, KernelArgs& args);
Status local_response_normalization(const Call& call, KernelArgs& args);
Status lp_normalization(const Call& call, KernelArgs& args);
Status mean_variance_normalization(const Call& call, KernelArgs& args);
Status rms_normalization(const Call& call, KernelArgs& args);

}  // namespace anyshape::ops
