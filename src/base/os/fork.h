#pragma once

#include <cstdint>

namespace anyshape {

// Another number in the child of a fork than in its parent. Of what was made under another number the threads are not
// there: they can neither be woken nor joined, and locks that they held or waited at are never free again.
uint64_t fork_count();

}  // namespace anyshape
