#include "base/utf8.h"

namespace anyshape {

size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : 4;
  if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4)) return 0;
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool too_large = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

Utf8Character utf8_first(std::string_view text) {
  const size_t length = utf8_length(text);
  if (length == 0) return {std::nullopt, text.substr(0, 1)};
  constexpr unsigned kLeadBits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t point = static_cast<unsigned char>(text[0]) & kLeadBits[length];
  for (size_t i = 1; i < length; ++i) point = point << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
  return {point, text.substr(0, length)};
}

std::string_view shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && most - end < 3 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end + utf8_length(text.substr(end)) > most ? end : most);
}

std::optional<std::u32string> utf8_decode(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const Utf8Character first = utf8_first(text);
    if (!first.point) return std::nullopt;
    out += *first.point;
    text.remove_prefix(first.bytes.size());
  }
  return out;
}

bool utf8_append(std::string& out, char32_t point) {
  if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
  if (point < 0x80) {
    out += static_cast<char>(point);
    return true;
  }
  const unsigned following = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(kLead[following] | point >> (6 * following));
  for (unsigned i = following; i-- > 0;) out += static_cast<char>(0x80U | (point >> (6 * i) & 0x3fU));
  return true;
}

}  // namespace anyshape
