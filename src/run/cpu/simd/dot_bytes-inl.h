// Sums of products of bytes, exact on every instruction set. Included once per instruction set.
#if defined(ANYSHAPE_DOT_BYTES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYSHAPE_DOT_BYTES_INL_H_
#undef ANYSHAPE_DOT_BYTES_INL_H_
#else
#define ANYSHAPE_DOT_BYTES_INL_H_
#endif

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

using VI = hn::Vec<I>;

// Lane i of the result is that of `sum` plus the four products of byte j of lane i of `left`, unsigned, and byte j of
// lane i of `right`, signed. It wraps.
#if HWY_TARGET == HWY_AVX3_DL
// Highway has no name for this instruction, and its options of the target do not let the compiler's be used.
HWY_INLINE VI dot4(VI sum, VI left, VI right) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(left.raw), "v"(right.raw));
  return sum;
}
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
// Bytes of even and of odd places as 16 bits: two products of neighbours fit 32 bits.
HWY_INLINE VI dot4(VI sum, VI left, VI right) {
  const hn::Repartition<int16_t, I> d;
  const hn::RebindToUnsigned<decltype(d)> u;
  const auto l = hn::BitCast(u, left);
  const auto r = hn::BitCast(d, right);
  const auto even_left = hn::BitCast(d, hn::And(l, hn::Set(u, 255)));
  const auto odd_left = hn::BitCast(d, hn::ShiftRight<8>(l));
  const auto even_right = hn::ShiftRight<8>(hn::ShiftLeft<8>(r)), odd_right = hn::ShiftRight<8>(r);
  VI unused = sum;
  const VI half = hn::ReorderWidenMulAccumulate(I(), even_left, even_right, sum, unused);
  return hn::ReorderWidenMulAccumulate(I(), odd_left, odd_right, half, unused);
}
#else
template <int kByte>
HWY_INLINE VI product_of_byte(VI left, VI right) {
  const hn::RebindToUnsigned<I> u;
  const auto l = hn::BitCast(I(), hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * kByte>(hn::BitCast(u, left))));
  return hn::Mul(l, hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * kByte>(right)));
}
HWY_INLINE VI dot4(VI sum, VI left, VI right) {
  const VI low = hn::Add(product_of_byte<0>(left, right), product_of_byte<1>(left, right));
  return hn::Add(sum, hn::Add(low, hn::Add(product_of_byte<2>(left, right), product_of_byte<3>(left, right))));
}
#endif

// fn on the lower and the upper halves of vectors of 32-bit lanes, which fit vectors of doubles.
#if HWY_TARGET == HWY_SCALAR
using Wide = hn::Rebind<double, F>;
using PartI = I;
using PartF = F;
template <class D, class Fn, class... Vs>
HWY_INLINE hn::Vec<D> by_halves(D, Fn fn, Vs... v) {
  return fn(v...);
}
#else
using Wide = hn::Repartition<double, F>;
using PartI = hn::Half<I>;
using PartF = hn::Half<F>;
template <class D, class Fn, class... Vs>
HWY_INLINE hn::Vec<D> by_halves(D d, Fn fn, Vs... v) {
  const auto low = fn(hn::LowerHalf(v)...);
  return hn::Combine(d, fn(hn::UpperHalf(hn::Half<hn::DFromV<Vs> >(), v)...), low);
}
#endif

// out[4 i + j] = lines[j][i * stride] ^ flip. May read and write up to 15 places more.
HWY_INLINE void interleave(const uint8_t* const (&lines)[4], int64_t stride, int64_t n, uint8_t flip, uint8_t* out) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<uint8_t, 16> d;
  const auto by = hn::Set(d, flip);
  const auto read = [&](const uint8_t* from) HWY_ATTR {
    if (stride == 1) return hn::Xor(hn::LoadU(d, from + i), by);
    auto even = by, odd = by;
    hn::LoadInterleaved2(d, from + 2 * i, even, odd);
    return hn::Xor(even, by);
  };
  if (stride <= 2)
    for (; i < n; i += 16)
      hn::StoreInterleaved4(read(lines[0]), read(lines[1]), read(lines[2]), read(lines[3]), d, out + 4 * i);
#endif
  for (; i < n; ++i)
    for (int j = 0; j < 4; ++j) out[4 * i + j] = static_cast<uint8_t>(lines[j][i * stride] ^ flip);
}

// round(x) to even, within least..most; what is no number becomes `least`.
HWY_INLINE VI rounded_within(V x, V least, V most) {
  const V y = hn::Round(x);
  return hn::ConvertTo(I(), hn::Min(hn::IfThenElse(hn::Gt(y, least), y, least), most));
}

// clamp(round(x) + zero), to even; what is no number becomes the least byte.
template <class Byte>
struct ToBytes {
  explicit ToBytes(int32_t zero)
      : least(splat(static_cast<float>(std::numeric_limits<Byte>::min() - zero))),
        most(splat(static_cast<float>(std::numeric_limits<Byte>::max() - zero))),
        move(hn::Set(I(), zero - kMagicBits)) {}

  HWY_INLINE VI operator()(V x) const {
    // The last bits of the sum with this number are the whole number, which the bounds make small.
    const V y = hn::Min(hn::IfThenElse(hn::Gt(x, least), x, least), most);
    return hn::Add(hn::BitCast(I(), hn::Add(y, splat(12582912.0f))), move);
  }

  static constexpr int32_t kMagicBits = 0x4b400000;
  V least, most;
  VI move;
};

// The lanes as bytes, the first n of them. REQUIRES: they fit.
template <class Byte>
HWY_INLINE void store_bytes(VI x, Byte* to, int64_t n) {
  const hn::Rebind<Byte, I> d;
  if (n >= kLanes) {
    hn::StoreU(hn::DemoteTo(d, x), d, to);
    return;
  }
  HWY_ALIGN Byte whole[HWY_MAX_BYTES];
  hn::Store(hn::DemoteTo(d, x), d, whole);
  std::memcpy(to, whole, static_cast<size_t>(n));
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#endif
