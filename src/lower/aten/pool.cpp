#include <algorithm>
#include <limits>

#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

using Ints = std::vector<int64_t>;

struct Pool {
  size_t spatial = 0;
  Ints kernel, stride, padding, dilation;
  bool ceil = false, count_padding = true;
  std::optional<int64_t> divisor;

  bool unpadded() const {
    return std::all_of(padding.begin(), padding.end(), [](int64_t p) { return p == 0; });
  }
  int64_t extent(size_t i) const { return dilation[i] * (kernel[i] - 1) + 1; }
  int64_t volume() const {
    int64_t product = 1;
    for (int64_t k : kernel) product *= k;
    return product;
  }
};

Ints widened(Ints given, size_t count, const Ints& fallback) {
  if (given.empty()) return fallback;
  if (given.size() == 1) given.resize(count, given[0]);
  return given;
}

std::optional<Pool> pool_of(Lowering& l, const Args& a, size_t spatial) {
  Pool pool;
  pool.spatial = spatial;
  pool.kernel = widened(a.ints("kernel_size"), spatial, Ints(spatial, 1));
  pool.stride = widened(a.ints("stride"), spatial, pool.kernel);
  pool.padding = widened(a.ints("padding"), spatial, Ints(spatial, 0));
  pool.dilation = widened(a.ints("dilation"), spatial, Ints(spatial, 1));
  pool.ceil = a.flag("ceil_mode");
  pool.count_padding = a.flag("count_include_pad", true);
  if (a.has("divisor_override")) pool.divisor = a.i("divisor_override", 1);
  if (l->failed()) return std::nullopt;
  for (const Ints* one : {&pool.kernel, &pool.stride, &pool.padding, &pool.dilation})
    if (one->size() != spatial) {
      l->refuse("aten.arguments", "a pool of {} axes got {} numbers for one of its sizes", spatial, one->size());
      return std::nullopt;
    }
  return pool;
}

// The number of windows: the last one starts before the padding behind.
Dim windows(const Pool& pool, size_t i, Dim in) {
  const Dim slack = in + Dim(2 * pool.padding[i] - pool.extent(i));
  if (!pool.ceil) return floordiv(slack, pool.stride[i]) + 1;
  return min(floordiv(slack + Dim(pool.stride[i] - 1), pool.stride[i]) + 1,
             floordiv(in + Dim(pool.padding[i] - 1), pool.stride[i]) + 1);
}

// Rounding up gives what rounding down gives.
bool divides(Lowering& l, const Pool& pool, Ref x) {
  for (size_t i = 0; i < pool.spatial; ++i) {
    const Dim in = l->dim(x, l->rank(x) - pool.spatial + i);
    if (!l->proves(Condition::divisible(in + Dim(2 * pool.padding[i] - pool.extent(i)), pool.stride[i]))) return false;
  }
  return true;
}

// Rounded up, no window can start in the padding behind: ONNX says nothing of those.
bool starts_inside(const Pool& pool) {
  for (size_t i = 0; i < pool.spatial; ++i)
    if (pool.stride[i] + pool.padding[i] > pool.extent(i)) return false;
  return true;
}

std::vector<Attribute> attributes_of(const Pool& pool, bool dilates) {
  std::vector<Attribute> out;
  if (pool.ceil) out.push_back(attr("ceil_mode", 1));
  if (dilates && std::any_of(pool.dilation.begin(), pool.dilation.end(), [](int64_t d) { return d != 1; }))
    out.push_back(attr("dilations", pool.dilation));
  out.push_back(attr("kernel_shape", pool.kernel));
  Ints pads = pool.padding;
  pads.insert(pads.end(), pool.padding.begin(), pool.padding.end());
  out.push_back(attr("pads", pads));
  out.push_back(attr("strides", pool.stride));
  return out;
}

// ONNX Runtime moves a Pad with zeros into the pool behind it, and a MaxPool pads with the lowest number instead. Where
// the pool says that it pads nothing, rather than so much, it leaves the two alone.
std::vector<Attribute> max_attributes(Lowering& l, const Pool& pool, Ref x) {
  std::vector<Attribute> out = attributes_of(pool, true);
  const Node* made = l->producer(x);
  const bool pads =
      pool.ceil || std::any_of(pool.padding.begin(), pool.padding.end(), [](int64_t p) { return p != 0; });
  if (!made || made->type != "Pad" || pads) return out;
  std::erase_if(out, [](const Attribute& one) { return one.name == "pads"; });
  out.insert(out.begin(), attr("auto_pad", "VALID"));
  return out;
}

