#include "base/work.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace anyshape {
namespace {

std::string now() {
  const Status going = Work::check();
  return going ? "" : going.error().code;
}

TEST(Work, NothingStopsWithoutAScope) {
  EXPECT_EQ(now(), "");
  EXPECT_FALSE(Work::stopped());
  EXPECT_FALSE(Work::budget_spent());
  EXPECT_EQ(Work::max_bytes(), 0);
  EXPECT_EQ(Work::scope(), nullptr);
}

TEST(Work, TheStrictestOfAllScopesHolds) {
  std::atomic<bool> cancel = false;
  const WorkScope outer({&cancel, 0, 0, 100});
  {
    const WorkScope inner({nullptr, 1e-9, 0, 200});
    EXPECT_EQ(now(), "work.timeout");
    EXPECT_EQ(Work::max_bytes(), 100);
    cancel = true;
    EXPECT_EQ(now(), "work.cancelled");
    EXPECT_TRUE(Work::budget_spent());
  }
  EXPECT_EQ(now(), "work.cancelled");
  cancel = false;
  EXPECT_EQ(now(), "");
  const WorkScope late({nullptr, 1e300, 1e-9, 50});
  EXPECT_EQ(now(), "");
  EXPECT_TRUE(Work::budget_spent());
  EXPECT_FALSE(Work::stopped());
  EXPECT_EQ(Work::max_bytes(), 50);
}

TEST(Work, ScopesEndInAnyOrder) {
  const std::atomic<bool> cancel = true;
  auto outer = std::make_unique<WorkScope>(WorkLimits{&cancel});
  auto inner = std::make_unique<WorkScope>(WorkLimits{});
  EXPECT_EQ(now(), "work.cancelled");
  outer.reset();
  EXPECT_EQ(now(), "");
  inner.reset();
  EXPECT_EQ(Work::scope(), nullptr);
}

// Limits are those of one thread; another one may watch over them.
TEST(Work, IsOfOneThread) {
  const std::atomic<bool> cancel = true;
  const WorkScope scope({&cancel});
  std::string there, watched;
  std::thread([&, here = Work::scope()] {
    there = now();
    watched = Work::check(here).error().code;
  }).join();
  EXPECT_EQ(there, "");
  EXPECT_EQ(watched, "work.cancelled");
}

// The caller is asked now and then, by its own thread only, and not again while it answers.
TEST(Work, AsksTheCaller) {
  const auto here = std::this_thread::get_id();
  int asked = 0;
  const WorkScope scope({.interrupted = [&] {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(now(), "");
    return ++asked == 2;
  }});
  const WorkScope inner({});
  const WorkScope* watched = Work::scope();
  std::thread watcher([&] {
    while (Work::check(watched)) std::this_thread::yield();
  });
  EXPECT_EQ(now(), "");
  EXPECT_EQ(asked, 0);
  while (now().empty()) std::this_thread::yield();
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(now(), "work.cancelled");
  EXPECT_EQ(asked, 2);
  watcher.join();
}

}  // namespace
}  // namespace anyshape
