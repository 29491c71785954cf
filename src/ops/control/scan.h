#pragma once

#include "ops/control/bodies.h"

// What rule and kernel of Scan have in common.
namespace anyshape::ops {

struct ScanInput {
  const Fact* fact;
  size_t axis = 0;
  bool backwards = false;
};

struct ScanPlan {
  const Graph* body = nullptr;
  size_t states = 0, scan_outputs = 0;
  std::vector<ScanInput> inputs;
  Facts initial;
  Dim length = 0;
  std::optional<Dim> batch;  // Scan 8
};

// The states and inputs behind the first `skipped` ones, as far as the body tells them.
Result<ScanPlan> scan_plan_of(const Call& call, size_t skipped);
// The attribute `name`, where it is given, has 0 or 1 for each of `count` values.
Status check_scan_directions(const std::vector<int64_t>* directions, size_t count, std::string_view name);

Status reference_scan8(const Call& call, KernelArgs& args);
Status reference_scan9(const Call& call, KernelArgs& args);

}  // namespace anyshape::ops
