#include <algorithm>

#include "format/pt2/decode.h"

namespace anyshape::pt2 {
namespace {

constexpr int64_t kSchemaMajor = 8;

Result<Range> read_range(const Json& json) {
  Range out;
  TRY_OK(json_optional(json, "min_val", json_into(out.lo, json_integer)));
  TRY_OK(json_optional(json, "max_val", json_into(out.hi, json_integer)));
  return out;
}

Status check_version(const Json& json) {
  int64_t major = 0;
  TRY_OK(json_member(json, "major", json_into(major, json_integer)));
  if (major == kSchemaMajor) return {};
  return refuse("pt2.layout", "the program has schema version {}, anyshape reads version {}", major, kSchemaMajor);
}

bool belongs_to_call(const InputSpec& spec) {
  return spec.kind == InputSpec::Kind::user || spec.kind == InputSpec::Kind::constant;
}

// The leaves of the call are the user's inputs and the constants among them. Where the archive does not say, or not for
// each, the names of the placeholders stand in.
void set_input_paths(const std::vector<std::string>& leaves, ExportedProgram& out) {
  const auto count = std::count_if(out.inputs.begin(), out.inputs.end(), belongs_to_call);
  const bool described = leaves.size() == static_cast<size_t>(count);
  size_t leaf = 0;
  for (const InputSpec& spec : out.inputs) {
    if (!belongs_to_call(spec)) continue;
    if (spec.kind == InputSpec::Kind::user) out.input_paths.push_back(described ? leaves[leaf] : spec.argument.text);
    ++leaf;
  }
}

void set_output_paths(const std::vector<std::string>& leaves, ExportedProgram& out) {
  const auto is_user = [](const OutputSpec& spec) { return spec.kind == OutputSpec::Kind::user; };
  const auto count = static_cast<size_t>(std::count_if(out.outputs.begin(), out.outputs.end(), is_user));
  if (leaves.size() == count) {
    out.output_paths = leaves;
    return;
  }
  for (size_t i = 0; i < count; ++i) out.output_paths.push_back(count == 1 ? "" : fmt::format("[{}]", i));
}

Status read_signature_program(const Json& json, ExportedProgram& out) {
  TRY_OK(json_member(json, "input_specs", json_list_into(out.inputs, read_input_spec)));
  TRY_OK(json_member(json, "output_specs", json_list_into(out.outputs, read_output_spec)));
  if (out.inputs.size() != out.graph.inputs.size() || out.outputs.size() != out.graph.outputs.size()) {
    return refuse("pt2.schema", "{} inputs and {} outputs are described, the graph has {} and {}", out.inputs.size(),
                  out.outputs.size(), out.graph.inputs.size(), out.graph.outputs.size());
  }
  return {};
}

Status read_graph_module(const Json& json, ExportedProgram& out) {
  TRY_OK(json_member(json, "graph", json_into(out.graph, read_graph)));
  TRY_OK(json_member(json, "signature", [&](const Json& item) { return read_signature_program(item, out); }));
  TRY(CallSpec call, read_call_spec(json));
  set_input_paths(call.inputs, out);
  set_output_paths(call.outputs, out);
  out.argument_names = std::move(call.argument_names);
  return {};
}

}  // namespace

Result<ExportedProgram> read_exported_program(const Json& json) {
  ExportedProgram out;
  TRY_OK(json_member(json, "schema_version", check_version));
  TRY_OK(json_optional(json, "torch_version", json_into(out.torch_version, json_text)));
  TRY_OK(json_member(json, "graph_module", [&](const Json& item) { return read_graph_module(item, out); }));
  TRY_OK(json_optional(json, "range_constraints", json_map_into(out.ranges, read_range)));
  TRY_OK(json_optional(json, "guards_code", json_list_into(out.guards, json_text)));
  return out;
}

}  // namespace anyshape::pt2
