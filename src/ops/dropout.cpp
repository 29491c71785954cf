#include "ops/elementwise.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn1[] = {{"data"}};
constexpr Port kIn12[] = {{"data"}, {"ratio", Port::optional}, {"training_mode", Port::optional | Port::value}};
constexpr Port kOut[] = {{"output"}, {"mask", Port::optional}};

// The mask is a bool tensor from opset 10 on.
Facts results(const Call& call) {
  const Fact& in = call.in(0);
  return {typed(in.dtype, in.dims), typed(call.version() < 10 ? in.dtype : DType::boolean, in.dims)};
}

Result<Facts> infer1(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, kMaskFloat | kMaskOther));
  return results(call);
}

Result<Facts> infer12(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, kMaskFloat | kMaskOther));
  TRY_OK(require_tensor(call, 1, kMaskFloat | kMaskOther));
  TRY_OK(require_tensor(call, 2, kMaskBool));
  for (size_t i : {1u, 2u})
    if (call.has(i) && call.in(i).dims && !call.in(i).dims->empty())
      return refuse("dropout.scalar", "input {} of Dropout is a scalar, its shape is {}", i, text(*call.in(i).dims));
  return results(call);
}

}  // namespace

constexpr OpDef kDropout1{.name = "Dropout",
                          .since = 1,
                          .sig = {kIn1, kOut, "the input; in training, some entries zeroed"},
                          .infer = infer1,
                          .pure = false};
constexpr OpDef kDropout12{.name = "Dropout",
                           .since = 12,
                           .sig = {kIn12, kOut, "the input; in training, some entries zeroed"},
                           .infer = infer12,
                           .pure = false};

}  // namespace anyshape::ops
