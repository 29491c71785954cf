#include "format/pt2/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace anyshape::pt2 {
namespace {

// Names that mean something else in an expression.
constexpr std::array<std::string_view, 10> kTaken = {"L",   "True", "False", "true",   "false",
                                                     "and", "or",   "not",   "Symbol", "Dummy"};

bool is_plain(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty() || digit(name.front())) return false;
  if (!std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); })) return false;
  return std::find(kTaken.begin(), kTaken.end(), name) == kTaken.end();
}

}  // namespace

std::string key_step(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return fmt::format("['{}']", out);
}

std::string argument_path(std::string_view name) {
  return is_plain(name) ? std::string(name) : fmt::format("L{}", key_step(name));
}

}  // namespace anyshape::pt2