// x with all padding written out, long enough for windows that are rounded up. The padding behind stays shorter than a
// window: runtimes that move it into the pool allow no more.
Ref padded_pool(Lowering& l, const Pool& pool, Ref x, Ref value) {
  const size_t front = l->rank(x) - pool.spatial;
  Dims before(front, 0), after(front, 0);
  for (size_t i = 0; i < pool.spatial; ++i) {
    before.push_back(pool.padding[i]);
    after.push_back(pool.ceil ? std::min(pool.padding[i] + pool.stride[i] - 1, pool.extent(i) - 1) : pool.padding[i]);
  }
  before.insert(before.end(), after.begin(), after.end());
  return l->pad(x, before, value);
}

Pool without_padding(Pool pool) {
  pool.ceil = false;
  std::fill(pool.padding.begin(), pool.padding.end(), 0);
  return pool;
}

Ref cut_to_windows(Lowering& l, const Pool& pool, Ref x, Ref y) {
  const size_t front = l->rank(x) - pool.spatial;
  for (size_t i = 0; i < pool.spatial; ++i)
    y = l->slice(y, static_cast<int64_t>(front + i), 0, windows(pool, i, l->dim(x, front + i)));
  return y;
}

// MaxPool exists for few types.
DType max_type(Lowering& l, DType dtype) {
  if (dtype == DType::i8 || dtype == DType::u8) return l->opset() >= 12 ? dtype : DType::f32;
  return is_float(dtype) ? dtype : DType::f64;
}

// ONNX Runtime moves zeros that were padded in front of a pool into the padding of the pool, where MaxPool has the
// lowest numbers instead. It leaves a pool with auto_pad alone.
bool follows_padding(Lowering& l, Ref x) {
  const Node* made = l->producer(x);
  return made && made->type == "Pad";
}

// A pool without padding that says so by auto_pad.
std::vector<Attribute> valid_attributes(const Pool& pool) {
  auto out = attributes_of(without_padding(pool), true);
  std::erase_if(out, [](const Attribute& a) { return a.name == "pads"; });
  out.insert(out.begin(), attr("auto_pad", std::string_view("VALID")));
  return out;
}

struct Pooled {
  Ref value, indices;
};

Pooled max_pool_of(Lowering& l, Pool pool, Ref x, bool with_indices) {
  const DType given = l->dtype(x), wide = max_type(l, given);
  x = l->cast(x, wide);
  if (pool.ceil && divides(l, pool, x)) pool.ceil = false;
  const bool alone = !with_indices && follows_padding(l, x);
  if (alone && !pool.ceil && pool.unpadded()) return {l->cast(l.op("MaxPool", {x}, valid_attributes(pool)), given), {}};
  if (alone || (pool.ceil && !starts_inside(pool))) {
    if (with_indices) {
      l->refuse("aten.pool",
                "max pooling with ceil_mode=True and windows that may start behind the input cannot give "
                "indices; use a stride that is not larger than the kernel less the padding");
      return {};
    }
    const Ref lowest = is_float(wide) ? l->number(-std::numeric_limits<double>::infinity(), wide)
                                      : l->integer(wide == DType::i8 ? -128 : 0, wide);
    const Ref y = l.op("MaxPool", {padded_pool(l, pool, x, lowest)}, attributes_of(without_padding(pool), true));
    return {l->cast(cut_to_windows(l, pool, x, y), given), {}};
  }
  if (!with_indices) return {l->cast(l.op("MaxPool", {x}, max_attributes(l, pool, x)), given), {}};
  const Refs out = l->emit("MaxPool", {x}, attributes_of(pool, true), 2);
  // ONNX counts through the whole tensor, PyTorch through one plane.
  const Dims sizes = l->dims(x);
  const Dim plane = product({sizes.end() - static_cast<std::ptrdiff_t>(pool.spatial), sizes.end()});
  return {l->cast(out[0], given), l.op("Mod", {out[1], l->scalar(plane)})};
}

