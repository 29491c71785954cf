#pragma once

#include "ir/op.h"

// The optimised kernels of the operators, each list best first. They come on top of the reference kernels.
namespace anyshape::ops {

extern const PlannedKernel kConcatPlanned[1];
extern const PlannedKernel kConvPlanned[1];
extern const PlannedKernel kElementwisePlanned[1];
extern const PlannedKernel kExpandPlanned[1];
extern const PlannedKernel kGatherPlanned[1];
extern const PlannedKernel kGemmPlanned[1];
extern const PlannedKernel kGruPlanned[1];
extern const PlannedKernel kLogSoftmaxPlanned[1];
extern const PlannedKernel kLstmPlanned[1];
extern const PlannedKernel kMatMulPlanned[1];
extern const PlannedKernel kNormPlanned[1];
extern const PlannedKernel kPoolPlanned[1];
extern const PlannedKernel kReducePlanned[1];
extern const PlannedKernel kRnnPlanned[1];
extern const PlannedKernel kSoftmaxPlanned[1];
extern const PlannedKernel kTransposePlanned[1];

}  // namespace anyshape::ops
