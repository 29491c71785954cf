#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/error.h"

namespace anyshape {

class Tensor;

// In which memory a value is.
enum class Space : uint8_t {
  host,
  engine,  // the engine's own, where it has one
};

// Memory of an engine that is not the host's. Addresses in it can be reckoned with; what is there only kernels of the
// engine and these functions see.
class EngineMemory {
 public:
  virtual ~EngineMemory() = default;
  // Aligned to 64 bytes, given back with its last owner. Error "tensor.memory".
  virtual Result<std::shared_ptr<std::byte>> allocate(int64_t bytes) const = 0;
  virtual Status write(std::byte* to, std::span<const std::byte> from) const = 0;
  virtual Status read(std::span<std::byte> to, const std::byte* from) const = 0;

  // The entries of a constant, there for as long as somebody holds them.
  Result<std::shared_ptr<std::byte>> place(const Tensor& constant) const;
};

}  // namespace anyshape
