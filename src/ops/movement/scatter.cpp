#include <algorithm>
#include <complex>
#include <utility>

#include "kernels/dispatch.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kScatterIn[] = {{"data"}, {"indices", Port::value | Port::settled}, {"updates"}};
constexpr Port kScatterOut[] = {{"output"}};
constexpr Port kCacheIn[] = {
    {"past_cache"}, {"update"}, {"write_indices", Port::optional | Port::value | Port::settled}};
constexpr Port kCacheOut[] = {{"present_cache"}};
constexpr AttributeDef kScatterAttributes[] = {
    {"axis", 0},
};
constexpr AttributeDef kScatterElementsAttributes[] = {
    {"axis", 0},
    {"reduction", "none", {16}},
};
constexpr AttributeDef kScatterNDAttributes[] = {
    {"reduction", "none", {16}},
};
constexpr AttributeDef kTensorScatterAttributes[] = {
    {"axis", -2},
    {"mode", "linear"},
};
constexpr size_t kMoved[] = {0, 2};

enum class Reduction { none, add, mul, max, min };

Result<Reduction> reduction_of(const Call& call) {
  const std::string_view name = call.version() >= 16 ? call.s("reduction") : "none";
  if (name == "none") return Reduction::none;
  if (name == "add") return Reduction::add;
  if (name == "mul") return Reduction::mul;
  if (name == "max" && call.version() >= 18) return Reduction::max;
  if (name == "min" && call.version() >= 18) return Reduction::min;
  return refuse("scatter.reduction", "the reduction {:?} does not exist in version {}", name, call.version());
}

template <class T>
T reduced(Reduction reduction, T old, T update) {
  const auto a = kernels::widen(old), b = kernels::widen(update);
  using Wide = kernels::Compute<T>;
  if (reduction == Reduction::max) return a < b ? update : old;
  if (reduction == Reduction::min) return b < a ? update : old;
  if constexpr (std::is_same_v<T, bool>) {
    return reduction == Reduction::add ? old || update : old && update;
  } else if constexpr (std::is_integral_v<Wide>) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(reduction == Reduction::add ? x + y : x * y);
  } else {
    return kernels::narrow<T>(static_cast<Wide>(reduction == Reduction::add ? a + b : a * b));
  }
}

// Complex numbers are ordered by real part, then by imaginary part.
template <class T>
Status write_complex(Reduction reduction, Tensor& out, int64_t to, const Tensor& updates, int64_t from, int64_t count) {
  using Complex = std::complex<T>;
  auto* values = reinterpret_cast<Complex*>(out.data());
  for (int64_t i = 0; i < count; ++i) {
    Complex& a = values[to + i];
    const auto b = updates.at<Complex>(from + i);
    const bool less = std::pair(a.real(), a.imag()) < std::pair(b.real(), b.imag());
    if (reduction == Reduction::add)
      a += b;
    else if (reduction == Reduction::mul)
      a *= b;
    else if (less == (reduction == Reduction::max))
      a = b;
  }
  return {};
}

// out[to + i] = reduce(out[to + i], updates[from + i]) for i < count.
Status write(Reduction reduction, Tensor& out, int64_t to, const Tensor& updates, int64_t from, int64_t count) {
  if (reduction == Reduction::none) {
    kernels::copy_elements(out, to, updates, from, count);
    return {};
  }
  if (out.dtype() == DType::c64) return write_complex<float>(reduction, out, to, updates, from, count);
  if (out.dtype() == DType::c128) return write_complex<double>(reduction, out, to, updates, from, count);
  return kernels::visit_type<kernels::kAll>(out.dtype(), [&]<class T>(T) -> Status {
    auto values = out.as_mutable<T>();
    for (int64_t i = 0; i < count; ++i) {
      T& value = values[static_cast<size_t>(to + i)];
      value = reduced<T>(reduction, value, updates.at<T>(from + i));
    }
    return {};
  });
}

// Bounds of a result that keeps some entries and replaces others; entries by moving entry numbers.
Facts scattered(const Call& call, const Kernel& kernel, Reduction reduction) {
  Facts out{call.in(0).type_only()};
  if (reduction == Reduction::none) carry_all(call, kernel, kMoved, out);
  return out;
}

Status reference_elements(const Call& call, KernelArgs& args) {
  const Tensor &data = args.in(0), &indices = args.in(1), &updates = args.in(2);
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.rank()));
  TRY(const Reduction reduction, reduction_of(call));
  kernels::copy_elements(args.out(0), 0, data, 0, data.count());
  const auto strides = row_strides(data.dims());
  Status status;
  for_each_index(indices.dims(), [&](std::span<const int64_t> at, int64_t n) {
    auto index = checked_index(indices.int_at(n), data.dims()[axis], "scatter.index");
    if (!index) {
      status = tl::unexpected(std::move(index).error());
      return;
    }
    int64_t offset = *index * strides[axis];
    for (size_t i = 0; i < at.size(); ++i) offset += i == axis ? 0 : at[i] * strides[i];
    if (auto written = write(reduction, args.out(0), offset, updates, n, 1); !written) status = written;
  });
  return status;
}

