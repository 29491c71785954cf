#pragma once

#include <charconv>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"

namespace anyshape {

// The words of a command line. Usage error options.quote.
Result<std::vector<std::string>> split_words(std::string_view text);

// One option of a command, set in its struct.
template <class Options>
struct OptionRow {
  std::string_view name;  // "--opset"
  bool has_value = true;
  std::function<Status(Options&, const std::string& value)> set;
};

tl::unexpected<Error> bad_option_value(std::string_view option, std::string_view value, std::string_view wanted);
tl::unexpected<Error> unknown_option(const std::string& word, const std::vector<std::string>& known);

template <class Number>
Status set_number(std::string_view option, const std::string& text, Number least, Number most, Number& out) {
  Number value{};
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc() || end != text.data() + text.size() || !(value >= least) || !(value <= most))
    return bad_option_value(option, text, fmt::format("a number of {} to {}", least, most));
  out = value;
  return {};
}

// What `parse` makes of the value, appended.
template <class Parse, class T>
Status append_parsed(const std::string& value, Parse parse, std::vector<T>& into) {
  TRY(auto parsed, parse(value));
  into.push_back(std::move(parsed));
  return {};
}

template <class Options>
Result<Options> parse_options(std::string_view text, std::span<const OptionRow<Options>> rows) {
  TRY(const std::vector<std::string> words, split_words(text));
  Options out;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equal = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const std::string name = words[i].substr(0, equal);
    const OptionRow<Options>* row = nullptr;
    std::vector<std::string> known;
    for (const auto& one : rows) {
      if (one.name == name) row = &one;
      known.emplace_back(one.name);
    }
    if (!row) return unknown_option(name, known);
    std::string value;
    if (equal != std::string::npos) {
      if (!row->has_value) return bad_option_value(name, words[i].substr(equal + 1), "nothing");
      value = words[i].substr(equal + 1);
    } else if (row->has_value) {
      if (++i == words.size()) return usage("options.value", "{} is the last word, its value is missing", name);
      value = words[i];
    }
    TRY_OK(row->set(out, value));
  }
  return out;
}

}  // namespace anyshape
