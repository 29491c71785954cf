#include "run/cpu/simd/quantize.h"

#include <algorithm>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/quantize.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

Range range(const float* x, int64_t n) {
  constexpr int kAtOnce = 4;
  V low[kAtOnce], high[kAtOnce];
  for (int u = 0; u < kAtOnce; ++u) low[u] = high[u] = hn::Zero(F());
  const auto take = [&](V v, int u) HWY_ATTR {
    low[u] = hn::IfThenElse(hn::Lt(v, low[u]), v, low[u]);
    high[u] = hn::IfThenElse(hn::Gt(v, high[u]), v, high[u]);
  };
  int64_t i = 0;
  for (; i + kAtOnce * kLanes <= n; i += kAtOnce * kLanes) {
    ANYSHAPE_UNROLL
    for (int u = 0; u < kAtOnce; ++u) take(hn::LoadU(F(), x + i + u * kLanes), u);
  }
  for (; i < n; i += kLanes) take(load_n(x + i, n - i), 0);
  for (int u = 1; u < kAtOnce; ++u) low[0] = hn::Min(low[0], low[u]), high[0] = hn::Max(high[0], high[u]);
  return {hn::GetLane(hn::MinOfLanes(F(), low[0])), hn::GetLane(hn::MaxOfLanes(F(), high[0]))};
}

// Parameters of one vector of entries.
struct Parameters {
  V scale;
  VI zero;
};

HWY_INLINE Parameters parameters_at(const Quantization& q, int64_t i, int64_t n) {
  if (!q.per_entry) return {splat(*q.scales), hn::Set(I(), q.zeros ? *q.zeros : 0)};
  const V zeros = q.zeros ? load_n(reinterpret_cast<const float*>(q.zeros) + i, n) : hn::Zero(F());
  return {load_n(q.scales + i, n), hn::BitCast(I(), zeros)};
}

// fn(first entry, how many, parameters)
template <class Fn>
HWY_INLINE void for_each_vector(int64_t n, const Quantization& q, Fn fn) {
  if (q.per_entry) {
    for (int64_t i = 0; i < n; i += kLanes) fn(i, n - i, parameters_at(q, i, n - i));
    return;
  }
  const Parameters one = parameters_at(q, 0, n);
  for (int64_t i = 0; i < n; i += kLanes) fn(i, n - i, one);
}

template <class Byte>
HWY_INLINE void quantize_as(const float* x, int64_t n, const Quantization& q, Byte* out) {
  const V least = splat(std::numeric_limits<Byte>::min()), most = splat(std::numeric_limits<Byte>::max());
  for_each_vector(n, q, [&](int64_t i, int64_t left, const Parameters& p) HWY_ATTR {
    const V zero = hn::ConvertTo(F(), p.zero), low = hn::Sub(least, zero);
    V y = hn::Round(hn::Div(load_n(x + i, left), p.scale));
    y = hn::Min(hn::IfThenElse(hn::Gt(y, low), y, low), hn::Sub(most, zero));
    store_bytes(hn::Add(hn::ConvertTo(I(), y), p.zero), out + i, left);
  });
}

void quantize(const float* x, int64_t n, const Quantization& q, bool is_signed, std::byte* out) {
  if (is_signed)
    quantize_as(x, n, q, reinterpret_cast<int8_t*>(out));
  else
    quantize_as(x, n, q, reinterpret_cast<uint8_t*>(out));
}

template <class Byte>
HWY_INLINE VI load_bytes(const Byte* from, int64_t n) {
  const hn::Rebind<Byte, I> d;
  if (n >= kLanes) return hn::PromoteTo(I(), hn::LoadU(d, from));
  HWY_ALIGN Byte whole[HWY_MAX_BYTES] = {};
  std::memcpy(whole, from, static_cast<size_t>(n));
  return hn::PromoteTo(I(), hn::Load(d, whole));
}

template <class Byte>
HWY_INLINE void dequantize_as(const Byte* x, int64_t n, const Quantization& q, float* out) {
  for_each_vector(n, q, [&](int64_t i, int64_t left, const Parameters& p) HWY_ATTR {
    const VI y = hn::Sub(load_bytes(x + i, left), p.zero);
    store_n(hn::Mul(hn::ConvertTo(F(), y), p.scale), out + i, left);
  });
}

void dequantize(const std::byte* x, int64_t n, const Quantization& q, bool is_signed, float* out) {
  if (is_signed)
    dequantize_as(reinterpret_cast<const int8_t*>(x), n, q, out);
  else
    dequantize_as(reinterpret_cast<const uint8_t*>(x), n, q, out);
}

