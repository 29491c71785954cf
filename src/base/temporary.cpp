#include "base/temporary.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/bug.h"
#include "base/memory_meter.h"

#if defined(__SANITIZE_ADDRESS__)
#define ANYSHAPE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ANYSHAPE_ASAN 1
#endif
#endif
#ifdef ANYSHAPE_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, size) (static_cast<void>(memory), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(memory, size) (static_cast<void>(memory), static_cast<void>(size))
#endif

namespace anyshape {
namespace {

constexpr size_t kLine = 64, kSmallest = 4096;
constexpr size_t kSpareSizes = 256;

}  // namespace

// Before each piece of memory.
struct alignas(16) TemporaryMemory::Header {
  TemporaryMemory* owner;  // null: from operator new
  Header* before;
  size_t used_before;  // of its chunk
  uint32_t chunk;
  bool given;
  // Of memory from operator new: where it counts.
  MemoryMeter* meter;
  size_t bytes;
};

thread_local constinit TemporaryMemory* TemporaryMemory::current_ = nullptr;

TemporaryMemory::Scope::Scope(TemporaryMemory& memory)
    : memory_(memory), outer_(std::exchange(TemporaryMemory::current_, &memory)) {
  memory.sizes_.reserve(kSpareSizes);
}

TemporaryMemory::Scope::~Scope() {
  ANYSHAPE_CHECK(memory_.last_ == nullptr);
  if (memory_.chunks_.size() > 1) memory_.join_chunks();
  TemporaryMemory::current_ = outer_;
}

void* TemporaryMemory::take(size_t bytes) {
  if (current_) return current_->push(bytes);
  if (!MemoryMeter::fits(static_cast<int64_t>(bytes))) throw std::bad_alloc();
  const bool wide = bytes >= kLine;
  const size_t front = wide ? kLine : sizeof(Header);
  auto* start = static_cast<std::byte*>(wide ? ::operator new(front + bytes, std::align_val_t(kLine))
                                             : ::operator new(front + bytes));
  auto* header = reinterpret_cast<Header*>(start + front - sizeof(Header));
  *header = {nullptr, nullptr, front, 0, false, MemoryMeter::current(), bytes};
  if (header->meter) header->meter->add(static_cast<int64_t>(bytes));
  return start + front;
}

void TemporaryMemory::give(void* memory) noexcept {
  if (!memory) return;
  auto* header = static_cast<Header*>(memory) - 1;
  if (header->owner) return header->owner->pop(header);
  if (header->meter) header->meter->add(-static_cast<int64_t>(header->bytes));
  auto* start = static_cast<std::byte*>(memory) - header->used_before;
  if (header->used_before == kLine)
    ::operator delete(start, std::align_val_t(kLine));
  else
    ::operator delete(start);
}

TemporaryMemory::Chunk& TemporaryMemory::chunk_with_room(size_t bytes) {
  // At worst: up to the next line, the header, up to the next line.
  const size_t needed = bytes + 2 * kLine;
  if (chunks_.empty()) chunks_.emplace_back();
  if (chunks_[chunk_].size - chunks_[chunk_].used >= needed) return chunks_[chunk_];
  if (chunks_[chunk_].used > 0) {
    below_ += chunks_[chunk_].used;
    if (++chunk_ == chunks_.size()) chunks_.emplace_back();
  }
  Chunk& chunk = chunks_[chunk_];
  if (chunk.size < needed && !grow(chunk, std::max({needed, kSmallest, most_ / 2}))) throw std::bad_alloc();
  return chunk;
}

bool TemporaryMemory::grow(Chunk& chunk, size_t size) noexcept {
  const size_t padded = (size + kLine - 1) / kLine * kLine;
  if (chunk.memory) ASAN_UNPOISON_MEMORY_REGION(chunk.memory.get(), chunk.size);
  chunk.memory.reset();
  chunk.memory.reset(static_cast<std::byte*>(std::aligned_alloc(kLine, padded)));
  chunk.size = chunk.memory ? padded : 0;
  ASAN_POISON_MEMORY_REGION(chunk.memory.get(), chunk.size);
  return chunk.memory != nullptr;
}

void* TemporaryMemory::push(size_t bytes) {
  // Only what is taken counts, not what is kept for later.
  if (MemoryMeter::counts() && !MemoryMeter::fits(static_cast<int64_t>(used() + bytes))) throw std::bad_alloc();
  Chunk& chunk = chunk_with_room(bytes);
  const size_t unit = bytes >= kLine ? kLine : alignof(Header);
  const size_t at = (chunk.used + sizeof(Header) + unit - 1) / unit * unit;
  auto* header = reinterpret_cast<Header*>(chunk.memory.get() + at) - 1;
  ASAN_UNPOISON_MEMORY_REGION(header, sizeof(Header) + bytes);
  *header = {this, last_, chunk.used, static_cast<uint32_t>(chunk_), false, nullptr, 0};
  last_ = header;
  chunk.used = at + bytes;
  chunk.used = (chunk.used + alignof(Header) - 1) / alignof(Header) * alignof(Header);
  most_ = std::max(most_, below_ + chunk.used);
  return header + 1;
}

void TemporaryMemory::pop(Header* header) noexcept {
  header->given = true;
  while (last_ && last_->given) {
    while (chunk_ != last_->chunk) {
      chunks_[chunk_--].used = 0;
      below_ -= chunks_[chunk_].used;
    }
    Chunk& chunk = chunks_[chunk_];
    const size_t used = std::exchange(chunk.used, last_->used_before);
    last_ = last_->before;
    ASAN_POISON_MEMORY_REGION(chunk.memory.get() + chunk.used, used - chunk.used);
  }
}

void TemporaryMemory::join_chunks() {
  // Pieces lie otherwise in one chunk: each may need another line.
  const size_t size = most_ + chunks_.size() * 2 * kLine + kSmallest;
  for (Chunk& chunk : chunks_) ASAN_UNPOISON_MEMORY_REGION(chunk.memory.get(), chunk.size);
  chunks_.resize(1);
  chunk_ = below_ = 0;
  grow(chunks_[0], size);
}

TemporaryMemory::~TemporaryMemory() {
  for (Chunk& chunk : chunks_) ASAN_UNPOISON_MEMORY_REGION(chunk.memory.get(), chunk.size);
}

int64_t TemporaryMemory::bytes() const {
  size_t total = 0;
  for (const Chunk& chunk : chunks_) total += chunk.size;
  return static_cast<int64_t>(total);
}

std::vector<int64_t> TemporaryMemory::take_sizes(std::span<const int64_t> sizes) {
  std::vector<int64_t> out;
  if (current_) {
    auto& spare = current_->sizes_;
    if (sizes.size() > current_->rank_) {
      // Any list must do for the next tensor.
      current_->rank_ = sizes.size();
      for (auto& list : spare) list.reserve(current_->rank_);
    }
    if (spare.empty()) {
      out.reserve(current_->rank_);
    } else {
      out = std::move(spare.back());
      spare.pop_back();
    }
  }
  out.assign(sizes.begin(), sizes.end());
  return out;
}

void TemporaryMemory::give_sizes(std::vector<int64_t>&& sizes) noexcept {
  if (!current_ || sizes.capacity() < kUsualRank) return;
  auto& spare = current_->sizes_;
  if (spare.size() == spare.capacity()) return;
  try {
    sizes.reserve(current_->rank_);  // it was taken before the widest
  } catch (const std::bad_alloc&) {
    return;
  }
  spare.push_back(std::move(sizes));
}

}  // namespace anyshape
