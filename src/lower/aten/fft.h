#pragma once

#include "lower/aten/complex.h"
#include "lower/aten/nn.h"

namespace anyshape::lower {

// One axis of [..., 2] or, for real input, [..., 1] transformed; its length is taken as it is. The inverse divides by
// the length.
Ref transformed(Lowering& l, Ref pairs, size_t axis, bool inverse, bool onesided);
// Real entries from the n/2 + 1 first ones of a spectrum along `axis`; the result has no last axis of parts.
Ref real_inverse(Lowering& l, Ref pairs, size_t axis, Dim n);
// Cut, or filled up with zeros, to n entries.
Ref resized(Lowering& l, Ref x, size_t axis, Dim n);
// x divided by n, or by its root.
Ref over_length(Lowering& l, Ref x, Dim n, bool root);

}  // namespace anyshape::lower
