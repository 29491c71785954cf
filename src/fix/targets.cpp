#include "fix/targets.h"

#include <algorithm>

namespace anyshape::fixes {
namespace {

// Axes begin..end - 1 of one side.
struct Range {
  size_t begin = 0, end = 0;
};

Dim product_of(const Dims& dims, Range range, size_t but = ~size_t{0}) {
  Dim out = 1;
  for (size_t i = range.begin; i < range.end; ++i)
    if (i != but) out = out * dims[i];
  return out;
}

// Moves both ranges to the fewest next axes that have as many elements on both sides; one axis against one is tried
// first, so that a size of 1 goes into a size of 1 rather than nowhere.
bool advance(const Dims& from, const Dims& to, Range& source, Range& target) {
  const size_t left = from.size() - source.end, right = to.size() - target.end;
  const auto fits = [&](size_t a, size_t b) {
    if (a > left || b > right) return false;
    const Range s{source.end, source.end + a}, t{target.end, target.end + b};
    if (!(product_of(from, s) == product_of(to, t))) return false;
    source = s, target = t;
    return true;
  };
  if (fits(1, 1)) return true;
  for (size_t count = 1; count <= left + right; ++count)
    for (size_t a = 0; a <= count; ++a)
      if (fits(a, count - a)) return true;
  return false;
}

}  // namespace

bool zero_is_a_size(const Node& reshape) {
  const Attribute* attribute = reshape.attribute("allowzero");
  const auto* value = attribute ? std::get_if<int64_t>(&attribute->value) : nullptr;
  return value && *value != 0;
}

std::optional<std::vector<int64_t>> constant_target(const Dims& from, const Dims& to, const Assumptions* known) {
  std::vector<int64_t> out;
  for (size_t j = 0; j < to.size(); ++j) {
    if (const auto number = to[j].constant()) {
      if (*number < 1) return std::nullopt;
      out.push_back(*number);
    } else {
      out.push_back(j < from.size() && from[j] == to[j] ? 0 : -1);
    }
  }
  const auto open = std::count(out.begin(), out.end(), -1);
  if (open > 1) return std::nullopt;
  // What -1 stands for is not defined beside a 0.
  for (size_t j = 0; open == 1 && known && j < out.size(); ++j)
    if (out[j] == 0 && !known->proves(Condition::ge(to[j], 1))) return std::nullopt;
  return out;
}

std::optional<Dims> meant_target(const Dims& old_from, const Dims& old_to, const Dims& from) {
  Dims out = old_to;
  Range source, target;
  while (source.end < from.size() || target.end < old_to.size()) {
    if (!advance(old_from, old_to, source, target)) return std::nullopt;
    const Dim count = product_of(from, source);
    if (count == product_of(old_from, source)) continue;
    size_t places = 0;
    for (size_t j = target.begin; j < target.end; ++j) {
      const auto size = exact_div(count, product_of(old_to, target, j));
      if (!size) continue;
      out[j] = *size;
      ++places;
    }
    if (places != 1) return std::nullopt;
  }
  return out;
}

}  // namespace anyshape::fixes
