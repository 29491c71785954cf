#pragma once

#include "machine.h"
#include "measure.h"
#include "report.h"
#include "rows.h"

namespace anyshape::bench {

struct Settings {
  std::vector<int> threads = {1, 2};
  double seconds = 0.15;       // per row and engine, for the steady time
  double call_seconds = 2;     // the same, for the distribution of calls
  double other_seconds = 0.1;  // the same, for every other column
  bool quick = false;          // steady times only
};

// One row: loads it in every engine, compares the outputs, then fills the columns of the record.
class RowBench {
 public:
  RowBench(const Row& row, const Settings& settings, const Machine& machine, Record& record)
      : row_(row), settings_(settings), machine_(machine), record_(record) {}

  // Refused "bench.differs" before anything is timed.
  Status run();

 private:
  Status load(const EngineName& engine, std::vector<Contender>& side) const;
  double limit() const;
  Status compare();
  Status steady();
  Status calls();
  Status new_shapes();
  Status frozen();
  Status four_threads();
  // Nothing is measured where it is not installed, does not take the model or gives other outputs.
  Status openvino();
  void set_pair(const std::string& key, double ours, double theirs);

  const Row& row_;
  const Settings& settings_;
  const Machine& machine_;
  Record& record_;
  Feed feed_;
  std::vector<Contender> ours_, theirs_;
  std::vector<AnyValue> want_;
};

// The row's p50 and p99 in both engines while `busy` other threads keep the processor busy.
Status run_loaded(const Row& row, const Settings& settings, int busy, Record& record);

}  // namespace anyshape::bench
