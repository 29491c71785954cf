#pragma once

#include "engine/target/kernel.h"

// The optimised kernels; run/cpu/target.cpp says which operators they are for.
namespace anyshape::cpu {

extern const EngineKernel kArgMax;
extern const EngineKernel kArgMin;
extern const EngineKernel kArrayFeatureExtractor;
extern const EngineKernel kAttention;
extern const EngineKernel kBlockedConv;
extern const EngineKernel kBlockedConvTranspose;
extern const EngineKernel kBlockedPool;
extern const EngineKernel kCast;
extern const EngineKernel kChannelNorm;
extern const EngineKernel kConcat;
extern const EngineKernel kConstantOfShape;
extern const EngineKernel kConv;
extern const EngineKernel kConvInteger;
extern const EngineKernel kConvTranspose;
extern const EngineKernel kCumSum;
extern const EngineKernel kDepthToSpace;
extern const EngineKernel kDequantizeLinear;
extern const EngineKernel kDft;
extern const EngineKernel kDynamicQuantizeLinear;
extern const EngineKernel kElementwise;
extern const EngineKernel kExpand;
extern const EngineKernel kForestClassifier;
extern const EngineKernel kForestEnsemble;
extern const EngineKernel kForestRegressor;
extern const EngineKernel kFromBlocked;
extern const EngineKernel kGather;
extern const EngineKernel kGatherElements;
extern const EngineKernel kGatherND;
extern const EngineKernel kGemm;
extern const EngineKernel kImputer;
extern const EngineKernel kIntegerMatMul;
extern const EngineKernel kLabelEncoder;
extern const EngineKernel kLinearClassifier;
extern const EngineKernel kLinearRegressor;
extern const EngineKernel kLocalNorm;
extern const EngineKernel kLogSoftmax;
extern const EngineKernel kMatMul;
extern const EngineKernel kMatMulInteger;
extern const EngineKernel kMatMulNBits;
extern const EngineKernel kMatMulToFloat;
extern const EngineKernel kMaxPoolBytes;
extern const EngineKernel kMaxPoolBytesLast;
extern const EngineKernel kNorm;
extern const EngineKernel kNormalizer;
extern const EngineKernel kOneHot;
extern const EngineKernel kPad;
extern const EngineKernel kPool;
extern const EngineKernel kQLinearAveragePool;
extern const EngineKernel kQLinearBinary;
extern const EngineKernel kQLinearConcat;
extern const EngineKernel kQLinearConv;
extern const EngineKernel kQLinearConvLast;
extern const EngineKernel kQLinearGlobalPool;
extern const EngineKernel kQLinearGlobalPoolLast;
extern const EngineKernel kQLinearMatMul;
extern const EngineKernel kQLinearSoftmax;
extern const EngineKernel kQLinearUnary;
extern const EngineKernel kQuantizeLinear;
extern const EngineKernel kQuantizedGemm;
extern const EngineKernel kRange;
extern const EngineKernel kRecurrent;
extern const EngineKernel kRecurrentStack;
extern const EngineKernel kReduce;
extern const EngineKernel kRequantize;
extern const EngineKernel kResize;
extern const EngineKernel kScaler;
extern const EngineKernel kSoftmax;
extern const EngineKernel kSpaceToDepth;
extern const EngineKernel kStft;
extern const EngineKernel kSvmClassifier;
extern const EngineKernel kSvmRegressor;
extern const EngineKernel kTile;
extern const EngineKernel kToBlocked;
extern const EngineKernel kTopK;
extern const EngineKernel kTranspose;
extern const EngineKernel kTreeClassifier;
extern const EngineKernel kTreeEnsemble;
extern const EngineKernel kTreeRegressor;
extern const EngineKernel kTrilu;

}  // namespace anyshape::cpu
