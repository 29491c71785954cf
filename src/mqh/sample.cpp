#include "mqh/sample.h"

#include <algorithm>
#include <cmath>

#include "tensor/dtype.h"
#include "tensor/half.h"

namespace anyshape::mqh {
namespace {

constexpr int64_t kStoredEntries = 64;
constexpr double kSmallestScale = 1e-6;

double tolerance_of(DType type) {
  switch (type) {
    case DType::f16:
      return 1e-2;
    case DType::f32:
      return 1e-4;
    case DType::f64:
      return 1e-6;
    default:
      return 0;
  }
}

double number_at(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::f16:
      return static_cast<float>(tensor.at<Half>(i));
    case DType::f32:
      return tensor.at<float>(i);
    case DType::f64:
      return tensor.at<double>(i);
    case DType::u64:
      return static_cast<double>(tensor.at<uint64_t>(i));
    default:
      return static_cast<double>(tensor.int_at(i));
  }
}

void set_number(Tensor& tensor, int64_t i, double value) {
  const auto at = static_cast<size_t>(i);
  switch (tensor.dtype()) {
    case DType::f16:
      tensor.as_mutable<Half>()[at] = Half(static_cast<float>(value));
      break;
    case DType::f32:
      tensor.as_mutable<float>()[at] = static_cast<float>(value);
      break;
    case DType::f64:
      tensor.as_mutable<double>()[at] = value;
      break;
    default:
      tensor.set_int(i, static_cast<int64_t>(value));
  }
}

// As the container of the program holds it.
double rounded(DType type, double value) { return type == DType::f64 ? value : static_cast<float>(value); }

}  // namespace

std::vector<double> draw(Generator& generator, const Recipe& recipe, DType type, int64_t count) {
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = generator.next();
    const auto k = static_cast<size_t>(i / recipe.inner) % recipe.centre.size();
    if (is_float(type))
      out.push_back(rounded(type, recipe.centre[k] + recipe.spread[k] * (bits % 2048 / 1024.0 - 1)));
    else
      out.push_back(static_cast<double>(bits % (type == DType::boolean ? 2 : recipe.span)));
  }
  return out;
}

Result<Tensor> tensor_of(DType type, const std::vector<int64_t>& dims, const std::vector<double>& entries) {
  TRY(Tensor out, Tensor::allocate(type, dims));
  for (size_t i = 0; i < entries.size(); ++i) set_number(out, static_cast<int64_t>(i), entries[i]);
  return out;
}

OutputSample sample_of(const Tensor& output) {
  OutputSample out;
  out.tolerance = tolerance_of(output.dtype());
  out.step = (output.count() + kStoredEntries - 1) / kStoredEntries;
  out.step = std::max<int64_t>(out.step, 1);
  double largest = 0;
  for (int64_t i = 0; i < output.count(); ++i) {
    const double number = number_at(output, i);
    const bool finite = std::isfinite(number);
    if (finite) largest = std::max(largest, std::abs(number));
    if (finite) out.weighted += static_cast<double>(1 + i % 7) * number / static_cast<double>(output.count());
    if (i % out.step == 0) out.entries.push_back(finite ? number : kNotFinite);
  }
  if (out.tolerance > 0) out.scale = std::max(largest, kSmallestScale);
  return out;
}

bool all_finite(const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.count(); ++i)
    if (!std::isfinite(number_at(tensor, i))) return false;
  return true;
}

}  // namespace anyshape::mqh
