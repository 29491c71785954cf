#include "base/os/block.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

namespace anyshape::os {
namespace {

constexpr size_t kPage = size_t{4} << 10, kLargePage = size_t{2} << 20;
constexpr size_t kLine = 64;
constexpr size_t kLeastShared = size_t{16} << 10, kMostShared = size_t{16} << 20;  // bytes of blocks side by side
// Addresses for the blocks of a scope, and the part of them that comes on small pages: few blocks want no large page.
constexpr size_t kChunk = size_t{256} << 20, kOnSmallPages = size_t{512} << 10;

size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Whole large pages of it become such.
void want_large_pages([[maybe_unused]] char* begin, [[maybe_unused]] size_t bytes) {
#ifdef MADV_HUGEPAGE
  // What is behind the last whole page comes in small ones: nothing is resident that is not written.
  static_cast<void>(::madvise(begin, bytes / kLargePage * kLargePage, MADV_HUGEPAGE));
#endif
}

// Addresses of which the one after `before` bytes begins a large page. Null: there are none.
char* map(size_t bytes, size_t before) {
  void* mapping =
      ::mmap(nullptr, bytes + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char *first = static_cast<char*>(mapping), *last = first + bytes + kLargePage;
  const size_t skip = (kLargePage - (reinterpret_cast<uintptr_t>(first) + before) % kLargePage) % kLargePage;
  char *begin = first + skip, *end = begin + bytes;
  if (begin > first) ::munmap(first, skip);
  if (end < last) ::munmap(end, static_cast<size_t>(last - end));
  return begin;
}

// The blocks of a scope, one after the other behind this.
struct Chunk {
  std::atomic<size_t> users = 1;  // the scope and the blocks
  char *next, *end;

  char* begin() { return reinterpret_cast<char*>(this); }
  void leave() {
    if (users.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    ::munmap(begin(), static_cast<size_t>(end - begin()));
  }
};

// What lies before each block.
struct alignas(kLine) Header {
  Chunk* chunk = nullptr;  // null: memory of its own
};

struct Scope {
  bool open = false;
  Chunk* chunk = nullptr;
};
thread_local Scope scope;

Chunk* open_chunk() {
  char* begin = map(kChunk, kOnSmallPages);
  if (!begin) return nullptr;
  want_large_pages(begin + kOnSmallPages, kChunk - kOnSmallPages);
  auto* chunk = new (begin) Chunk;
  chunk->next = begin + rounded(sizeof(Chunk), kLine);
  chunk->end = begin + kChunk;
  return chunk;
}

// Null: it does not belong there, or there is no room.
void* take_shared(size_t bytes) {
  if (!scope.open || bytes < kLeastShared || bytes > kMostShared) return nullptr;
  if (!scope.chunk) scope.chunk = open_chunk();
  Chunk* chunk = scope.chunk;
  if (!chunk || static_cast<size_t>(chunk->end - chunk->next) < bytes) return nullptr;
  char* block = chunk->next;
  chunk->next += rounded(bytes, kLine);
  chunk->users.fetch_add(1, std::memory_order_relaxed);
  new (block) Header{chunk};
  return block;
}

// Whole pages of it leave memory.
void drop_pages(char* begin, size_t bytes) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(begin), first = rounded(at, kPage),
                  end = (at + bytes) / kPage * kPage;
  if (first < end) static_cast<void>(::madvise(begin + (first - at), end - first, MADV_DONTNEED));
}

size_t mapped_bytes(size_t bytes) { return rounded(bytes, kLargePage); }

void* take_alone(size_t bytes) {
  if (bytes < kLargePage) return ::operator new (bytes, std::align_val_t{kLine});
  char* begin = map(mapped_bytes(bytes), 0);
  if (!begin) throw std::bad_alloc();
  want_large_pages(begin, bytes);
  return begin;
}

}  // namespace

void* allocate_block(size_t bytes) {
  if (bytes > SIZE_MAX - 3 * kLargePage) throw std::bad_alloc();
  const size_t all = bytes + sizeof(Header);
  void* taken = take_shared(all);
  if (!taken) new (taken = take_alone(all)) Header;
  return static_cast<char*>(taken) + sizeof(Header);
}

void* allocate_zero_block(size_t bytes) {
  void* block = allocate_block(bytes);
  const size_t all = bytes + sizeof(Header);
  // What is mapped is used once.
  const bool mapped = all >= kLargePage || (static_cast<Header*>(block) - 1)->chunk;
  if (!mapped) std::memset(block, 0, bytes);
  return block;
}

void free_block(void* block, size_t bytes) noexcept {
  if (!block) return;
  char* taken = static_cast<char*>(block) - sizeof(Header);
  const size_t all = bytes + sizeof(Header);
  if (Chunk* chunk = reinterpret_cast<Header*>(taken)->chunk) {
    drop_pages(taken, all);
    chunk->leave();
  } else if (all < kLargePage) {
    ::operator delete (taken, std::align_val_t{kLine});
  } else {
    ::munmap(taken, mapped_bytes(all));
  }
}

bool BlockScope::open() { return scope.open; }

BlockScope::BlockScope() : outermost_(!scope.open) { scope.open = true; }

BlockScope::~BlockScope() {
  if (!outermost_) return;
  Chunk* chunk = scope.chunk;
  scope = {};
  if (!chunk) return;
  // No large page stays for what is not used.
  char* end = chunk->begin() + rounded(static_cast<size_t>(chunk->next - chunk->begin()), kPage);
  if (end < chunk->end) ::munmap(end, static_cast<size_t>(chunk->end - end));
  chunk->end = end;
  chunk->leave();
}

}  // namespace anyshape::os
