#include "kernels/pool.h"

#include <algorithm>

#include "ops/given.h"
#include "ops/movement/movement.h"
#include "ops/nn/window.h"
#include "ops/records.h"
#include "ops/shown.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

constexpr Port kPoolIn[] = {{"X"}};
constexpr Port kInUnpool[] = {{"X"}, {"I"}, {"output_shape", Port::optional | Port::value}};
constexpr Port kPoolOut[] = {{"Y"}};
constexpr Port kOutMax[] = {{"Y"}, {"Indices", Port::optional}};
constexpr AttributeDef kAveragePoolAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"ceil_mode", 0, {10}},
    {"count_include_pad", 0, {7}},
    {"dilations", AttributeDef::integers, {19}},
    {"kernel_shape", AttributeDef::integers, AttributeDef::required},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kGlobalLpPoolAttributes[] = {
    {"p", 2.0f, {1, 1}},
    {"p", 2, {2}},
};
constexpr AttributeDef kLpPoolAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"ceil_mode", 0, {18}},
    {"dilations", AttributeDef::integers, {18}},
    {"kernel_shape", AttributeDef::integers, {1, 1}},
    {"kernel_shape", AttributeDef::integers, AttributeDef::required, {2}},
    {"p", 2.0f, {1, 1}},
    {"p", 2, {2}},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kMaxPoolAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"ceil_mode", 0, {10}},
    {"dilations", AttributeDef::integers, {10}},
    {"kernel_shape", AttributeDef::integers, AttributeDef::required},
    {"pads", AttributeDef::integers},
    {"storage_order", 0, {8}},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kMaxUnpoolAttributes[] = {
    {"kernel_shape", AttributeDef::integers, AttributeDef::required},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};

Condition batch_only_empty(const Dims& x) {
  Condition filled = Condition::always();
  for (size_t i = 1; i < x.size(); ++i) filled = filled && Condition::ge(x[i], 1);
  return Condition::eq(x[0], 0) || filled;
}

Status require_filled(const Call& call, InferContext& context, const Dims& x) {
  return context.require(batch_only_empty(x), "pool.empty", "{} of {}: only the batch may be empty", call.type(),
                         shown(x));
}

Result<Window> read_pool(const Call& call, size_t rank) {
  const auto* kernel = call.ints("kernel_shape");
  if (!kernel) return refuse("pool.kernel", "kernel_shape is missing");
  TRY(const auto sizes, axis_ints(call, "kernel_shape", rank, 0, 1));
  if (sizes.size() != kernel->size()) return refuse("pool.kernel", "kernel_shape is empty");
  TRY(Window w, read_window(call, Temporary<Dim>(sizes.begin(), sizes.end())));
  for (size_t i = 0; i < rank; ++i)
    if (w.pads_begin[i] >= sizes[i] || w.pads_end[i] >= sizes[i])
      return refuse("pool.pads", "the pads {} and {} must be smaller than the kernel of {}", w.pads_begin[i],
                    w.pads_end[i], sizes[i]);
  return w;
}

// A SAME window smaller than its stride would need negative padding where the last window ends early.
Status require_padding(const Call& call, InferContext& context, const Window& w, size_t i, const Dims& x, Dim count) {
  const bool refused =
      (call.type() == "MaxPool" && !call.has_output(1)) || (call.type() == "AveragePool" && call.version() < 19);
  if (!w.same() || !refused) return {};
  const Dim in = x[i + 2];
  const Dim padding = (count - 1) * Dim(w.strides[i]) + w.extent(i) - in;
  return context.require(Condition::ge(padding, 0) || Condition::eq(x[0], 0), "pool.pads",
                         "auto_pad of spatial axis {} with {} cells must not need less than 0 cells of padding: {}", i,
                         shown(in), shown(padding));
}

Result<Dims> pooled_dims(const Call& call, InferContext& context) {
  TRY(const Dims x, call.dims(0));
  if (x.size() < 3) return refuse("rank", "{} takes an input of rank 3 or more, it is {}", call.type(), shown(x));
  TRY(const Window w, read_pool(call, x.size() - 2));
  // What is decided gets the stricter reason; else the windows' own conditions mostly imply this one.
  const bool hopeless = context.assumptions().prove(batch_only_empty(x)) == Tri::no;
  if (hopeless) TRY_OK(require_filled(call, context, x));
  const bool ceil_mode = call.i("ceil_mode") != 0;
  Dims out{x[0], x[1]};
  for (size_t i = 0; i < w.rank(); ++i) {
    TRY(const Dim count, ceil_mode ? window_count_ceil(context, w, i, x[i + 2], lenient("lenient.pool"))
                                   : window_count(context, w, i, x[i + 2], lenient("lenient.pool")));
    TRY_OK(require_padding(call, context, w, i, x, count));
    // ONNX Runtime counts the windows of an axis that is too small by rounding towards zero.
    const bool same_anyway = w.strides[i] == 1 && !ceil_mode;
    out.push_back(same_anyway ? count : context.only_if(window_fits(w, i, x[i + 2]), count));
  }
  TRY_OK(require_filled(call, context, x));
  return out;
}

