#pragma once

#include "ops/microsoft/common.h"

namespace anyshape::ops {

// Ports that many of the records name.
inline constexpr uint8_t kOpt = Port::optional;
inline constexpr Port kX[] = {{"X"}};
inline constexpr Port kY[] = {{"Y"}};
inline constexpr Port kAB[] = {{"A"}, {"B"}};

}  // namespace anyshape::ops
