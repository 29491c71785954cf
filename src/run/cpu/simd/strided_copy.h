#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace anyshape::simd {

inline constexpr size_t kMostCopyAxes = 64;

// to[i...] = from[i...]. REQUIRES: equal dtypes (of 8 bits or more) and dims, at most kMostCopyAxes axes; the two do
// not overlap. Any strides.
void copy_view(const View& from, const View& to);
// The same for rows first..last - 1 of the outermost axis that is left when axes that can be walked as one are joined;
// copy_pieces() says how many there are.
int64_t copy_pieces(const View& from, const View& to);
void copy_view(const View& from, const View& to, int64_t first, int64_t last);

}  // namespace anyshape::simd
