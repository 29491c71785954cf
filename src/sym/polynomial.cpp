#include "sym/polynomial.h"

#include <algorithm>
#include <limits>

namespace anyshape {
namespace {

void trim(Polynomial& p) {
  size_t size = p.c.size();
  while (size > 0 && p.c[size - 1] == 0) --size;
  p.c.resize(size);
}

Polynomial combine_polynomial(const Polynomial& a, const Polynomial& b, Wide factor) {
  Polynomial out;
  out.overflow = a.overflow || b.overflow;
  out.c.resize(std::max(a.c.size(), b.c.size()));
  for (size_t i = 0; i < out.c.size(); ++i) {
    Wide part = 0;
    if (i < b.c.size() && __builtin_mul_overflow(b.c[i], factor, &part)) out.overflow = true;
    if (__builtin_add_overflow(i < a.c.size() ? a.c[i] : Wide{0}, part, &out.c[i])) out.overflow = true;
  }
  trim(out);
  return out;
}

// p(k + 1) - p(k).
Polynomial difference(const Polynomial& p) {
  Polynomial out, power(1), shift(1, 1);
  for (size_t i = 0; i < p.c.size(); ++i) {
    out = out + Polynomial(p.c[i]) * power;
    power = power * shift;
  }
  return out - p;
}

// From here on the sign never changes.
int64_t root_bound(const Polynomial& p) {
  auto magnitude = [](Wide v) { return v < 0 ? -v : v; };
  Wide largest = 0, lead = magnitude(p.c.back());
  for (size_t i = 0; i + 1 < p.c.size(); ++i) largest = std::max(largest, magnitude(p.c[i]));
  Wide bound = largest / lead + 2;
  constexpr Wide kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(bound, kMax));
}

// p is monotone on [from, to], the sign at `to` is not `s`, that at `from` is.
Change bisect(const Polynomial& p, int64_t from, int64_t to, int s) {
  while (to - from > 1) {
    int64_t middle = from + (to - from) / 2;
    auto value = p.at(middle);
    if (!value) return {std::nullopt, true};
    (sign(*value) == s ? from : to) = middle;
  }
  return {to, false};
}

// first_change() of a straight line: where it meets 0, or leaves it.
Change first_change_of_line(const Polynomial& p, int64_t from, int64_t to) {
  const auto start = p.at(from);
  if (!start) return {std::nullopt, true};
  if (*start == 0) return {from + 1, false};
  if ((*start > 0) == (p.c[1] > 0)) return {};
  using Size = unsigned __int128;
  const auto size = [](Wide v) { return v > 0 ? static_cast<Size>(v) : -static_cast<Size>(v); };
  // The least step at which the start is used up.
  const Size steps = (size(*start) - 1) / size(p.c[1]) + 1;
  if (steps > static_cast<Size>(Wide{to} - from)) return {};
  return {static_cast<int64_t>(from + static_cast<Wide>(steps)), false};
}

}  // namespace

// To or from more than kFew.
void Coefficients::resize_many(size_t size) {
  if (size > kFew) {
    if (size_ <= kFew) many_.assign(few_, few_ + size_);
    many_.resize(size, 0);
    std::fill(few_, few_ + kFew, 0);
  } else {
    std::copy_n(many_.begin(), size, few_);
    many_.clear();
  }
  size_ = size;
}

std::optional<Wide> Polynomial::at(int64_t k) const {
  Wide value = 0;
  for (size_t i = c.size(); i-- > 0;)
    if (__builtin_mul_overflow(value, Wide{k}, &value) || __builtin_add_overflow(value, c[i], &value))
      return std::nullopt;
  return value;
}

std::optional<Polynomial> Polynomial::floor_divided(Wide d) const {
  Polynomial out = *this;
  for (size_t i = 0; i < c.size(); ++i) {
    if (i > 0 && c[i] % d != 0) return std::nullopt;
    out.c[i] = floor_div(c[i], d);
  }
  trim(out);
  return out;
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) { return combine_polynomial(a, b, 1); }
Polynomial operator-(const Polynomial& a, const Polynomial& b) { return combine_polynomial(a, b, -1); }

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial out;
  out.overflow = a.overflow || b.overflow;
  if (a.c.empty() || b.c.empty()) return out;
  out.c.resize(a.c.size() + b.c.size() - 1);
  for (size_t i = 0; i < a.c.size(); ++i)
    for (size_t j = 0; j < b.c.size(); ++j) {
      Wide part;
      if (__builtin_mul_overflow(a.c[i], b.c[j], &part) || __builtin_add_overflow(out.c[i + j], part, &out.c[i + j]))
        out.overflow = true;
    }
  trim(out);
  return out;
}

Change first_change(const Polynomial& p, int64_t from, int64_t to) {
  if (p.overflow) return {std::nullopt, true};
  if (p.is_constant() || from >= to) return {};
  if (p.degree() == 1) return first_change_of_line(p, from, to);
  to = std::min(to, std::max(from, root_bound(p)));
  auto start = p.at(from);
  if (!start) return {std::nullopt, true};
  int s = sign(*start);
  Polynomial step = difference(p);
  while (from < to) {
    Change turn = first_change(step, from, to - 1);
    if (turn.failed) return turn;
    int64_t end = turn.k.value_or(to);
    auto value = p.at(end);
    if (!value) return {std::nullopt, true};
    if (sign(*value) != s) return bisect(p, from, end, s);
    from = end;
  }
  return {};
}

}  // namespace anyshape
