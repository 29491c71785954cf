#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace anyshape {

// A few threads that share the tasks of one piece of work at a time. The caller works too. Allocates nothing after
// construction.
class Workers {
 public:
  using Work = void (*)(void* state, int64_t first, int64_t last);

  // `threads`: how many work, the caller included; at least 1. Fewer where the system gives no more.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return static_cast<int>(pool_.size()) + 1; }
  // Calls work(state, first, last) until every task of 0..tasks - 1 was in one of the ranges. Returns when all are
  // done. Not to be called by two threads at once.
  void run(int64_t tasks, Work work, void* state);

 private:
  void loop();
  void take_ranges();

  std::vector<std::thread> pool_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  int seats_ = 0;   // how many more may join the work at hand
  int active_ = 0;  // how many have joined and are not done
  bool stop_ = false;
  Work work_ = nullptr;
  void* state_ = nullptr;
  int64_t tasks_ = 0, next_ = 0, chunk_ = 1;
};

}  // namespace anyshape
