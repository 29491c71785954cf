#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace anyshape {

// A plan at one shape, as far as it follows from the input sizes.
struct PlanNumbers {
  std::vector<std::optional<std::vector<int64_t>>> dims;  // by value
  std::vector<std::optional<int64_t>> slots;              // bytes
  std::vector<std::string_view> ways;                     // EngineKernel::way, by step
  int64_t peak = 0;                                       // of the slots
  int64_t scratch = 0;                                    // the most that a step takes beside them
};

std::string_view kernel_name(const PlanStep& step);
// Inputs, steps with kernels and reasons, slots and the peak as formulas, and numbers where given; at the end which
// operators run by reference kernels, in bodies, too.
std::string print_plan(const Plan& plan, const PlanNumbers* numbers);
// The steps, and the values in slots with their bytes and the steps they are held at: docs/picture.md.
std::string plan_json(const Plan& plan, const PlanNumbers& numbers);

}  // namespace anyshape
