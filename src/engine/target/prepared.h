#pragma once

#include <memory>
#include <string>

#include "engine/target/target.h"

namespace anyshape {

// The first kernel that takes the node and prepares itself for it; null: none does. With the reason, for `anyshape
// plan`. An error is one of prepare() that is no refusal.
struct PreparedKernel {
  const EngineKernel* kernel = nullptr;
  std::shared_ptr<const void> prepared;
  std::string reason;
};
Result<PreparedKernel> prepare_kernel(const Target& target, const Call& call);

}  // namespace anyshape
