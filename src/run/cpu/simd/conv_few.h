#pragma once

#include "run/cpu/simd/conv_f32.h"

// Convolutions with so few filters that unfolding the input would cost more than the products: vectors of neighbouring
// places, summed over a copy of some rows with zeros around them.
namespace anyshape::simd {

bool few_filters(const Conv& c);
int64_t few_items(const Conv& c);
int64_t few_scratch(const Conv& c);
// Weights as conv_pack made them.
void few_run(const Conv& c, int64_t item, float* scratch);

}  // namespace anyshape::simd
