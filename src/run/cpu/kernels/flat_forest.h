#pragma once

#include <string_view>
#include <vector>

#include "kernels/forest.h"
#include "run/cpu/simd/forest_f32.h"

namespace anyshape::cpu {

// Whether a target gets a vote: never, from some leaves, or from all leaves of some tree.
enum Voted : uint8_t { kVotedByNone, kVotedByAll, kVotedBySome };

// The trees in the form for rows of f32. Empty, or why there is none.
std::string_view flat_forest(const kernels::Forest& forest, int64_t targets, simd::FlatForest& out,
                             std::vector<uint8_t>& voted);

}  // namespace anyshape::cpu
