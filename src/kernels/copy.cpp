#include "kernels/copy.h"

namespace anyshape::kernels {

void copy_elements(Tensor& to, int64_t to_start, const Tensor& from, int64_t from_start, int64_t count) {
  if (count <= 0) return;
  if (from.dtype() == DType::string) {
    for (int64_t i = 0; i < count; ++i)
      to.put_string(to_start + i, from.strings()[static_cast<size_t>(from_start + i)]);
    return;
  }
  const int width = bits(from.dtype());
  if (width < 8) {
    for (int64_t i = 0; i < count; ++i) to.set_int(to_start + i, from.int_at(from_start + i));
    return;
  }
  const auto size = static_cast<size_t>(width / 8);
  std::memcpy(to.data() + static_cast<size_t>(to_start) * size,
              from.bytes().data() + static_cast<size_t>(from_start) * size, static_cast<size_t>(count) * size);
}

}  // namespace anyshape::kernels
