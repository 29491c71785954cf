#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "anyshape/model.h"
#include "format/onnx/proto.h"
#include "solve/solve.h"

namespace anyshape {

// Keeps texts that messages point to.
struct TextPool {
  std::deque<std::string> texts;
  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
};

// Puts the inferred type of every value that a node makes into the model: value_info of the main graph and of bodies,
// types of the outputs. Declared types stay where no inferred fact contradicts them.
void write_value_info(const Typed& typed, DimText dims, TextPool& texts, onnx::ModelProto& model);

}  // namespace anyshape
