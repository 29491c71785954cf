#include "mqh/fill.h"

#include "base/bug.h"

namespace anyshape::mqh {

std::string fill(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out;
  while (true) {
    const size_t mark = text.find('$');
    out += text.substr(0, mark);
    if (mark == std::string_view::npos) return out;
    text.remove_prefix(mark + 1);
    bool found = false;
    for (const auto& [name, value] : values) {
      if (found || !text.starts_with(name)) continue;
      out += value;
      text.remove_prefix(name.size());
      found = true;
    }
    ANYSHAPE_CHECK(found);
  }
}

}  // namespace anyshape::mqh
