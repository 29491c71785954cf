#include "child.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <thread>

#include "machine.h"
#include "measure.h"

namespace anyshape::bench {
namespace {

constexpr int kProcesses = 3;

double resident_mebibytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

struct Start {
  double load = 0, first = 0, memory = 0;
};

Result<Start> ask_process(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  Start out;
  if (pipe == nullptr || std::fscanf(pipe.get(), "%lf %lf %lf", &out.load, &out.first, &out.memory) != 3)
    return refuse("bench.child", "{} did not answer", command);
  return out;
}

Result<Start> least_of_processes(const std::string& command) {
  Start least{1e18, 1e18, 1e18};
  for (int i = 0; i < kProcesses; ++i) {
    TRY(const Start each, ask_process(command));
    least = {std::min(least.load, each.load), std::min(least.first, each.first), std::min(least.memory, each.memory)};
  }
  return least;
}

int all_threads() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

}  // namespace

Status measure_start(const File& program, const File& rows, size_t index, Record& record) {
  for (const auto& [engine, key] : {std::pair("anyshape", "ours_"), std::pair("onnxruntime", "ort_")}) {
    TRY(const Start start, least_of_processes(fmt::format("'{}' --rows '{}' --child {} {}", program.string(),
                                                          rows.string(), engine, index)));
    const std::string prefix = key;
    record.numbers[prefix + "load"] = start.load;
    record.numbers[prefix + "first"] = start.first;
    record.numbers[prefix + "memory"] = start.memory;
  }
  record.numbers["load_ratio"] = record.at("ort_load") / record.at("ours_load");
  record.numbers["first_ratio"] = record.at("ort_first") / record.at("ours_first");
  record.numbers["memory_ratio"] = record.at("ort_memory") / record.at("ours_memory");
  return {};
}

Status run_child(const std::vector<Row>& rows, size_t index, const EngineName& engine) {
  if (index >= rows.size()) return usage("bench.row", "there are {} rows", rows.size());
  {
    TRY(const Feed feed, make_feed(rows[0]));
    TRY(const RunnerPtr other, engine.load(rows[0].model, all_threads()));
    TRY_OK(other->bind(feed));
  }
  TRY(const Feed feed, make_feed(rows[index]));
  const auto start = Clock::now();
  TRY(const RunnerPtr runner, engine.load(rows[index].model, all_threads()));
  const double load = seconds_since(start);
  const auto called = Clock::now();
  TRY_OK(runner->bind(feed));
  const double first = seconds_since(called);
  std::printf("%.2f %.2f %.2f\n", load * 1e6, first * 1e6, resident_mebibytes());
  return {};
}

// Names that begin so are what bench/instructions.py tells callgrind.
extern "C" [[gnu::noinline]] bool anyshape_counted_run(Runner* runner, int calls) {
  bool good = true;
  for (int i = 0; i < calls; ++i) good = runner->run().has_value() && good;
  return good;
}

extern "C" [[gnu::noinline]] bool anyshape_counted_load(const File* model, int calls) {
  bool good = true;
  for (int i = 0; i < calls; ++i) good = load_anyshape(*model, 1).has_value() && good;
  return good;
}

Status load_counted(const Row& row, int calls) {
  TRY(const RunnerPtr first, load_anyshape(row.model, 1));
  if (!anyshape_counted_load(&row.model, calls)) return refuse("bench.load", "a load of {} failed", row.title());
  std::puts(vector_name().c_str());
  return {};
}

Status run_counted(const Row& row, int calls) {
  TRY(const Feed feed, make_feed(row));
  TRY(const RunnerPtr runner, load_anyshape(row.model, 1));
  TRY_OK(runner->bind(feed));
  TRY_OK(runner->run());
  if (!anyshape_counted_run(runner.get(), calls)) return refuse("bench.run", "a run of {} failed", row.title());
  std::puts(vector_name().c_str());
  return {};
}

}  // namespace anyshape::bench
