#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/convert.h"
#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

// Functions of one float tensor that keep its type and shape, and PRelu and SwiGLU.
namespace anyshape::ops {
namespace {

constexpr Port kActivationIn[] = {{"X"}};
constexpr Port kActivationOut[] = {{"Y"}};
constexpr Port kSlopeIn[] = {{"X"}, {"slope"}};
constexpr Port kGateIn[] = {{"A"}, {"B"}};
constexpr AttributeDef kAlpha[] = {{"alpha", 1.0f}};
constexpr AttributeDef kGeluAttributes[] = {{"approximate", "none"}};
constexpr AttributeDef kHardSigmoidAttributes[] = {{"alpha", 0.2f}, {"beta", 0.5f}};
constexpr AttributeDef kLeakyReluAttributes[] = {{"alpha", 0.01f}};
constexpr AttributeDef kSeluAttributes[] = {{"alpha", 1.6732f, {1, 5}},
                                            {"alpha", 1.67326319217681884765625f, {6}},
                                            {"gamma", 1.0507f, {1, 5}},
                                            {"gamma", 1.05070102214813232421875f, {6}}};
constexpr AttributeDef kShrinkAttributes[] = {{"bias", 0.0f}, {"lambd", 0.5f}};

template <unsigned mask>
Result<Facts> infer_activation(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, mask));
  return Facts{typed(call.in(0).dtype, call.in(0).dims)};
}

// The attributes of a function.
struct Parameters {
  double alpha = 0, beta = 0;
};
using Function = double (*)(double x, const Parameters&);
using Decode = Parameters (*)(const Call&);

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

double celu(double x, const Parameters& p) { return x > 0 ? x : p.alpha * std::expm1(x / p.alpha); }
double elu(double x, const Parameters& p) { return x >= 0 ? x : p.alpha * std::expm1(x); }
double gelu(double x, const Parameters& p) {
  if (p.alpha == 0) return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}
double hard_sigmoid(double x, const Parameters& p) {
  const double y = p.alpha * x + p.beta;
  return y < 0 ? 0 : y > 1 ? 1 : y;
}
double hard_swish(double x, const Parameters& p) { return x * hard_sigmoid(x, p); }
double leaky_relu(double x, const Parameters& p) { return x < 0 ? p.alpha * x : x; }
double mish(double x, const Parameters&) { return x * std::tanh(softplus(x)); }
double selu(double x, const Parameters& p) { return p.beta * (x > 0 ? x : p.alpha * std::expm1(x)); }
double shrink(double x, const Parameters& p) {
  if (x < -p.alpha) return x + p.beta;
  return x > p.alpha ? x - p.beta : 0;
}
double softplus_of(double x, const Parameters&) { return softplus(x); }
double softsign(double x, const Parameters&) { return x / (1 + std::fabs(x)); }
double swish(double x, const Parameters& p) { return x * sigmoid(p.alpha * x); }
double thresholded_relu(double x, const Parameters& p) { return x > p.alpha ? x : 0; }

template <double (*fn)(double)>
double plain(double x, const Parameters&) {
  return fn(x);
}

Parameters no_parameters(const Call&) { return {}; }
Parameters alpha_of(const Call& call) { return {call.f("alpha")}; }
Parameters gelu_parameters(const Call& call) { return {call.s("approximate") == "tanh" ? 1.0 : 0.0}; }
Parameters hard_sigmoid_parameters(const Call& call) { return {call.f("alpha"), call.f("beta")}; }
Parameters hard_swish_parameters(const Call&) { return {1.0 / 6, 0.5}; }
Parameters selu_parameters(const Call& call) { return {call.f("alpha"), call.f("gamma")}; }
Parameters shrink_parameters(const Call& call) { return {call.f("lambd"), call.f("bias")}; }

// Every type computes in double and rounds once.
template <Function fn, Decode decode>
Status reference_activation(const Call& call, KernelArgs& args) {
  const Parameters parameters = decode(call);
  if (args.in(0).dtype() != args.out(0).dtype())
    return unknown("dtype", "{} of {}", call.type(), name(args.in(0).dtype()));
  return kernels::visit_type<kernels::kNumbers>(args.in(0).dtype(), [&]<class T>(T) -> Status {
    kernels::apply<T, T>(args.in(0), args.out(0), [&](T x) {
      const double y = fn(static_cast<double>(kernels::widen(x)), parameters);
      if constexpr (kernels::kIsFloat<T>)
        return static_cast<T>(y);
      else
        return static_cast<T>(kernels::truncate_to_int64(y));
    });
    return {};
  });
}

