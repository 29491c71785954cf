#include "ops/microsoft/kernel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/elementwise.h"
#include "kernels/program_scalar.h"
#include "kernels/quantize.h"
#include "kernels/recurrent.h"
#include "ops/movement/movement.h"

namespace anyshape::ops {

Status run_as(const OpDef& op, int64_t version, const Call& call, Temporary<Datum> in, std::span<Datum> out) {
  Temporary<Fact> facts;
  // As at run time: element types, no sizes.
  for (const Datum& datum : in) facts.push_back(Fact::tensor_of_unknown_rank(datum.dtype()));
  Temporary<const Fact*> pointers;
  for (size_t i = 0; i < in.size(); ++i) pointers.push_back(in[i] ? &facts[i] : nullptr);
  KernelArgs args{in, out, nullptr, 0};
  TRY_OK(op.kernels.back().run(Call(call, op, version, pointers), args));
  for (Datum& datum : out) datum.settle();
  return {};
}

Status run_as(const OpDef& op, int64_t version, const Call& call, Temporary<Datum> in, Tensor& out) {
  Datum outputs[] = {Datum(out)};
  TRY_OK(run_as(op, version, call, std::move(in), outputs));
  out = outputs[0].tensor();
  return {};
}

Result<Tensor> permuted(const Tensor& tensor, std::span<const size_t> order) {
  const auto strides = row_strides(tensor.dims());
  Temporary<int64_t> dims;
  for (size_t axis : order) dims.push_back(tensor.dims()[axis]);
  TRY(Tensor out, Tensor::allocate(tensor.dtype(), dims));
  fill_by(out, tensor, [&](std::span<const int64_t> index) {
    int64_t offset = 0;
    for (size_t i = 0; i < order.size(); ++i) offset += index[i] * strides[order[i]];
    return offset;
  });
  return out;
}

Result<Tensor> channels_to_front(const Tensor& tensor) {
  if (tensor.rank() < 2) return refuse("kernel.shape", "a tensor of rank {} has no channels", tensor.rank());
  Temporary<size_t> order(tensor.rank());
  std::iota(order.begin(), order.end(), size_t{0});
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return permuted(tensor, order);
}

Result<Tensor> channels_to_back(const Tensor& tensor) {
  if (tensor.rank() < 2) return refuse("kernel.shape", "a tensor of rank {} has no channels", tensor.rank());
  Temporary<size_t> order(tensor.rank());
  std::iota(order.begin(), order.end(), size_t{0});
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return permuted(tensor, order);
}

Status put(const Tensor& from, Tensor& to) {
  if (from.dtype() != to.dtype() || from.count() != to.count())
    return refuse("kernel.shape", "{} entries do not fit an output of {}", from.count(), to.count());
  kernels::copy_elements(to, 0, from, 0, from.count());
  return {};
}

Status add_to(Tensor& tensor, const Tensor& addend) {
  if (!kernels::broadcasts(addend.dims(), tensor.dims()))
    return refuse("kernel.shape", "a tensor to be added does not fit");
  TRY(Temporary<double> values, kernels::to_reals(tensor));
  TRY(const Temporary<double> more, kernels::to_reals(addend));
  kernels::BroadcastIndex index(addend.dims(), tensor.dims());
  for (double& value : values) {
    value += more[static_cast<size_t>(index.offset())];
    index.next();
  }
  return kernels::from_reals(values, tensor);
}

Result<Tensor> dequantized(const Tensor& x, const Tensor& scale, const Tensor& zero, size_t axis) {
  TRY(Tensor out, Tensor::allocate(DType::f32, x.dims()));
  TRY_OK(kernels::dequantize(x, scale, zero, {axis, 0}, out));
  return out;
}

Status quantize_to(const Tensor& x, const Tensor& scale, const Tensor& zero, Tensor& out) {
  return kernels::quantize(x, scale, zero, {}, {}, out);
}

namespace {

double silu(double x) { return x / (1 + std::exp(-x)); }

// Those that recurrent layers do not have.
constexpr std::pair<std::string_view, double (*)(double)> kOtherActivations[] = {
    {"Gelu", kernels::element::gelu<double>},
    {"GeluTanh", kernels::element::gelu_tanh<double>},
    {"HardSwish", kernels::element::hard_swish<double>},
    {"Silu", silu},
};

}  // namespace

Status activate(std::string_view name, std::optional<double> alpha, std::optional<double> beta, Tensor& out) {
  if (name.empty()) return {};
  if (name == "Clip") {
    const double lo = alpha.value_or(-INFINITY), hi = beta.value_or(INFINITY);
    return map_reals(out, [=](double x) { return std::min(std::max(x, lo), hi); });
  }
  for (const auto& [other, function] : kOtherActivations)
    if (name == other) return map_reals(out, function);
  auto activation = kernels::Activation::named(name);
  if (!activation) return unknown("fused.activation", "the activation {:?} is not known", name);
  if (alpha && activation->takes_alpha()) activation->alpha = *alpha;
  if (beta && activation->takes_beta()) activation->beta = *beta;
  return map_reals(out, *activation);
}

Status activate_by_list(const Call& call, Tensor& out) {
  const auto* name = call.given<std::string>("activation");
  const auto* list = call.given<std::vector<float>>("activation_params");
  const auto parameter = [&](size_t i) {
    return list && i < list->size() ? std::optional(static_cast<double>((*list)[i])) : std::nullopt;
  };
  return activate(name ? *name : "", parameter(0), parameter(1), out);
}

}  // namespace anyshape::ops
