#include "base/printable.h"

#include <algorithm>
#include <cctype>

#include "base/utf8.h"

namespace anyshape {
namespace {

// Controls, the separators of lines and paragraphs, notes between lines, and what Unicode calls default ignorable: the
// marks of direction and all that is not seen.
constexpr std::pair<char32_t, char32_t> kHidden[] = {
    {0x0, 0x1f},      {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

// In the words of fmt's {:?}, which quotes names.
std::string escape_printable(char32_t point) {
  if (point == '\n') return "\\n";
  if (point == '\r') return "\\r";
  if (point == '\t') return "\\t";
  const auto number = static_cast<uint32_t>(point);
  if (number < 0x100) return fmt::format("\\x{:02x}", number);
  return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

bool is_plain_ascii(char c) { return c >= ' ' && c <= '~'; }

// The bytes as $'...'.
std::string escaped_word(std::string_view text) {
  std::string out = "$'";
  for (const char c : text) {
    if (c == '\'' || c == '\\')
      out += {'\\', c};
    else
      out += is_plain_ascii(c) ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out + "'";
}

}  // namespace

bool is_hidden(char32_t point) {
  const auto* range = std::lower_bound(std::begin(kHidden), std::end(kHidden), point,
                                       [](const auto& r, char32_t value) { return r.second < value; });
  return range != std::end(kHidden) && range->first <= point;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t plain = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_plain_ascii) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Utf8Character first = utf8_first(text);
    if (first.point && !is_hidden(*first.point))
      out += first.bytes;
    else
      out += escape_printable(first.point.value_or(static_cast<unsigned char>(text[0])));
    text.remove_prefix(first.bytes.size());
  }
  return out;
}

std::string printable_name(std::string_view name) {
  const bool word = !name.empty() && name.find_first_of(" \"\\[],") == std::string_view::npos;
  std::string out = printable(name);
  return word && out == name ? out : printable(fmt::format("{:?}", name));
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_-./:=,+@%").find(c) != std::string::npos;
  };
  if (printable(text) != text) return escaped_word(text);
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  const auto size = static_cast<double>(bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", size / 1e3);
  return bytes < 10'000'000'000 ? fmt::format("{:.1f} MB", size / 1e6) : fmt::format("{:.1f} GB", size / 1e9);
}

}  // namespace anyshape
