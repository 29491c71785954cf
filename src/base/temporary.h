#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace anyshape {

// Memory for what lives no longer than one step of a run: a stack that grows to what the largest step needed and is
// then used again. Memory given back out of order is free when all that came after it is.
class TemporaryMemory {
 public:
  TemporaryMemory() = default;
  ~TemporaryMemory();
  TemporaryMemory(const TemporaryMemory&) = delete;
  TemporaryMemory& operator=(const TemporaryMemory&) = delete;

  // While it lives, take() of this thread draws from `memory`. All that was taken is given back before it ends.
  class Scope {
   public:
    explicit Scope(TemporaryMemory& memory);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    TemporaryMemory& memory_;
    TemporaryMemory* outer_;
  };
  static bool in_scope() { return current_ != nullptr; }

  // Aligned to 16, or to 64 bytes where that many are taken; from operator new outside of a scope. Throws
  // std::bad_alloc, also where a MemoryMeter says no.
  static void* take(size_t bytes);
  static void give(void* memory) noexcept;

  // A copy of `sizes` in a list that was given back before, where there is one.
  static std::vector<int64_t> take_sizes(std::span<const int64_t> sizes);
  static void give_sizes(std::vector<int64_t>&& sizes) noexcept;

  int64_t bytes() const;

 private:
  // Lists with less room do not go round: they were not made here.
  static constexpr size_t kUsualRank = 8;

  struct Header;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct Chunk {
    std::unique_ptr<std::byte, Free> memory;
    size_t size = 0, used = 0;
  };
  size_t used() const { return below_ + (chunks_.empty() ? 0 : chunks_[chunk_].used); }
  void* push(size_t bytes);
  void pop(Header* header) noexcept;
  Chunk& chunk_with_room(size_t bytes);
  static bool grow(Chunk& chunk, size_t size) noexcept;
  void join_chunks();

  static thread_local constinit TemporaryMemory* current_;

  std::vector<Chunk> chunks_;
  size_t chunk_ = 0;                         // the one that memory is taken from
  Header* last_ = nullptr;                   // taken last
  size_t below_ = 0;                         // bytes used in the chunks before it
  size_t most_ = 0;                          // bytes ever used at once
  std::vector<std::vector<int64_t>> sizes_;  // each with room for rank_
  size_t rank_ = kUsualRank;                 // of the widest tensor so far
};

template <class T>
struct TemporaryAllocator {
  using value_type = T;
  using is_always_equal = std::true_type;

  TemporaryAllocator() = default;
  template <class U>
  TemporaryAllocator(const TemporaryAllocator<U>&) {}

  T* allocate(size_t n) {
    if (n > static_cast<size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(TemporaryMemory::take(n * sizeof(T)));
  }
  void deallocate(T* memory, size_t) noexcept { TemporaryMemory::give(memory); }

  friend bool operator==(const TemporaryAllocator&, const TemporaryAllocator&) { return true; }
};

// A list that a kernel needs while it runs. It must not outlive the kernel.
template <class T>
using Temporary = std::vector<T, TemporaryAllocator<T>>;

template <class List>
auto temporary(const List& list) {
  return Temporary<std::remove_cv_t<typename List::value_type>>(list.begin(), list.end());
}

}  // namespace anyshape