Result<Facts> infer_pool(const Call& call, InferContext& context) {
  TRY(Dims out, pooled_dims(call, context));
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

Result<Facts> infer_max(const Call& call, InferContext& context) {
  TRY(const Dims out, pooled_dims(call, context));
  Fact indices = Fact::tensor(DType::i64, out);
  indices.bounds = Bounds{0, product(*call.in(0).dims) - 1};
  return Facts{Fact::tensor(call.in(0).dtype, out), std::move(indices)};
}

Result<Facts> infer_global(const Call& call, InferContext& context) {
  TRY(Dims out, call.dims(0));
  if (out.size() < 3) return refuse("rank", "{} takes an input of rank 3 or more, it is {}", call.type(), shown(out));
  TRY_OK(require_filled(call, context, out));
  std::fill(out.begin() + 2, out.end(), Dim(1));
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

// The output where none is asked for.
Result<Temporary<Dim>> unpooled_dims(const Call& call, std::span<const Dim> x) {
  TRY(const Window w, read_pool(call, x.size() - 2));
  Temporary<Dim> out{x[0], x[1]};
  for (size_t i = 0; i < w.rank(); ++i) out.push_back(Dim(w.strides[i]) * (x[i + 2] - 1) + w.kernel[i] - w.padding(i));
  return out;
}

Status require_positive(InferContext& context, const Dims& out) {
  for (size_t i = 2; i < out.size(); ++i)
    TRY_OK(context.require(Condition::ge(out[i], 1), "maxunpool.size", "axis {} must become at least 1, it becomes {}",
                           i, shown(out[i])));
  return {};
}

Result<Dims> given_unpooled_dims(const Call& call, InferContext& context, const Dims& plain) {
  TRY(const Dims length, dims_of_rank(call, 2, 1));
  TRY_OK(context.require(Condition::eq(length[0], plain.size()), "maxunpool.output_shape",
                         "output_shape must have an entry for each axis: {} entries, {} axes", shown(length[0]),
                         plain.size()));
  const auto& entries = call.in(2).elements;
  Dims out{plain[0], plain[1]};
  for (size_t i = 2; i < plain.size(); ++i)
    out.push_back(entries ? (*entries)[i] : context.fresh(call.in(2), "unpool", 1));
  if (!entries) return out;
  for (size_t i = 0; i < plain.size(); ++i)
    TRY_OK(context.require(i < 2 ? Condition::eq((*entries)[i], plain[i]) : Condition::ge((*entries)[i], 0),
                           "maxunpool.output_shape", "output_shape {} must fit {} at axis {}", shown(*entries),
                           shown(plain), i));
  TRY_OK(context.require(Condition::ge(product(out), product(plain)), "maxunpool.output_shape",
                         "output_shape {} must not have less cells than {}", shown(out), shown(plain)));
  return out;
}

Result<Facts> infer_unpool(const Call& call, InferContext& context) {
  TRY(const Dims x, call.dims(0));
  if (x.size() < 3) return refuse("rank", "MaxUnpool takes an input of rank 3 or more, it is {}", shown(x));
  TRY_OK(require_dims(call, context, 1, x, "maxunpool.indices", "the indices"));
  TRY(const auto plain, unpooled_dims(call, x));
  Dims out(plain.begin(), plain.end());
  TRY_OK(require_positive(context, out));
  if (call.has(2)) {
    TRY(out, given_unpooled_dims(call, context, out));
  }
  context.data_condition("maxunpool.index", "indices must be in 0..{}", shown(product(out) - 1));
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

Result<kernels::Pool> pool_of(const Call& call, const Tensor& x, const Tensor& out) {
  if (x.rank() < 3 || out.rank() != x.rank())
    return refuse("kernel.shape", "the output of a pool does not fit its input");
  TRY(const Window w, read_pool(call, x.rank() - 2));
  kernels::Pool pool;
  kernels::Windows& windows = pool.windows;
  windows.in.assign(x.dims().begin() + 2, x.dims().end());
  windows.out.assign(out.dims().begin() + 2, out.dims().end());
  for (Dim k : w.kernel) windows.kernel.push_back(k.constant().value_or(1));
  windows.strides = w.strides;
  windows.dilations = w.dilations;
  TRY(Padding pads, resolve_pads(w, windows.in, windows.out, true));
  windows.pads = std::move(pads.before);
  pool.pads_end = std::move(pads.after);
  return pool;
}

// The attribute p of LpPool and GlobalLpPool: a float in version 1.
double exponent(const Call& call) {
  return call.version() < 2 ? static_cast<double>(call.f("p")) : static_cast<double>(call.i("p"));
}

enum class Kind { max, average, lp };

template <Kind kind>
Status run_pool(const Call& call, const kernels::Pool& pool, KernelArgs& args) {
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    if constexpr (kind == Kind::lp) return kernels::lp_pool(pool, wide.in(0), exponent(call), wide.out(0));
    if constexpr (kind == Kind::average) {
      const bool count_padding = call.version() >= 7 && is_set(call, "count_include_pad");
      return kernels::average_pool(pool, wide.in(0), count_padding, wide.out(0));
    }
    Tensor indices = call.has_output(1) ? wide.out(1) : Tensor();
    const bool column_major = call.version() >= 8 && is_set(call, "storage_order");
    return kernels::max_pool(pool, wide.in(0), column_major, wide.out(0), indices);
  });
}

template <Kind kind>
Status reference_pool(const Call& call, KernelArgs& args) {
  TRY(const kernels::Pool pool, pool_of(call, args.in(0), args.out(0)));
  return run_pool<kind>(call, pool, args);
}

template <Kind kind>
Status reference_global(const Call& call, KernelArgs& args) {
  return run_pool<kind>(call, kernels::global_pool(args.in(0)), args);
}

Status reference_unpool(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  if (x.rank() < 3) return refuse("kernel.shape", "MaxUnpool takes an input of rank 3 or more");
  TRY(const auto dims, unpooled_dims(call, Temporary<Dim>(x.dims().begin(), x.dims().end())));
  Temporary<int64_t> plain;
  for (Dim d : dims) plain.push_back(d.constant().value_or(-1));
  if (args.in(2) && !args.out(0)) {
    TRY(args.out(0), Tensor::allocate(x.dtype(), ints_of(args.in(2))));
  }
  return kernels::max_unpool(x, args.in(1), plain, args.out(0));
}

template <Kind kind>
constexpr Kernel kPoolKernels[] = {{"reference", reference_pool<kind>}};
template <Kind kind>
constexpr Kernel kGlobalKernels[] = {{"reference", reference_global<kind>}};
constexpr Kernel kUnpoolKernels[] = {{"reference", reference_unpool}};

}  // namespace

