#include "base/workers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/os/fork.h"
#include "base/os/signal_shield.h"
#include "base/sleepers.h"
#include "base/spin.h"

namespace anyshape {
namespace {

constexpr int kMostThreads = Sleepers::kMost;
constexpr size_t kMostJobs = 64;
constexpr std::chrono::microseconds kPatience(100);

// What is left of a piece of work, in one word: who takes a range, or a seat, takes it of the work at hand and no
// other. Ranges first..last - 1 are left.
struct Ticket {
  uint64_t generation, seats, first, last;

  static constexpr int kRangeBits = 16, kSeatBits = 8;
  static Ticket of(uint64_t word) {
    constexpr uint64_t kRange = (1u << kRangeBits) - 1, kSeat = (1u << kSeatBits) - 1;
    return {word >> (2 * kRangeBits + kSeatBits), word >> (2 * kRangeBits) & kSeat, word >> kRangeBits & kRange,
            word & kRange};
  }
  uint64_t word() const {
    return generation << (2 * kRangeBits + kSeatBits) | seats << (2 * kRangeBits) | first << kRangeBits | last;
  }
  bool open() const { return first < last; }
};

// A piece of work that is being done. What it consists of is read by those only who have taken a range, and written
// only when all ranges are done.
struct alignas(64) Job {
  std::atomic<bool> taken = false;
  std::atomic<uint64_t> ticket = 0;
  Workers::Work work = nullptr;
  void* state = nullptr;
  int64_t tasks = 0, chunk = 1;
  uint32_t ranges = 0;
  alignas(64) std::atomic<uint32_t> done = 0;

  // The ticket as it was before `change`; nothing where `may` does not hold of it.
  template <class May, class Change>
  std::optional<Ticket> update(May may, Change change) {
    uint64_t word = ticket.load(std::memory_order_acquire);
    for (;;) {
      const Ticket before = Ticket::of(word);
      if (!may(before)) return std::nullopt;
      Ticket after = before;
      change(after);
      if (ticket.compare_exchange_weak(word, after.word(), std::memory_order_acq_rel, std::memory_order_acquire))
        return before;
    }
  }

  // Ranges of this generation, one after the other: the caller begins with the first, others with the last. So each of
  // two threads has about the same ranges in the next run, whose weights its caches hold.
  void work_on(uint64_t generation, bool from_front) {
    const auto is_open = [&](const Ticket& t) { return t.generation == generation && t.open(); };
    while (const auto at = update(is_open, [&](Ticket& t) { from_front ? ++t.first : --t.last; })) {
      const int64_t first = static_cast<int64_t>(from_front ? at->first : at->last - 1) * chunk;
      // Another piece of work may be there once this range is done.
      const uint32_t all = ranges;
      work(state, first, std::min(tasks, first + chunk));
      if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == all) done.notify_one();
    }
  }

  // True: there was a seat, and now there is no range left.
  bool join() {
    const auto at = update([](const Ticket& t) { return t.open() && t.seats > 0; }, [](Ticket& t) { --t.seats; });
    if (at) work_on(at->generation, false);
    return at.has_value();
  }

  void wait() {
    if (spin_until([&] { return done.load(std::memory_order_acquire) == ranges; }, kPatience)) return;
    for (uint32_t now; (now = done.load(std::memory_order_acquire)) != ranges;) done.wait(now);
  }
};

// The threads of this process. Never destroyed: at its end nobody waits for them.
class Pool {
 public:
  static Pool& here() {
    static std::mutex mutex;
    static std::atomic<Pool*> pool = nullptr;
    static std::atomic<uint64_t> made_in = 0;
    if (Pool* known = pool.load(std::memory_order_acquire); known && made_in == fork_count()) return *known;
    const std::lock_guard lock(mutex);
    if (!pool || made_in != fork_count()) {
      pool.store(new Pool, std::memory_order_release);
      made_in = fork_count();
    }
    return *pool;
  }

  int helpers() const { return helpers_.load(std::memory_order_relaxed); }
  // At least so many threads, as far as the system gives them.
  void grow(int helpers);
  // Where some of them sleep.
  void rouse(int helpers) {
    if (sleepers_.asleep() > 0) sleepers_.wake(helpers);
  }
  void run(int helpers, int64_t tasks, Workers::Work work, void* state);

 private:
  [[noreturn]] void loop(size_t me);
  bool help();
  void rest(size_t me, uint32_t seen);
  Job* free_job();

  std::array<Job, kMostJobs> jobs_;
  std::atomic<size_t> jobs_used_ = 0;  // those behind never had work
  Sleepers sleepers_;
  std::atomic<int> spinning_ = 0;
  std::atomic<int> helpers_ = 0;
  std::mutex growing_;
  // More threads than cores only take them from each other while they wait.
  const int most_spinning_ = static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) - 1;
};

