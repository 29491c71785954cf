#include "kernels/pad.h"

#include <algorithm>
#include <cstring>

namespace anyshape::kernels {
namespace {

// The same element so many times; null: zeros.
void put(std::byte* to, int64_t count, const std::byte* element, size_t size) {
  if (count <= 0) return;
  const auto bytes = static_cast<size_t>(count) * size;
  if (!element) {
    std::memset(to, 0, bytes);
    return;
  }
  std::memcpy(to, element, size);
  // What is there is copied behind itself.
  for (size_t done = size; done < bytes; done *= 2) std::memcpy(to + done, to, std::min(done, bytes - done));
}

// The row of the input that row `row` of the output reads; -1: none.
int64_t source_row(const PadRows& p, int64_t row) {
  int64_t source = 0, step = 1;
  for (size_t axis = p.out_dims.size() - 1; axis-- > 0;) {
    const int64_t at = row % p.out_dims[axis];
    row /= p.out_dims[axis];
    const int64_t from = pad_source(p.mode, at - p.pads[axis].before, p.in_dims[axis], p.pads[axis]);
    if (from < 0) return -1;
    source += from * step;
    step *= p.in_dims[axis];
  }
  return source;
}

void run_row(const PadRows& p, const std::byte* in, std::byte* out) {
  const int64_t width = p.out_dims.back(), size = p.in_dims.back();
  const AxisPads& pads = p.pads.back();
  const size_t bytes = p.element_bytes;
  const auto at = [&](int64_t x) { return out + static_cast<size_t>(x) * bytes; };
  const int64_t begin = std::clamp<int64_t>(pads.before, 0, width);
  const int64_t end = std::clamp<int64_t>(pads.before + size, begin, width);
  if (end > begin)
    std::memcpy(at(begin), in + static_cast<size_t>(begin - pads.before) * bytes,
                static_cast<size_t>(end - begin) * bytes);
  const auto border = [&](int64_t from, int64_t to) {
    if (p.mode == PadMode::constant) return put(at(from), to - from, p.fill, bytes);
    for (int64_t x = from; x < to; ++x) {
      const int64_t source = pad_source(p.mode, x - pads.before, size, pads);
      if (source < 0)
        put(at(x), 1, p.fill, bytes);
      else
        std::memcpy(at(x), in + static_cast<size_t>(source) * bytes, bytes);
    }
  };
  border(0, begin);
  border(end, width);
}

}  // namespace

int64_t pad_source(PadMode mode, int64_t p, int64_t size, const AxisPads& pads) {
  const int64_t lo = std::max<int64_t>(0, -pads.before), hi = size - std::max<int64_t>(0, -pads.after) - 1;
  if (mode == PadMode::constant) return p >= 0 && p < size ? p : -1;
  if (hi < lo) return -1;
  const int64_t length = hi - lo + 1;
  if (mode == PadMode::edge) return std::clamp(p, lo, hi);
  // Without division where it goes over an end once at most.
  if (p >= lo && p <= hi) return p;
  if (mode == PadMode::reflect && p < lo && lo - p < length) return lo + (lo - p);
  if (mode == PadMode::reflect && p > hi && p - hi < length) return hi - (p - hi);
  const int64_t period = mode == PadMode::wrap ? length : std::max<int64_t>(1, 2 * (length - 1));
  const int64_t phase = ((p - lo) % period + period) % period;
  return lo + (phase < length ? phase : period - phase);
}

int64_t PadRows::rows() const {
  int64_t count = 1;
  for (size_t axis = 0; axis + 1 < out_dims.size(); ++axis) count *= out_dims[axis];
  return out_dims.back() == 0 ? 0 : count;
}

void PadRows::run(int64_t first, int64_t last) const {
  const auto row_bytes = static_cast<size_t>(out_dims.back()) * element_bytes;
  const auto in_bytes = static_cast<size_t>(in_dims.back()) * element_bytes;
  for (int64_t row = first; row < last; ++row) {
    std::byte* to = out + static_cast<size_t>(row) * row_bytes;
    const int64_t source = source_row(*this, row);
    if (source < 0)
      put(to, out_dims.back(), fill, element_bytes);
    else
      run_row(*this, in + static_cast<size_t>(source) * in_bytes, to);
  }
}

}  // namespace anyshape::kernels
