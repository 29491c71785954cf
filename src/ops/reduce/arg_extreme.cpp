#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

// ArgMax and ArgMin.
namespace anyshape::ops {
namespace {

constexpr Port kArgExtremeIn[] = {{"data"}};
constexpr Port kArgExtremeOut[] = {{"reduced"}};
constexpr AttributeDef kArgExtremeAttributes[] = {
    {"axis", 0},
    {"keepdims", 1},
    {"select_last_index", 0, {12}},
};

Result<Facts> infer_arg_extreme(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskNumber));
  TRY(const Dims data, call.dims(0));
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.size()));
  Dims dims = data;
  const Dim size = data[axis];
  dims[axis] = 1;
  if (!size.is_constant() || size == Dim(0))
    TRY_OK(context.require(Condition::ge(size, 1) || Condition::eq(product(dims), 0), "arg.empty",
                           "{} of {} needs entries along axis {}", call.type(), text(data), axis));
  if (call.i("keepdims") == 0) dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  Fact out = Fact::tensor(DType::i64, std::move(dims));
  set_bounds(context, out, 0, size - 1);
  return Facts{out};
}

template <bool largest, class C>
bool replaces(C x, C best, bool last) {
  if constexpr (std::is_floating_point_v<C>) {
    if (best != best) return last && x != x;
    if (x != x) return true;
  }
  if (x == best) return last;
  return largest ? x > best : x < best;
}

template <bool largest>
Status reference_arg_extreme(const Call& call, KernelArgs& args) {
  const Tensor& data = args.in(0);
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.rank()));
  const bool last = call.i("select_last_index") != 0;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= data.dims()[i];
  for (size_t i = axis + 1; i < data.rank(); ++i) inner *= data.dims()[i];
  const int64_t size = data.dims()[axis];
  if (size == 0 && outer * inner > 0) return refuse("arg.empty", "the axis has no entries");
  return kernels::visit_type<kernels::kNumbers>(data.dtype(), [&]<class T>(T) -> Status {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const auto entry = [&](int64_t k) { return kernels::widen(data.at<T>((o * size + k) * inner + i)); };
        int64_t best = 0;
        for (int64_t k = 1; k < size; ++k)
          if (replaces<largest>(entry(k), entry(best), last)) best = k;
        args.out(0).set_int(o * inner + i, best);
      }
    return {};
  });
}

constexpr Kernel kMaxKernels[] = {{"reference", reference_arg_extreme<true>}};
constexpr Kernel kMinKernels[] = {{"reference", reference_arg_extreme<false>}};

}  // namespace

constexpr OpDef kArgMax1{
    .name = "ArgMax",
    .since = 1,
    .sig = {kArgExtremeIn, kArgExtremeOut, "position of the largest entry of an axis", kArgExtremeAttributes},
    .infer = infer_arg_extreme,
    .kernels = kMaxKernels};
constexpr OpDef kArgMin1{
    .name = "ArgMin",
    .since = 1,
    .sig = {kArgExtremeIn, kArgExtremeOut, "position of the smallest entry of an axis", kArgExtremeAttributes},
    .infer = infer_arg_extreme,
    .kernels = kMinKernels};

}  // namespace anyshape::ops
