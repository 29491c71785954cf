#include <anyshape/custom.h>

#include <functional>
#include <thread>

#include "testing.h"

namespace anyshape::testing {
namespace {

// `work` in that many threads at once.
void in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

constexpr int kThreads = 4, kRounds = 12;

TEST(Threads, OneSessionManyContexts) {
  const Session session = load("mlp");
  in_threads(kThreads, [&](int me) {
    Context context(session, 1 + me % 3);
    for (int i = 0; i < kRounds; ++i) {
      const int64_t batch = (me * 7 + i * 5) % 40;
      const Floats x = entries(batch * 8, me + i);
      auto out = context.run(std::vector<AnyValue>{tensor({batch, 8}, x)});
      ASSERT_TRUE(out) << out.error().text();
      expect_near(values((*out)[0]), mlp(x));
    }
  });
}

// Work that is large enough to be split.
TEST(Threads, WorkersOfSeveralContexts) {
  const Session session = load("product");
  Context alone(session, 1);
  const AnyValue x = filled({6000, 8});
  const Floats want = values(run(alone, {x})[0]);
  in_threads(3, [&](int me) {
    Context context(session, 2 + me);
    for (int i = 0; i < kRounds; ++i) {
      auto out = context.run(std::vector<AnyValue>{x});
      ASSERT_TRUE(out) << out.error().text();
      ASSERT_EQ(values((*out)[0]), want);
    }
  });
}

TEST(Threads, EveryModelAtOnce) {
  const Session state = load("state"), mask = load("mask"), branch = load("branch"), loop = load("loop");
  in_threads(kThreads, [&](int me) {
    Context a(state, 2), b(mask, 1), c(branch, 2), d(loop, 1);
    for (int i = 0; i < kRounds; ++i) {
      const int64_t n = 1 + (me + i) % 9;
      const Floats x = entries(n * 4, i), h = entries(n * 8, me);
      auto next = a.run(std::vector<AnyValue>{tensor({n, 4}, x), tensor({n, 8}, h)});
      ASSERT_TRUE(next) << next.error().text();
      expect_near(values((*next)[0]), next_state(x, h));
      std::vector<uint8_t> keep(static_cast<size_t>(n), 1);
      keep[0] = 0;
      auto rows = b.run(std::vector<AnyValue>{tensor({n, 4}, x), tensor(DType::boolean, {n}, keep)});
      ASSERT_TRUE(rows) << rows.error().text();
      EXPECT_EQ((*rows)[0].shape(), (Sizes{n - 1, 3}));
      auto taken = c.run(std::vector<AnyValue>{filled({n, 2})});
      EXPECT_EQ(taken.has_value(), n > 4 || n % 2 == 0);
      auto looped = d.run(std::vector<AnyValue>{tensor(DType::i64, {}, std::vector<int64_t>{n}), filled({3})});
      ASSERT_TRUE(looped) << looped.error().text();
      EXPECT_EQ(values((*looped)[0]), map(entries(3), [&](float v, size_t) { return v * static_cast<float>(n); }));
    }
  });
}

TEST(Threads, SharedInputs) {
  const Session session = load("mlp");
  const AnyValue x = filled({9, 8});
  const Floats want = mlp(entries(72));
  in_threads(kThreads, [&](int) {
    Context context(session, 1);
    for (int i = 0; i < kRounds; ++i) {
      auto out = context.run(std::vector<AnyValue>{x});
      ASSERT_TRUE(out);
      expect_near(values((*out)[0]), want);
    }
  });
}

// Outputs are read and let go of in another thread than the one that runs.
TEST(Threads, OutputsGivenToAnotherThread) {
  const Session session = load("mlp");
  Context context(session, 1);
  for (int i = 0; i < kRounds; ++i) {
    auto out = run(context, {filled({4, 8}, i)});
    ASSERT_EQ(out.size(), 1u);
    std::thread reader([value = std::move(out[0]), i]() mutable {
      expect_near(values(value), mlp(entries(32, i)));
      value = AnyValue();
    });
    out.clear();
    run(context, {filled({4, 8}, i + 1)});
    reader.join();
  }
}

// A reader that nobody waits for before the next run.
TEST(Threads, OutputsLetGoOfWhileTheContextRuns) {
  const Session session = load("mlp");
  Context context(session, 1);
  std::vector<std::thread> readers;
  for (int i = 0; i < 3 * kRounds; ++i) {
    auto out = run(context, {filled({4, 8}, i)});
    ASSERT_EQ(out.size(), 1u);
    readers.emplace_back([value = std::move(out[0]), i] { expect_near(values(value), mlp(entries(32, i))); });
  }
  for (std::thread& reader : readers) reader.join();
}

TEST(Threads, SessionsLoadedAtOnce) {
  in_threads(kThreads, [&](int me) {
    for (int i = 0; i < 3; ++i) {
      const Session session = load(me % 2 == 0 ? "mlp" : "branch");
      Context context(session, 1);
      auto out = context.run(std::vector<AnyValue>{filled({6, me % 2 == 0 ? 8 : 2})});
      EXPECT_TRUE(out);
    }
  });
}

TEST(Threads, RefusalsAtOnce) {
  const Session session = load("blocks");
  in_threads(kThreads, [&](int me) {
    Context context(session, 1);
    for (int i = 0; i < kRounds; ++i) {
      const int64_t n = me + i;
      auto out = context.run(std::vector<AnyValue>{filled({n, 2})});
      EXPECT_EQ(out.has_value(), n % 4 == 0);
      EXPECT_TRUE(out || out.error().code == "reshape.count") << out.error().text();
    }
  });
}

TEST(Threads, RegisteringWhileModelsLoad) {
  const CustomKernelFunction copy = [](std::span<const AnyValue>, std::span<AnyValue>, const CustomNode&) -> Status {
    return {};
  };
  in_threads(kThreads, [&](int me) {
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(register_op("threads", "Op" + std::to_string(me), "y = x", copy));
      load("same");
    }
  });
}

TEST(Threads, MoreThreadsThanAnyMachineHas) {
  const Session session = load("product");
  Context context(session, 1 << 20);
  EXPECT_EQ(run(context, {filled({2000, 8})}).size(), 1u);
}

}  // namespace
}  // namespace anyshape::testing
