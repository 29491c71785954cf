#include "kernels/dense_copy.h"

#include <cstring>

namespace anyshape::kernels {
namespace {

template <class T>
void copy_row(const T* from, int64_t stride, T* to, int64_t count) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

template <class T>
void copy_axes(const View& view, size_t axis, const T* from, T*& to) {
  if (axis + 1 == view.rank()) {
    copy_row(from, view.strides[axis], to, view.dims[axis]);
    to += view.dims[axis];
    return;
  }
  for (int64_t i = 0; i < view.dims[axis]; ++i) copy_axes(view, axis + 1, from + i * view.strides[axis], to);
}

template <class T>
void copy_as(const View& from, const View& to) {
  T* next = to.as<T>();
  if (from.rank() == 0) {
    *next = *from.as<T>();
  } else {
    copy_axes<T>(from, 0, from.as<T>(), next);
  }
}

struct Wide {
  uint64_t parts[2];
};

}  // namespace

void dense_copy(const View& from, const View& to) {
  if (from.count() == 0) return;
  switch (bits(from.dtype)) {
    case 8:
      return copy_as<uint8_t>(from, to);
    case 16:
      return copy_as<uint16_t>(from, to);
    case 32:
      return copy_as<uint32_t>(from, to);
    case 64:
      return copy_as<uint64_t>(from, to);
    default:
      return copy_as<Wide>(from, to);
  }
}

}  // namespace anyshape::kernels
