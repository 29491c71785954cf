#pragma once

#include "engine/executable/executable.h"

namespace anyshape::ort {

// ONNX Runtime, whose threads belong to the model. It knows no reserve, no seed and no limit of memory, and does not
// tell its steps.
Result<std::unique_ptr<Executable>> load(const EngineModel& model, const EngineOptions& options);

}  // namespace anyshape::ort
