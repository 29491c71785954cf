#include "run/cpu/memory.h"

#include <cstdlib>

namespace anyshape {

Status Block::reserve(int64_t bytes) {
  constexpr int64_t kAlignment = 64, kLargest = int64_t{1} << 46;
  if (bytes <= size_) return {};
  if (bytes > kLargest) return system_error("tensor.memory", "out of memory: {} bytes are needed", bytes);
  const int64_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  memory_.reset();
  size_ = 0;
  void* memory = std::aligned_alloc(kAlignment, static_cast<size_t>(padded));
  if (!memory) return system_error("tensor.memory", "out of memory: {} bytes are needed", bytes);
  memory_ = std::shared_ptr<void>(memory, std::free);
  size_ = padded;
  return {};
}

}  // namespace anyshape
