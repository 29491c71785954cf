#pragma once

#include <array>
#include <vector>

#include "base/temporary.h"
#include "kernels/dispatch.h"

namespace anyshape::kernels {

// Element offsets of a tensor of sizes `dims` broadcast to `to`, in row-major order of `to`. REQUIRES: it broadcasts.
class BroadcastIndex {
 public:
  BroadcastIndex() = default;
  BroadcastIndex(std::span<const int64_t> dims, std::span<const int64_t> to);
  // Over the axes before `inner` only.
  BroadcastIndex(std::span<const int64_t> dims, std::span<const int64_t> to, size_t inner);
  int64_t offset() const { return offset_; }
  void next();

 private:
  Temporary<int64_t> to_, strides_, index_;
  int64_t offset_ = 0;
};

// Two tensors broadcast to `to`, by rows: as many of its last axes as can be walked with one step in each of the two.
class BroadcastRows {
 public:
  BroadcastRows(std::span<const int64_t> a, std::span<const int64_t> b, std::span<const int64_t> to);
  int64_t length() const { return length_; }  // of a row
  int64_t step_a() const { return step_a_; }  // 0 or 1
  int64_t step_b() const { return step_b_; }
  int64_t a() const { return a_.offset(); }  // where the row begins
  int64_t b() const { return b_.offset(); }
  void next() {
    a_.next();
    b_.next();
  }

 private:
  int64_t length_ = 1, step_a_ = 0, step_b_ = 0;
  BroadcastIndex a_, b_;
};

// True when every axis of `dims` is 1 or that of `to`, counted from the back.
bool broadcasts(std::span<const int64_t> dims, std::span<const int64_t> to);

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
  Out* to = out.as_mutable<Out>().data();
  BroadcastRows rows(a.dims(), b.dims(), out.dims());
  const int64_t n = rows.length(), step_a = rows.step_a(), step_b = rows.step_b();
  for (int64_t done = 0; done < out.count(); done += n, to += n, rows.next()) {
    const int64_t i = rows.a(), j = rows.b();
    if (step_a == 1 && step_b == 1) {
      for (int64_t k = 0; k < n; ++k) to[k] = fn(a.at<A>(i + k), b.at<B>(j + k));
    } else {
      for (int64_t k = 0; k < n; ++k) to[k] = fn(a.at<A>(i + k * step_a), b.at<B>(j + k * step_b));
    }
  }
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
