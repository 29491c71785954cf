#pragma once

#include <array>
#include <vector>

#include "kernels/dispatch.h"

namespace anyshape::kernels {

// Element offsets of a tensor of sizes `dims` broadcast to `to`, in row-major order of `to`. REQUIRES: it broadcasts.
class BroadcastIndex {
 public:
  BroadcastIndex(const std::vector<int64_t>& dims, const std::vector<int64_t>& to);
  int64_t offset() const { return offset_; }
  void next();

 private:
  std::vector<int64_t> to_, strides_, index_;
  int64_t offset_ = 0;
};

// True when every axis of `dims` is 1 or that of `to`, counted from the back.
bool broadcasts(const std::vector<int64_t>& dims, const std::vector<int64_t>& to);

// out[i] = fn(a[i]), elements of type In and Out.
template <class In, class Out, class Fn>
void apply(const Tensor& a, Tensor& out, Fn fn) {
  auto to = out.as_mutable<Out>();
  for (int64_t i = 0; i < out.count(); ++i) to[static_cast<size_t>(i)] = fn(a.at<In>(i));
}

// out = fn(a, b) with broadcasting. Error "kernel.shape" when the shapes do not broadcast to that of `out`.
template <class A, class B, class Out, class Fn>
Status apply(const Tensor& a, const Tensor& b, Tensor& out, Fn fn) {
  if (!broadcasts(a.dims(), out.dims()) || !broadcasts(b.dims(), out.dims()))
    return refuse("kernel.shape", "the inputs do not broadcast to the output");
  auto to = out.as_mutable<Out>();
  BroadcastIndex ia(a.dims(), out.dims()), ib(b.dims(), out.dims());
  for (int64_t i = 0; i < out.count(); ++i, ia.next(), ib.next())
    to[static_cast<size_t>(i)] = fn(a.at<A>(ia.offset()), b.at<B>(ib.offset()));
  return {};
}

// Arithmetic of the model: integers wrap.
template <class T, class Fn>
T wrapping(T a, T b, Fn fn) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    using Wide = std::conditional_t<(sizeof(U) < 4), uint32_t, U>;
    return static_cast<T>(fn(static_cast<Wide>(static_cast<U>(a)), static_cast<Wide>(static_cast<U>(b))));
  } else {
    return fn(a, b);
  }
}

}  // namespace anyshape::kernels