constexpr Kernel kElements[] = {{"reference", reference_elements}};

Result<Facts> infer_elements(const Call& call, InferContext& context) {
  if (call.type() == "Scatter" && call.version() >= 11)
    return refuse("scatter.deprecated", "Scatter does not exist since version 11, ScatterElements does");
  TRY(const Dims data, call.dims(0));
  TRY(const Dims indices, call.dims(1));
  TRY(const Dims updates, call.dims(2));
  TRY_OK(require_same_dtype(call, {0, 2}));
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.size()));
  TRY(const Reduction reduction, reduction_of(call));
  TRY_OK(require_same_dims(context, indices, updates, "indices and updates"));
  if (data.size() != indices.size())
    return refuse("scatter.rank", "data {} and indices {} must have one rank", text(data), text(indices));
  for (size_t i = 0; i < data.size(); ++i)
    if (i != axis)
      TRY_OK(context.require(Condition::le(indices[i], data[i]), "scatter.shape",
                             "axis {} of the indices {} must not be longer than that of the data {}", i, text(indices),
                             text(data)));
  TRY_OK(require_index(call, context, 1, data[axis], "scatter.index"));
  return scattered(call, kElements[0], reduction);
}

Status reference_nd(const Call& call, KernelArgs& args) {
  const Tensor &data = args.in(0), &indices = args.in(1), &updates = args.in(2);
  TRY(const Reduction reduction, reduction_of(call));
  if (indices.rank() == 0) return refuse("scatternd.rank", "indices must not be a scalar");
  const auto tuple = static_cast<size_t>(indices.dims().back());
  const auto strides = row_strides(data.dims());
  int64_t inner = 1, tuples = 1;
  for (size_t i = tuple; i < data.rank(); ++i) inner *= data.dims()[i];
  for (size_t i = 0; i + 1 < indices.rank(); ++i) tuples *= indices.dims()[i];
  kernels::copy_elements(args.out(0), 0, data, 0, data.count());
  for (int64_t n = 0; n < tuples; ++n) {
    int64_t offset = 0;
    for (size_t i = 0; i < tuple; ++i) {
      const int64_t raw = indices.int_at(n * static_cast<int64_t>(tuple) + static_cast<int64_t>(i));
      TRY(const int64_t index, checked_index(raw, data.dims()[i], "scatternd.index"));
      offset += index * strides[i];
    }
    TRY_OK(write(reduction, args.out(0), offset, updates, n * inner, inner));
  }
  return {};
}

constexpr Kernel kNd[] = {{"reference", reference_nd}};

Result<Facts> infer_nd(const Call& call, InferContext& context) {
  TRY(const Dims data, call.dims(0));
  TRY(const Dims indices, call.dims(1));
  TRY_OK(require_same_dtype(call, {0, 2}));
  TRY(const Reduction reduction, reduction_of(call));
  if (data.empty() || indices.empty()) return refuse("scatternd.rank", "data and indices must not be scalars");
  const auto tuple = indices.back().constant();
  if (!tuple) return Facts{call.in(0).type_only()};
  if (*tuple < 0 || *tuple > static_cast<int64_t>(data.size()))
    return refuse("scatternd.tuple", "index tuples of {} entries do not fit data of rank {}", *tuple, data.size());
  const auto indexed = static_cast<size_t>(*tuple);
  Dims sizes, wanted;
  for (size_t i = 0; i < indexed; ++i) sizes.push_back(data[i]);
  for (size_t i = 0; i + 1 < indices.size(); ++i) wanted.push_back(indices[i]);
  for (size_t i = indexed; i < data.size(); ++i) wanted.push_back(data[i]);
  TRY_OK(require_tuples(call, context, 1, sizes, "scatternd.index"));
  TRY(const Dims updates, call.dims(2));
  TRY_OK(require_same_dims(context, updates, wanted, "updates, by indices and data"));
  return scattered(call, kNd[0], reduction);
}

Result<bool> is_circular(const Call& call) {
  const std::string_view mode = call.s("mode");
  if (mode != "linear" && mode != "circular")
    return refuse("tensorscatter.mode", "the mode {:?} is neither linear nor circular", mode);
  return mode == "circular";
}

Result<size_t> cache_axis(const Call& call, size_t rank) {
  TRY(const size_t axis, normalize_axis(call.i("axis"), rank));
  if (axis == 0) return refuse("tensorscatter.axis", "the axis must not be the batch axis");
  return axis;
}

