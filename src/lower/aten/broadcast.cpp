#include "lower/aten/families.h"

namespace anyshape::lower {
namespace {

// The size both axes have once they are broadcast.
Dim common_size(Lowering& l, Dim a, Dim b) {
  if (a == Dim(1)) return b;
  if (b == Dim(1) || l->same(a, b)) return a;
  return l->assumptions().simplify(broadcast(a, b));
}

Arg broadcast_tensors(Lowering& l, const Args& a) {
  const Refs all = a.tensors("tensors");
  Dims sizes;
  for (Ref one : all) {
    const Dims own = l->dims(one);
    if (own.size() > sizes.size()) sizes.insert(sizes.begin(), own.size() - sizes.size(), Dim(1));
    const size_t front = sizes.size() - own.size();
    for (size_t i = 0; i < own.size(); ++i) sizes[front + i] = common_size(l, sizes[front + i], own[i]);
  }
  Arguments out;
  for (Ref one : all) out.push_back(l->expand(one, sizes));
  return out;
}

constexpr AtenOp kBroadcastOps[] = {{"broadcast_tensors", broadcast_tensors}};

}  // namespace

std::span<const AtenOp> broadcast_ops() { return kBroadcastOps; }

}  // namespace anyshape::lower
