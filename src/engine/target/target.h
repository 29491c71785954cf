#pragma once

#include <span>
#include <string>

#include "engine/target/kernel.h"
#include "engine/target/memory.h"
#include "ir/op.h"

namespace anyshape {

// A kernel of an engine, and the operators it is for.
struct KernelRow {
  const EngineKernel* kernel;
  std::span<const OpDef* const> ops;
};

// What passes and the planner know of an engine. Immutable, outlives all plans for it.
struct Target {
  std::span<const KernelRow> rows = {};  // of one operator the best first
  const EngineMemory* memory = nullptr;  // null: the host's
  int64_t lanes = 0;                     // channels of a block in blocked layouts; 0: there are none
  bool exact = false;                    // no convolution by other sums than the plain ones, no f16 computed in f32

  // Where the engine's kernels work.
  Space space() const { return memory ? Space::engine : Space::host; }
  // There is a kernel for it: passes may join nodes into one of this operator.
  bool has_kernel(const OpDef& op) const;

  // The first kernel that takes the node; null: none does. With the reason, for `anyshape plan`.
  struct Choice {
    const EngineKernel* kernel = nullptr;
    std::string reason;
  };
  Choice choose(const Call& call) const;
};

}  // namespace anyshape
