#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "anyshape/api.h"

namespace anyshape {

struct WorkLimits {
  // Set by anybody at any time. Errors: "work.cancelled".
  const std::atomic<bool>* cancel = nullptr;
  // Seconds from the start of the scope; 0: none. Past `timeout` a call fails with "work.timeout"; past `budget` a
  // proof or a walk gives up, and what it was to tell is unknown, with the reason "work.budget".
  double timeout = 0;
  double budget = 0;
};

// While one lives, all calls of this library on the same thread look at its limits, and at those of the scopes around
// it. A call that ends because of them leaves nothing behind.
class ANYSHAPE_API WorkScope {
 public:
  explicit WorkScope(const WorkLimits& limits);
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  friend class Work;
  using Moment = std::chrono::steady_clock::time_point;

  const WorkScope* outer_;
  const std::atomic<bool>* cancel_;
  std::optional<Moment> deadline_, budget_;  // the earliest of this scope and those around it
};

}  // namespace anyshape
