#include "base/sleepers.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace anyshape {
namespace {

void wait_until_asleep(const Sleepers& sleepers, int count) {
  while (sleepers.asleep() != count) std::this_thread::yield();
}

TEST(Sleepers, EachIsWokenOnce) {
  Sleepers sleepers;
  std::atomic<int> awake = 0;
  std::vector<std::thread> threads;
  const uint32_t seen = sleepers.news();
  for (size_t me = 0; me < 3; ++me)
    threads.emplace_back([&, me] {
      sleepers.sleep(me, seen);
      ++awake;
    });
  wait_until_asleep(sleepers, 3);
  // One that has not looked for news yet finds it and wakes by itself.
  int woken = sleepers.wake(1);
  EXPECT_LE(woken, 1);
  while (awake == 0) std::this_thread::yield();
  for (int i = 0; i < 1000; ++i) woken += sleepers.wake(8);
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(woken, 3);
  EXPECT_EQ(awake, 3);
  EXPECT_EQ(sleepers.asleep(), 0);
}

// One that sleeps and another one that was woken and does not run yet: it counts among those that are wanted.
TEST(Sleepers, OneOnItsWayCounts) {
  Sleepers sleepers;
  const uint32_t seen = sleepers.news();
  std::thread first([&] { sleepers.sleep(0, seen); });
  std::thread second([&] { sleepers.sleep(1, seen); });
  wait_until_asleep(sleepers, 2);
  int woken = 0;
  while (woken < 2) {
    const int before = sleepers.asleep();
    const int now = sleepers.wake(1);
    ASSERT_LE(now, 1);
    ASSERT_EQ(sleepers.asleep(), before - now);
    woken += now;
    std::this_thread::yield();
  }
  first.join();
  second.join();
}

TEST(Sleepers, NobodySleepsThroughNews) {
  Sleepers sleepers;
  const uint32_t seen = sleepers.news();
  EXPECT_EQ(sleepers.wake(1), 0);
  sleepers.sleep(0, seen);
  EXPECT_EQ(sleepers.asleep(), 0);
  std::atomic<int> at = 0;
  constexpr int kRounds = 2000;
  std::thread follower([&] {
    while (at < kRounds) {
      const uint32_t now = sleepers.news();
      if (at < kRounds) sleepers.sleep(7, now);
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    ++at;
    sleepers.wake(1);
  }
  follower.join();
  EXPECT_EQ(sleepers.asleep(), 0);
}

}  // namespace
}  // namespace anyshape
