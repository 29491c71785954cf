#include "ops/elementwise.h"
#include "ops/planned.h"
#include "ops/records.h"

// Softmax, LogSoftmax, Hardmax.
namespace anyshape::ops {
namespace {

constexpr Port kIn[] = {{"input"}};
constexpr Port kOut[] = {{"output"}};

Result<Facts> infer(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, kMaskFloat));
  const Fact& in = call.in(0);
  const int64_t axis = call.i("axis", call.version() < 13 ? 1 : -1);
  if (in.dims) TRY_OK(normalize_axis(axis, in.dims->size()));
  return Facts{typed(in.dtype, in.dims)};
}

constexpr OpDef record(std::string_view op_name, std::string_view doc, std::span<const PlannedKernel> planned = {}) {
  return {.name = op_name, .since = 1, .sig = {kIn, kOut, doc}, .infer = infer, .planned = planned};
}

}  // namespace

constexpr OpDef kHardmax1 = record("Hardmax", "1 at the first largest entry of an axis, else 0");
constexpr OpDef kLogSoftmax1 = record("LogSoftmax", "logarithm of softmax", kLogSoftmaxPlanned);
constexpr OpDef kSoftmax1 = record("Softmax", "exponentials divided by their sum along an axis", kSoftmaxPlanned);

}  // namespace anyshape::ops
