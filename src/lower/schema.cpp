#include "lower/schema.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "lower/schema_table.h"

namespace anyshape::lower {
namespace {

using Type = Parameter::Type;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Cuts at commas outside of brackets and quotes.
std::vector<std::string_view> pieces(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    if (c != ',' || depth != 0) continue;
    out.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  if (start < text.size()) out.push_back(trimmed(text.substr(start)));
  return out;
}

std::optional<Type> base_type(std::string_view name) {
  struct Row {
    std::string_view name;
    Type type;
  };
  static constexpr Row kRows[] = {{"Tensor", Type::tensor},     {"int", Type::integer},
                                  {"SymInt", Type::integer},    {"float", Type::real},
                                  {"SymFloat", Type::real},     {"Scalar", Type::scalar},
                                  {"number", Type::scalar},     {"bool", Type::boolean},
                                  {"SymBool", Type::boolean},   {"ScalarType", Type::dtype},
                                  {"str", Type::text},          {"Layout", Type::ignored},
                                  {"Device", Type::ignored},    {"MemoryFormat", Type::ignored},
                                  {"Generator", Type::ignored}, {"complex", Type::scalar},
                                  {"NoneType", Type::ignored}};
  for (const Row& row : kRows)
    if (row.name == name) return row.type;
  return std::nullopt;
}

std::optional<Arg> default_value(std::string_view text, const Parameter& parameter) {
  if (text == "None") return Arg();
  if (text == "True" || text == "False") return Arg(text == "True");
  if (parameter.type == Type::ignored) return Arg::of(Arg::Ignored{});
  if (text.size() >= 2 && text.front() == '"') return Arg::of(std::string(text.substr(1, text.size() - 2)));
  if (text.front() == '[') {
    Arguments items;
    for (std::string_view piece : pieces(text.substr(1, text.size() - 2))) {
      auto item = default_value(piece, parameter);
      if (!item) return std::nullopt;
      items.push_back(*std::move(item));
    }
    return Arg(std::move(items));
  }
  if (text == "inf" || text == "-inf") return Arg(std::strtod(std::string(text).c_str(), nullptr));
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  const bool all = error == std::errc() && end == text.data() + text.size();
  if (all && parameter.type == Type::dtype) return Arg::of(DType::undefined);
  if (all && parameter.type != Type::real) return Arg(Dim(whole));
  char* stop = nullptr;
  const std::string copy(text);
  const double real = std::strtod(copy.c_str(), &stop);
  if (stop != copy.c_str() + copy.size()) return std::nullopt;
  return Arg(real);
}

// "Tensor(a!)?[]", "int[2]?", "SymInt[]": reads the marks off the end.
bool read_type(std::string_view text, Parameter& parameter) {
  if (const size_t open = text.find('('); open != std::string_view::npos) {
    const size_t close = text.find(')', open);
    if (close == std::string_view::npos) return false;
    const std::string plain = std::string(text.substr(0, open)) + std::string(text.substr(close + 1));
    return read_type(plain, parameter);
  }
  if (text.ends_with('?')) {
    parameter.optional = true;
    text.remove_suffix(1);
  }
  if (text.ends_with(']')) {
    const size_t open = text.rfind('[');
    if (open == std::string_view::npos) return false;
    parameter.list = true;
    const auto count = text.substr(open + 1, text.size() - open - 2);
    std::from_chars(count.data(), count.data() + count.size(), parameter.repeat);
    text = text.substr(0, open);
    if (text.ends_with('?')) {
      parameter.optional_items = true;
      text.remove_suffix(1);
    }
  }
  const auto type = base_type(text);
  if (type) parameter.type = *type;
  return type.has_value();
}

std::optional<Parameter> parse_parameter(std::string_view text) {
  Parameter out;
  std::string_view fallback;
  if (const size_t equal = text.find('='); equal != std::string_view::npos) {
    fallback = text.substr(equal + 1);
    text = text.substr(0, equal);
  }
  const size_t space = text.rfind(' ');
  if (space == std::string_view::npos) return std::nullopt;
  out.name = std::string(text.substr(space + 1));
  std::string type(trimmed(text.substr(0, space)));
  if (!read_type(type, out)) return std::nullopt;
  if (!fallback.empty()) {
    out.fallback = default_value(fallback, out);
    if (!out.fallback) return std::nullopt;
  }
  return out;
}

void read_results(std::string_view text, Schema& schema) {
  text = trimmed(text);
  if (text.starts_with('(')) {
    schema.results = pieces(text.substr(1, text.size() - 2)).size();
    return;
  }
  schema.result_is_list = text.ends_with("[]");
}

std::string_view name_of(std::string_view text) { return text.substr(0, text.find_first_of(".(")); }

// The end where no operator has the name.
auto first_row(std::string_view name) {
  const auto table = schema_table();
  const auto before = [](std::string_view row, std::string_view wanted) { return name_of(row) < wanted; };
  const auto it = std::lower_bound(table.begin(), table.end(), name, before);
  return it != table.end() && name_of(*it) == name ? it : table.end();
}

}  // namespace

std::optional<Schema> parse_schema(std::string_view text) {
  const size_t open = text.find('('), arrow = text.rfind(" -> ");
  if (open == std::string_view::npos || arrow == std::string_view::npos || arrow < open + 1) return std::nullopt;
  Schema out;
  out.name = std::string(name_of(text));
  if (text[out.name.size()] == '.')
    out.overload = std::string(text.substr(out.name.size() + 1, open - out.name.size() - 1));
  bool keyword_only = false;
  for (std::string_view piece : pieces(text.substr(open + 1, arrow - open - 2))) {
    if (piece == "*") {
      keyword_only = true;
      continue;
    }
    auto parameter = parse_parameter(piece);
    if (!parameter) return std::nullopt;
    parameter->keyword_only = keyword_only;
    out.parameters.push_back(*std::move(parameter));
  }
  read_results(text.substr(arrow + 4), out);
  return out;
}

std::string_view schema_name(std::string_view name) {
  const auto row = first_row(name);
  return row == schema_table().end() ? std::string_view() : name_of(*row);
}

std::vector<Schema> schemas_of(std::string_view name) {
  std::vector<Schema> out;
  for (auto it = first_row(name); it != schema_table().end() && name_of(*it) == name; ++it)
    if (auto schema = parse_schema(*it)) out.push_back(*std::move(schema));
  return out;
}

}  // namespace anyshape::lower
