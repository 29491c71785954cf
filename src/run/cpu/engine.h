#pragma once

#include "engine/executable/planned.h"

namespace anyshape::cpu {

// Kernels of run/cpu/kernels over threads of the context.
const PlanEngine& engine();
std::unique_ptr<Queue> make_queue(const Threads& threads);
Result<std::unique_ptr<Executable>> load(const EngineModel& model, const EngineOptions& options);

}  // namespace anyshape::cpu