constexpr OpDef kAveragePool1{.name = "AveragePool",
                              .since = 1,
                              .sig = {kPoolIn, kPoolOut, "mean over windows", kAveragePoolAttributes},
                              .infer = infer_pool,
                              .kernels = kPoolKernels<Kind::average>};
constexpr OpDef kGlobalAveragePool1{.name = "GlobalAveragePool",
                                    .since = 1,
                                    .sig = {kPoolIn, kPoolOut, "mean over all spatial axes"},
                                    .infer = infer_global,
                                    .kernels = kGlobalKernels<Kind::average>};
constexpr OpDef kGlobalLpPool1{.name = "GlobalLpPool",
                               .since = 1,
                               .sig = {kPoolIn, kPoolOut, "p-norm over all spatial axes", kGlobalLpPoolAttributes},
                               .infer = infer_global,
                               .kernels = kGlobalKernels<Kind::lp>};
constexpr OpDef kGlobalMaxPool1{.name = "GlobalMaxPool",
                                .since = 1,
                                .sig = {kPoolIn, kPoolOut, "maximum over all spatial axes"},
                                .infer = infer_global,
                                .kernels = kGlobalKernels<Kind::max>};
constexpr OpDef kLpPool1{.name = "LpPool",
                         .since = 1,
                         .sig = {kPoolIn, kPoolOut, "p-norm over windows", kLpPoolAttributes},
                         .infer = infer_pool,
                         .kernels = kPoolKernels<Kind::lp>};
constexpr OpDef kMaxPool1{.name = "MaxPool",
                          .since = 1,
                          .sig = {kPoolIn, kOutMax, "maximum over windows", kMaxPoolAttributes},
                          .infer = infer_max,
                          .kernels = kPoolKernels<Kind::max>};
constexpr OpDef kMaxUnpool9{.name = "MaxUnpool",
                            .since = 9,
                            .sig = {kInUnpool, kPoolOut, "partial inverse of MaxPool", kMaxUnpoolAttributes},
                            .infer = infer_unpool,
                            .kernels = kUnpoolKernels};

}  // namespace anyshape::ops