Status require_writes_fit(const Call& call, InferContext& context, const Dims& cache, Dim written, size_t axis) {
  TRY_OK(require_integers(call, 2));
  TRY(const Dims starts, call.dims(2));
  TRY_OK(require_same_dims(context, starts, {cache[0]}, "write_indices and the batch"));
  TRY(const bool circular, is_circular(call));
  const auto bounds = call.in(2).value_bounds();
  const Dim last = circular ? cache[axis] - 1 : cache[axis] - written;
  if (!bounds || !bounds->attained) {
    context.data_condition("tensorscatter.index", "write_indices must be in 0..{}", print(last));
    return {};
  }
  return context.require(
      Condition::eq(cache[0], 0) || (Condition::ge(bounds->lo, 0) && Condition::le(bounds->hi, last)),
      "tensorscatter.index", "write_indices from {} to {} must be in 0..{}", print(bounds->lo), print(bounds->hi),
      print(last));
}

Result<Facts> infer_cache(const Call& call, InferContext& context) {
  TRY(const Dims cache, call.dims(0));
  TRY(const Dims update, call.dims(1));
  TRY_OK(require_same_dtype(call, {0, 1}));
  TRY(const size_t axis, cache_axis(call, cache.size()));
  if (update.size() != cache.size())
    return refuse("tensorscatter.rank", "the cache {} and the update {} must have one rank", text(cache), text(update));
  for (size_t i = 0; i < cache.size(); ++i) {
    const auto fits = i == axis ? Condition::le(update[i], cache[i]) : Condition::eq(update[i], cache[i]);
    TRY_OK(context.require(fits, "tensorscatter.shape", "the update {} must fit the cache {}: axis {} is {} and {}",
                           text(update), text(cache), i, print(update[i]), print(cache[i])));
  }
  if (call.has(2)) TRY_OK(require_writes_fit(call, context, cache, update[axis], axis));
  TRY_OK(is_circular(call));
  return Facts{call.in(0).type_only()};
}

// Where the update of one batch entry starts; checked against the cache unless it may wrap.
Result<int64_t> write_start(const KernelArgs& args, int64_t batch, int64_t size, int64_t written, bool circular) {
  const int64_t start = args.in(2) ? args.in(2).int_at(batch) : 0;
  if (start < 0 || start > (circular ? size - 1 : size - written))
    return refuse("tensorscatter.index", "{} entries written at {} go past the cache of {}", written, start, size);
  return start;
}

Status reference_cache(const Call& call, KernelArgs& args) {
  const Tensor &cache = args.in(0), &update = args.in(1);
  TRY(const size_t axis, cache_axis(call, cache.rank()));
  TRY(const bool circular, is_circular(call));
  const int64_t size = cache.dims()[axis], written = update.dims()[axis];
  const int64_t batches = cache.dims()[0];
  int64_t outer = 1, inner = 1;
  for (size_t i = 1; i < axis; ++i) outer *= cache.dims()[i];
  for (size_t i = axis + 1; i < cache.rank(); ++i) inner *= cache.dims()[i];
  kernels::copy_elements(args.out(0), 0, cache, 0, cache.count());
  if (update.count() == 0) return {};
  for (int64_t b = 0; b < batches; ++b) {
    TRY(const int64_t start, write_start(args, b, size, written, circular));
    for (int64_t o = b * outer; o < (b + 1) * outer; ++o)
      for (int64_t k = 0; k < written; ++k)
        kernels::copy_elements(args.out(0), (o * size + (start + k) % size) * inner, update, (o * written + k) * inner,
                               inner);
  }
  return {};
}

constexpr Kernel kCache[] = {{"reference", reference_cache}};

}  // namespace

constexpr OpDef kScatter9{.name = "Scatter",
                          .since = 9,
                          .sig = {kScatterIn, kScatterOut, "entries replaced along one axis", kScatterAttributes},
                          .infer = infer_elements,
                          .kernels = kElements};
constexpr OpDef kScatterElements11{
    .name = "ScatterElements",
    .since = 11,
    .sig = {kScatterIn, kScatterOut, "entries replaced or reduced along one axis", kScatterElementsAttributes},
    .infer = infer_elements,
    .kernels = kElements};
constexpr OpDef kScatterND11{
    .name = "ScatterND",
    .since = 11,
    .sig = {kScatterIn, kScatterOut, "slices replaced or reduced by tuples of indices", kScatterNDAttributes},
    .infer = infer_nd,
    .kernels = kNd};
constexpr OpDef kTensorScatter24{
    .name = "TensorScatter",
    .since = 24,
    .sig = {kCacheIn, kCacheOut, "an update written into a cache", kTensorScatterAttributes},
    .infer = infer_cache,
    .kernels = kCache};

}  // namespace anyshape::ops
