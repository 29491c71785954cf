#include "run/cpu/kernels/common.h"

#include <algorithm>

namespace anyshape::cpu {

Result<simd::ActivationSpec> read_activation(const Call& call) {
  using simd::Activation;
  constexpr std::pair<std::string_view, Activation> kNames[] = {
      {"none", Activation::none},       {"relu", Activation::relu},
      {"clip", Activation::clip},       {"leaky_relu", Activation::leaky_relu},
      {"sigmoid", Activation::sigmoid}, {"tanh", Activation::tanh},
      {"gelu", Activation::gelu},       {"gelu_tanh", Activation::gelu_tanh},
      {"silu", Activation::silu},       {"hard_swish", Activation::hard_swish},
      {"Relu", Activation::relu},       {"Clip", Activation::clip},
      {"Sigmoid", Activation::sigmoid}, {"Tanh", Activation::tanh},
      {"Gelu", Activation::gelu},       {"GeluTanh", Activation::gelu_tanh},
      {"Silu", Activation::silu},       {"HardSwish", Activation::hard_swish}};
  const auto* given = call.given<std::string>("activation");
  const auto* params = call.given<std::vector<float>>("activation_params");
  std::string_view text = given && !given->empty() ? std::string_view(*given) : "none";
  if (text == "LeakyRelu" && params && !params->empty()) text = "leaky_relu";
  if (text == "Clip" && (!params || params->size() < 2)) text = "Clip without bounds";
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& n) { return n.first == text; });
  if (found == std::end(kNames)) return refuse("activation", "there is no activation {:?}", text);
  simd::ActivationSpec out{found->second};
  if (params && !params->empty()) out.a = (*params)[0];
  if (params && params->size() > 1) out.b = (*params)[1];
  return out;
}

Floats floats_of(const Call& call, size_t input) {
  const Tensor& tensor = *call.in(input).constant;
  Floats out(static_cast<size_t>(tensor.count()));
  if (!out.empty()) std::memcpy(out.data(), tensor.bytes().data(), out.size() * sizeof(float));
  return out;
}

int64_t tasks_for(int64_t items, double cost, int64_t most) {
  constexpr double kLeast = 1 << 16;
  const double wanted = std::min(static_cast<double>(items) * cost / kLeast, 1e6);
  return std::clamp<int64_t>(static_cast<int64_t>(wanted), 1, std::max<int64_t>(std::min(items, most), 1));
}

}  // namespace anyshape::cpu
