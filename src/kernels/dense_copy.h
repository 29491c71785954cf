#pragma once

#include "tensor/view.h"

namespace anyshape::kernels {

// to = from, entry by entry. REQUIRES: equal dtype and dims, `to` dense, no overlap.
void dense_copy(const View& from, const View& to);

}  // namespace anyshape::kernels
