#pragma once

#include "engine/target/kernel.h"

// Kernels whose places in memory are told by entries.
namespace anyshape::cpu {

extern const EngineKernel kGridSample;
extern const EngineKernel kMatMulF64;
extern const EngineKernel kScatterElements;
extern const EngineKernel kScatterND;

}  // namespace anyshape::cpu
