#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "tensor/view.h"

namespace anyshape {

// A size is not the one its rule gives.
inline constexpr std::string_view kWrongSize = "run.size";

// The numbers of a plan at one shape: evaluated formulas, no memory. Made once, filled again for each new shape without
// allocating.
class BoundPlan {
 public:
  explicit BoundPlan(const Plan& plan);

  // The sizes of all inputs with a rank, one after the other.
  bool matches(std::span<const int64_t> key) const { return valid_ && std::ranges::equal(key_, key); }
  // `serial`: another one each time it is filled.
  void begin(std::span<const int64_t> key, uint64_t serial);
  uint64_t serial() const { return serial_; }
  int64_t& at(Register reg) { return registers_[reg]; }
  int64_t at(Register reg) const { return registers_[reg]; }

  // Evaluates the formulas of a stage. Returns the first guard that does not hold, null if all do.
  const PlanStage::Guard* evaluate(size_t stage);
  // Every size of that stage is one; what only a branch that is not taken would make may have none.
  bool has_sizes(size_t stage) const;
  // Error "run.size" where a step would work on other sizes than its rule gives.
  Status check_claims(size_t stage) const;
  // Sizes, strides and places of all values whose sizes are known from that stage on; tasks and scratch of its steps.
  // Error "run.size".
  Status lay_out(size_t stage);
  void accept() { valid_ = true; }

  // dims and strides; no data.
  const View& view(uint32_t value) const { return views_[value]; }
  // Of a window: bytes from the start of the value it is on.
  int64_t offset(uint32_t value) const { return offsets_[value]; }
  // Bytes from the start of the stage's memory.
  int64_t slot_offset(uint32_t slot) const { return slot_offsets_[slot]; }
  int64_t stage_bytes(size_t stage, Space space) const { return stage_bytes_[stage][static_cast<size_t>(space)]; }
  int64_t bytes(uint32_t value) const;
  // The most that a step of the stage needs.
  int64_t scratch(size_t stage) const { return stage_scratch_[stage]; }
  // Some step of the first stage is split into tasks.
  bool has_tasks() const { return has_tasks_; }

  struct Step {
    int64_t tasks = 1, scratch = 0;
    std::byte* bound = nullptr;             // of planned kernels that have something to keep
    std::vector<View> views;                // of planned kernels: inputs, then outputs
    uint64_t placed_at = 0;                 // Storage::places() when data of those that stay was set
    std::vector<Datum> in, out;             // of reference kernels
    std::shared_ptr<const void> recording;  // of it and those after it that an engine replays with it
    uint64_t recorded_at = 0;               // Storage::generation() then
  };
  Step& step(size_t index) { return steps_[index]; }
  // What its kernel works on.
  static ViewArgs args_of(const PlanStep& step, const Step& bound, std::byte* scratch) {
    const std::span<const View> views(bound.views);
    return {views.first(step.in.size()), views.subspan(step.in.size()), step.prepared.get(), scratch, bound.bound};
  }

  uint64_t last_used = 0;

 private:
  // Room for the sizes of what reference kernels get.
  void prepare_operands(const PlanStep& step, Step& operands) const;
  Status set_sizes(uint32_t value);
  // Error "run.size" where it would reach outside of the value it is on.
  Status set_window(uint32_t value);
  Status place_slots(size_t stage);
  void size_steps(size_t stage);
  void set_views(const PlanStep& step, Step& bound) const;

  const Plan& plan_;
  bool valid_ = false;
  std::vector<int64_t> key_, registers_, sizes_;
  std::vector<View> views_;
  std::vector<int64_t> offsets_, slot_offsets_;
  std::vector<std::array<int64_t, 2>> stage_bytes_;  // by Space
  std::vector<int64_t> stage_scratch_;
  bool has_tasks_ = false;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> bound_;  // what kernels keep, by step
  uint64_t serial_ = 0;
  std::vector<size_t> size_start_;
  std::vector<Step> steps_;
};

}  // namespace anyshape
