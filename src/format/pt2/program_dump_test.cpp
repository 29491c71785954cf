#include "format/pt2/program_dump_test.h"

#include <fmt/ranges.h>

#include "tensor/datum.h"

namespace anyshape::pt2 {
namespace {

std::string text(const Size& size) {
  if (size.number) return std::to_string(*size.number);
  return size.hint ? fmt::format("{}={}", print(size.expression), *size.hint) : print(size.expression);
}

std::string text(const std::vector<Size>& sizes) {
  std::vector<std::string> out;
  for (const Size& size : sizes) out.push_back(text(size));
  return fmt::format("[{}]", fmt::join(out, ", "));
}

std::string text(const Argument& a, const Graph& graph);

std::string list_text(const Argument& a, const Graph& graph) {
  std::vector<std::string> out;
  for (const Argument& item : a.items) out.push_back(text(item, graph));
  return fmt::format("[{}]", fmt::join(out, ", "));
}

std::string text(const Argument& a, const Graph& graph) {
  using Kind = Argument::Kind;
  switch (a.kind) {
    case Kind::none:
      return "none";
    case Kind::tensor:
      return a.text;
    case Kind::symbol:
      return "$" + a.text;
    case Kind::integer:
      return std::to_string(a.integer);
    case Kind::real:
      return fmt::format("{:#}", a.real);
    case Kind::boolean:
      return a.integer != 0 ? "true" : "false";
    case Kind::complex:
      return fmt::format("({}, {})", a.real, a.imaginary);
    case Kind::text:
      return fmt::format("\"{}\"", a.text);
    case Kind::dtype:
      return std::string(name(a.dtype));
    case Kind::device:
      return "device " + a.text;
    case Kind::layout:
      return fmt::format("layout {}", a.integer);
    case Kind::memory_format:
      return fmt::format("format {}", a.integer);
    case Kind::list:
      return list_text(a, graph);
    case Kind::graph:
      return "graph " + a.text;
    case Kind::object:
      return "object " + a.text;
    case Kind::op:
      return "op " + a.text;
  }
  return "?";
}

// The value with its type, for what a node or graph defines.
std::string typed(const Argument& a, const Graph& graph) {
  if (a.kind == Argument::Kind::tensor) {
    const auto it = graph.tensors.find(a.text);
    if (it != graph.tensors.end()) {
      return fmt::format("{} {}{}", a.text, name(it->second.dtype), text(it->second.sizes));
    }
  }
  if (a.kind == Argument::Kind::symbol) {
    if (const auto it = graph.sym_ints.find(a.text); it != graph.sym_ints.end()) {
      return fmt::format("${} = {}", a.text, text(it->second));
    }
    if (const auto it = graph.sym_bools.find(a.text); it != graph.sym_bools.end()) {
      return fmt::format("${} = {}", a.text, print(it->second));
    }
    if (const auto it = graph.sym_floats.find(a.text); it != graph.sym_floats.end()) {
      return fmt::format("${} = {}", a.text, print(it->second));
    }
  }
  return text(a, graph);
}

void dump_nodes(const Graph& graph, const std::string& indent, std::string& out) {
  for (const Node& node : graph.nodes) {
    std::vector<std::string> results, inputs;
    for (const Argument& a : node.outputs) results.push_back(typed(a, graph));
    for (const NamedArgument& a : node.inputs) {
      inputs.push_back(fmt::format("{}{}{}", a.name,
                                   a.keyword        ? ":="
                                   : a.name.empty() ? ""
                                                    : "=",
                                   text(a.value, graph)));
    }
    out += fmt::format("{}{} <- {}({})", indent, fmt::join(results, ", "), node.target, fmt::join(inputs, ", "));
    for (const ModuleFrame& frame : node.modules) out += fmt::format(" /{} {}", frame.path, frame.type);
    out += '\n';
    for (const NamedArgument& a : node.inputs) {
      if (a.value.kind != Argument::Kind::graph) continue;
      const Graph& body = *a.value.graph;
      std::vector<std::string> in, result;
      for (const Argument& i : body.inputs) in.push_back(typed(i, body));
      for (const Argument& o : body.outputs) result.push_back(text(o, body));
      out += fmt::format("{}  {}({}) -> {}\n", indent, body.name, fmt::join(in, ", "), fmt::join(result, ", "));
      dump_nodes(body, indent + "    ", out);
    }
  }
}

void dump_inputs(const ExportedProgram& program, std::string& out) {
  constexpr std::string_view kKinds[] = {"input",    "parameter", "buffer", "constant tensor",
                                         "constant", "object",    "token"};
  size_t user = 0;
  for (const InputSpec& spec : program.inputs) {
    out += fmt::format("{} {}", kKinds[static_cast<size_t>(spec.kind)], typed(spec.argument, program.graph));
    if (!spec.target.empty()) out += " of " + spec.target;
    if (!spec.persistent) out += " not persistent";
    if (spec.kind == InputSpec::Kind::user) out += " at " + program.input_paths[user++];
    out += '\n';
  }
}

void dump_outputs(const ExportedProgram& program, std::string& out) {
  constexpr std::string_view kKinds[] = {"output", "buffer mutation", "input mutation", "parameter mutation", "other"};
  size_t user = 0;
  for (const OutputSpec& spec : program.outputs) {
    out += fmt::format("{} {}", kKinds[static_cast<size_t>(spec.kind)], text(spec.argument, program.graph));
    if (!spec.target.empty()) out += " of " + spec.target;
    if (spec.kind == OutputSpec::Kind::user) out += fmt::format(" at \"{}\"", program.output_paths[user++]);
    out += '\n';
  }
}

void dump_weights(const ExportedProgram& program, std::string& out) {
  for (const auto& [fqn, weight] : program.weights) {
    std::vector<std::string> bytes;
    for (const std::byte b : weight.tensor.bytes()) bytes.push_back(fmt::format("{:02x}", std::to_integer<int>(b)));
    out += fmt::format("{} {}{} {} <{}> {}\n", weight.is_parameter ? "weight" : "data", fqn, "",
                       weight.storage.substr(weight.storage.find("data/")), fmt::join(weight.tensor.dims(), ","),
                       fmt::join(bytes, ""));
  }
}

}  // namespace

std::string dump(const ExportedProgram& program) {
  std::string out =
      fmt::format("torch {}, forward({})\n", program.torch_version, fmt::join(program.argument_names, ", "));
  dump_inputs(program, out);
  dump_nodes(program.graph, "", out);
  dump_outputs(program, out);
  dump_weights(program, out);
  const auto bound = [](const std::optional<int64_t>& b) { return b ? std::to_string(*b) : std::string(); };
  for (const auto& [symbol, range] : program.ranges)
    out += fmt::format("{} in {}..{}\n", symbol, bound(range.lo), bound(range.hi));
  for (const std::string& guard : program.guards) {
    const auto parsed = parse_python(guard);
    out += fmt::format("guard {}\n", parsed ? print(*parsed) : parsed.error().text());
  }
  return out;
}

}  // namespace anyshape::pt2
