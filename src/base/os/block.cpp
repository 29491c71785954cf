#include "base/os/block.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace anyshape::os {
namespace {

constexpr size_t kLargePage = size_t{2} << 20;
constexpr std::align_val_t kLine{64};

char* at_large_page(char* address) {
  const auto number = reinterpret_cast<uintptr_t>(address);
  return address + (kLargePage - number % kLargePage) % kLargePage;
}

size_t mapped_bytes(size_t bytes) { return (bytes + kLargePage - 1) / kLargePage * kLargePage; }

}  // namespace

void* allocate_block(size_t bytes) {
  if (bytes < kLargePage) return ::operator new(bytes, kLine);
  if (bytes > SIZE_MAX - 2 * kLargePage) throw std::bad_alloc();
  const size_t wanted = mapped_bytes(bytes), all = wanted + kLargePage;
  void* mapping = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  char *first = static_cast<char*>(mapping), *begin = at_large_page(first), *end = begin + wanted;
  if (begin > first) ::munmap(first, static_cast<size_t>(begin - first));
  if (end < first + all) ::munmap(end, static_cast<size_t>(first + all - end));
#ifdef MADV_HUGEPAGE
  // What is behind the last whole page comes in small ones: nothing is resident that is not written.
  static_cast<void>(::madvise(begin, bytes / kLargePage * kLargePage, MADV_HUGEPAGE));
#endif
  return begin;
}

void free_block(void* block, size_t bytes) noexcept {
  if (bytes < kLargePage) {
    ::operator delete(block, kLine);
  } else {
    ::munmap(block, mapped_bytes(bytes));
  }
}

}  // namespace anyshape::os
