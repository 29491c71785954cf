#include "check/shapes_text.h"

#include <simdjson.h>

#include <charconv>

namespace anyshape {
namespace {

constexpr size_t kMostAxes = 64;

std::optional<int64_t> parse_size(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && value >= 0 ? std::optional(value) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

Error bad_shape(std::string_view text, std::string_view why) {
  Error error = usage("shape.syntax", "{:?} is no shape: {}", text, why).value();
  error.hint = "the name of an input and its sizes, NAME=1x120x1, or NAME=scalar";
  return error;
}

// One object of a line; the error is a sentence.
tl::expected<Shapes, std::string> parse_line(simdjson::dom::parser& parser, std::string_view line) {
  simdjson::dom::object object;
  if (const auto error = parser.parse(line.data(), line.size()).get_object().get(object))
    return tl::unexpected(error == simdjson::INCORRECT_TYPE ? std::string("it is no JSON object")
                                                            : std::string(simdjson::error_message(error)));
  Shapes shapes;
  for (const auto field : object) {
    simdjson::dom::array sizes;
    if (field.value.get_array().get(sizes))
      return tl::unexpected(fmt::format("the shape of {:?} is no list of numbers", field.key));
    std::vector<int64_t> out;
    for (const auto size : sizes) {
      int64_t value = 0;
      if (size.get_int64().get(value) || value < 0 || out.size() == kMostAxes)
        return tl::unexpected(fmt::format("the shape of {:?} is no list of sizes", field.key));
      out.push_back(value);
    }
    if (!shapes.emplace(field.key, std::move(out)).second)
      return tl::unexpected(fmt::format("{:?} is given twice", field.key));
  }
  return shapes;
}

}  // namespace

Result<std::pair<std::string, std::vector<int64_t>>> parse_shape_text(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    return tl::unexpected(bad_shape(text, "there is no NAME= before the sizes"));
  std::pair<std::string, std::vector<int64_t>> out(std::string(text.substr(0, equals)), {});
  std::string_view rest = text.substr(equals + 1);
  if (rest == "scalar" || rest == "[]") return out;
  const bool brackets = rest.size() > 2 && rest.front() == '[' && rest.back() == ']';
  if (brackets) rest = rest.substr(1, rest.size() - 2);
  const char between = brackets || rest.find(',') != std::string_view::npos ? ',' : 'x';
  while (true) {
    const size_t end = rest.find(between);
    const std::string_view word = brackets ? trimmed(rest.substr(0, end)) : rest.substr(0, end);
    const auto size = parse_size(word);
    if (!size) return tl::unexpected(bad_shape(text, fmt::format("{:?} is no size", word)));
    if (out.second.size() == kMostAxes) return tl::unexpected(bad_shape(text, "it has too many axes"));
    out.second.push_back(*size);
    if (end == std::string_view::npos) return out;
    rest.remove_prefix(end + 1);
  }
}

Result<std::vector<Shapes>> parse_shape_lines(std::string_view file, std::string_view text) {
  std::vector<Shapes> out;
  simdjson::dom::parser parser;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto shapes = parse_line(parser, line);
    if (!shapes) {
      Error error = usage("shapes.line", "{}", shapes.error()).value();
      error.place = fmt::format("{}:{}", file, number);
      error.hint = "one object per line, {\"x\": [1, 120, 1]}";
      return tl::unexpected(std::move(error));
    }
    out.push_back(*std::move(shapes));
  }
  return out;
}

}  // namespace anyshape
