#include "engine/executable/block.h"

#include <cstdlib>

#include "base/memory_meter.h"

namespace anyshape {
namespace {

// What a block takes beside its bytes, about.
constexpr int64_t kBeside = 96;

struct Counted {
  MemoryMeter::Share share;
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

bool Block::unused() const {
  if (memory_.use_count() > 1) return false;
  // The count is read without order; dropping a reference is ordered after the drops of others.
  std::shared_ptr<void>(memory_).reset();
  return true;
}

std::shared_ptr<void> Block::sole_owner() const {
  return {memory_.get(), [kept = memory_](void*) {}};
}

Status Block::count() {
  auto* counted = std::get_deleter<Counted>(memory_);
  if (!counted || !MemoryMeter::counts()) return {};
  counted->share = MemoryMeter::share();
  if (!counted->share.take(size_ + kBeside)) return MemoryMeter::out_of_memory();
  return {};
}

Status Block::grow(int64_t bytes, bool counted) {
  constexpr int64_t kAlignment = 64;
  if (bytes > kLargest) return system_error("tensor.memory", "out of memory: {} bytes are needed", bytes);
  const int64_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  memory_.reset();
  size_ = 0;
  if (from_) {
    TRY(memory_, from_->allocate(padded));
    size_ = padded;
    return {};
  }
  auto share = counted ? MemoryMeter::share() : MemoryMeter::Share();
  if (!share.take(padded + kBeside)) return MemoryMeter::out_of_memory();
  void* memory = std::aligned_alloc(kAlignment, static_cast<size_t>(padded));
  if (!memory) return MemoryMeter::out_of_memory(bytes);
  memory_ = std::shared_ptr<void>(memory, Counted{std::move(share)});
  size_ = padded;
  return {};
}

}  // namespace anyshape
