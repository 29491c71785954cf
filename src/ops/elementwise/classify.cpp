#include <cmath>

#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"
#include "tensor/real.h"
#include "tensor/small_float.h"

// IsNaN and IsInf.
namespace anyshape::ops {
namespace {

constexpr Port kClassifyIn[] = {{"X"}};
constexpr Port kClassifyOut[] = {{"Y"}};
constexpr AttributeDef kClassifyAttributes[] = {
    {"detect_negative", 1},
    {"detect_positive", 1},
};

Result<Facts> infer_classify(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskFloat | kMaskOther));
  Fact out = typed(DType::boolean, call.in(0).dims);
  // Entries known as quotients are finite.
  map_ratios(
      call, context, [](std::span<const Ratio>) { return Ratio{0}; }, out);
  return Facts{out};
}

template <class Test>
Status run_classify(KernelArgs& args, Test test) {
  if (is_small_float(args.in(0).dtype())) {
    for (int64_t i = 0; i < args.in(0).count(); ++i) args.out(0).set_int(i, test(*real_at(args.in(0), i)));
    return {};
  }
  return kernels::visit_type<kernels::kFloats>(args.in(0).dtype(), [&]<class T>(T) -> Status {
    kernels::apply<T, bool>(args.in(0), args.out(0), [&](T x) { return test(kernels::widen(x)); });
    return {};
  });
}

Status is_nan(const Call&, KernelArgs& args) {
  return run_classify(args, [](auto x) { return std::isnan(x); });
}

Status is_inf(const Call& call, KernelArgs& args) {
  const bool negative = call.i("detect_negative") != 0, positive = call.i("detect_positive") != 0;
  return run_classify(args, [&](auto x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}

constexpr Kernel kNanKernels[] = {{"reference", is_nan}};
constexpr Kernel kInfKernels[] = {{"reference", is_inf}};

}  // namespace

constexpr OpDef kIsInf10{.name = "IsInf",
                         .since = 10,
                         .sig = {kClassifyIn, kClassifyOut, "which entries are infinite", kClassifyAttributes},
                         .infer = infer_classify,
                         .kernels = kInfKernels};
constexpr OpDef kIsNaN9{.name = "IsNaN",
                        .since = 9,
                        .sig = {kClassifyIn, kClassifyOut, "which entries are no number"},
                        .infer = infer_classify,
                        .kernels = kNanKernels};

}  // namespace anyshape::ops
