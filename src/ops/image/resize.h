#pragma once

#include "ir/call.h"
#include "kernels/resample.h"

// What attributes of Resize and Upsample say, for their kernels.
namespace anyshape::ops {

// All but the axes. Error "resize.mode".
Result<kernels::Resample> read_resize_modes(const Call& call);

// The axes that scales and sizes are given for: all, or those of attribute `axes`.
Result<Temporary<size_t>> resized_axes(const Call& call, size_t rank);

// The size of every axis follows one scale: the least or the greatest of those asked for.
enum class AspectRatio : uint8_t { stretch, not_larger, not_smaller };
AspectRatio aspect_ratio_of(const Call& call);

// Old versions have the scales as attributes, not as an input.
bool has_scale_attributes(const Call& call);
Temporary<double> scales_of_attributes(const Call& call);

}  // namespace anyshape::ops
