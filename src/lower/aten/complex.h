#pragma once

#include <string_view>

#include "lower/lowering.h"

namespace anyshape::lower {

// A complex tensor or number, or a complex type, is among the arguments.
bool takes_complex(Lowering& l, const Args& args);
// The record that lowers such a call; `real` is the one for real tensors. Null: there is none.
const AtenOp* find_complex(std::string_view name, const AtenOp* real);
// f32 for c64, f64 for c128; real types stay.
DType part_type(DType dtype);

// The records for complex tensors, sorted by name.
std::span<const AtenOp> complex_arithmetic();

}  // namespace anyshape::lower
