#include <anyshape/work.h>

#include <functional>
#include <mutex>
#include <thread>

#include "testing.h"

namespace anyshape::testing {
namespace {

// What the engine asks a pool for, as a function of the test.
using Parallel = std::function<void(int64_t tasks, const std::function<void(int64_t first, int64_t last)>& work)>;

TaskPool pool_of(Parallel& parallel) {
  return {[](void* user, int64_t tasks, TaskPool::Work work, void* state) {
            (*static_cast<Parallel*>(user))(tasks, [&](int64_t first, int64_t last) { work(state, first, last); });
          },
          &parallel};
}

const AnyValue& rows() {
  static const AnyValue kRows = filled({6000, 8});
  return kRows;
}

Floats alone(const Session& session) {
  Context context(session, 1);
  return values(run(context, {rows()})[0]);
}

TEST(Pool, ThreadsOfTheCaller) {
  const Session session = load("product");
  std::atomic<int> steps = 0, others = 0;
  const auto me = std::this_thread::get_id();
  Parallel parallel = [&](int64_t tasks, const auto& work) {
    ++steps;
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        others += std::this_thread::get_id() != me;
        work(tasks * t / 3, tasks * (t + 1) / 3);
      });
    for (std::thread& thread : threads) thread.join();
  };
  Context context(session, pool_of(parallel));
  const Floats want = alone(session);
  for (int round = 0; round < 3; ++round) EXPECT_EQ(values(run(context, {rows()})[0]), want);
  EXPECT_GT(steps, 0);
  EXPECT_EQ(others, 3 * steps);
}

TEST(Pool, OneTaskAtATimeFromTheLast) {
  const Session session = load("product");
  int64_t seen = 0;
  Parallel parallel = [&](int64_t tasks, const auto& work) {
    seen += tasks;
    for (int64_t i = tasks; i-- > 0;) work(i, i + 1);
  };
  Context context(session, pool_of(parallel));
  EXPECT_EQ(values(run(context, {rows()})[0]), alone(session));
  EXPECT_GT(seen, 1);
}

TEST(Pool, NoneWorksAlone) {
  const Session session = load("product");
  Context context(session, TaskPool());
  EXPECT_EQ(values(run(context, {rows()})[0]), alone(session));
}

TEST(Pool, ThatDoesNotDoWhatItShould) {
  const Session session = load("product");
  Parallel parallel;
  Context context(session, pool_of(parallel));
  for (const Parallel& wrong : std::vector<Parallel>{
           [](int64_t, const auto&) {},
           [](int64_t tasks, const auto&work) { work(0, tasks - 1); },
           [](int64_t tasks, const auto&work) { work(0, tasks + 1); },
           [](int64_t tasks, const auto&work) { work(-1, tasks); },
           [](int64_t tasks, const auto&work) { work(tasks, 0); },
           [](int64_t tasks, const auto&work) {
             work(0, tasks);
             work(0, 1);
           },
       }) {
    parallel = wrong;
    const Error error = refused(context, {rows()});
    EXPECT_EQ(error.code, "run.pool") << error.text();
    EXPECT_EQ(error.kind, Error::Kind::usage);
  }
  parallel = [](int64_t tasks, const auto& work) {
    work(0, 0);
    work(0, tasks);
  };
  EXPECT_EQ(values(run(context, {rows()})[0]), alone(session));
}

// A model of one step over 64 rows, into memory that tells which entries were written.
struct OneStep {
  Session session = load("long_rows");
  Sizes shape{64, 40000};
  AnyValue x = filled(shape);
  Floats y = Floats(static_cast<size_t>(count(shape)), -7.f);

  Result<Status> run_into(Context& context, const RunOptions& options) {
    auto out = AnyValue::borrow(DType::f32, shape, y.data(), y.size() * sizeof(float));
    if (!out) return tl::unexpected(out.error());
    std::vector<AnyValue> outputs{*out};
    return context.run_into(std::vector<AnyValue>{x}, outputs, options);
  }
  int64_t untouched() const { return std::count(y.begin(), y.end(), -7.f); }
};

TEST(Pool, CancelEndsAStepBetweenTasks) {
  OneStep step;
  std::atomic<bool> cancel = false;
  int64_t tasks_seen = 0;
  Parallel parallel = [&](int64_t tasks, const auto& work) {
    tasks_seen = tasks;
    work(0, 1);
    cancel = true;
    work(1, tasks);
  };
  Context context(step.session, pool_of(parallel));
  RunOptions options;
  options.cancel = &cancel;
  const auto ended = step.run_into(context, options);
  ASSERT_TRUE(ended);
  ASSERT_FALSE(*ended);
  EXPECT_EQ(ended->error().code, "run.cancelled");
  ASSERT_GT(tasks_seen, 1);
  EXPECT_GT(step.untouched(), 0);
  EXPECT_LT(step.untouched(), count(step.shape));
  cancel = false;
  parallel = [](int64_t tasks, const auto& work) { work(0, tasks); };
  EXPECT_TRUE(*step.run_into(context, options));
  EXPECT_EQ(step.untouched(), 0);
}

TEST(Pool, LimitsOfTheThreadHoldInOthers) {
  OneStep step;
  std::atomic<bool> cancel = false;
  Parallel parallel = [&](int64_t tasks, const auto& work) {
    cancel = true;
    std::thread(work, 0, tasks).join();
  };
  Context context(step.session, pool_of(parallel));
  const WorkScope scope({&cancel});
  const auto ended = step.run_into(context, {});
  ASSERT_TRUE(ended);
  ASSERT_FALSE(*ended);
  EXPECT_EQ(ended->error().code, "work.cancelled");
  EXPECT_EQ(step.untouched(), count(step.shape));
}

}  // namespace
}  // namespace anyshape::testing