// How many entries window i of an axis averages, as a vector over the windows.
Ref counts(Lowering& l, const Pool& pool, size_t i, Dim in, DType dtype) {
  const Ref first = l.op("Sub", {l.op("Mul", {counted(l, windows(pool, i, in), DType::i64), l->number(pool.stride[i])}),
                                 l->number(pool.padding[i])});
  const Ref last = l.op("Add", {first, l->number(pool.kernel[i])});
  const auto lesser = [&](Ref x, Ref y) { return l.op("Where", {l.op("Less", {x, y}), x, y}); };
  const Dim end = pool.count_padding ? in + Dim(pool.padding[i]) : in;
  const Ref start = pool.count_padding
                        ? first
                        : l.op("Where", {l.op("Less", {first, l->number(int64_t{0})}), l->number(int64_t{0}), first});
  return l->cast(l.op("Sub", {lesser(last, l->scalar(end)), start}), dtype);
}

// The sum over every window, then divided by what PyTorch divides it by.
Ref average_by_counts(Lowering& l, const Pool& pool, Ref x) {
  const DType dtype = l->dtype(x);
  const Ref mean = l.op("AveragePool", {padded_pool(l, pool, x, l->number(0.0, dtype))},
                        attributes_of(without_padding(pool), false));
  Ref sum = times(l, cut_to_windows(l, pool, x, mean), static_cast<double>(pool.volume()));
  if (pool.divisor) return l.op("Div", {sum, l->integer(*pool.divisor, dtype)});
  const size_t front = l->rank(x) - pool.spatial;
  Ref divisor;
  for (size_t i = 0; i < pool.spatial; ++i) {
    const Ref count = with_trailing_ones(l, counts(l, pool, i, l->dim(x, front + i), dtype), pool.spatial - 1 - i);
    divisor = divisor ? l.op("Mul", {divisor, count}) : count;
  }
  return l.op("Div", {sum, divisor});
}

Ref average_of(Lowering& l, Pool pool, Ref x) {
  if (pool.ceil && divides(l, pool, x)) pool.ceil = false;
  if (pool.unpadded() && !pool.divisor) pool.count_padding = false;
  const bool plain = pool.ceil ? !pool.count_padding && !pool.divisor && starts_inside(pool) : true;
  if (!plain) return average_by_counts(l, pool, x);
  auto attributes = attributes_of(pool, false);
  if (pool.count_padding || pool.divisor) attributes.push_back(attr("count_include_pad", 1));
  const Ref y = l.op("AveragePool", {x}, std::move(attributes));
  return pool.divisor ? times(l, y, static_cast<double>(pool.volume()) / static_cast<double>(*pool.divisor)) : y;
}

template <size_t Spatial>
Arg max_pool(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, Spatial + 1, Spatial + 2)) return {};
  const auto pool = pool_of(l, a, Spatial);
  if (!pool) return {};
  const bool batched = l->rank(x) == Spatial + 2, both = a.schema().results == 2;
  const Pooled y = max_pool_of(l, *pool, batched ? x : l->unsqueeze(x, {0}), both);
  const auto out = [&](Ref r) { return batched ? r : l->squeeze(r, {0}); };
  if (both) return Arguments{out(y.value), out(y.indices)};
  return out(y.value);
}

template <size_t Spatial>
Arg avg_pool(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, Spatial + 1, Spatial + 2)) return {};
  const auto pool = pool_of(l, a, Spatial);
  if (!pool) return {};
  const bool batched = l->rank(x) == Spatial + 2;
  const Ref y = average_of(l, *pool, batched ? x : l->unsqueeze(x, {0}));
  return batched ? y : l->squeeze(y, {0});
}

Arg fractional(Lowering& l, const Args& a) {
  l->refuse("aten.random", "{} picks its windows at random and has no ONNX form", a.schema().name);
  return {};
}

constexpr AtenOp kPoolOps[] = {
    {"avg_pool1d", avg_pool<1>},
    {"avg_pool2d", avg_pool<2>},
    {"avg_pool3d", avg_pool<3>},
    {"fractional_max_pool2d", fractional},
    {"fractional_max_pool3d", fractional},
    {"max_pool1d", max_pool<1>},
    {"max_pool1d_with_indices", max_pool<1>},
    {"max_pool2d", max_pool<2>},
    {"max_pool2d_with_indices", max_pool<2>},
    {"max_pool3d", max_pool<3>},
    {"max_pool3d_with_indices", max_pool<3>},
};

}  // namespace

std::span<const AtenOp> pool_ops() { return kPoolOps; }

}  // namespace anyshape::lower
