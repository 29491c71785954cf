#include "run/cpu/simd/binary_bytes.h"

#include <cmath>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/binary_bytes.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

// a * b + c, rounded once on every instruction set.
HWY_INLINE V fused(V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  HWY_ALIGN float x[kLanes], y[kLanes], z[kLanes];
  hn::Store(a, F(), x);
  hn::Store(b, F(), y);
  hn::Store(c, F(), z);
  for (int64_t i = 0; i < kLanes; ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(F(), z);
#endif
}

template <class Byte>
HWY_INLINE V load_floats(const Byte* from, int64_t n) {
  const hn::Rebind<Byte, I> d;
  if (n >= kLanes) return hn::ConvertTo(F(), hn::PromoteTo(I(), hn::LoadU(d, from)));
  HWY_ALIGN Byte whole[HWY_MAX_BYTES] = {};
  std::memcpy(whole, from, static_cast<size_t>(n));
  return hn::ConvertTo(F(), hn::PromoteTo(I(), hn::Load(d, whole)));
}

template <class Byte>
struct Operand {
  explicit Operand(ByteOperand of) : data(reinterpret_cast<const Byte*>(of.data)), one(of.one) {
    if (one) value = splat(*data);
  }
  HWY_INLINE V at(int64_t i, int64_t n) const { return one ? value : load_floats(data + i, n); }

  const Byte* data;
  bool one;
  V value = hn::Zero(F());
};

template <class Byte>
HWY_INLINE void binary_of(const ByteBinary& how, ByteOperand left, ByteOperand right, int64_t n, Byte* out) {
  const Operand<Byte> a(left), b(right);
  const V least = splat(std::numeric_limits<Byte>::min()), most = splat(std::numeric_limits<Byte>::max());
  const auto put = [&](V x, int64_t i) HWY_ATTR {
    const VI whole = rounded_within(hn::IfThenElseZero(hn::Eq(x, x), x), least, most);
    store_bytes(whole, out + i, n - i);
  };
  if (how.sum) {
    const V by_a = splat(how.left), by_b = splat(how.right), fixed = splat(how.fixed);
    for (int64_t i = 0; i < n; i += kLanes) put(fused(by_b, b.at(i, n - i), fused(by_a, a.at(i, n - i), fixed)), i);
    return;
  }
  const V a_zero = splat(how.a_zero), b_zero = splat(how.b_zero), both = splat(how.both), zero = splat(how.zero);
  for (int64_t i = 0; i < n; i += kLanes) {
    const V product = hn::Mul(hn::Sub(a.at(i, n - i), a_zero), hn::Sub(b.at(i, n - i), b_zero));
    put(hn::Add(hn::Mul(product, both), zero), i);
  }
}

void binary(const ByteBinary& how, ByteOperand a, ByteOperand b, int64_t n, std::byte* out) {
  if (how.is_signed)
    binary_of(how, a, b, n, reinterpret_cast<int8_t*>(out));
  else
    binary_of(how, a, b, n, reinterpret_cast<uint8_t*>(out));
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(binary);

void byte_binary(const ByteBinary& how, ByteOperand a, ByteOperand b, int64_t n, std::byte* out) {
  if (n > 0) HWY_DYNAMIC_DISPATCH(binary)(how, a, b, n, out);
}

}  // namespace anyshape::simd
#endif
