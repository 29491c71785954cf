#include "kernels/window.h"

#include "base/temporary.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

void unravel(int64_t flat, std::span<const int64_t> sizes, std::span<int64_t> index) {
  for (size_t a = sizes.size(); a-- > 0;) {
    index[a] = flat % sizes[a];
    flat /= sizes[a];
  }
}

WindowReader::WindowReader(const Windows& windows) : windows_(windows) {
  cells_.assign(static_cast<size_t>(element_count(windows.kernel).value_or(0)),
                Temporary<int64_t>(windows.kernel.size()));
  for (size_t k = 0; k < cells_.size(); ++k) unravel(static_cast<int64_t>(k), windows.kernel, cells_[k]);
}

std::span<const int64_t> WindowReader::offsets(int64_t first, int64_t count) {
  if (first == first_) return offsets_;
  first_ = first;
  offsets_.resize(cells_.size() * static_cast<size_t>(count));
  Temporary<int64_t> position(windows_.out.size());
  for (int64_t i = 0; i < count; ++i) {
    unravel(first + i, windows_.out, position);
    for (size_t k = 0; k < cells_.size(); ++k)
      offsets_[k * static_cast<size_t>(count) + static_cast<size_t>(i)] = offset(position, cells_[k]);
  }
  return offsets_;
}

int64_t WindowReader::offset(std::span<const int64_t> position, std::span<const int64_t> cell) const {
  int64_t flat = 0;
  for (size_t a = 0; a < position.size(); ++a) {
    const int64_t at = position[a] * windows_.strides[a] + cell[a] * windows_.dilations[a] - windows_.pads[a];
    if (at < 0 || at >= windows_.in[a]) return -1;
    flat = flat * windows_.in[a] + at;
  }
  return flat;
}

}  // namespace anyshape::kernels
