#include "base/workers.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/os/fork.h"
#include "base/os/signal_shield.h"

namespace anyshape {

class Workers::Pool {
 public:
  explicit Pool(int threads);
  ~Pool();

  int threads() const { return static_cast<int>(pool_.size()) + 1; }
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

Workers::Pool::Pool(int threads) {
  constexpr int kMost = 256;
  const os::SignalShield shield;
  try {
    for (int i = 1; i < std::min(threads, kMost); ++i) pool_.emplace_back([this] { loop(); });
  } catch (const std::system_error&) {
    // Those that are there do the work.
  }
}

Workers::Pool::~Pool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : pool_) thread.join();
}

void Workers::Pool::take_ranges() {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (next_ >= tasks_) return;
    const int64_t first = next_, last = std::min(tasks_, first + chunk_);
    next_ = last;
    lock.unlock();
    work_(state_, first, last);
  }
}

void Workers::Pool::loop() {
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

void Workers::Pool::run(int64_t tasks, Work work, void* state) {
  if (pool_.empty()) return work(state, 0, tasks);
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

Workers::Workers(int threads)
    : wanted_(threads), pool_(threads > 1 ? std::make_unique<Pool>(threads) : nullptr), fork_count_(fork_count()) {}

Workers::~Workers() {
  if (fork_count_ != fork_count()) leave_pool_of_parent();
}

int Workers::threads() const { return pool_ ? pool_->threads() : 1; }

// It is not destroyed, only forgotten: that would wait for its threads.
void Workers::leave_pool_of_parent() {
  static_cast<void>(pool_.release());
  fork_count_ = fork_count();
}

void Workers::run(int64_t tasks, Work work, void* state) {
  if (tasks <= 0) return;
  if (!pool_ || tasks == 1) return work(state, 0, tasks);
  if (fork_count_ != fork_count()) {
    leave_pool_of_parent();
    pool_ = std::make_unique<Pool>(wanted_);
  }
  pool_->run(tasks, work, state);
}

}  // namespace anyshape
