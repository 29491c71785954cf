#include "kernels/normalize.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"
#include "ops/wide.h"

// Softmax, LogSoftmax, Hardmax.
namespace anyshape::ops {
namespace {

constexpr Port kSoftmaxIn[] = {{"input"}};
constexpr Port kSoftmaxOut[] = {{"output"}};
constexpr AttributeDef kSoftmaxAttributes[] = {{"axis", 1, {1, 12}}, {"axis", -1, {13}}};

Result<Facts> infer_softmax(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, kMaskFloat));
  const Fact& in = call.in(0);
  if (in.dims) TRY_OK(normalize_axis(call.i("axis"), in.dims->size()));
  return Facts{typed(in.dtype, in.dims)};
}

using Kind = kernels::SoftmaxKind;

// Before opset 13 all axes from `axis` on are one.
template <Kind kind>
Status reference_softmax(const Call& call, KernelArgs& args) {
  const auto& dims = args.in(0).dims();
  const bool flattens = call.version() < 13;
  TRY(const size_t axis, normalize_axis(call.i("axis"), dims.size()));
  kernels::Channels layout{1, dims[axis], 1};
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i < axis) layout.outer *= dims[i];
    if (i > axis) (flattens ? layout.channels : layout.inner) *= dims[i];
  }
  const DType steps = kind == Kind::soft ? args.in(0).dtype() : DType::f32;
  return run_wide(args,
                  [&](KernelArgs& wide) { return kernels::softmax(kind, layout, wide.in(0), wide.out(0), steps); });
}

template <Kind kind>
constexpr Kernel kSoftmaxKernels[] = {{"reference", reference_softmax<kind>}};

template <Kind kind>
constexpr OpDef record(std::string_view op_name, std::string_view doc) {
  return {.name = op_name,
          .since = 1,
          .sig = {kSoftmaxIn, kSoftmaxOut, doc, kSoftmaxAttributes},
          .infer = infer_softmax,
          .kernels = kSoftmaxKernels<kind>};
}

}  // namespace

constexpr OpDef kHardmax1 = record<Kind::hard>("Hardmax", "1 at the first largest entry of an axis, else 0");
constexpr OpDef kLogSoftmax1 = record<Kind::log>("LogSoftmax", "logarithm of softmax");
constexpr OpDef kSoftmax1 = record<Kind::soft>("Softmax", "exponentials divided by their sum along an axis");

}  // namespace anyshape::ops
