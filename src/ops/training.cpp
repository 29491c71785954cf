#include "ops/common.h"
#include "ops/records.h"

// The domain ai.onnx.preview.training.
namespace anyshape::ops {
namespace {

constexpr std::string_view kTraining = "ai.onnx.preview.training";

constexpr Port kIn[] = {{"R"}, {"T"}, {"inputs", Port::variadic}};
constexpr Port kOut[] = {{"outputs", Port::variadic}};
constexpr Port kGradientIn[] = {{"Inputs", Port::variadic}};

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
        TRY_OK(require_same_dims(context, *parameter.dims, *other.dims, "a parameter against its gradient or state"));
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

}  // namespace

constexpr OpDef kTrainingAdagrad1{
    .name = "Adagrad", .domain = kTraining, .sig = {kIn, kOut, "one step of Adagrad"}, .infer = infer_three};
constexpr OpDef kTrainingAdam1{
    .name = "Adam", .domain = kTraining, .sig = {kIn, kOut, "one step of Adam"}, .infer = infer_four};
constexpr OpDef kTrainingGradient1{.name = "Gradient",
                                   .domain = kTraining,
                                   .sig = {kGradientIn, kOut, "derivatives of one output by the inputs"},
                                   .infer = infer_gradient};
constexpr OpDef kTrainingMomentum1{
    .name = "Momentum", .domain = kTraining, .sig = {kIn, kOut, "one step with momentum"}, .infer = infer_three};

}  // namespace anyshape::ops
