#pragma once

#include "engine/executable/planned.h"

// An engine for tests whose memory the host cannot touch: its addresses are no addresses of the processor. Its kernels
// are the reference kernels of all operators, recorded once for each shape that is bound and replayed.
namespace anyshape::testing {

const Target& device_target();
const EngineMemory& device_memory();
Result<std::unique_ptr<Executable>> load_device(const EngineModel& model, const EngineOptions& options);

// Of all contexts so far.
struct DeviceCounts {
  int64_t recorded = 0, replayed = 0, written = 0, read = 0;
};
const DeviceCounts& device_counts();

}  // namespace anyshape::testing
