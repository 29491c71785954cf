#pragma once

#include <cstdint>

namespace anyshape {

// The right to have tasks done by the threads of the process, which all Workers share. The caller works too, and waits
// only for tasks that a thread has begun: one that has lost its core in between costs nothing. Threads that have found
// nothing to do for a tenth of a millisecond sleep.
class Workers {
 public:
  using Work = void (*)(void* state, int64_t first, int64_t last);

  // `threads`: how many work at most, the caller included; at least 1. Threads are started here and never end.
  explicit Workers(int threads);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Fewer where the system gives no more.
  int threads() const;
  // Calls work(state, first, last) until every task of 0..tasks - 1 was in one of the ranges. Returns when all are
  // done. Any number of threads may call it; in a task it works alone. Allocates nothing, but for new threads in the
  // child of a fork, where the old ones are not.
  void run(int64_t tasks, Work work, void* state);
  // Work will come soon: threads that sleep begin to look for it.
  void wake();

 private:
  int wanted_;
};

}  // namespace anyshape
