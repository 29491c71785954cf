#include <algorithm>
#include <cmath>

#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

constexpr int64_t kLongest = 1 << 24;

// A periodic window leaves its last entry out.
Arg kaiser(Lowering& l, const Args& a) {
  const int64_t length = a.i("window_length");
  if (length < 0 || length > kLongest) {
    l->refuse("aten.arguments", "a window of {} entries", length);
    return {};
  }
  const double span = static_cast<double>(a.flag("periodic", true) ? length : length - 1), beta = a.f("beta", 12);
  std::vector<double> values(static_cast<size_t>(length), 1.0);
  for (size_t i = 0; length > 1 && i < values.size(); ++i) {
    const double off = 2 * static_cast<double>(i) / span - 1;
    values[i] = std::cyl_bessel_i(0.0, beta * std::sqrt(std::max(0.0, 1 - off * off))) / std::cyl_bessel_i(0.0, beta);
  }
  return reals(l, values, a.dtype("dtype").value_or(DType::f32));
}

constexpr AtenOp kWindowOps[] = {
    {"kaiser_window", kaiser},
};

}  // namespace

std::span<const AtenOp> window_ops() { return kWindowOps; }

}  // namespace anyshape::lower
