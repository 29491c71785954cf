#pragma once

#include <cstddef>

namespace anyshape::os {

// Memory for numbers that stay, aligned to 64 bytes: large blocks come on large pages where the system has them, as
// each page of it costs a fault when it is first written. Throws bad_alloc.
void* allocate_block(size_t bytes);
// REQUIRES: allocate_block(bytes) gave it.
void free_block(void* block, size_t bytes) noexcept;

}  // namespace anyshape::os
