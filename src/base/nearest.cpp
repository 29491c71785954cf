#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace anyshape {
namespace {

constexpr size_t kLongest = 200;

// Insertions, deletions and replacements between two names; case does not count.
size_t distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replace = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view text, const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  std::string best;
  size_t least = std::max<size_t>(2, text.size() / 2) + 1;
  for (const std::string& name : names) {
    if (name.size() > kLongest || text.size() > kLongest) continue;
    // So many letters at least are inserted or deleted.
    if (std::max(name.size(), text.size()) - std::min(name.size(), text.size()) >= least) continue;
    const size_t d = distance(text, name);
    if (d < least) {
      least = d;
      best = name;
    }
  }
  return best;
}

}  // namespace anyshape
