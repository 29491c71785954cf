#include "machine.h"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <numeric>
#include <thread>

#include "../fma_peak.h"
#include "measure.h"

namespace anyshape::bench {
namespace {

struct Level {
  const char* name;
  int64_t bytes;
};
// From what the first cache of today's machines has room for to what none has.
constexpr Level kLevels[] = {
    {"16 KiB", 16 << 10}, {"512 KiB", 512 << 10}, {"4 MiB", 4 << 20}, {"16 MiB", 16 << 20}, {"256 MiB", 256 << 20}};
constexpr double kWatched = 0.1;

// The most that `work`, which says how much it did, gets done in a second on so many threads at once; each gets its
// number, and its best call counts: what else the machine does is no property of it.
double best_rate(int threads, const std::function<double(int)>& work) {
  std::vector<double> best(static_cast<size_t>(threads));
  std::vector<std::thread> workers;
  const auto begin = Clock::now();
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      while (seconds_since(begin) < kWatched) {
        const auto start = Clock::now();
        const double amount = work(t);
        best[static_cast<size_t>(t)] = std::max(best[static_cast<size_t>(t)], amount / seconds_since(start));
      }
    });
  for (std::thread& worker : workers) worker.join();
  return std::accumulate(best.begin(), best.end(), 0.0);
}

// Of threads that share out so many bytes.
double read_rate(int threads, int64_t bytes) {
  const int64_t count = bytes / threads / static_cast<int64_t>(sizeof(float));
  const std::vector<float> part(static_cast<size_t>(count), 1);
  const std::vector<std::vector<float>> data(static_cast<size_t>(threads), part);
  const int times = static_cast<int>(std::max<int64_t>(1, (1 << 18) / bytes));
  return best_rate(threads, [&](int t) {
    for (int i = 0; i < times; ++i) add_up(data[static_cast<size_t>(t)].data(), count);
    return static_cast<double>(count) * sizeof(float) * times;
  });
}

}  // namespace

Machine Machine::measure(const std::vector<int>& threads) {
  Machine out;
  out.threads_ = threads;
  for (const int n : threads) out.peaks_.push_back(best_rate(n, [](int) { return multiply_add(2000); }));
  for (const Level& level : kLevels) {
    out.rates_.emplace_back();
    for (const int n : threads) out.rates_.back().push_back(read_rate(n, level.bytes));
  }
  return out;
}

double Machine::least_seconds(int threads, double operations, double bytes) const {
  const auto at = static_cast<size_t>(std::find(threads_.begin(), threads_.end(), threads) - threads_.begin());
  size_t level = 0;
  while (level + 1 < std::size(kLevels) && bytes > static_cast<double>(kLevels[level].bytes)) ++level;
  return std::max(operations / peaks_[at], bytes / rates_[level][at]);
}

std::vector<std::pair<std::string, double>> Machine::numbers() const {
  std::vector<std::pair<std::string, double>> out;
  for (size_t i = 0; i < threads_.size(); ++i) {
    out.emplace_back(fmt::format("GFLOP/s on {}", threads_[i]), peaks_[i] * 1e-9);
    for (size_t level = 0; level < rates_.size(); ++level)
      out.emplace_back(fmt::format("GB/s of {} on {}", kLevels[level].name, threads_[i]), rates_[level][i] * 1e-9);
  }
  return out;
}

std::string vector_name() {
  const int64_t targets = hwy::SupportedTargets();
  return hwy::TargetName(targets & -targets);
}

std::vector<std::string> machine_facts() {
  std::string model = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  return {model, fmt::format("{} hardware threads", std::thread::hardware_concurrency()),
          fmt::format("vectors of {}", vector_name()), fmt::format("compiler {}", __VERSION__)};
}

}  // namespace anyshape::bench
