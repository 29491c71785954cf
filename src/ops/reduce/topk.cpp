#include <algorithm>
#include <numeric>

#include "kernels/dispatch.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kTopkIn1[] = {{"X"}};
constexpr Port kIn10[] = {{"X"}, {"K", Port::value}};
constexpr Port kTopkOut[] = {{"Values"}, {"Indices"}};
constexpr AttributeDef kTopK1Attributes[] = {
    {"axis", -1},
    {"k", AttributeDef::integer, AttributeDef::required},
};
constexpr AttributeDef kTopK10Attributes[] = {
    {"axis", -1},
    {"largest", 1, {11}},
    {"sorted", 1, {11}},
};

// The number of entries asked for. A K nothing is known of lies in 0..size.
Result<Dim> wanted(const Call& call, InferContext& context, Dim size) {
  if (call.version() < 10) {
    if (!call.has_attr("k")) return refuse("topk.k", "the attribute k is missing");
    return Dim(call.i("k"));
  }
  TRY_OK(require_integers(call, 1));
  if (call.in(1).dims && call.in(1).rank() != 1)
    return refuse("topk.k", "k must be a list of one number, it is {}", print(call.in(1)));
  if (call.in(1).dims)
    TRY_OK(context.require(Condition::eq((*call.in(1).dims)[0], 1), "topk.k",
                           "k must be a list of one number, it is {}", print(call.in(1))));
  const auto k = call.in(1).single();
  return k ? *k : context.fresh(call.in(1), "k", 0, size);
}

Result<Facts> infer_topk(const Call& call, InferContext& context) {
  TRY(Dims dims, call.dims(0));
  TRY(const size_t axis, normalize_axis(call.i("axis"), dims.size()));
  const Dim size = dims[axis];
  TRY(const Dim k, wanted(call, context, size));
  TRY_OK(context.require(Condition::ge(k, 0), "topk.k", "k must not be negative, it is {}", print(k)));
  TRY_OK(context.require(Condition::le(k, size), "topk.k",
                         "the axis must have as many entries as are wanted: it has {}, wanted are {}", print(size),
                         print(k)));
  dims[axis] = k;
  Fact values = Fact::tensor(call.in(0).dtype, dims), indices = Fact::tensor(DType::i64, dims);
  if (const auto bounds = call.in(0).value_bounds()) values.bounds = Bounds{bounds->lo, bounds->hi};
  indices.bounds = Bounds{0, size - 1};
  return Facts{values, indices};
}

// The positions of one row in the order of the operator: by value, then by position.
template <class T>
Temporary<int64_t> ranked(const Tensor& data, int64_t base, int64_t stride, int64_t size, bool largest) {
  Temporary<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](int64_t i) { return kernels::widen(data.at<T>(base + i * stride)); };
  const auto is_nan = [&](int64_t i) { return kernels::kIsFloat<T> && value(i) != value(i); };
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (is_nan(a) != is_nan(b)) return largest ? is_nan(a) : is_nan(b);
    if (is_nan(a) || value(a) == value(b)) return a < b;
    return largest ? value(b) < value(a) : value(a) < value(b);
  });
  return order;
}

Status reference_topk(const Call& call, KernelArgs& args) {
  const Tensor& data = args.in(0);
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.rank()));
  if (!args.out(0) || !args.out(1)) return unknown("topk.k", "k is not known");
  const bool largest = call.version() < 11 || call.i("largest") != 0;
  const int64_t size = data.dims()[axis], k = args.out(0).dims()[axis];
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= data.dims()[i];
  for (size_t i = axis + 1; i < data.rank(); ++i) inner *= data.dims()[i];
  return kernels::visit_type<kernels::kNumbers>(data.dtype(), [&]<class T>(T) -> Status {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const auto order = ranked<T>(data, o * size * inner + i, inner, size, largest);
        for (int64_t n = 0; n < k; ++n) {
          const int64_t from = order[static_cast<size_t>(n)], to = (o * k + n) * inner + i;
          kernels::copy_elements(args.out(0), to, data, (o * size + from) * inner + i, 1);
          args.out(1).set_int(to, from);
        }
      }
    return {};
  });
}

constexpr Kernel kTopkKernels[] = {{"reference", reference_topk}};

}  // namespace

constexpr OpDef kTopK1{.name = "TopK",
                       .since = 1,
                       .sig = {kTopkIn1, kTopkOut, "the k largest or smallest entries of an axis", kTopK1Attributes},
                       .infer = infer_topk,
                       .kernels = kTopkKernels};
constexpr OpDef kTopK10{.name = "TopK",
                        .since = 10,
                        .sig = {kIn10, kTopkOut, "the k largest or smallest entries of an axis", kTopK10Attributes},
                        .infer = infer_topk,
                        .kernels = kTopkKernels};

}  // namespace anyshape::ops
