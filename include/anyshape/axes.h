#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "anyshape/api.h"
#include "anyshape/dtype.h"
#include "anyshape/error.h"

namespace anyshape {

// A name for one axis of an input or output. An empty name stands for "VALUE.AXIS".
struct DynamicAxis {
  std::string value;
  int64_t axis = 0;  // negative: from the back
  std::string name;
};

// How value_info writes a dim that is no number and no symbol.
enum class DimText {
  names,        // a made-up name, the same for equal expressions
  expressions,  // the expression itself: "(h + 1)//2"
};

// "NAME:AXIS=SYM[,AXIS=SYM]", split from the right. Usage error dynamic.syntax.
ANYSHAPE_API Result<std::vector<DynamicAxis>> parse_dynamic(std::string_view text);
// torch.onnx.export's dynamic_axes as JSON: {"x": {"0": "batch", "1": "seq"}, "y": [0]}. Usage error dynamic.syntax.
ANYSHAPE_API Result<std::vector<DynamicAxis>> parse_dynamic_axes(std::string_view json);
// The same from a text that begins with "{", else from the file of that name. Usage errors dynamic.syntax, file.open.
ANYSHAPE_API Result<std::vector<DynamicAxis>> read_dynamic_axes(const std::string& json_or_file);
// "SYM=N". Usage error freeze.syntax.
ANYSHAPE_API Result<std::pair<std::string, int64_t>> parse_freeze(std::string_view text);
// "OLD=NEW", split from the right. Usage error rename.syntax.
ANYSHAPE_API Result<std::pair<std::string, std::string>> parse_rename(std::string_view text);

// The type of an input where the file does not tell: "x=f32[batch,120,?]"; "sr=16000" for one that is no tensor.
struct InputType {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::string> sizes;  // a number, a name, or "?"
  std::string value;               // a Python literal
};

// "NAME=f32[batch,120,?]", "NAME=VALUE". Usage error input.syntax.
ANYSHAPE_API Result<InputType> parse_input_type(std::string_view text);

}  // namespace anyshape
