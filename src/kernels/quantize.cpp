#include "kernels/quantize.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/temporary.h"
#include "tensor/half.h"
#include "tensor/real.h"
#include "tensor/small_float.h"

namespace anyshape::kernels {
namespace {

bool is_number(DType dtype) { return is_integer(dtype) || is_float(dtype); }

double number_at(const Tensor& tensor, int64_t i) {
  if (const auto real = real_at(tensor, i)) return *real;
  if (tensor.dtype() == DType::u64) return static_cast<double>(tensor.at<uint64_t>(i));
  return static_cast<double>(tensor.int_at(i));
}

double rounded_to(DType precision, double value) {
  if (precision == DType::f16) return static_cast<float>(Half(value));
  if (precision == DType::bf16) return static_cast<float>(BFloat16(value));
  return precision == DType::f64 ? value : static_cast<float>(value);
}

// The offset of the scale of each entry in row-major order.
class ScaleIndex {
 public:
  static Result<ScaleIndex> make(std::span<const int64_t> x, const Tensor& scale, const QuantizeLayout& layout) {
    ScaleIndex out;
    if (scale.count() == 1) return out;
    const auto misfit = [&] {
      return refuse("quantize.scale", "the scales [{}] do not fit the input [{}]", fmt::join(scale.dims(), ", "),
                    fmt::join(x, ", "));
    };
    if (layout.axis >= x.size()) return misfit();
    out.size_ = x[layout.axis];
    for (size_t i = layout.axis + 1; i < x.size(); ++i) out.inner_ *= x[i];
    if (layout.block > 0) {
      auto wanted = temporary(x);
      out.block_ = layout.block;
      out.blocks_ = wanted[layout.axis] = x[layout.axis] / layout.block + (x[layout.axis] % layout.block != 0);
      if (!std::ranges::equal(scale.dims(), wanted)) return misfit();
      out.kind_ = Kind::block;
      return out;
    }
    if (scale.rank() != 1 || scale.count() != out.size_) return misfit();
    out.kind_ = Kind::axis;
    return out;
  }

  int64_t offset(int64_t i) const {
    if (kind_ == Kind::one) return 0;
    const int64_t at = i / inner_ % size_;
    if (kind_ == Kind::axis) return at;
    return (i / inner_ / size_ * blocks_ + at / block_) * inner_ + i % inner_;
  }

 private:
  enum class Kind { one, axis, block };
  Kind kind_ = Kind::one;
  int64_t size_ = 1, inner_ = 1, block_ = 1, blocks_ = 1;
};

Status check_quantize(const Tensor& x, const Tensor& scale, const Tensor& zero) {
  for (const Tensor* tensor : {&x, &scale, &zero})
    if (*tensor && !is_number(tensor->dtype())) return unknown("dtype", "quantisation of {}", name(tensor->dtype()));
  if (!zero || zero.count() == 1 || zero.count() == scale.count()) return {};
  return refuse("quantize.zero_point", "{} zero points for {} scales", zero.count(), scale.count());
}

double zero_at(const Tensor& zero, int64_t offset) {
  return zero ? number_at(zero, zero.count() == 1 ? 0 : offset) : 0;
}

struct Limits {
  double low, high;
};

Limits limits_of(DType dtype) {
  const int width = bits(dtype);
  if (is_signed_integer(dtype)) return {-std::ldexp(1, width - 1), std::ldexp(1, width - 1) - 1};
  return {0, std::ldexp(1, width) - 1};
}

}  // namespace

Status quantize(const Tensor& x, const Tensor& scale, const Tensor& zero, const QuantizeLayout& layout,
                const QuantizeRules& rules, Tensor& y) {
  TRY_OK(check_quantize(x, scale, zero));
  const bool whole = is_integer(y.dtype()) && bits(y.dtype()) <= 16, small = is_small_float(y.dtype());
  if (!whole && !small) return unknown("dtype", "quantisation to {}", name(y.dtype()));
  TRY(const ScaleIndex index, ScaleIndex::make(x.dims(), scale, layout));
  const Limits limits = limits_of(y.dtype());
  for (int64_t i = 0; i < y.count(); ++i) {
    const int64_t offset = index.offset(i);
    const double quotient = rounded_to(rules.precision, rounded_to(rules.precision, number_at(x, i)) /
                                                            rounded_to(rules.precision, number_at(scale, offset)));
    const double shift = zero_at(zero, offset);
    if (whole) {
      const double value = std::nearbyint(quotient) + shift;
      y.set_int(i, static_cast<int64_t>(std::isnan(value) ? limits.low : std::clamp(value, limits.low, limits.high)));
      continue;
    }
    set_code(y, i, small_float_code(y.dtype(), quotient + shift, rules.saturate));
  }
  return {};
}

Status dequantize(const Tensor& x, const Tensor& scale, const Tensor& zero, const QuantizeLayout& layout, Tensor& y) {
  TRY_OK(check_quantize(x, scale, zero));
  if (!is_float(y.dtype())) return unknown("dtype", "dequantisation to {}", name(y.dtype()));
  TRY(const ScaleIndex index, ScaleIndex::make(x.dims(), scale, layout));
  for (int64_t i = 0; i < y.count(); ++i) {
    const int64_t offset = index.offset(i);
    set_real(y, i, (number_at(x, i) - zero_at(zero, offset)) * number_at(scale, offset));
  }
  return {};
}

void quantize_dynamically(const Tensor& x, Tensor& y, Tensor& scale, Tensor& zero) {
  float low = 0, high = 0;
  for (int64_t i = 0; i < x.count(); ++i) {
    low = std::fmin(low, static_cast<float>(number_at(x, i)));
    high = std::fmax(high, static_cast<float>(number_at(x, i)));
  }
  const float step = (low == high ? 1.0f : high - low) / 255.0f;
  const float shift = std::nearbyint(std::clamp(-low / step, 0.0f, 255.0f));
  scale.as_mutable<float>()[0] = step;
  zero.as_mutable<uint8_t>()[0] = static_cast<uint8_t>(std::isnan(shift) ? 0 : shift);
  for (int64_t i = 0; i < x.count(); ++i) {
    const float value = std::nearbyint(static_cast<float>(number_at(x, i)) / step) + shift;
    y.as_mutable<uint8_t>()[static_cast<size_t>(i)] =
        static_cast<uint8_t>(std::isnan(value) ? 0 : std::clamp(value, 0.0f, 255.0f));
  }
}

}  // namespace anyshape::kernels
