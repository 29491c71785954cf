#pragma once

#include "anyshape/axes.h"
#include "base/text_pool.h"
#include "format/onnx/proto.h"
#include "solve/solve.h"

namespace anyshape::fixes {

// Puts the inferred type of every value that a node makes into the model: value_info of the main graph and of bodies,
// types of the outputs. Declared types stay where no inferred fact contradicts them. None are written where ONNX
// Runtime loads the model only because it does not know ranks (fix/resize_sizes.h).
void write_value_info(const Typed& typed, DimText dims, TextPool& texts, onnx::ModelProto& model);
// The same, but of inner values only what is certain (SolveOptions::certain): ONNX Runtime relies on these types when
// it shares memory, and fails where they are wrong. None where what is certain refuses the model.
void write_value_info(const Typed& typed, const Typed& certain, DimText dims, TextPool& texts, onnx::ModelProto& model);

}  // namespace anyshape::fixes
