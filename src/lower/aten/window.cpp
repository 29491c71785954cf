#include <cmath>
#include <numbers>

#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

constexpr int64_t kLongest = 1 << 24;

// A window of known length, from its formula at `at` in 0..1; a periodic one leaves its last entry out.
template <class Formula>
Ref window(Lowering& l, const Args& a, Formula formula) {
  const int64_t length = a.i("window_length");
  if (length < 0 || length > kLongest) {
    l.refuse("aten.arguments", "a window of {} entries", length);
    return {};
  }
  const double span = static_cast<double>(a.flag("periodic", true) ? length : length - 1);
  std::vector<double> values(static_cast<size_t>(length), 1.0);
  for (size_t i = 0; length > 1 && i < values.size(); ++i) values[i] = formula(static_cast<double>(i) / span);
  return reals(l, values, a.dtype("dtype").value_or(DType::f32));
}

constexpr double kTurn = 2 * std::numbers::pi;

Arg hann(Lowering& l, const Args& a) {
  return window(l, a, [](double at) { return 0.5 - 0.5 * std::cos(kTurn * at); });
}

Arg hamming(Lowering& l, const Args& a) {
  const double alpha = a.f("alpha", 0.54), beta = a.f("beta", 0.46);
  return window(l, a, [=](double at) { return alpha - beta * std::cos(kTurn * at); });
}

Arg blackman(Lowering& l, const Args& a) {
  return window(l, a, [](double at) { return 0.42 - 0.5 * std::cos(kTurn * at) + 0.08 * std::cos(2 * kTurn * at); });
}

Arg bartlett(Lowering& l, const Args& a) {
  return window(l, a, [](double at) { return 1 - std::abs(2 * at - 1); });
}

Arg kaiser(Lowering& l, const Args& a) {
  const double beta = a.f("beta", 12);
  return window(l, a, [=](double at) {
    const double off = 2 * at - 1;
    return std::cyl_bessel_i(0.0, beta * std::sqrt(std::max(0.0, 1 - off * off))) / std::cyl_bessel_i(0.0, beta);
  });
}

constexpr AtenOp kOps[] = {
    {"bartlett_window", bartlett}, {"blackman_window", blackman}, {"hamming_window", hamming},
    {"hann_window", hann},         {"kaiser_window", kaiser},
};

}  // namespace

std::span<const AtenOp> window_ops() { return kOps; }

}  // namespace anyshape::lower
