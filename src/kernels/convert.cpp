#include "kernels/convert.h"

#include <limits>

#include "kernels/dispatch.h"

namespace anyshape::kernels {
namespace {

bool is_small_integer(DType dtype) { return is_integer(dtype) && bits(dtype) < 8; }

// 8- and 16-bit integers come by way of int32, like the 32-bit instruction a compiler uses for them.
template <class T>
T float_to_int(double value) {
  const auto wide = truncate_to_int64(value);
  if constexpr (std::is_same_v<T, uint64_t>)
    if (value >= 0x1p63 && value < 0x1p64) return static_cast<uint64_t>(value);
  if constexpr (sizeof(T) < 4 || std::is_same_v<T, int32_t>)
    if (wide < std::numeric_limits<int32_t>::min() || wide > std::numeric_limits<int32_t>::max())
      return static_cast<T>(std::numeric_limits<int32_t>::min());
  return static_cast<T>(wide);
}

template <class From, class To>
To convert_one(From value) {
  const auto wide = widen(value);
  if constexpr (std::is_same_v<To, bool>)
    return wide != 0;
  else if constexpr (kIsFloat<From> && !kIsFloat<To>)
    return float_to_int<To>(static_cast<double>(wide));
  else if constexpr (kIsFloat<To>)
    return To(static_cast<Compute<To>>(wide));
  else
    return static_cast<To>(wide);
}

template <class From>
Status convert_from(const Tensor& from, Tensor& to) {
  if (is_small_integer(to.dtype())) {
    for (int64_t i = 0; i < to.count(); ++i) to.set_int(i, convert_one<From, int32_t>(from.at<From>(i)));
    return {};
  }
  return visit_type<kAll>(to.dtype(), [&]<class To>(To) -> Status {
    auto out = to.as_mutable<To>();
    for (int64_t i = 0; i < to.count(); ++i) out[static_cast<size_t>(i)] = convert_one<From, To>(from.at<From>(i));
    return {};
  });
}

}  // namespace

int64_t truncate_to_int64(double value) {
  if (!(value > -0x1p63 && value < 0x1p63)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

Status convert(const Tensor& from, Tensor& to) {
  if (is_small_integer(from.dtype())) {
    TRY(Tensor wide, Tensor::allocate(DType::i32, from.dims()));
    for (int64_t i = 0; i < from.count(); ++i) wide.set_int(i, from.int_at(i));
    return convert_from<int32_t>(wide, to);
  }
  return visit_type<kAll>(from.dtype(), [&]<class From>(From) -> Status { return convert_from<From>(from, to); });
}

}  // namespace anyshape::kernels
