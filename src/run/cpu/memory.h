#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.h"

namespace anyshape {

// Memory aligned to 64 bytes that only grows.
class Block {
 public:
  // At least that many bytes; what was in it is lost when it grows. Error "tensor.memory".
  Status reserve(int64_t bytes);
  std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }
  int64_t size() const { return size_; }
  // Keeps the memory for as long as somebody holds it.
  const std::shared_ptr<void>& owner() const { return memory_; }

 private:
  std::shared_ptr<void> memory_;
  int64_t size_ = 0;
};

}  // namespace anyshape
