#include "lower/aten/nn.h"

#include <algorithm>
#include <numeric>

#include "tensor/real.h"

namespace anyshape::lower {
namespace {

bool all_zero(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  if (std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; })) return true;
  if (!is_float(tensor.dtype())) return false;
  for (int64_t i = 0; i < tensor.count(); ++i)
    if (real_at(tensor, i).value_or(1) != 0) return false;
  return true;
}

const std::vector<int64_t>* ints_of(const Node& node, std::string_view name) {
  for (const Attribute& attribute : node.attributes)
    if (attribute.name == name) return std::get_if<std::vector<int64_t>>(&attribute.value);
  return nullptr;
}

}  // namespace

Ref permuted(Lowering& l, Ref x, std::vector<int64_t> order) {
  const Node* made = l->producer(x);
  const auto* inner = made && made->type == "Transpose" ? ints_of(*made, "perm") : nullptr;
  if (!inner || inner->size() != order.size()) return l->transpose(x, std::move(order));
  for (int64_t& axis : order) axis = (*inner)[static_cast<size_t>(axis)];
  return l->transpose({x.scope, made->in[0]}, std::move(order));
}

Ref swap_last(Lowering& l, Ref x) {
  std::vector<int64_t> order(l->rank(x));
  if (order.size() < 2) return x;
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permuted(l, x, std::move(order));
}

Ref move_axis(Lowering& l, Ref x, size_t from, size_t to) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < l->rank(x); ++i)
    if (i != from) order.push_back(static_cast<int64_t>(i));
  if (order.size() < to || from >= l->rank(x)) return x;
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), static_cast<int64_t>(from));
  return l->transpose(x, std::move(order));
}

std::optional<std::vector<int64_t>> numbers_of(const Dims& dims) {
  std::vector<int64_t> out;
  for (Dim d : dims) {
    if (!d.is_constant()) return std::nullopt;
    out.push_back(*d.constant());
  }
  return out;
}

Ref filled(Lowering& l, const Dims& dims, double value, DType dtype) {
  if (l->failed()) return {};
  auto one = Tensor::allocate(dtype, {1});
  if (!one) {
    l->fail(std::move(one).error());
    return {};
  }
  if (is_float(dtype))
    set_real(*one, 0, value);
  else
    one->set_int(0, static_cast<int64_t>(value));
  return l->full(dims, *one);
}

Ref with_trailing_ones(Lowering& l, Ref x, size_t count) {
  std::vector<int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), static_cast<int64_t>(l->rank(x)));
  return l->unsqueeze(x, axes);
}

Ref counted(Lowering& l, Dim n, DType dtype) {
  return l->cast(l.op("Range", {l->number(int64_t{0}), l->scalar(n), l->number(int64_t{1})}), dtype);
}

bool is_zero(Lowering& l, Ref x) {
  for (int step = 0; step < 16; ++step) {
    if (const Tensor* known = l->tensor(x)) return all_zero(*known);
    const Node* made = l->producer(x);
    if (!made) return false;
    if (made->type == "ConstantOfShape") {
      if (made->attributes.empty()) return true;
      const auto* value = std::get_if<Box<Tensor>>(&made->attributes[0].value);
      return value && all_zero(**value);
    }
    static constexpr std::string_view kSameEntries[] = {"Expand",  "Cast",    "Slice",    "Unsqueeze", "Squeeze",
                                                        "Reshape", "Flatten", "Identity", "Transpose", "Gather"};
    if (std::find(std::begin(kSameEntries), std::end(kSameEntries), made->type) == std::end(kSameEntries)) return false;
    x = {x.scope, made->in[0]};
  }
  return false;
}

DType compute_type(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype; }

Ref times(Lowering& l, Ref a, double number) {
  return number == 1 ? a : l.op("Mul", {a, l->number(number, l->dtype(a))});
}

Normalized normalized(Lowering& l, Ref x, const std::vector<int64_t>& axes, double eps) {
  const DType given = l->dtype(x), wide = compute_type(given);
  x = l->cast(x, wide);
  const Ref mean = l.reduce("ReduceMean", x, axes, true);
  const Ref centred = l.op("Sub", {x, mean});
  const Ref variance = l.reduce("ReduceMean", l.op("Pow", {centred, l->number(2.0, wide)}), axes, true);
  const Ref deviation = l.op("Sqrt", {l.op("Add", {variance, l->number(eps, wide)})});
  return {l->cast(l.op("Div", {centred, deviation}), given), mean, variance, l.op("Reciprocal", {deviation})};
}

Ref dropped(Lowering& l, Ref x, double ratio, std::string_view what) {
  if (!l.options().training) {
    l->refuse(
        "export.training",
        "{} drops entries at random because the module is in training mode; call model.eval() before the model is "
        "captured, or export with --training preserve",
        what);
    return {};
  }
  if (l->opset() < 12) {
    l->refuse(kOpsetCode, "{} needs opset 12: before it Dropout never drops", what);
    return {};
  }
  return l.op("Dropout", {x, l->number(ratio, DType::f32), l->integer(1, DType::boolean)});
}

}  // namespace anyshape::lower
