#pragma once

#include <fmt/format.h>

#include "sym/dim.h"

namespace anyshape::ops {

// Sizes in a sentence of a rule, printed only where somebody gets to read it: what is proved, nobody does. Dims are
// those of the caller.
template <class T>
struct Shown {
  T value;
};
inline Shown<Dim> shown(Dim size) { return {size}; }
inline Shown<const Dims&> shown(const Dims& dims) { return {dims}; }

}  // namespace anyshape::ops

template <class T>
struct fmt::formatter<anyshape::ops::Shown<T>> : fmt::formatter<std::string_view> {
  auto format(const anyshape::ops::Shown<T>& shown, fmt::format_context& context) const {
    return formatter<std::string_view>::format(print(shown.value), context);
  }
};
