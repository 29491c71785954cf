#pragma once

#include <span>

#include "engine/executable/executable.h"

namespace anyshape {

// All engines of this build, the usual one first.
std::span<const EngineRow> engine_table();
// Usage error "engine.unknown".
Result<const EngineRow*> find_engine(std::span<const EngineRow> table, std::string_view name);

}  // namespace anyshape
