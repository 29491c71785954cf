#include <charconv>

#include "format/pt2/program.h"

namespace anyshape::pt2 {
namespace {

bool is_leaf(const InputSpec& spec) {
  return spec.kind == InputSpec::Kind::user || spec.kind == InputSpec::Kind::constant;
}

std::optional<size_t> at_path(const ExportedProgram& program, std::string_view path) {
  size_t user = 0;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.inputs[i].kind != InputSpec::Kind::user) continue;
    if (user < program.input_paths.size() && program.input_paths[user] == path) return i;
    ++user;
  }
  return std::nullopt;
}

std::optional<size_t> leaf_number(const ExportedProgram& program, size_t number) {
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    if (is_leaf(program.inputs[i]) && number-- == 0) return i;
  }
  return std::nullopt;
}

// A path split at its first step: "args", "0", ".first" of args[0].first; no brackets, no step.
struct Step {
  std::string_view head, key, rest;
};

Step first_step(std::string_view path) {
  const size_t open = path.find('['), close = path.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return {path.substr(0, open), path.substr(open + 1, close - open - 1), path.substr(close + 1)};
}

}  // namespace

std::optional<size_t> input_named(const ExportedProgram& program, std::string_view name) {
  if (const auto exact = at_path(program, name)) return exact;
  const auto [head, key, rest] = first_step(name);
  if (key.empty()) return std::nullopt;
  if (key.starts_with('\'')) {  // of **kwargs
    return key.size() > 2 ? at_path(program, fmt::format("{}{}", key.substr(1, key.size() - 2), rest)) : std::nullopt;
  }
  size_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  if (error != std::errc() || end != key.data() + key.size()) return std::nullopt;
  if (head == "flat_args" && rest.empty()) return leaf_number(program, number);
  return at_path(program, fmt::format("{}_{}{}", head, number, rest));
}

}  // namespace anyshape::pt2