template <Function fn, Decode decode = no_parameters>
constexpr Kernel kActivationKernels[] = {{"reference", reference_activation<fn, decode>}};

template <Function fn, Decode decode = no_parameters>
constexpr OpDef record_activation(std::string_view op_name, int since, std::string_view doc,
                                  std::span<const AttributeDef> attributes = {}) {
  return {.name = op_name,
          .since = since,
          .sig = {kActivationIn, kActivationOut, doc, attributes},
          .infer = infer_activation<kMaskFloat>,
          .kernels = kActivationKernels<fn, decode>};
}

// Before opset 7 the slope is one number or one per channel.
Status require_old_slope(InferContext& context, const Dims& x, const Dims& slope) {
  const Dim channels = x.size() > 1 ? x[1] : Dim(1);
  const Dim count = product(slope);
  return context.require(Condition::eq(count, 1) || Condition::eq(count, channels), "prelu.slope",
                         "the slope {} must have 1 entry or one per channel of {}", text(slope), text(x));
}

// The sizes of the input. ONNX Runtime stretches it to the slope, too.
Result<Dims> with_slope(InferContext& context, const Dims& x, const Dims& slope) {
  Dims to = x;
  if (slope.size() > x.size()) {
    for (size_t i = 0; i < slope.size() - x.size(); ++i)
      TRY_OK(context.expect(Condition::eq(slope[i], 1), "lenient.prelu",
                            "the slope {} must broadcast to the input {}, not the other way", text(slope), text(x)));
    to.insert(to.begin(), slope.size() - x.size(), Dim(1));
  }
  const size_t shift = to.size() - slope.size();
  for (size_t i = 0; i < slope.size(); ++i) {
    const Dim a = slope[i], b = to[shift + i];
    const Condition fits = Condition::eq(a, b) || Condition::eq(a, 1);
    TRY_OK(context.expect(fits, "lenient.prelu", "the slope {} must broadcast to the input {}: {} must be 1 or {}",
                          text(slope), text(x), print(a), print(b)));
    to[shift + i] = context.only_if(fits, b);
  }
  if (!context.strict()) {
    const Dims both[] = {x, slope};
    return broadcast_dims(context, both);
  }
  to.erase(to.begin(), to.end() - static_cast<ptrdiff_t>(x.size()));
  return to;
}

Result<Facts> infer_prelu(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskNumber));
  TRY_OK(require_tensor(call, 1, kMaskNumber));
  TRY(const DType dtype, common_dtype(call, 0, 1));
  TRY(Dims x, call.dims(0));
  TRY(const Dims slope, call.dims(1));
  if (call.version() < 7) {
    TRY_OK(require_old_slope(context, x, slope));
  } else {
    TRY(x, with_slope(context, x, slope));
    if (context.strict() && context.certain() && slope.size() > x.size())
      return Facts{Fact::tensor_of_unknown_rank(dtype)};
  }
  return Facts{Fact::tensor(dtype, std::move(x))};
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

// The slope laid under the input: before opset 7 one entry per channel, later by the rules of broadcasting.
Tensor laid_slope(const Call& call, const Tensor& x, const Tensor& slope) {
  auto dims = temporary(slope.dims());
  if (call.version() < 7) {
    dims.assign(x.rank() > 2 ? x.rank() - 1 : 1, 1);
    dims[0] = slope.count();
  }
  while (dims.size() > x.rank() && dims.front() == 1) dims.erase(dims.begin());
  return slope.reshaped(dims);
}

Status reference_prelu(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  if (args.in(1).dtype() != x.dtype()) return unknown("dtype", "PRelu of {}", name(args.in(1).dtype()));
  const Tensor slope = laid_slope(call, x, args.in(1));
  return kernels::visit_type<kernels::kNumbers>(x.dtype(), [&]<class T>(T) -> Status {
    return kernels::apply<T, T, T>(x, slope, args.out(0), [](T a, T b) {
      const auto wide = kernels::widen(a);
      return wide < 0 ? kernels::narrow<T>(kernels::wrapping(wide, kernels::widen(b), std::multiplies<>())) : a;
    });
  });
}

Status reference_swiglu(const Call& call, KernelArgs& args) {
  const double alpha = call.f("alpha");
  if (args.in(1).dtype() != args.in(0).dtype()) return unknown("dtype", "SwiGLU of {}", name(args.in(1).dtype()));
  return kernels::visit_type<kernels::kFloats>(args.in(0).dtype(), [&]<class T>(T) -> Status {
    return kernels::apply<T, T, T>(args.in(0), args.in(1), args.out(0), [&](T a, T b) {
      const auto gate = static_cast<double>(kernels::widen(a));
      return static_cast<T>(swish(gate, {alpha}) * static_cast<double>(kernels::widen(b)));
    });
  });
}

