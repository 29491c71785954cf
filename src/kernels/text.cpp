#include "kernels/text.h"

#include "base/utf8.h"

namespace anyshape::kernels {
namespace {

constexpr char32_t kReplacement = 0xfffd;

// Letters first..last: upper and lower case `distance` apart; distance 1: neighbours, upper case first, even codes
// when `first` is.
struct CaseRange {
  char32_t first, last;  // of the upper case
  int32_t distance;
};

constexpr CaseRange kRanges[] = {
    {'A', 'Z', 32},      {0xc0, 0xd6, 32},    {0xd8, 0xde, 32},     {0x100, 0x12e, 1},   {0x132, 0x136, 1},
    {0x139, 0x147, 1},   {0x14a, 0x176, 1},   {0x179, 0x17d, 1},    {0x1cd, 0x1db, 1},   {0x1de, 0x1ee, 1},
    {0x1f8, 0x21e, 1},   {0x222, 0x232, 1},   {0x391, 0x3a1, 32},   {0x3a3, 0x3ab, 32},  {0x410, 0x42f, 32},
    {0x400, 0x40f, 80},  {0x460, 0x480, 1},   {0x48a, 0x4be, 1},    {0x4d0, 0x52e, 1},   {0x531, 0x556, 48},
    {0x1e00, 0x1e94, 1}, {0x1ea0, 0x1efe, 1}, {0xff21, 0xff3a, 32}, {0x386, 0x386, 38},  {0x388, 0x38a, 37},
    {0x38c, 0x38c, 64},  {0x38e, 0x38f, 63},  {0x178, 0x178, -121}, {0x2160, 0x216f, 16}};

bool stands(const CaseRange& range, char32_t upper) {
  if (upper < range.first || upper > range.last) return false;
  return range.distance != 1 || (upper - range.first) % 2 == 0;
}

char32_t shifted(char32_t code, int32_t distance) {
  return static_cast<char32_t>(static_cast<int32_t>(code) + distance);
}

struct Decoded {
  char32_t code = kReplacement;
  size_t size = 1;
};

Decoded decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  char32_t code = lead & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool legal = code >= kLeast[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return legal ? Decoded{code, size} : Decoded{};
}

template <class Map>
std::string mapped(std::string_view text, Map map) {
  std::string out;
  while (!text.empty()) {
    const Decoded next = decode(text);
    const bool broken = next.code == kReplacement && next.size == 1;
    if (broken)
      out += text[0];
    else
      utf8_append(out, map(next.code));
    text.remove_prefix(next.size);
  }
  return out;
}

}  // namespace

std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> out;
  while (!text.empty()) {
    const Decoded next = decode(text);
    out.push_back(next.code);
    text.remove_prefix(next.size);
  }
  return out;
}

char32_t to_lower(char32_t code) {
  for (const CaseRange& range : kRanges)
    if (stands(range, code)) return shifted(code, range.distance);
  return code;
}

char32_t to_upper(char32_t code) {
  for (const CaseRange& range : kRanges)
    if (stands(range, shifted(code, -range.distance))) return shifted(code, -range.distance);
  return code == 0x3c2 ? 0x3a3 : code;
}

std::string to_lower(std::string_view text) {
  return mapped(text, [](char32_t code) { return to_lower(code); });
}

std::string to_upper(std::string_view text) {
  return mapped(text, [](char32_t code) { return to_upper(code); });
}

}  // namespace anyshape::kernels
