#pragma once

#include <vector>

#include "engine/executable/storage.h"

namespace anyshape {

// Where outputs are written, and what is copied at the end. Memory of a caller that is an input's, too, is written
// last: other outputs may be read off that input.
class Outputs {
 public:
  Outputs(const RunState& state, Storage& storage);

  // REQUIRED before all else of a run.
  void begin_run();
  // Places of those of a stage that are written straight.
  Status prepare(size_t stage);
  Status hand_over();
  // Memory for those whose sizes follow from the inputs'.
  Status reserve();
  // Some memory of the caller is an input's, too.
  bool write_inputs() const { return write_inputs_; }
  // What runs gave that did not go by the plan.
  Status set(std::vector<Datum> made);

 private:
  // Memory for one output that is used again. Two blocks go around when an output is the next run's input.
  struct Memory {
    static constexpr size_t kKept = 4, kReserved = 2;
    std::vector<Block> blocks;
    // In the run at hand: the caller's memory is to be written; it is an input's, too, and is written last.
    bool given = false, last = false;
  };

  Status hand_over_dynamic(size_t output);
  Status hand_over_view(size_t output);
  bool is_input(size_t output) const;
  // Error "output.shape" where the caller's memory is for another type or shape.
  Status check_given(size_t output, const View& made) const;
  Result<std::byte*> memory_for(size_t output, int64_t bytes);

  const RunState& state_;
  const Plan& plan_;
  Storage& storage_;
  std::vector<Memory> memory_;
  bool write_inputs_ = false;
};

}  // namespace anyshape