void widen(const uint8_t* values, bool nibbles, const float* scales, const float* zeros, int64_t rows, int64_t n,
           float* to) {
  const VI low = hn::Set(I(), nibbles ? 15 : 255);
  for (int64_t j = 0; j < n; j += kLanes) {
    const V scale = hn::LoadU(F(), scales + j), zero = hn::LoadU(F(), zeros + j);
    const auto put = [&](VI value, int64_t r) HWY_ATTR {
      hn::StoreU(hn::Mul(hn::Sub(hn::ConvertTo(F(), value), zero), scale), F(), to + r * n + j);
    };
    for (int64_t r = 0, byte = j; r < rows; byte += n) {
      const VI both = load_bytes(values + byte, kLanes);
      put(hn::And(both, low), r++);
      if (nibbles && r < rows) put(hn::ShiftRight<4>(both), r++);
    }
  }
}

template <class From, class To>
HWY_INLINE void requantize_as(const From* x, int64_t rows, int64_t n, const Requantization& how, To* out) {
  const V scale = splat(how.scale), to_scale = splat(how.to_scale), low = splat(how.least), high = splat(how.most);
  const VI zero = hn::Set(I(), how.zero);
  const ToBytes<To> to_bytes(how.to_zero);
  const V shift = splat(*how.shifts), factor = splat(*how.factors), bias = splat(*how.biases);
  for (int64_t r = 0; r < rows; ++r, x += n, out += n)
    for (int64_t i = 0; i < n; i += kLanes) {
      const int64_t left = n - i;
      V y = hn::Mul(hn::ConvertTo(F(), hn::Sub(load_bytes(x + i, left), zero)), scale);
      y = hn::Sub(y, how.per_entry ? load_n(how.shifts + i, left) : shift);
      y = hn::Mul(y, how.per_entry ? load_n(how.factors + i, left) : factor);
      y = hn::Add(y, how.per_entry ? load_n(how.biases + i, left) : bias);
      y = hn::IfThenElse(hn::Lt(y, low), low, y);
      y = hn::IfThenElse(hn::Gt(y, high), high, y);
      store_bytes(to_bytes(hn::Div(y, to_scale)), out + i, left);
    }
}

template <class From>
HWY_INLINE void requantize_from(const From* x, int64_t rows, int64_t n, const Requantization& how, std::byte* out) {
  if (how.out_signed)
    requantize_as(x, rows, n, how, reinterpret_cast<int8_t*>(out));
  else
    requantize_as(x, rows, n, how, reinterpret_cast<uint8_t*>(out));
}

void requantize(const std::byte* x, int64_t rows, int64_t n, const Requantization& how, std::byte* out) {
  if (how.in_signed)
    requantize_from(reinterpret_cast<const int8_t*>(x), rows, n, how, out);
  else
    requantize_from(reinterpret_cast<const uint8_t*>(x), rows, n, how, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(range);
HWY_EXPORT(quantize);
HWY_EXPORT(dequantize);
HWY_EXPORT(requantize);
HWY_EXPORT(widen);

Range range_of(const float* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(range)(x, n); }

void quantize_run(const float* x, int64_t n, const Quantization& q, bool is_signed, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(quantize)(x, n, q, is_signed, out);
}

void dequantize_run(const std::byte* x, int64_t n, const Quantization& q, bool is_signed, float* out) {
  HWY_DYNAMIC_DISPATCH(dequantize)(x, n, q, is_signed, out);
}

void widen_rows(const uint8_t* values, bool nibbles, const float* scales, const float* zeros, int64_t rows, int64_t n,
                float* to) {
  HWY_DYNAMIC_DISPATCH(widen)(values, nibbles, scales, zeros, rows, n, to);
}

void requantize_rows(const std::byte* x, int64_t rows, int64_t n, const Requantization& how, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(requantize)(x, rows, n, how, out);
}

void dequantize_run(const int32_t* x, int64_t n, const Quantization& q, float* out) {
  const int64_t step = q.per_entry ? 1 : 0;
  for (int64_t i = 0; i < n; ++i) {
    const double zero = q.zeros ? static_cast<double>(q.zeros[i * step]) : 0.0;
    out[i] = static_cast<float>((static_cast<double>(x[i]) - zero) * static_cast<double>(q.scales[i * step]));
  }
}

}  // namespace anyshape::simd
#endif
