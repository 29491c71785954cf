#pragma once

#include <algorithm>
#include <iterator>

namespace anyshape {

template <class Value, class Range>
bool among(const Value& value, const Range& range) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

}  // namespace anyshape
