#include "kernels/copy.h"
#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kWhereIn[] = {{"condition"}, {"X"}, {"Y"}};
constexpr Port kWhereOut[] = {{"output"}};

Ratio entry_where(InferContext& context, const Ratio& condition, const Ratio& x, const Ratio& y) {
  if (condition.num.is_constant()) return condition.num == Dim(0) ? y : x;
  if (!exact(x) || !exact(y)) return unknown_ratio();
  const int64_t den = std::max(x.den, y.den);
  return {choose(context, Condition::eq(condition.num, 1), x.num * Dim(den / x.den), y.num * Dim(den / y.den)), den};
}

Result<Facts> infer_where(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskBool));
  TRY_OK(require_tensor(call, 1));
  TRY_OK(require_tensor(call, 2));
  TRY(const DType dtype, common_dtype(call, 1, 2));
  TRY(auto dims, elementwise_dims(call, context));
  Fact out = typed(dtype, std::move(dims));
  map_ratios(
      call, context, [&](std::span<const Ratio> in) { return entry_where(context, in[0], in[1], in[2]); }, out);
  const auto x = bounds_of(call, 1), y = bounds_of(call, 2);
  if (x && y) set_bounds(context, out, min(x->lo, y->lo), max(x->hi, y->hi));
  return Facts{out};
}

Status reference_where(const Call& call, KernelArgs& args) {
  Tensor& out = args.out(0);
  for (const Datum& input : args.inputs)
    if (!kernels::broadcasts(input.tensor().dims(), out.dims()))
      return refuse("kernel.shape", "the inputs do not broadcast to the output");
  if (args.in(0).dtype() != DType::boolean || args.in(1).dtype() != out.dtype() || args.in(2).dtype() != out.dtype())
    return unknown("dtype", "{} of these element types", call.type());
  kernels::BroadcastIndex c(args.in(0).dims(), out.dims()), x(args.in(1).dims(), out.dims()),
      y(args.in(2).dims(), out.dims());
  for (int64_t i = 0; i < out.count(); ++i, c.next(), x.next(), y.next()) {
    const bool first = args.in(0).int_at(c.offset()) != 0;
    kernels::copy_elements(out, i, args.in(first ? 1 : 2), first ? x.offset() : y.offset(), 1);
  }
  return {};
}

constexpr Kernel kWhereKernels[] = {{"reference", reference_where}};

}  // namespace

constexpr OpDef kWhere9{.name = "Where",
                        .since = 9,
                        .sig = {kWhereIn, kWhereOut, "entries of one of two tensors, chosen by a condition"},
                        .infer = infer_where,
                        .kernels = kWhereKernels};

}  // namespace anyshape::ops