constexpr Kernel kPReluKernels[] = {{"reference", reference_prelu}};
constexpr Kernel kSwiGLUKernels[] = {{"reference", reference_swiglu}};

}  // namespace

constexpr OpDef kAcos7 = record_activation<plain<std::acos>>("Acos", 7, "inverse cosine");
constexpr OpDef kAcosh9 = record_activation<plain<std::acosh>>("Acosh", 9, "inverse hyperbolic cosine");
constexpr OpDef kAsin7 = record_activation<plain<std::asin>>("Asin", 7, "inverse sine");
constexpr OpDef kAsinh9 = record_activation<plain<std::asinh>>("Asinh", 9, "inverse hyperbolic sine");
constexpr OpDef kAtan7 = record_activation<plain<std::atan>>("Atan", 7, "inverse tangent");
constexpr OpDef kAtanh9 = record_activation<plain<std::atanh>>("Atanh", 9, "inverse hyperbolic tangent");
constexpr OpDef kCelu12 =
    record_activation<celu, alpha_of>("Celu", 12, "continuously differentiable exponential linear unit", kAlpha);
constexpr OpDef kCos7 = record_activation<plain<std::cos>>("Cos", 7, "cosine");
constexpr OpDef kCosh9 = record_activation<plain<std::cosh>>("Cosh", 9, "hyperbolic cosine");
constexpr OpDef kElu1 = record_activation<elu, alpha_of>("Elu", 1, "exponential linear unit", kAlpha);
constexpr OpDef kGelu20 =
    record_activation<gelu, gelu_parameters>("Gelu", 20, "Gaussian error linear unit", kGeluAttributes);
constexpr OpDef kHardSigmoid1 = record_activation<hard_sigmoid, hard_sigmoid_parameters>(
    "HardSigmoid", 1, "piecewise linear sigmoid", kHardSigmoidAttributes);
constexpr OpDef kHardSwish14 =
    record_activation<hard_swish, hard_swish_parameters>("HardSwish", 14, "x times its hard sigmoid");
constexpr OpDef kLeakyRelu1 =
    record_activation<leaky_relu, alpha_of>("LeakyRelu", 1, "x, or alpha x where negative", kLeakyReluAttributes);
constexpr OpDef kMish18 = record_activation<mish>("Mish", 18, "x tanh(softplus(x))");
constexpr OpDef kPRelu1{.name = "PRelu",
                        .since = 1,
                        .sig = {kSlopeIn, kActivationOut, "x, or slope x where negative"},
                        .infer = infer_prelu,
                        .kernels = kPReluKernels};
constexpr OpDef kSelu1 =
    record_activation<selu, selu_parameters>("Selu", 1, "scaled exponential linear unit", kSeluAttributes);
constexpr OpDef kShrink9{
    .name = "Shrink",
    .since = 9,
    .sig = {kActivationIn, kActivationOut, "0 in a band around 0, moved by a bias outside", kShrinkAttributes},
    .infer = infer_activation<kMaskNumber>,
    .kernels = kActivationKernels<shrink, shrink_parameters>};
constexpr OpDef kSin7 = record_activation<plain<std::sin>>("Sin", 7, "sine");
constexpr OpDef kSinh9 = record_activation<plain<std::sinh>>("Sinh", 9, "hyperbolic sine");
constexpr OpDef kSoftplus1 = record_activation<softplus_of>("Softplus", 1, "log(1 + exp(x))");
constexpr OpDef kSoftsign1 = record_activation<softsign>("Softsign", 1, "x / (1 + |x|)");
constexpr OpDef kSwiGLU28{.name = "SwiGLU",
                          .since = 28,
                          .sig = {kGateIn, kActivationOut, "swish of a gate times a value", kAlpha},
                          .infer = infer_swiglu,
                          .kernels = kSwiGLUKernels};
constexpr OpDef kSwish24 = record_activation<swish, alpha_of>("Swish", 24, "x times the sigmoid of alpha x", kAlpha);
constexpr OpDef kTan7 = record_activation<plain<std::tan>>("Tan", 7, "tangent");
constexpr OpDef kThresholdedRelu10 =
    record_activation<thresholded_relu, alpha_of>("ThresholdedRelu", 10, "x where above alpha, else 0", kAlpha);

}  // namespace anyshape::ops
