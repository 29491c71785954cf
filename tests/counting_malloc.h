// Every way to get memory, counted. Included by one file of a program, which it gives its malloc.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace anyshape::testing {

inline std::atomic<bool> counting = false;
inline std::atomic<int64_t> allocations = 0;
// Of aligned memory, as buffers are.
inline std::atomic<int64_t> aligned_bytes = 0;

inline void count_allocation() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

inline void count_aligned(size_t size) {
  if (counting.load(std::memory_order_relaxed))
    aligned_bytes.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
}

// Counts from its making to stop(), or to its end.
class Counted {
 public:
  Counted() {
    allocations = 0;
    aligned_bytes = 0;
    counting = true;
  }
  ~Counted() { counting = false; }
  static int64_t stop() {
    counting = false;
    return allocations;
  }
};

}  // namespace anyshape::testing

// operator new of libstdc++ calls malloc or aligned_alloc.
extern "C" {

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) noexcept {
  anyshape::testing::count_allocation();
  return __libc_malloc(size);
}
void* calloc(size_t n, size_t size) noexcept {
  anyshape::testing::count_allocation();
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t size) noexcept {
  anyshape::testing::count_allocation();
  return __libc_realloc(p, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  anyshape::testing::count_allocation();
  anyshape::testing::count_aligned(size);
  return __libc_memalign(alignment, size);
}
void* memalign(size_t alignment, size_t size) noexcept {
  anyshape::testing::count_allocation();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** p, size_t alignment, size_t size) noexcept {
  anyshape::testing::count_allocation();
  *p = __libc_memalign(alignment, size);
  return *p ? 0 : ENOMEM;
}

}  // extern "C"
