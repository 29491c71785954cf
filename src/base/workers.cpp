#include "base/workers.h"

#include <algorithm>

namespace anyshape {

Workers::Workers(int threads) {
  for (int i = 1; i < threads; ++i) pool_.emplace_back([this] { loop(); });
}

Workers::~Workers() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : pool_) thread.join();
}

void Workers::take_ranges() {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (next_ >= tasks_) return;
    const int64_t first = next_, last = std::min(tasks_, first + chunk_);
    next_ = last;
    lock.unlock();
    work_(state_, first, last);
  }
}

void Workers::loop() {
  uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    take_ranges();
    std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void Workers::run(int64_t tasks, Work work, void* state) {
  if (tasks <= 0) return;
  if (pool_.empty() || tasks == 1) return work(state, 0, tasks);
  {
    std::lock_guard lock(mutex_);
    work_ = work;
    state_ = state;
    tasks_ = tasks;
    next_ = 0;
    chunk_ = std::max<int64_t>(1, tasks / (int64_t{4} * threads()));
    busy_ = static_cast<int>(pool_.size());
    ++round_;
  }
  wake_.notify_all();
  take_ranges();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
}

}  // namespace anyshape
