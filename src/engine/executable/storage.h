#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/memory_meter.h"
#include "engine/executable/block.h"
#include "engine/executable/bound_plan.h"
#include "engine/executable/executable.h"

namespace anyshape {

// What the parts of an executor share: the plan, and while it runs the run and the numbers of the plan.
struct RunState {
  std::shared_ptr<const Plan> plan;
  bool is_body = false;
  const Run* run = nullptr;
  BoundPlan* binding = nullptr;
};

// The memory of a run: where each value of the plan is.
class Storage {
 public:
  explicit Storage(const RunState& state);

  void begin_run();
  // Nothing of the run is kept, but for its memory.
  void end_run();
  // Counts bytes until the end of the run; error "run.memory" past its limit.
  Status charge(int64_t bytes);

  // Memory for the values and steps of a stage; integers that follow from sizes are written.
  Status enter(size_t stage);
  std::byte* pointer(uint32_t value) const;
  View view(uint32_t value) const;
  std::byte* scratch() const { return scratch_.data(); }
  // Of an output that is written straight: where it is.
  std::byte*& output(size_t index) { return outputs_[index]; }

  // Values that have memory of their own.
  Datum& own_memory(uint32_t value) { return data_[value]; }
  const Datum& own_memory(uint32_t value) const { return data_[value]; }
  // A value in host memory as kernels of the host get it.
  void set_datum(Datum& datum, uint32_t value) const;
  Datum datum(uint32_t value) const;

  int64_t bytes() const;
  // Another number whenever addresses in the engine's memory of the first stage may have changed.
  uint64_t generation() const { return generation_; }
  // Another number whenever those or addresses in the host's memory of the first stage may have changed.
  uint64_t places() const { return generation_ + host_generation_; }

 private:
  Block& block(size_t stage, Space space) { return blocks_[stage][static_cast<size_t>(space)]; }
  void write_computed(size_t stage);

  const RunState& state_;
  const Plan& plan_;
  std::vector<std::array<Block, 2>> blocks_;  // by stage and Space
  Block scratch_;
  std::vector<Datum> data_;
  std::vector<uint32_t> dynamic_values_;
  std::vector<std::byte*> outputs_;
  uint64_t written_ = 0;  // serial of the binding whose computed values are in the first stage's block
  uint64_t generation_ = 1, host_generation_ = 1;
  MemoryMeter::Share charged_;
  int64_t charged_scratch_ = 0;
};

}  // namespace anyshape
