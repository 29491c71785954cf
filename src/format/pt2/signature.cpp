#include "format/pt2/decode.h"

namespace anyshape::pt2 {
namespace {

// The argument of a parameter, a buffer, a token...: {"name": ...}.
OnItem value_named(Argument& out, Argument::Kind kind) {
  return [&out, kind](const Json& json) {
    out.kind = kind;
    return json_member(json, "name", json_into(out.text, json_text));
  };
}

Status read_lifted(const Json& json, InputSpec& out, InputSpec::Kind kind, std::string_view target) {
  out.kind = kind;
  const bool object = kind == InputSpec::Kind::object;
  TRY_OK(json_member(json, "arg", value_named(out.argument, object ? Argument::Kind::object : Argument::Kind::tensor)));
  TRY_OK(json_member(json, target, json_into(out.target, json_text)));
  return json_optional(json, "persistent", json_into(out.persistent, json_boolean));
}

Status read_constant(const Json& json, InputSpec& out) {
  out.kind = InputSpec::Kind::constant;
  TRY_OK(json_member(json, "name", json_into(out.target, json_text)));
  return json_member(json, "value", json_into(out.argument, read_argument));
}

Status read_input(std::string_view key, const Json& json, InputSpec& out) {
  using Kind = InputSpec::Kind;
  if (key == "user_input") return json_member(json, "arg", json_into(out.argument, read_argument));
  if (key == "parameter") return read_lifted(json, out, Kind::parameter, "parameter_name");
  if (key == "buffer") return read_lifted(json, out, Kind::buffer, "buffer_name");
  if (key == "tensor_constant") return read_lifted(json, out, Kind::constant_tensor, "tensor_constant_name");
  if (key == "custom_obj") return read_lifted(json, out, Kind::object, "custom_obj_name");
  if (key == "constant_input") return read_constant(json, out);
  if (key != "token") return refuse("pt2.schema", "an input of a kind not known");
  out.kind = Kind::token;
  return json_member(json, "arg", value_named(out.argument, Argument::Kind::object));
}

Status read_mutation(const Json& json, OutputSpec& out, OutputSpec::Kind kind, std::string_view target) {
  out.kind = kind;
  TRY_OK(json_member(json, "arg", value_named(out.argument, Argument::Kind::tensor)));
  return json_member(json, target, json_into(out.target, json_text));
}

Status read_output(std::string_view key, const Json& json, OutputSpec& out) {
  using Kind = OutputSpec::Kind;
  if (key == "user_output") return json_member(json, "arg", json_into(out.argument, read_argument));
  if (key == "buffer_mutation") return read_mutation(json, out, Kind::buffer_mutation, "buffer_name");
  if (key == "parameter_mutation") return read_mutation(json, out, Kind::parameter_mutation, "parameter_name");
  if (key == "user_input_mutation") return read_mutation(json, out, Kind::input_mutation, "user_input_name");
  out.kind = Kind::other;
  return json_member(json, "arg", value_named(out.argument, Argument::Kind::tensor));
}

}  // namespace

Result<InputSpec> read_input_spec(const Json& json) {
  InputSpec out;
  TRY_OK(json_union(json, [&](std::string_view key, const Json& value) { return read_input(key, value, out); }));
  return out;
}

Result<OutputSpec> read_output_spec(const Json& json) {
  OutputSpec out;
  TRY_OK(json_union(json, [&](std::string_view key, const Json& value) { return read_output(key, value, out); }));
  return out;
}

}  // namespace anyshape::pt2
