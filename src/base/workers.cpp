#include "base/workers.h"

#include <algorithm>
#include <system_error>

namespace anyshape {

Workers::Workers(int threads) {
  constexpr int kMost = 256;
  try {
    for (int i = 1; i < std::min(threads, kMost); ++i) pool_.emplace_back([this] { loop(); });
  } catch (const std::system_error&) {
    // Those that are there do the work.
  }
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
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || seats_ > 0; });
    if (stop_) return;
    --seats_;
    ++active_;
    lock.unlock();
    take_ranges();
    lock.lock();
    if (--active_ == 0) done_.notify_one();
  }
}

void Workers::run(int64_t tasks, Work work, void* state) {
  if (tasks <= 0) return;
  if (pool_.empty() || tasks == 1) return work(state, 0, tasks);
  const int helpers = static_cast<int>(std::min<int64_t>(static_cast<int64_t>(pool_.size()), tasks - 1));
  {
    std::lock_guard lock(mutex_);
    work_ = work;
    state_ = state;
    tasks_ = tasks;
    next_ = 0;
    chunk_ = std::max<int64_t>(1, tasks / (int64_t{4} * threads()));
    seats_ = helpers;
  }
  for (int i = 0; i < helpers; ++i) wake_.notify_one();
  take_ranges();
  // All ranges are taken: who has not joined by now is not waited for.
  std::unique_lock lock(mutex_);
  seats_ = 0;
  done_.wait(lock, [&] { return active_ == 0; });
}

}  // namespace anyshape
