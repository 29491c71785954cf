#pragma once

#include "anyshape/model.h"
#include "base/text_pool.h"
#include "format/onnx/proto.h"
#include "solve/solve.h"

namespace anyshape {

// Puts the inferred type of every value that a node makes into the model: value_info of the main graph and of bodies,
// types of the outputs. Declared types stay where no inferred fact contradicts them.
void write_value_info(const Typed& typed, DimText dims, TextPool& texts, onnx::ModelProto& model);

}  // namespace anyshape
