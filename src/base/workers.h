#pragma once

#include <cstdint>
#include <memory>

namespace anyshape {

// A few threads that share the tasks of one piece of work at a time. The caller works too. Allocates nothing after
// construction, but for new threads in the child of a fork, where the old ones are not.
class Workers {
 public:
  using Work = void (*)(void* state, int64_t first, int64_t last);

  // `threads`: how many work, the caller included; at least 1. Fewer where the system gives no more.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const;
  // Calls work(state, first, last) until every task of 0..tasks - 1 was in one of the ranges. Returns when all are
  // done. Not to be called by two threads at once.
  void run(int64_t tasks, Work work, void* state);

 private:
  class Pool;
  void leave_pool_of_parent();

  int wanted_;
  std::unique_ptr<Pool> pool_;  // none: the caller works alone
  uint64_t fork_count_;         // where the threads were made
};

}  // namespace anyshape
