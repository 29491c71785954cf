#pragma once

#include <chrono>
#include <limits>
#include <span>

#include "engine.h"

namespace anyshape::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One engine with one number of threads, and what was seen of it.
struct Contender {
  std::string engine;
  int threads = 1;
  RunnerPtr runner;
  double best = std::numeric_limits<double>::infinity();  // seconds of a call, least of all groups
  double calls = 0, seconds = 0;
  std::vector<double> times = {};  // of each call, where they are kept

  double mean() const { return seconds / calls; }
};

// The contenders take turns, each for about `seconds` in all and six calls at least. Calls too short for the clock
// are timed in groups.
Status take_turns(std::span<Contender> contenders, double seconds);
// The same with the time of every call kept.
Status keep_times(std::span<Contender> contenders, double seconds);

// The place `part` (0.5, 0.99) of the way through the sorted times.
double percentile(std::vector<double> times, double part);

// Calls per second of `threads` threads that share the model, each with its own inputs bound to `feed`.
Result<double> shared_rate(Runner& runner, const Feed& feed, int threads, double seconds);

// Empty, or what is different: entries by more than `limit` of the largest of their output, or of `scale` if that is
// larger.
std::string difference_of(const std::vector<AnyValue>& got, const std::vector<AnyValue>& want, double limit,
                          double scale);

}  // namespace anyshape::bench
