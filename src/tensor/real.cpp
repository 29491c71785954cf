#include "tensor/real.h"

#include "tensor/half.h"
#include "tensor/small_float.h"

namespace anyshape {
namespace {

template <class T>
void store(Tensor& tensor, int64_t i, T value) {
  tensor.as_mutable<T>()[static_cast<size_t>(i)] = value;
}

}  // namespace

std::optional<double> real_at(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::f32:
      return tensor.at<float>(i);
    case DType::f64:
      return tensor.at<double>(i);
    case DType::f16:
      return static_cast<float>(tensor.at<Half>(i));
    case DType::bf16:
      return static_cast<float>(tensor.at<BFloat16>(i));
    default:
      if (!is_small_float(tensor.dtype())) return std::nullopt;
      return small_float_value(
          tensor.dtype(), bits(tensor.dtype()) < 8 ? static_cast<uint8_t>(tensor.int_at(i)) : tensor.at<uint8_t>(i));
  }
}

bool set_real(Tensor& tensor, int64_t i, double value) {
  switch (tensor.dtype()) {
    case DType::f32:
      store(tensor, i, static_cast<float>(value));
      return true;
    case DType::f64:
      store(tensor, i, value);
      return true;
    case DType::f16:
      store(tensor, i, Half(value));
      return true;
    case DType::bf16:
      store(tensor, i, BFloat16(value));
      return true;
    default:
      if (!is_small_float(tensor.dtype())) return false;
      set_code(tensor, i, small_float_code(tensor.dtype(), value));
      return true;
  }
}

void set_code(Tensor& tensor, int64_t i, uint8_t code) {
  if (bits(tensor.dtype()) < 8)
    tensor.set_int(i, code);
  else
    store(tensor, i, code);
}

}  // namespace anyshape
