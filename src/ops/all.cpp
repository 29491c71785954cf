#include "ops/all.h"

#include "ops/records.h"

namespace anyshape {
namespace {

// Sorted by (domain, name, since); all_test.cpp checks it.
constexpr const OpDef* kAll[] = {
    &ops::kAffineGrid20,
    &ops::kBlackmanWindow17,
    &ops::kCenterCropPad18,
    &ops::kCol2Im18,
    &ops::kCompress9,
    &ops::kConcat1,
    &ops::kConstant1,
    &ops::kConstantOfShape9,
    &ops::kDepthToSpace1,
    &ops::kExpand8,
    &ops::kEyeLike9,
    &ops::kFlatten1,
    &ops::kGather1,
    &ops::kGatherElements11,
    &ops::kGatherND11,
    &ops::kHammingWindow17,
    &ops::kHannWindow17,
    &ops::kImageDecoder20,
    &ops::kMelWeightMatrix17,
    &ops::kNonMaxSuppression10,
    &ops::kNonZero9,
    &ops::kOneHot9,
    &ops::kPad1,
    &ops::kPad11,
    &ops::kPad18,
    &ops::kRange11,
    &ops::kReshape1,
    &ops::kReshape5,
    &ops::kResize10,
    &ops::kResize11,
    &ops::kReverseSequence10,
    &ops::kScatter9,
    &ops::kScatterElements11,
    &ops::kScatterND11,
    &ops::kShape1,
    &ops::kSize1,
    &ops::kSlice1,
    &ops::kSlice10,
    &ops::kSpaceToDepth1,
    &ops::kSplit1,
    &ops::kSplit2,
    &ops::kSplit13,
    &ops::kSqueeze1,
    &ops::kSqueeze13,
    &ops::kTensorScatter24,
    &ops::kTile1,
    &ops::kTile6,
    &ops::kTopK1,
    &ops::kTopK10,
    &ops::kTranspose1,
    &ops::kTrilu14,
    &ops::kUnique11,
    &ops::kUnsqueeze1,
    &ops::kUnsqueeze13,
    &ops::kUpsample1,
    &ops::kUpsample9,
};

}  // namespace

const OpTable& all_ops() {
  static const OpTable table(kAll);
  return table;
}

}  // namespace anyshape
