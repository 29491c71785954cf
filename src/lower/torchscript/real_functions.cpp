#include "lower/torchscript/real_functions.h"

#include <array>
#include <cmath>

namespace anyshape::lower::script {

std::optional<double> function_of(std::string_view name, double x) {
  struct Entry {
    std::string_view name;
    double (*f)(double);
  };
  static constexpr std::array kFunctions = {
      Entry{"sqrt", std::sqrt},    Entry{"exp", std::exp},       Entry{"log", std::log},
      Entry{"log2", std::log2},    Entry{"log10", std::log10},   Entry{"log1p", std::log1p},
      Entry{"sin", std::sin},      Entry{"cos", std::cos},       Entry{"tan", std::tan},
      Entry{"asin", std::asin},    Entry{"acos", std::acos},     Entry{"atan", std::atan},
      Entry{"sinh", std::sinh},    Entry{"cosh", std::cosh},     Entry{"tanh", std::tanh},
      Entry{"fabs", std::fabs},    Entry{"expm1", std::expm1},   Entry{"erf", std::erf},
      Entry{"gamma", std::tgamma}, Entry{"lgamma", std::lgamma}, Entry{"round", std::nearbyint}};
  for (const Entry& entry : kFunctions) {
    if (entry.name == name) return entry.f(x);
  }
  if (name == "degrees") return x * 180 / M_PI;
  if (name == "radians") return x * M_PI / 180;
  return std::nullopt;
}

}  // namespace anyshape::lower::script
