#include "kernels/join.h"

#include <fmt/ranges.h>

#include "base/temporary.h"
#include "kernels/copy.h"

namespace anyshape::kernels {
namespace {

struct Sides {
  int64_t outer = 1, inner = 1;
};

Sides sides(std::span<const int64_t> dims, size_t axis) {
  Sides out;
  for (size_t i = 0; i < axis; ++i) out.outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i) out.inner *= dims[i];
  return out;
}

Status check_fits(const Tensor& first, const Tensor& next, size_t axis) {
  if (first.dtype() != next.dtype())
    return refuse("join.type", "parts have the element types {} and {}", name(first.dtype()), name(next.dtype()));
  bool fits = first.rank() == next.rank();
  for (size_t i = 0; fits && i < first.rank(); ++i) fits = i == axis || first.dims()[i] == next.dims()[i];
  if (fits) return {};
  return refuse("join.shape", "parts of shapes [{}] and [{}] do not fit together", fmt::join(first.dims(), ", "),
                fmt::join(next.dims(), ", "));
}

}  // namespace

Result<Tensor> part(const Tensor& whole, size_t axis, int64_t start, int64_t count) {
  auto dims = temporary(whole.dims());
  const int64_t size = dims[axis];
  dims[axis] = count;
  TRY(Tensor out, Tensor::allocate(whole.dtype(), dims));
  if (out.count() == 0) return out;
  const Sides s = sides(dims, axis);
  for (int64_t o = 0; o < s.outer; ++o)
    copy_elements(out, o * count * s.inner, whole, (o * size + start) * s.inner, count * s.inner);
  return out;
}

Result<Tensor> join(std::span<const Tensor> parts, size_t axis) {
  auto dims = temporary(parts[0].dims());
  if (axis >= dims.size())
    return refuse("axis.range", "axis {} is out of range for parts of rank {}", axis, dims.size());
  int64_t total = 0;
  for (const Tensor& one : parts) {
    TRY_OK(check_fits(parts[0], one, axis));
    if (__builtin_add_overflow(total, one.dims()[axis], &total))
      return refuse("tensor.dims", "the parts are too long together");
  }
  dims[axis] = total;
  TRY(Tensor out, Tensor::allocate(parts[0].dtype(), dims));
  if (out.count() == 0) return out;
  const Sides s = sides(dims, axis);
  int64_t at = 0;
  for (const Tensor& one : parts) {
    const int64_t size = one.dims()[axis];
    for (int64_t o = 0; o < s.outer; ++o)
      copy_elements(out, (o * total + at) * s.inner, one, o * size * s.inner, size * s.inner);
    at += size;
  }
  return out;
}

Result<Tensor> stack(std::span<const Tensor> parts, size_t axis) {
  if (axis > parts[0].rank())
    return refuse("axis.range", "axis {} is out of range for parts of rank {}", axis, parts[0].rank());
  Temporary<Tensor> widened;
  for (const Tensor& one : parts) {
    TRY_OK(check_fits(parts[0], one, one.rank()));
    auto dims = temporary(one.dims());
    dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), 1);
    widened.push_back(one.reshaped(std::move(dims)));
  }
  return join(widened, axis);
}

}  // namespace anyshape::kernels
