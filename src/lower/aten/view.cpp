#include <algorithm>
#include <numeric>

#include "lower/aten/families.h"

namespace anyshape::lower {
namespace {

// The target of a view: its one -1 is what is left of the element count.
Dims full_sizes(Lowering& l, Ref x, Dims target) {
  const Dim count = product(l.dims(x));
  Dim known = 1;
  size_t open = target.size();
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] == Dim(-1))
      open = i;
    else
      known = known * target[i];
  }
  if (open == target.size()) return target;
  const auto exact = l.assumptions().exact_div(count, known);
  target[open] = exact ? *exact : floordiv(count, known);
  return target;
}

Arg view(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return l.reshape(x, full_sizes(l, x, a.dims(a.has("size") ? "size" : "shape")));
}

Arg transpose(Lowering& l, const Args& a) {
  const Ref x = a.self();
  std::vector<int64_t> order(l.rank(x));
  std::iota(order.begin(), order.end(), 0);
  if (order.empty()) return x;
  std::swap(order[static_cast<size_t>(l.axis(x, a.i("dim0")))], order[static_cast<size_t>(l.axis(x, a.i("dim1")))]);
  return l.transpose(x, order);
}

Ref put_transposed(Lowering& l, const Args& a, Ref self, Ref part, size_t) {
  (void)self;
  const Arg back = transpose(l, a.with_self(part));
  return l.ref(back);
}

Arg same(Lowering&, const Args& a) { return a.self(); }

constexpr AtenOp kOps[] = {
    {.name = "alias", .lower = same, .put = put_whole},
    {.name = "clone", .lower = same},
    {.name = "contiguous", .lower = same, .put = put_whole, .copies_reordered = true},
    {.name = "detach", .lower = same, .put = put_whole},
    {.name = "reshape", .lower = view, .put = put_reshaped, .copies_reordered = true},
    {.name = "transpose", .lower = transpose, .put = put_transposed, .reorders = true},
    {.name = "view", .lower = view, .put = put_reshaped},
};

}  // namespace

Ref put_whole(Lowering&, const Args&, Ref, Ref part, size_t) { return part; }

Ref put_reshaped(Lowering& l, const Args&, Ref self, Ref part, size_t) { return l.reshape(part, l.dims(self)); }

std::span<const AtenOp> view_ops() { return kOps; }

}  // namespace anyshape::lower
