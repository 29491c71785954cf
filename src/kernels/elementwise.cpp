#include "kernels/elementwise.h"

#include "base/temporary.h"

namespace anyshape::kernels {

namespace {

Temporary<int64_t> broadcast_strides(std::span<const int64_t> dims, size_t rank) {
  Temporary<int64_t> strides(rank, 0);
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[rank - dims.size() + i] = dims[i] == 1 ? 0 : step;
    step *= dims[i];
  }
  return strides;
}

}  // namespace

BroadcastIndex::BroadcastIndex(std::span<const int64_t> dims, std::span<const int64_t> to)
    : BroadcastIndex(dims, to, to.size()) {}

BroadcastIndex::BroadcastIndex(std::span<const int64_t> dims, std::span<const int64_t> to, size_t inner)
    : to_(to.begin(), to.end()), strides_(broadcast_strides(dims, to.size())), index_(inner, 0) {
  to_.resize(inner);
  strides_.resize(inner);
}

BroadcastRows::BroadcastRows(std::span<const int64_t> a, std::span<const int64_t> b, std::span<const int64_t> to) {
  const auto strides_a = broadcast_strides(a, to.size()), strides_b = broadcast_strides(b, to.size());
  size_t inner = to.size();
  for (; inner > 0; --inner) {
    const size_t axis = inner - 1;
    if (to[axis] == 1) continue;
    const int64_t step_a = strides_a[axis] != 0, step_b = strides_b[axis] != 0;
    if (length_ != 1 && (step_a != step_a_ || step_b != step_b_)) break;
    step_a_ = step_a;
    step_b_ = step_b;
    length_ *= to[axis];
  }
  a_ = BroadcastIndex(a, to, inner);
  b_ = BroadcastIndex(b, to, inner);
}

void BroadcastIndex::next() {
  for (size_t axis = to_.size(); axis-- > 0;) {
    offset_ += strides_[axis];
    if (++index_[axis] < to_[axis]) return;
    offset_ -= strides_[axis] * index_[axis];
    index_[axis] = 0;
  }
}

bool broadcasts(std::span<const int64_t> dims, std::span<const int64_t> to) {
  if (dims.size() > to.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1 && dims[i] != to[to.size() - dims.size() + i]) return false;
  return true;
}

}  // namespace anyshape::kernels
