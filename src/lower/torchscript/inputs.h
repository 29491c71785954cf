#pragma once

#include <string>
#include <vector>

#include "lower/axes.h"
#include "lower/torchscript/evaluator.h"

namespace anyshape::lower::script {

// One tensor that forward is given, alone or inside of a list, tuple or dict.
struct TensorInput {
  std::string name;   // in the graph
  std::string given;  // in the program: "x", "states_0"
  DType dtype = DType::undefined;
  std::vector<RecordedAxis> axes;
};

// One parameter of forward: a tree whose leaves are tensors and plain values.
struct Argument {
  enum class Kind { absent, tensor, plain, list, tuple, dict };
  Kind kind = Kind::absent;
  size_t tensor = 0;  // index of the TensorInput
  torchscript::Expr plain;
  std::vector<std::string> keys;  // dict
  std::vector<Argument> items;
};

struct Inputs {
  std::vector<TensorInput> tensors;
  std::vector<std::pair<std::string, Argument>> arguments;  // by the name of the parameter
  std::vector<std::pair<std::string, Argument>> state;      // attributes of modules, by path
  std::vector<DynamicAxis> dynamic;                         // asked for by names in the request's input types
};

// What forward is to be called with. Usage errors as in from_torchscript.h.
Result<Inputs> inputs_of(const torchscript::Script& script, const torchscript::Function& forward,
                         const Request& request);

}  // namespace anyshape::lower::script
