#include "base/running_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "anyshape/printable.h"

namespace anyshape {
namespace {

std::vector<std::string>& told() {
  static std::vector<std::string> words;
  return words;
}

std::string command_text(const std::vector<std::string>& words) {
  std::string out = "anyshape";
  for (const std::string& word : words) out += " " + shell_word(word);
  return out;
}

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The text with `wanted` for the first `given` that is no part of a longer name.
std::optional<std::string> replaced(const std::string& text, std::string_view given, std::string_view wanted) {
  if (given.empty()) return std::nullopt;
  for (size_t at = text.find(given); at != std::string::npos; at = text.find(given, at + 1)) {
    const size_t end = at + given.size();
    if (at > 0 && is_of_name(text[at - 1]) && is_of_name(given.front())) continue;
    if (end < text.size() && is_of_name(text[end]) && is_of_name(given.back())) continue;
    return text.substr(0, at) + std::string(wanted) + text.substr(end);
  }
  return std::nullopt;
}

// Is word `i` a value of the option, or the option and its value: "--allow=x:1"?
bool is_value_of(const std::vector<std::string>& words, size_t i, std::string_view option) {
  if (option.empty()) return true;
  const std::string typed = "--" + std::string(option);
  return (i > 0 && words[i - 1] == typed) || words[i].starts_with(typed + "=");
}

}  // namespace

void set_running_command(std::vector<std::string> words) { told() = std::move(words); }

std::string corrected_command(const Correction& correction, std::string otherwise) {
  if (told().empty()) return otherwise;
  std::vector<std::string> words = told();
  const auto whole = std::find(words.begin(), words.end(), correction.given);
  if (correction.option.empty() && whole != words.end()) {
    *whole = correction.wanted;
    return command_text(words);
  }
  // Names of values are behind that of the model.
  for (size_t i = words.size(); i-- > 0;) {
    if (!is_value_of(words, i, correction.option)) continue;
    auto mended = replaced(words[i], correction.given, correction.wanted);
    if (!mended) continue;
    words[i] = *std::move(mended);
    return command_text(words);
  }
  return fmt::format("{:?} in place of {:?}", correction.wanted, correction.given);
}

std::string running_command_with(std::string_view words) {
  if (told().empty()) return std::string(words);
  return fmt::format("{} {}", command_text(told()), words);
}

}  // namespace anyshape
