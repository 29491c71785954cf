#include "base/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "base/os/dying_test.h"

namespace anyshape {
namespace {

struct Counts {
  std::atomic<int64_t> done[100] = {};
  std::atomic<int> at_once = 0, most = 0;
};

void count(void* state, int64_t first, int64_t last) {
  auto& counts = *static_cast<Counts*>(state);
  const int now = ++counts.at_once;
  for (int most = counts.most; now > most && !counts.most.compare_exchange_weak(most, now);) {
  }
  for (int64_t i = first; i < last; ++i) ++counts.done[i];
  --counts.at_once;
}

TEST(Workers, EveryTaskOnce) {
  for (int threads : {1, 2, 3, 8}) {
    Workers workers(threads);
    for (int round = 0; round < 300; ++round) {
      const int64_t tasks = round % 100;
      Counts counts;
      workers.run(tasks, count, &counts);
      for (int64_t i = 0; i < 100; ++i) ASSERT_EQ(counts.done[i], i < tasks ? 1 : 0) << threads << " " << tasks;
      ASSERT_EQ(counts.at_once, 0);
      ASSERT_LE(counts.most, threads);
    }
  }
}

TEST(Workers, NoMoreThanTasks) {
  Workers workers(8);
  for (int round = 0; round < 200; ++round) {
    Counts counts;
    workers.run(2, count, &counts);
    ASSERT_LE(counts.most, 2);
  }
}

TEST(Workers, AnyNumberOfThreads) {
  Workers workers(1 << 20);
  EXPECT_GE(workers.threads(), 1);
  EXPECT_LE(workers.threads(), 256);
  Counts counts;
  workers.run(100, count, &counts);
  for (const auto& done : counts.done) EXPECT_EQ(done, 1);
}

TEST(Workers, SeveralCallers) {
  Workers shared(3);
  std::vector<std::thread> callers;
  for (int me = 0; me < 4; ++me)
    callers.emplace_back([&] {
      Workers own(4);
      for (int round = 0; round < 300; ++round) {
        Counts counts;
        (round % 2 ? own : shared).run(100, count, &counts);
        for (const auto& done : counts.done) ASSERT_EQ(done, 1);
        ASSERT_LE(counts.most, round % 2 ? 4 : 3);
      }
    });
  for (std::thread& caller : callers) caller.join();
}

// More pieces of work at once than there are places for: the others are done by their callers.
TEST(Workers, ManyCallers) {
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int me = 0; me < 100; ++me)
    callers.emplace_back([&] {
      Workers own(2);
      Counts counts;
      own.run(100, count, &counts);
      right += std::all_of(std::begin(counts.done), std::end(counts.done), [](const auto& done) { return done == 1; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 100);
}

TEST(Workers, WorkInsideOfWork) {
  Workers workers(3);
  struct Outer {
    Workers* workers;
    Counts counts[20];
  } outer{&workers, {}};
  const auto nested = [](void* state, int64_t first, int64_t last) {
    auto& all = *static_cast<Outer*>(state);
    for (int64_t i = first; i < last; ++i) all.workers->run(100, count, &all.counts[i]);
  };
  workers.run(20, nested, &outer);
  for (const Counts& counts : outer.counts)
    for (const auto& done : counts.done) ASSERT_EQ(done, 1);
}

TEST(Workers, AfterSleep) {
  Workers workers(3);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Counts counts;
    workers.run(100, count, &counts);
    for (const auto& done : counts.done) ASSERT_EQ(done, 1);
  }
}

// In the child of a fork there are no threads but the one that forked.
TEST(Workers, AfterFork) {
  std::optional<Workers> idle(std::in_place, 4), used(std::in_place, 4), alone(std::in_place, 1);
  Counts counts;
  used->run(100, count, &counts);
  const auto all_done = [](Workers& workers, int times) {
    Counts again;
    for (int i = 0; i < times; ++i) workers.run(100, count, &again);
    for (const auto& done : again.done)
      if (done != times) return false;
    return true;
  };
  const int died = run_and_die([&] {
    idle.reset();
    if (!all_done(*used, 20) || !all_done(*alone, 20) || used->threads() != 4) return 1;
    const int in_child = run_and_die([&] { return all_done(*used, 20) ? 0 : 1; });
    used.reset();
    alone.reset();
    return in_child;
  });
  EXPECT_EQ(died, 0);
  EXPECT_TRUE(all_done(*used, 20));
}

}  // namespace
}  // namespace anyshape
