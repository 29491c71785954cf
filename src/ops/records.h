#pragma once

#include "ir/op.h"

// Every record of the table. Declared here so that all.cpp can list them; defined in the operator's own file.
namespace anyshape::ops {

extern const OpDef kAffineGrid20;
extern const OpDef kBlackmanWindow17;
extern const OpDef kCenterCropPad18;
extern const OpDef kCol2Im18;
extern const OpDef kCompress9;
extern const OpDef kConcat1;
extern const OpDef kConstant1;
extern const OpDef kConstantOfShape9;
extern const OpDef kDepthToSpace1;
extern const OpDef kExpand8;
extern const OpDef kEyeLike9;
extern const OpDef kFlatten1;
extern const OpDef kGather1;
extern const OpDef kGatherElements11;
extern const OpDef kGatherND11;
extern const OpDef kHammingWindow17;
extern const OpDef kHannWindow17;
extern const OpDef kImageDecoder20;
extern const OpDef kMelWeightMatrix17;
extern const OpDef kNonMaxSuppression10;
extern const OpDef kNonZero9;
extern const OpDef kOneHot9;
extern const OpDef kPad1;
extern const OpDef kPad11;
extern const OpDef kPad18;
extern const OpDef kRange11;
extern const OpDef kReshape1;
extern const OpDef kReshape5;
extern const OpDef kResize10;
extern const OpDef kResize11;
extern const OpDef kReverseSequence10;
extern const OpDef kScatter9;
extern const OpDef kScatterElements11;
extern const OpDef kScatterND11;
extern const OpDef kShape1;
extern const OpDef kSize1;
extern const OpDef kSlice1;
extern const OpDef kSlice10;
extern const OpDef kSpaceToDepth1;
extern const OpDef kSplit1;
extern const OpDef kSplit2;
extern const OpDef kSplit13;
extern const OpDef kSqueeze1;
extern const OpDef kSqueeze13;
extern const OpDef kTensorScatter24;
extern const OpDef kTile1;
extern const OpDef kTile6;
extern const OpDef kTopK1;
extern const OpDef kTopK10;
extern const OpDef kTranspose1;
extern const OpDef kTrilu14;
extern const OpDef kUnique11;
extern const OpDef kUnsqueeze1;
extern const OpDef kUnsqueeze13;
extern const OpDef kUpsample1;
extern const OpDef kUpsample9;

}  // namespace anyshape::ops
