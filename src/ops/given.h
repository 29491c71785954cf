#pragma once

#include "ir/call.h"

namespace anyshape::ops {

// The attribute is there and not 0. Of one that not every operator of a family has.
inline bool is_set(const Call& call, std::string_view attribute) {
  const auto* value = call.given<int64_t>(attribute);
  return value && *value != 0;
}

}  // namespace anyshape::ops
