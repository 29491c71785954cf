#include "run/cpu/target.h"

#include "ops/records.h"
#include "run/cpu/kernels/all.h"

namespace anyshape::cpu {
namespace {

constexpr const OpDef* kElementwiseOps[] = {&ops::kAbs1,
                                            &ops::kAcos7,
                                            &ops::kAcosh9,
                                            &ops::kAdd1,
                                            &ops::kAnd1,
                                            &ops::kAsin7,
                                            &ops::kAsinh9,
                                            &ops::kAtan7,
                                            &ops::kAtanh9,
                                            &ops::kBitwiseNot18,
                                            &ops::kCeil1,
                                            &ops::kCelu12,
                                            &ops::kClip1,
                                            &ops::kClip11,
                                            &ops::kCos7,
                                            &ops::kCosh9,
                                            &ops::kDiv1,
                                            &ops::kElu1,
                                            &ops::kEqual1,
                                            &ops::kErf9,
                                            &ops::kExp1,
                                            &ops::kFloor1,
                                            &ops::kGelu20,
                                            &ops::kGreater1,
                                            &ops::kGreaterOrEqual12,
                                            &ops::kHardSigmoid1,
                                            &ops::kHardSwish14,
                                            &ops::kIsNaN9,
                                            &ops::kLeakyRelu1,
                                            &ops::kLess1,
                                            &ops::kLessOrEqual12,
                                            &ops::kLog1,
                                            &ops::kMax1,
                                            &ops::kMean1,
                                            &ops::kMin1,
                                            &ops::kMish18,
                                            &ops::kMul1,
                                            &ops::kNeg1,
                                            &ops::kNot1,
                                            &ops::kOr1,
                                            &ops::kPRelu1,
                                            &ops::kPow1,
                                            &ops::kReciprocal1,
                                            &ops::kRelu1,
                                            &ops::kRound11,
                                            &ops::kSelu1,
                                            &ops::kSigmoid1,
                                            &ops::kSign9,
                                            &ops::kSin7,
                                            &ops::kSinh9,
                                            &ops::kSoftplus1,
                                            &ops::kSoftsign1,
                                            &ops::kSqrt1,
                                            &ops::kSub1,
                                            &ops::kSum1,
                                            &ops::kSwish24,
                                            &ops::kTan7,
                                            &ops::kTanh1,
                                            &ops::kThresholdedRelu10,
                                            &ops::kWhere9,
                                            &ops::kXor1,
                                            &ops::kFusedElementwise1};
constexpr const OpDef* kReduceOps[] = {
    &ops::kGlobalAveragePool1, &ops::kGlobalMaxPool1,    &ops::kReduceL11,     &ops::kReduceL118,
    &ops::kReduceL21,          &ops::kReduceL218,        &ops::kReduceLogSum1, &ops::kReduceLogSum18,
    &ops::kReduceLogSumExp1,   &ops::kReduceLogSumExp18, &ops::kReduceMax1,    &ops::kReduceMax18,
    &ops::kReduceMean1,        &ops::kReduceMean18,      &ops::kReduceMin1,    &ops::kReduceMin18,
    &ops::kReduceProd1,        &ops::kReduceProd18,      &ops::kReduceSum1,    &ops::kReduceSum13,
    &ops::kReduceSumSquare1,   &ops::kReduceSumSquare18};

template <const OpDef&... op>
constexpr const OpDef* kOps[] = {&op...};

constexpr KernelRow kRows[] = {
    {&kConcat, kOps<ops::kConcat1>},
    {&kConv, kOps<ops::kConv1, ops::kMsFusedConv1>},
    {&kConvTranspose, kOps<ops::kConvTranspose1>},
    {&kElementwise, kElementwiseOps},
    {&kExpand, kOps<ops::kExpand8>},
    {&kGather, kOps<ops::kGather1>},
    {&kGemm, kOps<ops::kGemm1, ops::kGemm11>},
    {&kImputer, kOps<ops::kMlImputer1>},
    {&kLabelEncoder, kOps<ops::kMlLabelEncoder1>},
    {&kLinearClassifier, kOps<ops::kMlLinearClassifier1>},
    {&kLinearRegressor, kOps<ops::kMlLinearRegressor1>},
    {&kLogSoftmax, kOps<ops::kLogSoftmax1>},
    {&kMatMul, kOps<ops::kMatMul1>},
    {&kNorm, kOps<ops::kLayerNormalization17, ops::kRMSNormalization23>},
    {&kNormalizer, kOps<ops::kMlNormalizer1>},
    {&kPool, kOps<ops::kAveragePool1, ops::kMaxPool1>},
    {&kRecurrent, kOps<ops::kGRU1, ops::kLSTM1, ops::kRNN1>},
    {&kReduce, kReduceOps},
    {&kResize, kOps<ops::kResize10, ops::kResize11, ops::kUpsample1, ops::kUpsample9>},
    {&kScaler, kOps<ops::kMlScaler1>},
    {&kSoftmax, kOps<ops::kSoftmax1>},
    {&kTranspose, kOps<ops::kTranspose1>},
    {&kForestClassifier, kOps<ops::kMlTreeEnsembleClassifier1>},
    {&kForestEnsemble, kOps<ops::kMlTreeEnsemble5>},
    {&kForestRegressor, kOps<ops::kMlTreeEnsembleRegressor1>},
    {&kTreeEnsemble, kOps<ops::kMlTreeEnsemble5>},
    {&kTreeClassifier, kOps<ops::kMlTreeEnsembleClassifier1>},
    {&kTreeRegressor, kOps<ops::kMlTreeEnsembleRegressor1>},
};

}  // namespace

const Target& target() {
  static constexpr Target kTarget{.rows = kRows};
  return kTarget;
}

}  // namespace anyshape::cpu
