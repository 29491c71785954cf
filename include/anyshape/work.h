#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "anyshape/api.h"
#include "anyshape/error.h"

namespace anyshape {

struct WorkLimits {
  // Set by anybody at any time. Errors: "work.cancelled".
  const std::atomic<bool>* cancel = nullptr;
  // Seconds from the start of the scope; 0: none. Past `timeout` a call fails with "work.timeout"; past `budget` a
  // proof or a walk gives up, and what it was to tell is unknown, with the reason "work.budget".
  double timeout = 0;
  double budget = 0;
  int64_t max_bytes = 0;  // of each run, as RunOptions::max_bytes
  // Called by the thread of the scope while it works, at most every tenth of a second; true ends the work like
  // `cancel`. For callers that have to look after something else meanwhile, such as the signals of an interpreter.
  std::function<bool()> interrupted = {};
};

// While one lives, all calls of this library on the same thread look at its limits, and at those of the scopes around
// it. A call that ends because of them leaves nothing behind; one that cannot fail (accepts) says "unknown" with their
// code. Ends on the thread it was made on.
class ANYSHAPE_API WorkScope {
 public:
  explicit WorkScope(const WorkLimits& limits);
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  friend class Work;
  using Moment = std::chrono::steady_clock::time_point;

  WorkScope* outer_;
  const std::atomic<bool>* cancel_;
  // The strictest of this scope and those around it.
  std::optional<Moment> deadline_, budget_;
  int64_t max_bytes_;
  std::function<bool()> interrupted_;
  std::thread::id thread_;
  mutable Moment ask_again_;
  mutable std::atomic<bool> was_interrupted_ = false;

  bool ended() const;
};

// What a call of this library on this thread would fail with now: "work.cancelled" or "work.timeout".
ANYSHAPE_API Status check_work();

}  // namespace anyshape
