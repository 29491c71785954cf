#pragma once

#include <cstdint>
#include <optional>
#include <vector>

// Polynomials in one integer variable; private to sym/.
namespace anyshape {

using Wide = __int128;

struct Polynomial {
  std::vector<Wide> c;    // c[i] * k^i, the last one not 0; empty is 0
  bool overflow = false;  // once set, the value means nothing

  Polynomial() = default;
  explicit Polynomial(Wide constant) : Polynomial(constant, 0) {}
  Polynomial(Wide constant, Wide slope);

  size_t degree() const { return c.empty() ? 0 : c.size() - 1; }
  bool is_constant() const { return c.size() <= 1; }
  Wide constant() const { return c.empty() ? 0 : c[0]; }
  // nullopt on overflow.
  std::optional<Wide> at(int64_t k) const;
  // Exact division of all but the constant, floor of the constant; nullopt when a coefficient is no multiple.
  std::optional<Polynomial> floor_divided(Wide d) const;
};

Polynomial operator+(const Polynomial& a, const Polynomial& b);
Polynomial operator-(const Polynomial& a, const Polynomial& b);
Polynomial operator*(const Polynomial& a, const Polynomial& b);

// The smallest k in (from, to] at which the sign differs from that at `from`; nullopt in `k` when there is none.
// `failed`: an overflow on the way.
struct Change {
  std::optional<int64_t> k;
  bool failed = false;
};
Change first_change(const Polynomial& p, int64_t from, int64_t to);

inline int sign(Wide v) { return (v > 0) - (v < 0); }
inline Wide floor_div(Wide a, Wide b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

}  // namespace anyshape
