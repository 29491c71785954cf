#include "kernels/elementwise.h"

namespace anyshape::kernels {

BroadcastIndex::BroadcastIndex(const std::vector<int64_t>& dims, const std::vector<int64_t>& to)
    : to_(to), strides_(to.size(), 0), index_(to.size(), 0) {
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides_[to.size() - dims.size() + i] = dims[i] == 1 ? 0 : step;
    step *= dims[i];
  }
}

void BroadcastIndex::next() {
  for (size_t axis = to_.size(); axis-- > 0;) {
    offset_ += strides_[axis];
    if (++index_[axis] < to_[axis]) return;
    offset_ -= strides_[axis] * index_[axis];
    index_[axis] = 0;
  }
}

bool broadcasts(const std::vector<int64_t>& dims, const std::vector<int64_t>& to) {
  if (dims.size() > to.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1 && dims[i] != to[to.size() - dims.size() + i]) return false;
  return true;
}

}  // namespace anyshape::kernels
