#include <algorithm>

#include "format/pt2/decode.h"

namespace anyshape::pt2 {
namespace {

// An expression past the parser's bounds is read as a call that nobody knows, so that it costs only itself.
Result<Expression> parse_bounded(const std::string& text) {
  auto parsed = parse_srepr(text);
  if (parsed || parsed.error().code != "pt2.expression_limit") return parsed;
  Expression out;
  out.kind = Expression::Kind::call;
  out.name = "too_large";
  return out;
}

// {"expr_str": ..., "hint": {"as_int": ...}}
Status read_expression(const Json& json, Expression& expression, std::optional<int64_t>* hint) {
  TRY_OK(json_member(json, "expr_str", [&](const Json& item) -> Status {
    TRY(const std::string text, json_text(item));
    TRY(expression, parse_bounded(text));
    return {};
  }));
  if (hint == nullptr) return {};
  return json_optional(json, "hint",
                       [&](const Json& item) { return json_optional(item, "as_int", json_into(*hint, json_integer)); });
}

tl::unexpected<Error> unknown_kind() { return refuse("pt2.schema", "a size of a kind not known"); }

Result<Size> read_size(const Json& json) {
  Size out;
  TRY_OK(json_union(json, [&](std::string_view key, const Json& value) -> Status {
    if (key == "as_expr") return read_expression(value, out.expression, &out.hint);
    if (key != "as_int") return unknown_kind();
    TRY(out.number, json_integer(value));
    return {};
  }));
  return out;
}

Result<Expression> read_sym_float(const Json& json) {
  Expression out;
  TRY_OK(json_union(json, [&](std::string_view key, const Json& value) -> Status {
    if (key == "as_expr") return read_expression(value, out, nullptr);
    if (key != "as_float") return unknown_kind();
    out.kind = Expression::Kind::real;
    TRY(out.real, json_real(value));
    return {};
  }));
  return out;
}

Result<Expression> read_sym_bool(const Json& json) {
  Expression out;
  TRY_OK(json_union(json, [&](std::string_view key, const Json& value) -> Status {
    if (key == "as_expr") return read_expression(value, out, nullptr);
    if (key != "as_bool") return unknown_kind();
    out.kind = Expression::Kind::boolean;
    TRY(const bool yes, json_boolean(value));
    out.integer = yes ? 1 : 0;
    return {};
  }));
  return out;
}

Result<NamedArgument> read_named_argument(const Json& json) {
  constexpr int64_t kKeyword = 2;
  NamedArgument out;
  TRY_OK(json_member(json, "name", json_into(out.name, json_text)));
  TRY_OK(json_member(json, "arg", json_into(out.value, read_argument)));
  int64_t kind = 0;
  TRY_OK(json_optional(json, "kind", json_into(kind, json_integer)));
  out.keyword = kind == kKeyword;
  return out;
}

Status read_metadata(const Json& json, Node& out) {
  TRY_OK(json_optional(json, "stack_trace", json_into(out.stack_trace, json_text)));
  return json_optional(json, "nn_module_stack", [&](const Json& item) -> Status {
    TRY(const std::string text, json_text(item));
    out.modules = read_module_stack(text);
    return {};
  });
}

Result<Node> read_node(const Json& json) {
  Node out;
  TRY_OK(json_member(json, "target", json_into(out.target, json_text)));
  TRY_OK(json_optional(json, "name", json_into(out.name, json_text)));
  TRY_OK(json_member(json, "inputs", json_list_into(out.inputs, read_named_argument)));
  TRY_OK(json_member(json, "outputs", json_list_into(out.outputs, read_argument)));
  TRY_OK(json_optional(json, "metadata", [&](const Json& item) { return read_metadata(item, out); }));
  return out;
}

// "key,path,type" split at the commas outside of brackets.
std::vector<std::string_view> split_frame(std::string_view text) {
  std::vector<std::string_view> out;
  size_t start = 0;
  int open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '(') ++open;
    if (text[i] == ']' || text[i] == ')') --open;
    if (text[i] != ',' || open != 0) continue;
    out.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  out.push_back(text.substr(start));
  return out;
}

// What torch.export writes for nodes that belong to no module.
constexpr std::string_view kNoModule = "_empty_nn_module_stack";

// A module called again has its path with "@1" behind it.
std::string_view without_call_number(std::string_view path) {
  const size_t sign = path.rfind('@');
  if (sign == std::string_view::npos || sign + 1 == path.size()) return path;
  const std::string_view digits = path.substr(sign + 1);
  const bool number = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number ? path.substr(0, sign) : path;
}

std::string_view without_root(std::string_view path) {
  for (const std::string_view root : {"L['self']", "L__self__"}) {
    if (!path.starts_with(root)) continue;
    path.remove_prefix(root.size());
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return path;
}

}  // namespace

Result<TensorMeta> read_tensor_meta(const Json& json) {
  TensorMeta out;
  TRY_OK(json_member(json, "dtype", [&](const Json& item) -> Status {
    TRY(const int64_t code, json_integer(item));
    const auto dtype = dtype_from_archive(code);
    if (!dtype) return refuse("pt2.schema", "{} is no element type", code);
    out.dtype = *dtype;
    return {};
  }));
  TRY_OK(json_member(json, "sizes", json_list_into(out.sizes, read_size)));
  TRY_OK(json_member(json, "strides", json_list_into(out.strides, read_size)));
  TRY_OK(json_member(json, "storage_offset", json_into(out.offset, read_size)));
  return out;
}

Result<Graph> read_graph(const Json& json) {
  Graph out;
  TRY_OK(json_member(json, "inputs", json_list_into(out.inputs, read_argument)));
  TRY_OK(json_member(json, "outputs", json_list_into(out.outputs, read_argument)));
  TRY_OK(json_member(json, "nodes", json_list_into(out.nodes, read_node)));
  TRY_OK(json_member(json, "tensor_values", json_map_into(out.tensors, read_tensor_meta)));
  TRY_OK(json_member(json, "sym_int_values", json_map_into(out.sym_ints, read_size)));
  TRY_OK(json_optional(json, "sym_float_values", json_map_into(out.sym_floats, read_sym_float)));
  TRY_OK(json_optional(json, "sym_bool_values", json_map_into(out.sym_bools, read_sym_bool)));
  return out;
}

std::vector<ModuleFrame> read_module_stack(std::string_view text) {
  std::vector<ModuleFrame> out;
  while (!text.empty()) {
    const std::string_view frame = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), frame.size() + 1));
    const auto parts = split_frame(frame);
    if (parts.size() < 3) continue;
    const std::string_view path = without_call_number(without_root(parts[1]));
    if (!path.empty() && !path.starts_with(kNoModule)) out.push_back({std::string(path), std::string(parts[2])});
  }
  return out;
}

}  // namespace anyshape::pt2
