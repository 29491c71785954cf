#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace anyshape {

// Keeps texts that messages point to.
struct TextPool {
  std::deque<std::string> texts;
  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
};

}  // namespace anyshape
