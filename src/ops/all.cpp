#include "ops/all.h"

#include "ops/records.h"

namespace anyshape {
namespace {

// Sorted by (domain, name, since); all_test.cpp checks it.
constexpr const OpDef* kAll[] = {
    &ops::kAttention23,
    &ops::kAveragePool1,
    &ops::kBatchNormalization1,
    &ops::kBatchNormalization14,
    &ops::kCausalConvWithState27,
    &ops::kConv1,
    &ops::kConvInteger10,
    &ops::kConvTranspose1,
    &ops::kDFT17,
    &ops::kDFT20,
    &ops::kDeformConv19,
    &ops::kGRU1,
    &ops::kGather1,
    &ops::kGlobalAveragePool1,
    &ops::kGlobalLpPool1,
    &ops::kGlobalMaxPool1,
    &ops::kGridSample16,
    &ops::kGroupNormalization18,
    &ops::kInstanceNormalization1,
    &ops::kLRN1,
    &ops::kLSTM1,
    &ops::kLayerNormalization17,
    &ops::kLinearAttention27,
    &ops::kLpNormalization1,
    &ops::kLpPool1,
    &ops::kMaxPool1,
    &ops::kMaxRoiPool1,
    &ops::kMaxUnpool9,
    &ops::kMeanVarianceNormalization9,
    &ops::kQLinearConv10,
    &ops::kRMSNormalization23,
    &ops::kRNN1,
    &ops::kReshape1,
    &ops::kReshape5,
    &ops::kRoiAlign10,
    &ops::kRotaryEmbedding23,
    &ops::kSTFT17,
    &ops::kShape1,
    &ops::kPreviewFlexAttention1,
};

}  // namespace

const OpTable& all_ops() {
  static const OpTable table(kAll);
  return table;
}

}  // namespace anyshape
