#pragma once

#include <cstddef>

namespace anyshape::os {

// Memory for numbers that stay, aligned to 64 bytes: large blocks come on large pages where the system has them, as
// each page of it costs a fault when it is first written. Throws bad_alloc.
void* allocate_block(size_t bytes);
// The same, all bytes 0: most come so from the system.
void* allocate_zero_block(size_t bytes);
// REQUIRES: allocate_block(bytes) gave it.
void free_block(void* block, size_t bytes) noexcept;

// While one lives, blocks of this thread that are neither small nor huge lie side by side on large pages. What is freed
// leaves memory at once; its addresses are given back when all blocks are freed and the scope has ended. One in another
// one does nothing.
class BlockScope {
 public:
  BlockScope();
  ~BlockScope();
  BlockScope(const BlockScope&) = delete;
  BlockScope& operator=(const BlockScope&) = delete;

  // There is one in this thread.
  static bool open();

 private:
  bool outermost_;
};

}  // namespace anyshape::os
