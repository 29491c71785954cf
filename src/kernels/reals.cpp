#include "kernels/reals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/temporary.h"
#include "kernels/dispatch.h"

namespace anyshape::kernels {
namespace {

template <class T>
T rounded_reals(double value) {
  if constexpr (kIsFloat<T>) {
    return static_cast<T>(static_cast<Compute<T>>(value));
  } else {
    if (std::isnan(value)) return T{};
    const double whole = std::nearbyint(value);
    if (whole <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
    if (whole >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(whole);
  }
}

// The parts of complex numbers as one flat list.
DType part_type(DType dtype) {
  if (dtype == DType::c64) return DType::f32;
  return dtype == DType::c128 ? DType::f64 : dtype;
}

int64_t part_count(const Tensor& tensor) {
  return tensor.dtype() == DType::c64 || tensor.dtype() == DType::c128 ? 2 * tensor.count() : tensor.count();
}

}  // namespace

Result<Temporary<double>> to_reals(const Tensor& tensor) {
  Temporary<double> out(static_cast<size_t>(part_count(tensor)));
  if (is_integer(tensor.dtype()) && bits(tensor.dtype()) < 8) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(tensor.int_at(static_cast<int64_t>(i)));
    return out;
  }
  TRY_OK(visit_type<kAll>(part_type(tensor.dtype()), [&]<class T>(T) -> Status {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(widen(tensor.at<T>(static_cast<int64_t>(i))));
    return {};
  }));
  return out;
}

Status from_reals(std::span<const double> values, Tensor& to) {
  if (is_integer(to.dtype()) && bits(to.dtype()) < 8) {
    const int width = bits(to.dtype());
    const bool is_signed = is_signed_integer(to.dtype());
    const double lo = is_signed ? -std::ldexp(1, width - 1) : 0, hi = std::ldexp(1, is_signed ? width - 1 : width) - 1;
    for (size_t i = 0; i < values.size(); ++i) {
      const double value = std::isnan(values[i]) ? 0 : std::clamp(std::nearbyint(values[i]), lo, hi);
      to.set_int(static_cast<int64_t>(i), static_cast<int64_t>(value));
    }
    return {};
  }
  return visit_type<kAll>(part_type(to.dtype()), [&]<class T>(T) -> Status {
    auto* out = reinterpret_cast<T*>(to.data());
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, bool>)
        out[i] = values[i] != 0 && !std::isnan(values[i]);
      else
        out[i] = rounded_reals<T>(values[i]);
    }
    return {};
  });
}

}  // namespace anyshape::kernels
