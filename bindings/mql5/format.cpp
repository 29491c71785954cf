#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "anyshape/mql5/string.h"

namespace anyshape::mql5 {
namespace {

// One conversion of a pattern: `%-8.3f` has the options "-8.3" and the letter f.
struct Conversion {
  std::string options;
  char letter = 0;
};

// What a conversion writes is bounded, whatever its width says.
constexpr size_t kLongest = 4096;

template <class T>
std::string printed(const std::string& pattern, T value) {
  std::array<char, kLongest> buffer;
  const int n = std::snprintf(buffer.data(), buffer.size(), pattern.c_str(), value);
  return n < 0 ? std::string() : std::string(buffer.data());
}

double as_double(const FormatArgument& argument) {
  if (const auto* text = std::get_if<std::string>(&argument)) return std::strtod(text->c_str(), nullptr);
  if (const auto* number = std::get_if<double>(&argument)) return *number;
  if (const auto* number = std::get_if<uint64_t>(&argument)) return static_cast<double>(*number);
  return static_cast<double>(std::get<int64_t>(argument));
}

int64_t as_integer(const FormatArgument& argument) {
  if (const auto* number = std::get_if<int64_t>(&argument)) return *number;
  if (const auto* number = std::get_if<uint64_t>(&argument)) return static_cast<int64_t>(*number);
  const double value = as_double(argument);
  return std::abs(value) < 9e18 ? static_cast<int64_t>(value) : 0;
}

std::string as_text(const FormatArgument& argument) {
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
          return value;
        else
          return text_of(value);
      },
      argument);
}

// Behind the `%`; `arguments` loses what a `*` takes.
Conversion read(std::string_view& rest, std::span<const FormatArgument>& arguments) {
  Conversion out;
  while (!rest.empty() && std::string_view("-+ #0123456789.*").find(rest[0]) != std::string_view::npos) {
    if (rest[0] == '*' && !arguments.empty()) {
      out.options += std::to_string(as_integer(arguments[0]));
      arguments = arguments.subspan(1);
    } else if (rest[0] != '*') {
      out.options += rest[0];
    }
    rest.remove_prefix(1);
  }
  for (std::string_view size : {"I64", "ll", "l", "h"})
    if (rest.starts_with(size)) {
      rest.remove_prefix(size.size());
      break;
    }
  if (rest.empty()) return out;
  out.letter = rest[0];
  rest.remove_prefix(1);
  return out;
}

std::string converted(const Conversion& conversion, const FormatArgument& argument) {
  const std::string start = '%' + conversion.options;
  switch (conversion.letter) {
    case 'd':
    case 'i':
      return printed(start + "lld", static_cast<long long>(as_integer(argument)));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return printed(start + "ll" + conversion.letter, static_cast<unsigned long long>(as_integer(argument)));
    case 'c':
      return printed(start + 'c', static_cast<int>(as_integer(argument)));
    case 's':
      return conversion.options.empty() ? as_text(argument) : printed(start + 's', as_text(argument).c_str());
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return printed(start + conversion.letter, as_double(argument));
    default:
      return start + conversion.letter;
  }
}

}  // namespace

std::string format(std::string_view pattern, std::span<const FormatArgument> arguments) {
  std::string out;
  while (!pattern.empty()) {
    const size_t at = std::min(pattern.find('%'), pattern.size());
    out += pattern.substr(0, at);
    pattern.remove_prefix(at);
    if (pattern.empty()) break;
    pattern.remove_prefix(1);
    const Conversion conversion = read(pattern, arguments);
    if (conversion.letter == '%') {
      out += '%';
    } else if (arguments.empty()) {
      out += "(missed)";
    } else {
      out += converted(conversion, arguments[0]);
      arguments = arguments.subspan(1);
    }
  }
  return out;
}

}  // namespace anyshape::mql5
