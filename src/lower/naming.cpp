#include "lower/naming.h"

#include <fmt/format.h>

#include <algorithm>

#include "lower/schema.h"

namespace anyshape::lower {

std::string node_prefix(const std::vector<std::string>& module_paths) {
  std::string out, outer;
  for (const std::string& path : module_paths) {
    if (path.empty() || path == outer) continue;
    const bool inside =
        outer.empty() || (path.starts_with(outer) && path.size() > outer.size() && path[outer.size()] == '.');
    out += fmt::format("/{}", inside && !outer.empty() ? path.substr(outer.size() + 1) : path);
    outer = path;
  }
  return out;
}

std::string name_of_path(std::string_view path) {
  std::string out;
  bool has_name = false;
  for (size_t i = 0; i < path.size();) {
    size_t end = i + 1;
    std::string_view part;
    if (path[i] == '[') {
      end = path.find(']', i);
      if (end == std::string_view::npos) return {};
      part = path.substr(i + 1, end - i - 1);
      ++end;
      if (part.size() >= 2 && (part.front() == '\'' || part.front() == '"')) {
        part = part.substr(1, part.size() - 2);
        has_name = true;
      }
    } else {
      end = path.find_first_of(".[", i + (path[i] == '.'));
      end = std::min(end, path.size());
      part = path.substr(i + (path[i] == '.'), end - i - (path[i] == '.'));
      has_name |= !part.empty();
    }
    if (!part.empty()) out += fmt::format("{}{}", out.empty() ? "" : "_", part);
    i = end;
  }
  return has_name ? out : std::string();
}

std::pair<std::string, std::string> custom_name(const std::vector<std::pair<std::string, std::string>>& custom,
                                                std::string_view space, std::string_view name) {
  std::string domain(space), type(name);
  const std::string whole = fmt::format("{}::{}", space, name);
  for (const auto& [from, to] : custom) {
    if (from == space) domain = to;
    if (from != whole) continue;
    const size_t scope = to.find("::");
    domain = to.substr(0, scope);
    type = to.substr(scope + 2);
    break;
  }
  return {domain == "ai.onnx" ? "" : domain, type};
}

std::string source_line(std::string_view trace) {
  std::string found;
  for (size_t at = trace.find("File \""); at != std::string_view::npos; at = trace.find("File \"", at + 1)) {
    const size_t quote = trace.find('"', at + 6), line = trace.find("line ", quote);
    if (quote == std::string_view::npos || line == std::string_view::npos) break;
    const std::string_view file = trace.substr(at + 6, quote - at - 6);
    const bool inside_torch =
        file.find("torch/nn/") != std::string_view::npos || file.find("/torch/") != std::string_view::npos;
    if (inside_torch && !found.empty()) continue;
    const size_t number_end = trace.find_first_not_of("0123456789", line + 5);
    const std::string_view number = trace.substr(line + 5, number_end - line - 5);
    const size_t text_start = trace.find('\n', line);
    std::string_view text;
    if (text_start != std::string_view::npos) {
      const size_t text_end = trace.find('\n', text_start + 1);
      text = trace.substr(text_start + 1, text_end == std::string_view::npos ? text_end : text_end - text_start - 1);
      const size_t first = text.find_first_not_of(' ');
      text = first == std::string_view::npos || text.substr(first).starts_with("File ") ? "" : text.substr(first);
    }
    const std::string_view base = file.substr(file.rfind('/') + 1);
    found = fmt::format("{}:{}{}{}", base, number, text.empty() ? "" : ": ", text);
  }
  return found;
}

std::string_view aten_name_of(std::string_view space, std::string_view name) {
  if (space == "aten") return name;
  if (const std::string_view known = schema_name(fmt::format("{}::{}", space, name)); !known.empty()) return known;
  return space == "transformers" && name == "grouped_mm_fallback" ? "_grouped_mm" : std::string_view();
}

}  // namespace anyshape::lower
