#pragma once

#include "run/cpu/simd/conv_f32.h"

// Convolutions in which every channel has one filter of its own.
namespace anyshape::simd {

int64_t depthwise_scratch(const Conv& c);
// Plane image * groups + channel. Weights as conv_pack made them.
void depthwise_plane(const Conv& c, int64_t plane, float* scratch);

}  // namespace anyshape::simd
