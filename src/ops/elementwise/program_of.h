#pragma once

#include "ir/call.h"
#include "tensor/elementwise_program.h"

namespace anyshape::ops {

// The operator as an elementwise program over its inputs, absent ones counted. Error kind unknown for an operator that
// is none. Passes join such programs into one anyshape.Elementwise.
Result<ElementwiseProgram> program_of(const Call& call);

}  // namespace anyshape::ops
