// Preloaded into a program: how many blocks it has asked for, and how many of them of kLarge bytes and more.
#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {

constexpr size_t kLarge = 1024;
std::atomic<long> blocks = 0, large_blocks = 0;

void count(size_t bytes) {
  blocks.fetch_add(1, std::memory_order_relaxed);
  if (bytes >= kLarge) large_blocks.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

long anyshape_blocks() { return blocks; }
long anyshape_large_blocks() { return large_blocks; }

void* malloc(size_t bytes) noexcept {
  count(bytes);
  return __libc_malloc(bytes);
}

void* calloc(size_t number, size_t bytes) noexcept {
  count(number * bytes);
  return __libc_calloc(number, bytes);
}

void* realloc(void* block, size_t bytes) noexcept {
  count(bytes);
  return __libc_realloc(block, bytes);
}

void* memalign(size_t alignment, size_t bytes) noexcept {
  count(bytes);
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept { return memalign(alignment, bytes); }

int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  *block = memalign(alignment, bytes);
  return *block ? 0 : ENOMEM;
}
}
