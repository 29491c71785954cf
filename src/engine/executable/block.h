#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "engine/target/memory.h"

namespace anyshape {

// Memory aligned to 64 bytes that only grows.
class Block {
 public:
  // Of the host, or of an engine.
  explicit Block(const EngineMemory* from = nullptr) : from_(from) {}

  // Bytes; what is more is an error before anybody asks for it.
  static constexpr int64_t kLargest = int64_t{1} << 46;

  // At least that many bytes; what was in it is lost when it grows. Error "tensor.memory". `counted`: they count where
  // this thread's memory does for as long as somebody holds them; error "run.memory".
  Status reserve(int64_t bytes, bool counted = false) { return bytes <= size_ ? Status() : grow(bytes, counted); }
  // Counts it anew where this thread's memory counts now. Error "run.memory".
  Status count();
  std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }
  int64_t size() const { return size_; }
  // Keeps the memory for as long as somebody holds it.
  const std::shared_ptr<void>& owner() const { return memory_; }
  // The same, counted by itself: who holds it alone is the only one to read the memory.
  std::shared_ptr<void> sole_owner() const;
  // True: nobody else holds it, and what others did with it is over.
  bool unused() const;

 private:
  Status grow(int64_t bytes, bool counted);

  const EngineMemory* from_;
  std::shared_ptr<void> memory_;
  int64_t size_ = 0;
};

}  // namespace anyshape
