#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/recurrent.h"

namespace anyshape::kernels {
namespace {

using Kind = Activation::Kind;

struct Named {
  std::string_view name;
  Activation activation;
};
constexpr Named kNamed[] = {
    {"affine", {Kind::affine, 1, 0}},
    {"elu", {Kind::elu, 1, 0}},
    {"hardsigmoid", {Kind::hard_sigmoid, 0.2f, 0.5}},
    {"leakyrelu", {Kind::leaky_relu, 0.01f, 0}},
    {"relu", {Kind::relu, 0, 0}},
    {"scaledtanh", {Kind::scaled_tanh, 1, 1}},
    {"sigmoid", {Kind::sigmoid, 0, 0}},
    {"softplus", {Kind::softplus, 0, 0}},
    {"softsign", {Kind::softsign, 0, 0}},
    {"tanh", {Kind::tanh, 0, 0}},
    {"thresholdedrelu", {Kind::thresholded_relu, 1, 0}},
};

}  // namespace

std::optional<Activation> Activation::named(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const Named& known : kNamed)
    if (known.name == lower) return known.activation;
  return std::nullopt;
}

bool Activation::takes_alpha() const {
  return takes_beta() || kind == Kind::elu || kind == Kind::leaky_relu || kind == Kind::thresholded_relu;
}

bool Activation::takes_beta() const {
  return kind == Kind::affine || kind == Kind::hard_sigmoid || kind == Kind::scaled_tanh;
}

double Activation::operator()(double x) const {
  switch (kind) {
    case Kind::affine:
      return alpha * x + beta;
    case Kind::elu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Kind::hard_sigmoid:
      return std::clamp(alpha * x + beta, 0.0, 1.0);
    case Kind::leaky_relu:
      return x < 0 ? alpha * x : x;
    case Kind::relu:
      return x < 0 ? 0 : x;
    case Kind::scaled_tanh:
      return alpha * std::tanh(beta * x);
    case Kind::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Kind::softplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case Kind::softsign:
      return x / (1 + std::abs(x));
    case Kind::tanh:
      return std::tanh(x);
    case Kind::thresholded_relu:
      return x > alpha ? x : 0;
  }
  return x;
}

}  // namespace anyshape::kernels
