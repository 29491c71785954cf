#pragma once

#include <cstdint>

namespace anyshape {

// Who works on tasks: threads of the process, or those of a caller.
struct Threads {
  using Work = void (*)(void* state, int64_t first, int64_t last);

  // `most`: how many work at most, the caller included; at least 1.
  Threads(int most);  // NOLINT(google-explicit-constructor): the usual way to say it
  // parallel(user, tasks, work, state) calls `work` for ranges that have every task once, in any order and any threads,
  // and returns when all are done.
  using Parallel = void (*)(void* user, int64_t tasks, Work work, void* state);
  Threads(Parallel of_caller, void* its_user) : parallel(of_caller), user(its_user) {}

  int count = 1;
  Parallel parallel = nullptr;
  void* user = nullptr;
};

// The right to have tasks done by the threads of the process, which all Workers share. The caller works too, and waits
// only for tasks that a thread has begun: one that has lost its core in between costs nothing. Threads that have found
// nothing to do for a tenth of a millisecond sleep.
class Workers {
 public:
  using Work = Threads::Work;

  // Threads of the process are started here and never end.
  explicit Workers(const Threads& threads);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Fewer where the system gives no more.
  int threads() const;
  // Calls work(state, first, last) until every task of 0..tasks - 1 was in one of the ranges. Returns when all are
  // done. Any number of threads may call it; in a task it works alone. Allocates nothing, but for new threads in the
  // child of a fork, where the old ones are not. False: threads of a caller have left tasks out, done some twice, or
  // were sent to tasks that there are not.
  bool run(int64_t tasks, Work work, void* state);
  // Work will come soon: threads that sleep begin to look for it.
  void wake();

 private:
  bool run_by_caller(int64_t tasks, Work work, void* state) const;

  Threads caller_;
  int wanted_;
};

}  // namespace anyshape