// Set in threads of the pool.
thread_local bool is_helper = false;

void Pool::grow(int helpers) {
  if (this->helpers() >= helpers) return;
  const std::lock_guard lock(growing_);
  const os::SignalShield shield;
  try {
    for (; this->helpers() < helpers; ++helpers_)
      std::thread([this, me = static_cast<size_t>(this->helpers())] { loop(me); }).detach();
  } catch (const std::system_error&) {
    // Those that are there do the work.
  }
}

void Pool::loop(size_t me) {
  is_helper = true;
  for (;;) {
    const uint32_t seen = sleepers_.news();
    if (!help()) rest(me, seen);
  }
}

bool Pool::help() {
  bool any = false;
  const size_t used = jobs_used_.load(std::memory_order_acquire);
  for (size_t i = 0; i < used; ++i) any |= jobs_[i].join();
  return any;
}

void Pool::rest(size_t me, uint32_t seen) {
  const auto is_news = [&] { return sleepers_.news() != seen; };
  const bool spins = spinning_.fetch_add(1) < most_spinning_;
  const bool work = spins && spin_until(is_news, kPatience);
  spinning_.fetch_sub(1);
  if (!work) sleepers_.sleep(me, seen);
}

Job* Pool::free_job() {
  for (size_t i = 0; i < kMostJobs; ++i) {
    if (jobs_[i].taken.exchange(true, std::memory_order_acquire)) continue;
    for (size_t used = jobs_used_; used <= i && !jobs_used_.compare_exchange_weak(used, i + 1);) {
    }
    return &jobs_[i];
  }
  return nullptr;
}

void Pool::run(int helpers, int64_t tasks, Workers::Work work, void* state) {
  Job* job = free_job();
  if (!job) return work(state, 0, tasks);
  job->work = work;
  job->state = state;
  job->tasks = tasks;
  job->chunk = std::max<int64_t>(1, tasks / (int64_t{4} * (helpers + 1)));
  job->ranges = static_cast<uint32_t>((tasks + job->chunk - 1) / job->chunk);
  job->done.store(0, std::memory_order_relaxed);
  Ticket ticket = Ticket::of(job->ticket.load(std::memory_order_relaxed));
  ticket.generation++;
  ticket.seats = static_cast<uint64_t>(helpers);
  ticket.first = 0;
  ticket.last = job->ranges;
  job->ticket.store(ticket.word(), std::memory_order_release);
  sleepers_.wake(helpers);
  job->work_on(Ticket::of(ticket.word()).generation, true);
  job->wait();
  job->taken.store(false, std::memory_order_release);
}

}  // namespace

Threads::Threads(int most) : count(std::clamp(most, 1, kMostThreads)) {}

Workers::Workers(const Threads& threads) : caller_(threads), wanted_(threads.parallel ? 1 : threads.count) {
  if (wanted_ > 1) Pool::here().grow(wanted_ - 1);
}

int Workers::threads() const { return wanted_ > 1 ? std::min(wanted_, Pool::here().helpers() + 1) : 1; }

void Workers::wake() {
  if (wanted_ > 1 && !is_helper) Pool::here().rouse(wanted_ - 1);
}

bool Workers::run(int64_t tasks, Work work, void* state) {
  if (tasks <= 0) return true;
  if (caller_.parallel && tasks > 1) return run_by_caller(tasks, work, state);
  if (wanted_ == 1 || tasks == 1 || is_helper) {
    work(state, 0, tasks);
    return true;
  }
  Pool& pool = Pool::here();
  pool.grow(wanted_ - 1);
  pool.run(static_cast<int>(std::min<int64_t>(wanted_ - 1, tasks - 1)), tasks, work, state);
  return true;
}

bool Workers::run_by_caller(int64_t tasks, Work work, void* state) const {
  struct Guarded {
    Work work;
    void* state;
    int64_t tasks;
    std::atomic<int64_t> done = 0;
    std::atomic<bool> outside = false;
  } guarded{work, state, tasks};
  caller_.parallel(
      caller_.user, tasks,
      [](void* to, int64_t first, int64_t last) {
        auto& g = *static_cast<Guarded*>(to);
        if (first < 0 || first > last || last > g.tasks) {
          g.outside = true;
          return;
        }
        if (first < last) g.work(g.state, first, last);
        g.done.fetch_add(last - first, std::memory_order_acq_rel);
      },
      &guarded);
  return !guarded.outside && guarded.done.load(std::memory_order_acquire) == tasks;
}

}  // namespace anyshape
