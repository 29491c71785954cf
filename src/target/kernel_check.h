#pragma once

#include <string>
#include <vector>

#include "solve/solve.h"
#include "target/profile.h"

namespace anyshape::target {

struct MissingKernel {
  std::string node, sentence, fix;
};

// The nodes, bodies and called functions included, that the target's runtime has nothing for. Nodes of a version it
// does not read are left out, and types that are not known count as taken.
std::vector<MissingKernel> missing_kernels(const Profile& profile, const Typed& typed);

}  // namespace anyshape::target
