#include <array>
#include <cmath>

#include "ops/common.h"
#include "ops/records.h"
#include "tensor/real.h"

// The domain ai.onnx.preview.training.
namespace anyshape::ops {
namespace {

constexpr std::string_view kTraining = "ai.onnx.preview.training";

constexpr Port kTrainingIn[] = {{"R"}, {"T"}, {"inputs", Port::variadic}};
constexpr Port kTrainingOut[] = {{"outputs", Port::variadic}};
constexpr Port kGradientIn[] = {{"Inputs", Port::variadic}};
constexpr AttributeDef kAdagradAttributes[] = {
    {"decay_factor", 0.0f},
    {"epsilon", 1e-06f},
    {"norm_coefficient", 0.0f},
};
constexpr AttributeDef kAdamAttributes[] = {
    {"alpha", 0.9f}, {"beta", 0.999f}, {"epsilon", 1e-06f}, {"norm_coefficient", 0.0f}, {"norm_coefficient_post", 0.0f},
};
constexpr AttributeDef kGradientAttributes[] = {
    {"xs", AttributeDef::strings, AttributeDef::required},
    {"y", AttributeDef::string, AttributeDef::required},
    {"zs", AttributeDef::strings},
};
constexpr AttributeDef kMomentumAttributes[] = {
    {"alpha", AttributeDef::real, AttributeDef::required},
    {"beta", AttributeDef::real, AttributeDef::required},
    {"mode", "standard"},
    {"norm_coefficient", AttributeDef::real, AttributeDef::required},
};

// R, T, then `groups` lists of equally many tensors (parameters, gradients, states); parameters and states come out.
Result<Facts> infer_optimizer(const Call& call, InferContext& context, size_t groups) {
  const size_t given = call.inputs() - 2;
  if (given % groups != 0)
    return refuse("optimizer.inputs", "{} takes R, T and {} lists of equal length, it has {} inputs", call.type(),
                  groups, call.inputs());
  const size_t count = given / groups;
  for (size_t i = 2; i < call.inputs(); ++i)
    if (!call.has(i)) return refuse("optimizer.inputs", "input {} is missing", i);
  for (size_t i = 0; i < count; ++i) {
    const Fact& parameter = call.in(2 + i);
    for (size_t g = 1; g < groups; ++g) {
      const Fact& other = call.in(2 + g * count + i);
      if (parameter.dims && other.dims)
        TRY_OK(require_same_dims(context, *parameter.dims, *other.dims, "a parameter and its gradient or state"));
    }
  }
  Facts out;
  for (size_t i = 0; i < count; ++i) out.push_back(call.in(2 + i).type_only());
  for (size_t i = 2 * count; i < groups * count; ++i) out.push_back(call.in(2 + i).type_only());
  return out;
}

Result<Facts> infer_three(const Call& call, InferContext& context) { return infer_optimizer(call, context, 3); }
Result<Facts> infer_four(const Call& call, InferContext& context) { return infer_optimizer(call, context, 4); }

// One output per name in xs, shaped as the input of that place.
Result<Facts> infer_gradient(const Call& call, InferContext&) {
  const auto* xs = call.strings("xs");
  if (!xs || xs->size() > call.inputs()) return refuse("gradient.xs", "xs must name inputs of the node");
  Facts out;
  for (size_t i = 0; i < xs->size(); ++i) out.push_back(call.has(i) ? call.in(i).type_only() : Fact());
  return out;
}

// The learning rate and the number of steps done.
struct Progress {
  double rate = 0;
  int64_t step = 0;
};

Result<Progress> progress_of(const KernelArgs& args) {
  const auto rate = args.in(0).count() == 1 ? real_at(args.in(0), 0) : std::nullopt;
  if (!rate || args.in(1).count() != 1 || !is_integer(args.in(1).dtype()))
    return refuse("optimizer.inputs", "R must be one float and T one integer");
  return Progress{*rate, args.in(1).int_at(0)};
}

// `update` turns one entry of the parameter, the gradient and the states into the new parameter and states.
template <size_t groups, class Update>
Status for_all_entries(KernelArgs& args, Update update) {
  const size_t count = (args.inputs.size() - 2) / groups;
  for (size_t p = 0; p < count; ++p) {
    for (size_t g = 0; g < groups; ++g)
      if (args.in(2 + g * count + p).dims() != args.in(2 + p).dims() || !is_float(args.in(2 + g * count + p).dtype()))
        return refuse("optimizer.inputs", "a parameter, its gradient and its states must be floats of one shape");
    for (int64_t i = 0; i < args.in(2 + p).count(); ++i) {
      std::array<double, groups> x;
      for (size_t g = 0; g < groups; ++g) x[g] = *real_at(args.in(2 + g * count + p), i);
      update(x);
      set_real(args.out(p), i, x[0]);
      for (size_t g = 2; g < groups; ++g) set_real(args.out((g - 1) * count + p), i, x[g]);
    }
  }
  return {};
}

Status adagrad(const Call& call, KernelArgs& args) {
  TRY(const Progress now, progress_of(args));
  const double norm = call.f("norm_coefficient"), epsilon = call.f("epsilon");
  const double rate = now.rate / (1 + static_cast<double>(now.step) * call.f("decay_factor"));
  return for_all_entries<3>(args, [&](std::array<double, 3>& x) {
    const double gradient = norm * x[0] + x[1];
    x[2] += gradient * gradient;
    x[0] -= rate * gradient / (std::sqrt(x[2]) + epsilon);
  });
}

Status adam(const Call& call, KernelArgs& args) {
  TRY(const Progress now, progress_of(args));
  const double alpha = call.f("alpha"), beta = call.f("beta"), epsilon = call.f("epsilon");
  const double norm = call.f("norm_coefficient"), after = call.f("norm_coefficient_post");
  double rate = now.rate;
  const auto steps = static_cast<double>(now.step);
  if (now.step > 0) rate *= std::sqrt(1 - std::pow(beta, steps)) / (1 - std::pow(alpha, steps));
  return for_all_entries<4>(args, [&](std::array<double, 4>& x) {
    const double gradient = norm * x[0] + x[1];
    x[2] = alpha * x[2] + (1 - alpha) * gradient;
    x[3] = beta * x[3] + (1 - beta) * gradient * gradient;
    x[0] = (1 - after) * (x[0] - rate * x[2] / (std::sqrt(x[3]) + epsilon));
  });
}

Status momentum(const Call& call, KernelArgs& args) {
  TRY(const Progress now, progress_of(args));
  const std::string_view mode = call.s("mode");
  if (mode != "standard" && mode != "nesterov")
    return refuse("optimizer.mode", "mode is {:?}, not standard or nesterov", mode);
  const double alpha = call.f("alpha"), norm = call.f("norm_coefficient");
  const double beta = now.step > 0 ? call.f("beta") : 1;
  return for_all_entries<3>(args, [&](std::array<double, 3>& x) {
    const double gradient = norm * x[0] + x[1];
    x[2] = alpha * x[2] + beta * gradient;
    x[0] -= now.rate * (mode == "standard" ? x[2] : gradient + alpha * x[2]);
  });
}

constexpr Kernel kAdagradKernels[] = {{"reference", adagrad}};
constexpr Kernel kAdamKernels[] = {{"reference", adam}};
constexpr Kernel kMomentumKernels[] = {{"reference", momentum}};

}  // namespace

constexpr OpDef kTrainingAdagrad1{.name = "Adagrad",
                                  .domain = kTraining,
                                  .sig = {kTrainingIn, kTrainingOut, "one step of Adagrad", kAdagradAttributes},
                                  .infer = infer_three,
                                  .kernels = kAdagradKernels};
constexpr OpDef kTrainingAdam1{.name = "Adam",
                               .domain = kTraining,
                               .sig = {kTrainingIn, kTrainingOut, "one step of Adam", kAdamAttributes},
                               .infer = infer_four,
                               .kernels = kAdamKernels};
constexpr OpDef kTrainingGradient1{
    .name = "Gradient",
    .domain = kTraining,
    .sig = {kGradientIn, kTrainingOut, "derivatives of one output by the inputs", kGradientAttributes},
    .infer = infer_gradient};
constexpr OpDef kTrainingMomentum1{.name = "Momentum",
                                   .domain = kTraining,
                                   .sig = {kTrainingIn, kTrainingOut, "one step with momentum", kMomentumAttributes},
                                   .infer = infer_three,
                                   .kernels = kMomentumKernels};

}  // namespace anyshape::ops
