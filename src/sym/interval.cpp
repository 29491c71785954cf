#include <algorithm>
#include <numeric>

#include "sym/prover.h"

namespace anyshape {
namespace {

using End = std::optional<int64_t>;

End add(End a, End b) {
  int64_t sum;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

// One end of an interval, possibly infinite; 0 * infinity is 0.
struct Extended {
  int64_t value = 0;
  int infinite = 0;  // -1, 0, 1
};

Extended multiply(Extended a, Extended b) {
  auto sign = [](Extended e) { return e.infinite ? e.infinite : (e.value > 0) - (e.value < 0); };
  int s = sign(a) * sign(b);
  if (s == 0) return {};
  int64_t product;
  if (a.infinite || b.infinite || __builtin_mul_overflow(a.value, b.value, &product)) return {0, s};
  return {product, 0};
}

bool less(Extended a, Extended b) {
  return a.infinite != b.infinite ? a.infinite < b.infinite : !a.infinite && a.value < b.value;
}

Congruence reduced_interval(Congruence c) {
  if (c.modulus != 0) c.residue = floor_mod(c.residue, c.modulus);
  return c;
}

}  // namespace

Interval operator+(const Interval& a, const Interval& b) { return {add(a.lo, b.lo), add(a.hi, b.hi)}; }

Interval operator*(const Interval& a, const Interval& b) {
  auto low = [](const Interval& i) { return i.lo ? Extended{*i.lo, 0} : Extended{0, -1}; };
  auto high = [](const Interval& i) { return i.hi ? Extended{*i.hi, 0} : Extended{0, 1}; };
  Extended corners[] = {multiply(low(a), low(b)), multiply(low(a), high(b)), multiply(high(a), low(b)),
                        multiply(high(a), high(b))};
  auto [least, most] = std::minmax_element(std::begin(corners), std::end(corners), less);
  return {least->infinite ? std::nullopt : End(least->value), most->infinite ? std::nullopt : End(most->value)};
}

Interval scaled(const Interval& a, int64_t factor) { return a * Interval{factor, factor}; }

Interval intersected(const Interval& a, const Interval& b) {
  Interval out = a;
  if (b.lo && (!out.lo || *b.lo > *out.lo)) out.lo = b.lo;
  if (b.hi && (!out.hi || *b.hi < *out.hi)) out.hi = b.hi;
  return out;
}

Interval hull_of(const Interval& a, const Interval& b) {
  return {a.lo && b.lo ? End(std::min(*a.lo, *b.lo)) : std::nullopt,
          a.hi && b.hi ? End(std::max(*a.hi, *b.hi)) : std::nullopt};
}

Congruence operator+(const Congruence& a, const Congruence& b) {
  int64_t sum;
  if (__builtin_add_overflow(a.residue, b.residue, &sum)) return {};
  return reduced_interval({std::gcd(a.modulus, b.modulus), sum});
}

Congruence operator*(const Congruence& a, const Congruence& b) {
  int64_t mm, mr, rm, rr;
  if (__builtin_mul_overflow(a.modulus, b.modulus, &mm) || __builtin_mul_overflow(a.modulus, b.residue, &mr) ||
      __builtin_mul_overflow(a.residue, b.modulus, &rm) || __builtin_mul_overflow(a.residue, b.residue, &rr))
    return {};
  return reduced_interval({std::gcd(std::gcd(mm, mr), rm), rr});
}

}  // namespace anyshape
