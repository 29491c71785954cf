#include "kernels/zero_point.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/wide.h"

namespace anyshape::kernels {
namespace {

Status require_fit(const Parameter& parameter, std::span<const int64_t> dims) {
  if (!parameter.tensor) return {};
  if (element_count(parameter.dims) != parameter.tensor.count() || !broadcasts(parameter.dims, dims))
    return refuse("kernel.shape", "a scale or zero point does not fit the tensor");
  return {};
}

double rounded_zero_point(double value, double zero, DType dtype) {
  const double low = is_signed_integer(dtype) ? -128 : 0, high = is_signed_integer(dtype) ? 127 : 255;
  const double sum = std::nearbyint(value) + zero;
  return std::isnan(sum) ? low : std::clamp(sum, low, high);
}

}  // namespace

Result<Tensor> centered(const Tensor& values, const Parameter& zero) {
  if (bits(values.dtype()) != 8 || values.dtype() == DType::boolean)
    return unknown("dtype", "no product of quantized elements of type {}", name(values.dtype()));
  TRY(Tensor out, Tensor::allocate(DType::f64, values.dims()));
  TRY_OK(convert(values, out));
  if (!zero.tensor) return out;
  TRY_OK(require_fit(zero, values.dims()));
  TRY(const Tensor shift, converted(zero.tensor, DType::f64));
  BroadcastIndex index(zero.dims, values.dims());
  for (double& value : out.as_mutable<double>()) {
    value -= shift.as<double>()[static_cast<size_t>(index.offset())];
    index.next();
  }
  return out;
}

Status requantize(const Tensor& sums, const Parameter& left, const Parameter& right, const Tensor& y_scale,
                  const Tensor& y_zero, Tensor& out) {
  TRY_OK(require_fit(left, out.dims()));
  TRY_OK(require_fit(right, out.dims()));
  if (y_scale.count() != 1 || y_zero.count() != 1 || bits(out.dtype()) != 8 || out.dtype() == DType::boolean)
    return unknown("dtype", "no product of quantized elements of type {}", name(out.dtype()));
  TRY(const Tensor a, converted(left.tensor, DType::f32));
  TRY(const Tensor b, converted(right.tensor, DType::f32));
  TRY(const Tensor scale, converted(y_scale, DType::f32));
  TRY(const Tensor zero, converted(y_zero, DType::f64));
  TRY(Tensor result, Tensor::allocate(DType::f64, out.dims()));
  const bool integers = is_integer(out.dtype());
  BroadcastIndex ia(left.dims, out.dims()), ib(right.dims, out.dims());
  auto to = result.as_mutable<double>();
  for (size_t i = 0; i < to.size(); ++i, ia.next(), ib.next()) {
    const float factor = a.at<float>(ia.offset()) * b.at<float>(ib.offset()) / scale.at<float>(0);
    const auto value = static_cast<double>(static_cast<float>(sums.as<double>()[i]) * factor);
    const double shift = zero.at<double>(0);
    to[i] = integers ? rounded_zero_point(value, shift, out.dtype()) : value + shift;
  }
  return convert(result, out);
}

void sums_to_i32(const Tensor& sums, Tensor& out) {
  auto to = out.as_mutable<int32_t>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<int32_t>(truncate_to_int64(sums.as<double>()[i]));
}

}  // namespace anyshape::kernels
