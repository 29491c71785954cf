#pragma once

#include "format/pt2/json.h"
#include "format/pt2/program.h"

namespace anyshape::pt2 {

// nullopt for a number that is none of the archive's element types; undefined for one that ONNX has no form of.
std::optional<DType> dtype_from_archive(int64_t code);

Result<TensorMeta> read_tensor_meta(const Json& json);
Result<Argument> read_argument(const Json& json);
Result<Graph> read_graph(const Json& json);
std::vector<ModuleFrame> read_module_stack(std::string_view text);

Result<InputSpec> read_input_spec(const Json& json);
Result<OutputSpec> read_output_spec(const Json& json);

// The places of the leaves of the forward's arguments and of its results.
struct CallSpec {
  std::vector<std::string> argument_names;
  std::vector<std::string> inputs, outputs;
};
// `json`: the graph_module. Empty where the archive does not describe the call.
Result<CallSpec> read_call_spec(const Json& json);

// Everything of the program but its weights.
Result<ExportedProgram> read_exported_program(const Json& json);

}  // namespace anyshape::pt2
