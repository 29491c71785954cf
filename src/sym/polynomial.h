#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// Polynomials in one integer variable; private to sym/.
namespace anyshape {

using Wide = __int128;

// A list of numbers, in the object itself while they are few: a proof makes millions of them.
class Coefficients {
 public:
  Coefficients() = default;
  // Of a line, as few as it has.
  Coefficients(Wide constant, Wide slope) : size_(slope != 0 ? 2 : constant != 0 ? 1 : 0), few_{constant, slope, 0} {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Wide& operator[](size_t i) { return data()[i]; }
  Wide operator[](size_t i) const { return data()[i]; }
  Wide& back() { return data()[size_ - 1]; }
  Wide back() const { return data()[size_ - 1]; }
  // Those that are new are 0.
  void resize(size_t size) {
    if (size > kFew || size_ > kFew) return resize_many(size);
    for (size_t i = size; i < size_; ++i) few_[i] = 0;
    size_ = size;
  }

 private:
  static constexpr size_t kFew = 3;

  void resize_many(size_t size);

  Wide* data() { return size_ > kFew ? many_.data() : few_; }
  const Wide* data() const { return size_ > kFew ? many_.data() : few_; }

  size_t size_ = 0;
  Wide few_[kFew] = {};     // past the size 0
  std::vector<Wide> many_;  // all of them where they are more; empty otherwise
};

struct Polynomial {
  Coefficients c;         // c[i] * k^i, the last one not 0; empty is 0
  bool overflow = false;  // once set, the value means nothing

  Polynomial() = default;
  explicit Polynomial(Wide constant) : Polynomial(constant, 0) {}
  Polynomial(Wide constant, Wide slope) : c(constant, slope) {}

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
