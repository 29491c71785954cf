#include "base/temporary.h"
#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "kernels/multiply.h"
#include "kernels/wide.h"

namespace anyshape::kernels {
namespace {

// Offsets of all operands while the loops turn.
struct Walk {
  Temporary<int64_t> sizes, index;
  Temporary<Temporary<int64_t>> strides;  // per loop, per operand
  Temporary<int64_t> offsets;

  // Turns the loops first..last - 1 one step; false after a full turn.
  bool next(size_t first, size_t last) {
    for (size_t loop = last; loop-- > first;) {
      for (size_t n = 0; n < offsets.size(); ++n) offsets[n] += strides[loop][n];
      if (++index[loop] < sizes[loop]) return true;
      for (size_t n = 0; n < offsets.size(); ++n) offsets[n] -= strides[loop][n] * index[loop];
      index[loop] = 0;
    }
    return false;
  }
};

Result<Walk> make_walk(const Einsum& einsum, std::span<const Tensor> operands) {
  Walk walk;
  walk.sizes = einsum.loops;
  walk.index.resize(einsum.loops.size());
  walk.offsets.resize(operands.size());
  walk.strides.assign(einsum.loops.size(), Temporary<int64_t>(operands.size()));
  for (size_t n = 0; n < operands.size(); ++n) {
    const auto& loops = einsum.operands[n];
    if (loops.size() != operands[n].rank()) return refuse("kernel.shape", "a term does not fit its tensor");
    int64_t step = 1;
    for (size_t axis = loops.size(); axis-- > 0;) {
      const int64_t size = operands[n].dims()[axis];
      if (size != 1 && size != einsum.loops[loops[axis]])
        return refuse("kernel.shape", "one letter stands for {} and {}", size, einsum.loops[loops[axis]]);
      if (size != 1) walk.strides[loops[axis]][n] += step;
      step *= size;
    }
  }
  return walk;
}

// The sum over the innermost loop at the present offsets.
template <class T>
Sum<T> inner_sum(const Walk& walk, std::span<const T* const> data) {
  const auto& steps = walk.strides.back();
  const int64_t size = walk.sizes.back();
  Sum<T> sum{};
  if (data.size() == 2) {
    const T *a = data[0] + walk.offsets[0], *b = data[1] + walk.offsets[1];
    for (int64_t i = 0; i < size; ++i)
      sum += static_cast<Sum<T>>(a[i * steps[0]]) * static_cast<Sum<T>>(b[i * steps[1]]);
    return sum;
  }
  for (int64_t i = 0; i < size; ++i) {
    auto product = static_cast<Sum<T>>(1);
    for (size_t n = 0; n < data.size(); ++n) product *= static_cast<Sum<T>>(data[n][walk.offsets[n] + i * steps[n]]);
    sum += product;
  }
  return sum;
}

template <class T>
Status run_einsum(const Einsum& einsum, std::span<const Tensor> operands, Tensor& out) {
  Einsum padded = einsum;
  padded.loops.push_back(1);
  if (padded.loops.size() - 1 > einsum.kept) padded.loops.pop_back();
  TRY(Walk walk, make_walk(padded, operands));
  Temporary<const T*> data;
  for (const Tensor& operand : operands) data.push_back(operand.as<T>().data());
  const size_t last = walk.sizes.size() - 1;
  bool empty = false;
  for (size_t loop = einsum.kept; loop < walk.sizes.size(); ++loop) empty |= walk.sizes[loop] == 0;
  if (empty) return {};
  for (T& to : out.as_mutable<T>()) {
    Sum<T> sum{};
    do sum += inner_sum<T>(walk, data);
    while (walk.next(einsum.kept, last));
    to = static_cast<T>(sum);
    walk.next(0, einsum.kept);
  }
  return {};
}

}  // namespace

Status einsum(const Einsum& einsum, std::span<const Tensor> operands, Tensor& out) {
  for (const Tensor& operand : operands) TRY_OK(require_one_type({&out, &operand}));
  if (operands.size() != einsum.operands.size()) return refuse("kernel.shape", "as many terms as tensors are needed");
  const auto body = [&]<class T>(T) { return run_einsum<T>(einsum, operands, out); };
  return is_float(out.dtype()) ? visit_real(out.dtype(), body) : visit_type<kInts>(out.dtype(), body);
}

}  // namespace anyshape::kernels
