#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyshape::kernels {

enum class PadMode { constant, reflect, edge, wrap };

// Entries along one axis: those put before the first one and after the last one; negative ones are taken away.
struct AxisPads {
  int64_t before = 0, after = 0;
};

// Where position p of an axis of that size reads, counted from its first entry; -1: the fill value.
int64_t pad_source(PadMode mode, int64_t p, int64_t size, const AxisPads& pads);

// A dense tensor with pads, row by row of the output. REQUIRES: at least one axis; 1, 2, 4, 8 or 16 bytes an element.
struct PadRows {
  PadMode mode = PadMode::constant;
  std::span<const int64_t> in_dims, out_dims;
  std::span<const AxisPads> pads;
  size_t element_bytes = 0;
  const std::byte* fill = nullptr;  // null: zeros
  const std::byte* in = nullptr;
  std::byte* out = nullptr;

  int64_t rows() const;
  void run(int64_t first, int64_t last) const;
};

}  // namespace anyshape::kernels
