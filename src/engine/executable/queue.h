#pragma once

#include <memory>

#include "engine/executable/limits.h"
#include "engine/target/kernel.h"

namespace anyshape {

// How an engine runs the kernels of one context. One thread at a time.
class Queue {
 public:
  virtual ~Queue() = default;
  // All tasks of a kernel. When it returns, what later calls here read is as if it had run. Within `limits` it may end
  // between two tasks.
  virtual Status run(const EngineKernel& kernel, const ViewArgs& args, int64_t tasks, const RunLimits& limits) = 0;
  // A run begins that has kernels with several tasks.
  virtual void expect_tasks() {}
  // to = from, entry by entry, in the engine's memory. REQUIRES: equal dtype and dims, `to` dense, no overlap.
  virtual Status copy(const View& from, const View& to) = 0;

  // Engines with memory of their own may record steps once for each shape that is bound and replay them: addresses stay
  // as they are, or it is recorded anew. From begin_recording() on, run() and copy() only take down what is to be done.
  virtual bool records() const { return false; }
  virtual void begin_recording() {}
  virtual Result<std::shared_ptr<const void>> end_recording() { return std::shared_ptr<const void>(); }
  virtual Status replay(const void* /*recording*/) { return {}; }
};

}  // namespace anyshape
