#include "measure.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

namespace anyshape::bench {
namespace {

constexpr int kRounds = 6;
// A group is long enough for the clock, a warm-up for the caches.
constexpr double kGroup = 20e-6, kWarmUp = 1e-3;
// Threads of an engine spin for some time after its last call, on cores that the next one wants.
constexpr std::chrono::milliseconds kCalm(50);

// Seconds of one call out of a group of `calls`.
Result<double> time_group(Runner& runner, int calls) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) TRY_OK(runner.run());
  return seconds_since(start) / calls;
}

void count(Contender& contender, double each, int calls, bool keep) {
  contender.best = std::min(contender.best, each);
  contender.calls += calls;
  contender.seconds += each * calls;
  if (keep) contender.times.push_back(each);
}

// A call that fills the turn alone is its own warm-up.
Status take_turn(Contender& contender, double slice, bool keep) {
  Runner& runner = *contender.runner;
  const auto start = Clock::now();
  double one = 0;
  while (seconds_since(start) < std::min(kWarmUp, slice / 4)) {
    TRY(one, time_group(runner, 1));
  }
  if (one >= slice) {
    count(contender, one, 1, keep);
    return {};
  }
  const int calls = keep || one >= kGroup ? 1 : static_cast<int>(kGroup / one) + 1;
  do {
    TRY(const double each, time_group(runner, calls));
    count(contender, each, calls, keep);
  } while (seconds_since(start) < slice);
  return {};
}

Status turns(std::span<Contender> contenders, double seconds, bool keep) {
  for (int round = 0; round < kRounds; ++round)
    for (Contender& contender : contenders) {
      std::this_thread::sleep_for(kCalm);
      TRY_OK(take_turn(contender, seconds / kRounds, keep));
    }
  return {};
}

std::string number_difference(const AnyValue& got, const AnyValue& want, double limit, double scale) {
  double largest = scale, wrong = 0;
  for (int64_t i = 0; i < want.count(); ++i) largest = std::max(largest, std::fabs(want.number(i)));
  for (int64_t i = 0; i < want.count(); ++i) {
    const double off = std::fabs(got.number(i) - want.number(i));
    if (!(off <= limit * largest)) wrong = std::max(wrong, std::isfinite(off) ? off : INFINITY);
  }
  if (wrong == 0) return "";
  return fmt::format("off by {:.3g} where the scale is {:.3g}", wrong, largest);
}

}  // namespace

Status take_turns(std::span<Contender> contenders, double seconds) { return turns(contenders, seconds, false); }
Status keep_times(std::span<Contender> contenders, double seconds) { return turns(contenders, seconds, true); }

double percentile(std::vector<double> times, double part) {
  const auto place = times.begin() + static_cast<ptrdiff_t>(part * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), place, times.end());
  return *place;
}

Result<double> shared_rate(Runner& runner, const Feed& feed, int threads, double seconds) {
  std::vector<RunnerPtr> runners;
  for (int i = 0; i < threads; ++i) {
    TRY(RunnerPtr twin, runner.twin());
    TRY_OK(twin->bind(feed));
    runners.push_back(std::move(twin));
  }
  std::atomic<int64_t> calls{0};
  std::atomic<bool> failed{false};
  const auto start = Clock::now();
  std::vector<std::thread> workers;
  for (RunnerPtr& each : runners)
    workers.emplace_back([&, at = each.get()] {
      int64_t done = 0;
      for (; !failed && seconds_since(start) < seconds; ++done)
        if (!at->run()) failed = true;
      calls += done;
    });
  for (std::thread& worker : workers) worker.join();
  if (failed) return refuse("bench.threads", "a run failed while {} threads shared the model", threads);
  return static_cast<double>(calls) / seconds_since(start);
}

std::string difference_of(const std::vector<AnyValue>& got, const std::vector<AnyValue>& want, double limit,
                          double scale) {
  if (got.size() != want.size()) return fmt::format("{} outputs instead of {}", got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const bool numbers = want[i].kind() == AnyValue::Kind::tensor && want[i].type() != DType::string;
    if (!numbers || got[i].kind() != want[i].kind() || got[i].shape() != want[i].shape() ||
        got[i].type() != want[i].type()) {
      if (const std::string wrong = difference(got[i], want[i], Tolerance()); !wrong.empty()) return wrong;
      continue;
    }
    if (const std::string wrong = number_difference(got[i], want[i], limit, scale); !wrong.empty())
      return fmt::format("output {} is {}", i, wrong);
  }
  return "";
}

}  // namespace anyshape::bench
