#pragma once

#include "ir/op.h"

// The optimised kernels of the operators, each list best first. They come on top of the reference kernels.
// One without tasks() runs in the scope of a TemporaryMemory, like a reference kernel, and may make Temporaries and
// tensors as long as their sizes do not depend on entries. One with tasks() has its scratch only.
namespace anyshape::ops {

extern const PlannedKernel kConcatPlanned[1];
extern const PlannedKernel kConvPlanned[1];
extern const PlannedKernel kElementwisePlanned[1];
extern const PlannedKernel kExpandPlanned[1];
extern const PlannedKernel kGatherPlanned[1];
extern const PlannedKernel kGemmPlanned[1];
extern const PlannedKernel kGruPlanned[1];
extern const PlannedKernel kLabelEncoderPlanned[1];
extern const PlannedKernel kLogSoftmaxPlanned[1];
extern const PlannedKernel kLstmPlanned[1];
extern const PlannedKernel kMatMulPlanned[1];
extern const PlannedKernel kNormPlanned[1];
extern const PlannedKernel kPoolPlanned[1];
extern const PlannedKernel kReducePlanned[1];
extern const PlannedKernel kRnnPlanned[1];
extern const PlannedKernel kSoftmaxPlanned[1];
extern const PlannedKernel kTransposePlanned[1];
extern const PlannedKernel kTreeClassifierPlanned[1];
extern const PlannedKernel kTreeEnsemblePlanned[1];
extern const PlannedKernel kTreeRegressorPlanned[1];

}  // namespace anyshape::ops
