#include "run/cpu/memory.h"

#include <cstdlib>

namespace anyshape {

bool Block::unused() const {
  if (memory_.use_count() > 1) return false;
  // The count is read without order; dropping a reference is ordered after the drops of others.
  std::shared_ptr<void>(memory_).reset();
  return true;
}

std::shared_ptr<void> Block::sole_owner() const {
  return {memory_.get(), [kept = memory_](void*) {}};
}

Status Block::reserve(int64_t bytes, const std::shared_ptr<Meter>& meter) {
  constexpr int64_t kAlignment = 64;
  if (bytes <= size_) return {};
  if (bytes > kLargest) return system_error("tensor.memory", "out of memory: {} bytes are needed", bytes);
  const int64_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  memory_.reset();
  size_ = 0;
  void* memory = std::aligned_alloc(kAlignment, static_cast<size_t>(padded));
  if (!memory) return system_error("tensor.memory", "out of memory: {} bytes are needed", bytes);
  if (meter) {
    *meter += padded;
    memory_ = std::shared_ptr<void>(memory, [meter, padded](void* p) {
      std::free(p);
      *meter -= padded;
    });
  } else {
    memory_ = std::shared_ptr<void>(memory, std::free);
  }
  size_ = padded;
  return {};
}

}  // namespace anyshape
