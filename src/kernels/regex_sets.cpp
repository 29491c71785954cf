#include "kernels/regex_sets.h"

#include <algorithm>

namespace anyshape::kernels {
namespace {

using Set = Regex::Set;
using Range = Regex::Range;

struct NamedSet {
  std::string_view name;
  Set set;
};

}  // namespace

Set normalized(Set set) {
  std::sort(set.begin(), set.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  Set out;
  for (const Range& range : set) {
    if (!out.empty() && range.first <= out.back().last + 1)
      out.back().last = std::max(out.back().last, range.last);
    else
      out.push_back(range);
  }
  return out;
}

Set complement(const Set& set) {
  Set out;
  char32_t next = 0;
  for (const Range& range : normalized(set)) {
    if (range.first > next) out.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCode) out.push_back({next, kLastCode});
  return out;
}

// With the other case of every letter.
Set any_case(Set set) {
  constexpr Range kCased[] = {{'A', 'z'},       {0xc0, 0x24f},    {0x370, 0x58f},
                              {0x1e00, 0x1eff}, {0x2160, 0x217f}, {0xff21, 0xff5a}};
  Set more;
  for (const Range& range : set)
    for (const Range& cased : kCased)
      for (char32_t c = std::max(range.first, cased.first); c <= std::min(range.last, cased.last); ++c) {
        more.push_back({to_lower(c), to_lower(c)});
        more.push_back({to_upper(c), to_upper(c)});
      }
  set.insert(set.end(), more.begin(), more.end());
  return normalized(std::move(set));
}

std::optional<Set> perl_class(char32_t letter) {
  const bool negated = letter == 'D' || letter == 'S' || letter == 'W';
  Set set;
  if (letter == 'd' || letter == 'D') set = {{'0', '9'}};
  if (letter == 's' || letter == 'S') set = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
  if (letter == 'w' || letter == 'W') set = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  if (set.empty()) return std::nullopt;
  return negated ? complement(set) : set;
}

std::optional<Set> posix_class(std::string_view name) {
  static const NamedSet kClasses[] = {{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
                                      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
                                      {"ascii", {{0, 127}}},
                                      {"blank", {{'\t', '\t'}, {' ', ' '}}},
                                      {"cntrl", {{0, 31}, {127, 127}}},
                                      {"digit", {{'0', '9'}}},
                                      {"graph", {{'!', '~'}}},
                                      {"lower", {{'a', 'z'}}},
                                      {"print", {{' ', '~'}}},
                                      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
                                      {"space", {{'\t', '\r'}, {' ', ' '}}},
                                      {"upper", {{'A', 'Z'}}},
                                      {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
                                      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
  for (const NamedSet& one : kClasses)
    if (one.name == name) return one.set;
  return std::nullopt;
}

}  // namespace anyshape::kernels
