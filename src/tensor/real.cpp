#include "tensor/real.h"

#include "tensor/half.h"

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
      return std::nullopt;
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
      return false;
  }
}

}  // namespace anyshape
