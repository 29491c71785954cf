#include <simdjson.h>

#include <charconv>

#include "anyshape/export.h"
#include "base/error.h"
#include "base/os/file.h"
#include "base/printable.h"
#include "ops/custom.h"

namespace anyshape {
namespace {

std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

tl::unexpected<Error> bad_dynamic(std::string_view text) {
  return usage("dynamic.syntax", "{:?} is not NAME:AXIS=SYM[,AXIS=SYM]", text);
}

Result<std::vector<DynamicAxis>> axes_of(std::string_view value, simdjson::dom::element element) {
  std::vector<DynamicAxis> out;
  simdjson::dom::object object;
  simdjson::dom::array array;
  if (!element.get_object().get(object)) {
    for (const auto [key, name] : object) {
      std::string_view text;
      const auto axis = number_of(key);
      if (!axis || name.get_string().get(text))
        return usage("dynamic.syntax", "an axis of {:?} must be a number and its name a text", value);
      out.push_back({std::string(value), *axis, std::string(text)});
    }
  } else if (!element.get_array().get(array)) {
    for (const auto item : array) {
      int64_t axis = 0;
      if (item.get_int64().get(axis)) return usage("dynamic.syntax", "the axes of {:?} must be numbers", value);
      out.push_back({std::string(value), axis, {}});
    }
  } else {
    return usage("dynamic.syntax", "{:?} must be an object of axes and names, or a list of axes", value);
  }
  return out;
}

}  // namespace

Result<std::vector<DynamicAxis>> parse_dynamic(std::string_view text) {
  // Axes stand behind the last colon before the first '='; without '=' the list form NAME:AXIS,AXIS is meant.
  const size_t equal = text.find('=');
  const size_t colon = text.rfind(':', equal == std::string_view::npos ? text.size() : equal);
  if (colon == std::string_view::npos || colon == 0) return bad_dynamic(text);
  std::vector<DynamicAxis> out;
  std::string_view rest = text.substr(colon + 1);
  while (true) {
    const size_t comma = rest.find(',');
    const std::string_view piece = rest.substr(0, comma);
    const size_t sign = piece.find('=');
    const auto axis = number_of(piece.substr(0, sign));
    if (!axis || (sign != std::string_view::npos && sign + 1 == piece.size())) return bad_dynamic(text);
    const std::string name(sign == std::string_view::npos ? std::string_view() : piece.substr(sign + 1));
    out.push_back({std::string(text.substr(0, colon)), *axis, name});
    if (comma == std::string_view::npos) return out;
    rest = rest.substr(comma + 1);
  }
}

Result<std::vector<DynamicAxis>> parse_dynamic_axes(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const simdjson::padded_string padded(json);
  if (parser.parse(padded).get_object().get(object))
    return usage("dynamic.syntax", "dynamic axes must be a JSON object, {{\"x\": {{\"0\": \"batch\"}}}}");
  std::vector<DynamicAxis> out;
  for (const auto [key, value] : object) {
    TRY(auto axes, axes_of(key, value));
    out.insert(out.end(), axes.begin(), axes.end());
  }
  return out;
}

Result<std::vector<DynamicAxis>> read_dynamic_axes(const std::string& json_or_file) {
  if (json_or_file.starts_with('{')) return parse_dynamic_axes(json_or_file);
  TRY(const auto file, MappedFile::open(json_or_file));
  const auto bytes = file->bytes();
  return parse_dynamic_axes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<std::pair<std::string, int64_t>> parse_freeze(std::string_view text) {
  const size_t equal = text.rfind('=');
  const auto size = equal == std::string_view::npos ? std::nullopt : number_of(text.substr(equal + 1));
  if (!size || equal == 0) return usage("freeze.syntax", "{:?} is not SYM=N", text);
  return std::pair(std::string(text.substr(0, equal)), *size);
}

Result<std::pair<std::string, std::string>> parse_rename(std::string_view text) {
  const size_t equal = text.rfind('=');
  if (equal == std::string_view::npos || equal == 0 || equal + 1 == text.size())
    return usage("rename.syntax", "{:?} is not OLD=NEW", text);
  return std::pair(std::string(text.substr(0, equal)), std::string(text.substr(equal + 1)));
}

Result<InputType> parse_input_type(std::string_view text) {
  const auto bad = [&] { return usage("input.syntax", "{:?} is not NAME=f32[batch,120,?]", text); };
  const size_t equal = text.rfind('='), open = text.find('[', equal == std::string_view::npos ? 0 : equal);
  if (equal == std::string_view::npos || equal == 0 || equal + 1 == text.size()) return bad();
  InputType out;
  out.name = std::string(text.substr(0, equal));
  if (open == std::string_view::npos) {
    out.value = std::string(text.substr(equal + 1));
    return out;
  }
  if (!text.ends_with(']')) return bad();
  const auto dtype = parse_dtype(text.substr(equal + 1, open - equal - 1));
  if (!dtype) return bad();
  out.dtype = *dtype;
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    std::string_view piece = rest.substr(0, comma);
    while (piece.starts_with(' ')) piece.remove_prefix(1);
    while (piece.ends_with(' ')) piece.remove_suffix(1);
    if (piece.empty()) return bad();
    out.sizes.emplace_back(piece);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return out;
}

std::vector<std::string> warnings(const ExportReport& report, std::string_view program) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view code, const std::string& sentence) {
    out.push_back(printable(fmt::format("warning[{}] {}: {}", code, program, sentence)));
  };
  for (const AssumedCondition& one : report.assumed)
    if (one.binding)
      add("assumed.guard", fmt::format("the program was captured for {} only ({})", one.text, one.origin));
  for (const NarrowedAxis& one : report.narrowed)
    add("export.narrowed", fmt::format("{}. Try: {}", to_text(one), one.advice));
  for (const std::string& one : report.unrolled)
    add("export.unrolled", one + ". Try: torch.jit.script for this part of the model, or nn.LSTM, nn.GRU, nn.RNN");
  for (const std::string& one : report.frozen)
    add("export.frozen", one + ". Try: torch.export, or anyshape.export in Python, which compares with the model");
  return out;
}

Result<std::pair<std::string, std::string>> parse_custom_shape(std::string_view text) {
  TRY(const CustomRule rule, split_custom_rule(text));
  return std::pair(fmt::format("{}::{}", rule.domain, rule.name), std::string(rule.rule));
}

Result<std::pair<std::string, std::string>> parse_custom(std::string_view text) {
  const size_t equal = text.find('=');
  const std::string_view from = text.substr(0, equal), to = text.substr(std::min(equal, text.size() - 1) + 1);
  const auto scoped = [](std::string_view name) {
    const size_t scope = name.find("::");
    return scope != std::string_view::npos && scope > 0 && scope + 2 < name.size();
  };
  const bool both = scoped(from) && scoped(to);
  const bool neither = from.find(':') == std::string_view::npos && to.find(':') == std::string_view::npos;
  if (equal == std::string_view::npos || from.empty() || to.empty() || !(both || neither))
    return usage("custom.name", "{:?} is neither NS::OP=DOMAIN::NAME nor NS=DOMAIN", text);
  return std::pair(std::string(from), std::string(to));
}

}  // namespace anyshape
