#include "config.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "anyshape/terminal.h"
#include "cli.h"
#include "toml.h"

namespace anyshape::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFile = ".anyshape.toml";

// Does a path with / between its parts fit the pattern?
bool fits(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (pattern.starts_with("**/"))
    if (fits(pattern.substr(3), path)) return true;
  if (pattern.front() == '*') {
    const bool across = pattern.starts_with("**");
    const std::string_view rest = pattern.substr(across ? 2 : 1);
    for (size_t i = 0; i <= path.size(); ++i) {
      if (fits(rest, path.substr(i))) return true;
      if (i < path.size() && path[i] == '/' && !across) return false;
    }
    return false;
  }
  const bool same =
      !path.empty() && (pattern.front() == path.front() || (pattern.front() == '?' && path.front() != '/'));
  return same && fits(pattern.substr(1), path.substr(1));
}

struct Reader {
  const fs::path& file;

  Error error(std::string code, size_t line, std::string message, std::string hint) const {
    Error out = usage_error(std::move(code), std::move(message), std::move(hint));
    out.place = fmt::format("{}:{}", file.string(), line);
    return out;
  }

  Status text(const TomlEntry& entry, std::optional<std::string>& into, const std::vector<std::string>& known) const {
    const auto* value = std::get_if<std::string>(&entry.value);
    const bool right = value && (known.empty() || std::find(known.begin(), known.end(), *value) != known.end());
    if (!right)
      return fail(error("config.value", entry.line,
                        known.empty() ? fmt::format("{} is to be a text", entry.key)
                                      : fmt::format("{} is one of \"{}\"", entry.key, fmt::join(known, "\", \"")),
                        ""));
    into = *value;
    return {};
  }

  Status list(const TomlEntry& entry, std::vector<std::string>& into) const {
    const auto* value = std::get_if<std::vector<std::string>>(&entry.value);
    if (!value)
      return fail(error("config.value", entry.line, fmt::format("{} is to be a list of texts", entry.key), ""));
    into = *value;
    return {};
  }

  Status read(const TomlEntry& entry, bool of_model, CheckRules& rules) const;
  Result<CheckRules> read(const TomlTable& table) const;
};

Status Reader::read(const TomlEntry& entry, bool of_model, CheckRules& rules) const {
  if (entry.key == "require") return list(entry, rules.require);
  if (entry.key == "ignore") return list(entry, rules.ignore);
  if (entry.key == "allow") return list(entry, rules.allow);
  if (entry.key == "policy") return text(entry, rules.policy, {"any", "batch-only"});
  if (entry.key == "fail-on") return text(entry, rules.fail_on, {"error", "warning", "never"});
  if (entry.key == "target") return text(entry, rules.target, {});
  if (entry.key == "baseline") return text(entry, rules.baseline, {});
  std::vector<std::string> known = {"require", "ignore", "allow", "policy", "fail-on", "target", "baseline"};
  if (of_model) known.push_back("path");
  return fail(error("config.key", entry.line, fmt::format("there is no setting {:?}", entry.key),
                    nearest_word(entry.key, known)));
}

Result<CheckRules> Reader::read(const TomlTable& table) const {
  const bool of_model = !table.name.empty();
  if (of_model && (table.name != "model" || !table.of_array))
    return fail(error("config.key", table.line, fmt::format("there is no table {:?}", table.name), "[[model]]"));
  CheckRules rules;
  for (const TomlEntry& entry : table.entries) {
    std::optional<std::string> path;
    const bool is_path = of_model && entry.key == "path";
    const Status done = is_path ? text(entry, path, {}) : read(entry, of_model, rules);
    if (!done) return fail(done.error());
    if (is_path) rules.path = *path;
  }
  if (of_model && rules.path.empty())
    return fail(error("config.key", table.line, "[[model]] has no path", "path = \"models/*.onnx\""));
  return rules;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// The path as seen from the folder, with / between its parts.
std::string seen_from(const fs::path& folder, const fs::path& path) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(path, ignored);
  return whole.lexically_relative(fs::weakly_canonical(folder, ignored)).generic_string();
}

}  // namespace

CheckRules Config::of(const std::string& model) const {
  const std::string path = seen_from(folder, model);
  CheckRules out;
  for (const CheckRules& one : rules) {
    if (!one.path.empty() && !fits(one.path, path)) continue;
    append(out.require, one.require);
    append(out.ignore, one.ignore);
    append(out.allow, one.allow);
    if (one.policy) out.policy = one.policy;
    if (one.target) out.target = one.target;
    if (one.fail_on) out.fail_on = one.fail_on;
    if (one.baseline) out.baseline = (folder / *one.baseline).string();
  }
  return out;
}

std::vector<std::string> Config::models() const {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const auto& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, ignored)) {
    if (!entry.is_regular_file(ignored)) continue;
    const std::string path = entry.path().lexically_relative(folder).generic_string();
    const auto meant = [&](const CheckRules& one) { return !one.path.empty() && fits(one.path, path); };
    if (std::any_of(rules.begin(), rules.end(), meant)) out.push_back(entry.path().lexically_normal().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<fs::path> find_config() {
  std::error_code wrong;
  const fs::path start = fs::current_path(wrong);
  fs::path up;
  for (fs::path folder = start; !wrong; folder = folder.parent_path(), up /= "..") {
    if (fs::is_regular_file(folder / kFile, wrong)) return up / kFile;
    wrong.clear();
    if (folder == folder.parent_path()) break;
  }
  return std::nullopt;
}

Result<Config> read_config(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail({Error::Kind::usage, "file.open", path.string(), "the file cannot be opened", ""});
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto tables = parse_toml(path.string(), text);
  if (!tables) return fail(tables.error());
  Config out;
  out.folder = path.has_parent_path() ? path.parent_path() : ".";
  const Reader reader{path};
  for (const TomlTable& table : *tables) {
    auto rules = reader.read(table);
    if (!rules) return fail(rules.error());
    out.rules.push_back(*std::move(rules));
  }
  return out;
}

}  // namespace anyshape::cli
