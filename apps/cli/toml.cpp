#include "toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "inputs.h"

namespace anyshape::cli {
namespace {

class TomlReader {
 public:
  TomlReader(std::string_view file, std::string_view text) : file_(file), rest_(text) {}

  Result<std::vector<TomlTable>> read();

 private:
  tl::unexpected<Error> wrong(std::string message) const {
    Error error = usage_error("config.syntax", std::move(message));
    error.place = fmt::format("{}:{}", file_, line_);
    return tl::unexpected(std::move(error));
  }
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  // Also over comments and ends of lines.
  void skip_lines();
  Status end_line();
  Result<std::string> key();
  Result<std::string> text();
  Result<std::string> escape();
  Result<std::vector<std::string>> list();
  Status header(std::vector<TomlTable>& tables);
  Status entry(TomlTable& table);

  std::string_view file_, rest_;
  size_t line_ = 1;
};

void TomlReader::skip_lines() {
  while (true) {
    skip_spaces();
    if (rest_.starts_with('#')) rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    take("\r");
    if (!take("\n")) return;
    ++line_;
  }
}

Status TomlReader::end_line() {
  const size_t before = line_;
  skip_lines();
  if (rest_.empty() || line_ > before) return {};
  return wrong(
      fmt::format("the line goes on after its value: {:?}", rest_.substr(0, std::min<size_t>(rest_.find('\n'), 20))));
}

Result<std::string> TomlReader::key() {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'; };
  const auto end = std::find_if_not(rest_.begin(), rest_.end(), plain);
  const size_t size = static_cast<size_t>(end - rest_.begin());
  if (size == 0) return wrong("a name of letters, digits, - and _ is expected");
  std::string out(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return out;
}

Result<std::string> TomlReader::escape() {
  constexpr std::pair<char, char> kEscapes[] = {{'"', '"'}, {'\\', '\\'}, {'n', '\n'}, {'t', '\t'}, {'r', '\r'}};
  for (const auto& [letter, meant] : kEscapes)
    if (take(std::string_view(&letter, 1))) return std::string(1, meant);
  return wrong("of escapes, \\\" \\\\ \\n \\t \\r are known");
}

Result<std::string> TomlReader::text() {
  const char quote = rest_.front();
  rest_.remove_prefix(1);
  if (rest_.starts_with(std::string(2, quote))) return wrong("texts of several lines are not read");
  std::string out;
  while (!rest_.empty() && rest_.front() != '\n') {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == quote) return out;
    if (c != '\\' || quote == '\'') {
      out += c;
      continue;
    }
    auto one = escape();
    if (!one) return one;
    out += *one;
  }
  return wrong("the text has no end in its line");
}

Result<std::vector<std::string>> TomlReader::list() {
  std::vector<std::string> out;
  for (skip_lines(); !take("]"); skip_lines()) {
    if (!out.empty() && !take(",")) return wrong("between two texts of a list stands a comma");
    skip_lines();
    if (!out.empty() && take("]")) return out;
    if (!rest_.starts_with('"') && !rest_.starts_with('\'')) return wrong("a list holds texts in quotes");
    auto one = text();
    if (!one) return tl::unexpected(one.error());
    out.push_back(*std::move(one));
  }
  return out;
}

Status TomlReader::header(std::vector<TomlTable>& tables) {
  TomlTable table;
  table.line = line_;
  table.of_array = take("[");
  skip_spaces();
  auto name = key();
  if (!name) return tl::unexpected(name.error());
  table.name = *std::move(name);
  skip_spaces();
  if (!take(table.of_array ? "]]" : "]")) return wrong("the name of a table is not closed");
  const auto same = [&](const TomlTable& other) {
    return other.name == table.name && !(other.of_array && table.of_array);
  };
  if (std::any_of(tables.begin(), tables.end(), same)) return wrong(fmt::format("[{}] is there already", table.name));
  tables.push_back(std::move(table));
  return end_line();
}

Status TomlReader::entry(TomlTable& table) {
  TomlEntry entry;
  entry.line = line_;
  auto name = key();
  if (!name) return tl::unexpected(name.error());
  entry.key = *std::move(name);
  for (const TomlEntry& other : table.entries)
    if (other.key == entry.key) return wrong(fmt::format("{:?} is given twice", entry.key));
  skip_spaces();
  if (!take("=")) return wrong(fmt::format("after {:?} stands = and its value", entry.key));
  skip_spaces();
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
  if (rest_.starts_with('"') || rest_.starts_with('\'')) {
    auto value = text();
    if (!value) return tl::unexpected(value.error());
    entry.value = *std::move(value);
  } else if (take("[")) {
    auto value = list();
    if (!value) return tl::unexpected(value.error());
    entry.value = *std::move(value);
  } else if (take("true")) {
    entry.value = true;
  } else if (take("false")) {
    entry.value = false;
  } else if (failed == std::errc()) {
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    entry.value = number;
  } else {
    return wrong(
        fmt::format("{:?} is to be a text in quotes, a whole number, true, false or a list of texts", entry.key));
  }
  table.entries.push_back(std::move(entry));
  return end_line();
}

Result<std::vector<TomlTable>> TomlReader::read() {
  std::vector<TomlTable> tables(1);
  for (skip_lines(); !rest_.empty();) {
    const Status read = take("[") ? header(tables) : entry(tables.back());
    if (!read) return tl::unexpected(read.error());
  }
  return tables;
}

}  // namespace

Result<std::vector<TomlTable>> parse_toml(std::string_view file, std::string_view text) {
  return TomlReader(file, text).read();
}

}  // namespace anyshape::cli
