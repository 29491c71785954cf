#pragma once

#include "ir/op.h"

// Every record of the table. Declared here so that all.cpp can list them; defined in the operator's own file.
namespace anyshape::ops {

extern const OpDef kAttention23;
extern const OpDef kAveragePool1;
extern const OpDef kBatchNormalization1;
extern const OpDef kBatchNormalization14;
extern const OpDef kCausalConvWithState27;
extern const OpDef kConv1;
extern const OpDef kConvInteger10;
extern const OpDef kConvTranspose1;
extern const OpDef kDFT17;
extern const OpDef kDFT20;
extern const OpDef kDeformConv19;
extern const OpDef kGRU1;
extern const OpDef kGather1;
extern const OpDef kGlobalAveragePool1;
extern const OpDef kGlobalLpPool1;
extern const OpDef kGlobalMaxPool1;
extern const OpDef kGridSample16;
extern const OpDef kGroupNormalization18;
extern const OpDef kInstanceNormalization1;
extern const OpDef kLRN1;
extern const OpDef kLSTM1;
extern const OpDef kLayerNormalization17;
extern const OpDef kLinearAttention27;
extern const OpDef kLpNormalization1;
extern const OpDef kLpPool1;
extern const OpDef kMaxPool1;
extern const OpDef kMaxRoiPool1;
extern const OpDef kMaxUnpool9;
extern const OpDef kMeanVarianceNormalization9;
extern const OpDef kPreviewFlexAttention1;
extern const OpDef kQLinearConv10;
extern const OpDef kRMSNormalization23;
extern const OpDef kRNN1;
extern const OpDef kReshape1;
extern const OpDef kReshape5;
extern const OpDef kRoiAlign10;
extern const OpDef kRotaryEmbedding23;
extern const OpDef kSTFT17;
extern const OpDef kShape1;

}  // namespace anyshape::ops
