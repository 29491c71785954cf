#pragma once

#include "lower/aten/nn.h"

namespace anyshape::lower {

// (sum |x|^p)^(1/p) over one axis; p may be 0 and infinite.
Ref length_along(Lowering& l, Ref x, double p, int64_t axis, bool keepdims);
Ref pairwise(Lowering& l, Ref x, Ref y, double p, double eps, bool keepdims);

}  // namespace anyshape::lower
