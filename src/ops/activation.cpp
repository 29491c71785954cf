#include "ops/elementwise.h"
#include "ops/planned.h"
#include "ops/records.h"

// Functions of one float tensor that keep its type and shape, and PRelu and SwiGLU.
namespace anyshape::ops {
namespace {

constexpr Port kIn[] = {{"X"}};
constexpr Port kOut[] = {{"Y"}};
constexpr Port kSlopeIn[] = {{"X"}, {"slope"}};
constexpr Port kGateIn[] = {{"A"}, {"B"}};

template <unsigned mask>
Result<Facts> infer(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, mask));
  return Facts{typed(call.in(0).dtype, call.in(0).dims)};
}

constexpr OpDef record(std::string_view op_name, int since, std::string_view doc) {
  return {.name = op_name,
          .since = since,
          .sig = {kIn, kOut, doc},
          .infer = infer<kMaskFloat>,
          .planned = kElementwisePlanned};
}

// Before opset 7 the slope is one number or one per channel.
Status require_old_slope(InferContext& context, const Dims& x, const Dims& slope) {
  const Dim channels = x.size() > 1 ? x[1] : Dim(1);
  const Dim count = product(slope);
  return context.require(Condition::eq(count, 1) || Condition::eq(count, channels), "prelu.slope",
                         "the slope {} must have 1 entry or one per channel of {}", text(slope), text(x));
}

Status require_slope(InferContext& context, const Dims& x, const Dims& slope) {
  Dims to = x;
  if (slope.size() > x.size()) {
    for (size_t i = 0; i < slope.size() - x.size(); ++i)
      if (slope[i] != Dim(1))
        return refuse("lenient.prelu", "the slope {} must broadcast to the input {}, not the other way", text(slope),
                      text(x));
    to.insert(to.begin(), slope.size() - x.size(), Dim(1));
  }
  const size_t shift = to.size() - slope.size();
  for (size_t i = 0; i < slope.size(); ++i) {
    const Dim a = slope[i], b = to[shift + i];
    TRY_OK(context.require(Condition::eq(a, b) || Condition::eq(a, 1), "lenient.prelu",
                           "the slope {} must broadcast to the input {}: {} against {}", text(slope), text(x), print(a),
                           print(b)));
  }
  return {};
}

Result<Facts> infer_prelu(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskNumber));
  TRY_OK(require_tensor(call, 1, kMaskNumber));
  TRY(const DType dtype, common_dtype(call, 0, 1));
  TRY(const Dims x, call.dims(0));
  TRY(const Dims slope, call.dims(1));
  if (call.version() < 7)
    TRY_OK(require_old_slope(context, x, slope));
  else
    TRY_OK(require_slope(context, x, slope));
  return Facts{Fact::tensor(dtype, x)};
}

Result<Facts> infer_swiglu(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskFloat));
  TRY_OK(require_tensor(call, 1, kMaskFloat));
  TRY(const DType dtype, common_dtype(call, 0, 1));
  TRY(const Dims a, call.dims(0));
  TRY(const Dims b, call.dims(1));
  TRY_OK(require_same_dims(context, a, b, "the gate and the value have one shape"));
  return Facts{Fact::tensor(dtype, a)};
}

}  // namespace

constexpr OpDef kAcos7 = record("Acos", 7, "inverse cosine");
constexpr OpDef kAcosh9 = record("Acosh", 9, "inverse hyperbolic cosine");
constexpr OpDef kAsin7 = record("Asin", 7, "inverse sine");
constexpr OpDef kAsinh9 = record("Asinh", 9, "inverse hyperbolic sine");
constexpr OpDef kAtan7 = record("Atan", 7, "inverse tangent");
constexpr OpDef kAtanh9 = record("Atanh", 9, "inverse hyperbolic tangent");
constexpr OpDef kCelu12 = record("Celu", 12, "continuously differentiable exponential linear unit");
constexpr OpDef kCos7 = record("Cos", 7, "cosine");
constexpr OpDef kCosh9 = record("Cosh", 9, "hyperbolic cosine");
constexpr OpDef kElu1 = record("Elu", 1, "exponential linear unit");
constexpr OpDef kGelu20 = record("Gelu", 20, "Gaussian error linear unit");
constexpr OpDef kHardSigmoid1 = record("HardSigmoid", 1, "piecewise linear sigmoid");
constexpr OpDef kHardSwish14 = record("HardSwish", 14, "x times its hard sigmoid");
constexpr OpDef kLeakyRelu1 = record("LeakyRelu", 1, "x, or alpha x where negative");
constexpr OpDef kMish18 = record("Mish", 18, "x tanh(softplus(x))");
constexpr OpDef kPRelu1{.name = "PRelu",
                        .since = 1,
                        .sig = {kSlopeIn, kOut, "x, or slope x where negative"},
                        .infer = infer_prelu,
                        .planned = kElementwisePlanned};
constexpr OpDef kSelu1 = record("Selu", 1, "scaled exponential linear unit");
constexpr OpDef kShrink9{.name = "Shrink",
                         .since = 9,
                         .sig = {kIn, kOut, "0 in a band around 0, moved by a bias outside"},
                         .infer = infer<kMaskNumber>};
constexpr OpDef kSin7 = record("Sin", 7, "sine");
constexpr OpDef kSinh9 = record("Sinh", 9, "hyperbolic sine");
constexpr OpDef kSoftplus1 = record("Softplus", 1, "log(1 + exp(x))");
constexpr OpDef kSoftsign1 = record("Softsign", 1, "x / (1 + |x|)");
constexpr OpDef kSwiGLU28{
    .name = "SwiGLU", .since = 28, .sig = {kGateIn, kOut, "swish of a gate times a value"}, .infer = infer_swiglu};
constexpr OpDef kSwish24 = record("Swish", 24, "x times the sigmoid of alpha x");
constexpr OpDef kTan7 = record("Tan", 7, "tangent");
constexpr OpDef kThresholdedRelu10 = record("ThresholdedRelu", 10, "x where above alpha, else 0");

}  // namespace anyshape::ops
