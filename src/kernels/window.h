#pragma once

#include <cstdint>
#include <vector>

#include "base/temporary.h"

namespace anyshape::kernels {

// Windows that slide over the spatial axes; one entry per axis. `pads`: cells before the first one of the input.
struct Windows {
  Temporary<int64_t> in, kernel, out, strides, dilations, pads;
};

// Cell `flat` of a box with these sizes.
void unravel(int64_t flat, std::span<const int64_t> sizes, std::span<int64_t> index);

// Where the windows read. Answers are kept for the last block asked for.
class WindowReader {
 public:
  explicit WindowReader(const Windows& windows);

  // Offsets inside a plane of the input that the cells of the windows at output positions first..first + count - 1
  // read: [kernel cell, position], -1 for padding.
  std::span<const int64_t> offsets(int64_t first, int64_t count);
  int64_t kernel_plane() const { return static_cast<int64_t>(cells_.size()); }

 private:
  int64_t offset(std::span<const int64_t> position, std::span<const int64_t> cell) const;

  const Windows& windows_;
  Temporary<Temporary<int64_t>> cells_;
  int64_t first_ = -1;
  Temporary<int64_t> offsets_;
};

}  // namespace anyshape::kernels
