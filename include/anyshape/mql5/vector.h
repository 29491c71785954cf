#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "anyshape/mql5/array.h"

namespace anyshape::mql5 {

// What a vector and a matrix have in common: entries one after the other, arithmetic entry by entry, statistics.
// A function of two of different sizes ends the process, as an index out of range does.
template <class Self, class T>
class Entries {
 public:
  using number = T;

  T* data() { return entries_.data(); }
  const T* data() const { return entries_.data(); }
  std::span<T> flat_entries() { return entries_; }
  std::span<const T> flat_entries() const { return entries_; }

  void Fill(T value) { std::fill(entries_.begin(), entries_.end(), value); }
  T Sum() const {
    T sum{};
    for (const T& x : entries_) sum += x;
    return sum;
  }
  T Prod() const {
    T product(1);
    for (const T& x : entries_) product *= x;
    return product;
  }
  T Mean() const { return Sum() / static_cast<T>(static_cast<double>(entries_.size())); }
  T Var(int ddof = 0) const {
    const T mean = Mean();
    T sum{};
    for (const T& x : entries_) sum += (x - mean) * (x - mean);
    return sum / static_cast<T>(static_cast<double>(entries_.size()) - ddof);
  }
  T Std() const { return std::sqrt(Var()); }
  T Std(int ddof) const { return std::sqrt(Var(ddof)); }
  T Min() const { return entries_[ArgMin()]; }
  T Max() const { return entries_[ArgMax()]; }
  ulong ArgMin() const { return place_of(std::min_element(entries_.begin(), entries_.end())); }
  ulong ArgMax() const { return place_of(std::max_element(entries_.begin(), entries_.end())); }

  void Clip(T low, T high) {
    for (T& x : entries_) x = std::clamp(x, low, high);
  }
  // How many.
  ulong HasNan() const {
    return static_cast<ulong>(std::count_if(entries_.begin(), entries_.end(), [](const T& x) { return !(x == x); }));
  }

  // How many entries are further apart than `epsilon`.
  ulong Compare(const Self& other, T epsilon) const {
    const std::span<const T> with = other.flat_entries();
    must_be_equal(with.size(), entries_.size());
    ulong out = 0;
    for (size_t i = 0; i < entries_.size(); ++i) out += !(std::abs(entries_[i] - with[i]) <= epsilon);
    return out;
  }

  Self& operator+=(const Self& other) {
    return combine(other, [](T a, T b) { return a + b; });
  }
  Self& operator-=(const Self& other) {
    return combine(other, [](T a, T b) { return a - b; });
  }
  Self& operator*=(const Self& other) {
    return combine(other, [](T a, T b) { return a * b; });
  }
  Self& operator/=(const Self& other) {
    return combine(other, [](T a, T b) { return a / b; });
  }
  Self& operator+=(T b) {
    return change([b](T a) { return a + b; });
  }
  Self& operator-=(T b) {
    return change([b](T a) { return a - b; });
  }
  Self& operator*=(T b) {
    return change([b](T a) { return a * b; });
  }
  Self& operator/=(T b) {
    return change([b](T a) { return a / b; });
  }
  friend Self operator+(Self a, const Self& b) { return a += b; }
  friend Self operator-(Self a, const Self& b) { return a -= b; }
  friend Self operator*(Self a, const Self& b) { return a *= b; }
  friend Self operator/(Self a, const Self& b) { return a /= b; }
  friend Self operator+(Self a, T b) { return a += b; }
  friend Self operator-(Self a, T b) { return a -= b; }
  friend Self operator*(Self a, T b) { return a *= b; }
  friend Self operator/(Self a, T b) { return a /= b; }
  friend Self operator+(T a, Self b) { return b += a; }
  friend Self operator*(T a, Self b) { return b *= a; }
  friend Self operator-(T a, Self b) {
    b.change([a](T x) { return a - x; });
    return b;
  }
  friend Self operator/(T a, Self b) {
    b.change([a](T x) { return a / x; });
    return b;
  }
  friend Self operator-(Self a) {
    a.change([](T x) { return -x; });
    return a;
  }

  // Each entry becomes f(entry).
  template <class F>
  Self& change(F f) {
    for (T& x : entries_) x = static_cast<T>(f(x));
    return static_cast<Self&>(*this);
  }

  // Prices of the terminal: the program has a function copy_rates(Self&, ...) for it.
  template <class... Arguments>
  bool CopyRates(const Arguments&... arguments) {
    return copy_rates(static_cast<Self&>(*this), arguments...);
  }

 protected:
  template <class F>
  Self& combine(const Self& other, F f) {
    const std::span<const T> with = other.flat_entries();
    must_be_equal(with.size(), entries_.size());
    for (size_t i = 0; i < entries_.size(); ++i) entries_[i] = f(entries_[i], with[i]);
    return static_cast<Self&>(*this);
  }
  template <class Iterator>
  ulong place_of(Iterator it) const {
    if (entries_.empty()) index_out_of_range(0, 0);
    return static_cast<ulong>(it - entries_.begin());
  }

  std::vector<T> entries_;
};

template <class T>
class Vector : public Entries<Vector<T>, T> {
  using Entries<Vector<T>, T>::entries_;

 public:
  Vector() = default;
  explicit Vector(ulong size) { entries_.resize(size); }
  Vector(ulong size, T value) { entries_.assign(size, value); }
  Vector(std::initializer_list<T> entries) { entries_.assign(entries); }
  template <class F, class... Arguments>
  requires std::invocable<F, Vector&, Arguments...> Vector(ulong size, F init, Arguments... arguments) {
    Init(size, init, arguments...);
  }

  static Vector Zeros(ulong size) { return Vector(size, T(0)); }
  static Vector Ones(ulong size) { return Vector(size, T(1)); }
  static Vector Full(ulong size, T value) { return Vector(size, value); }

  ulong Size() const { return entries_.size(); }
  bool Resize(ulong size, ulong /*reserve*/ = 0) {
    entries_.resize(size);
    return true;
  }
  void Init(ulong size) { entries_.assign(size, T(0)); }
  template <class F, class... Arguments>
  void Init(ulong size, F init, Arguments... arguments) {
    Init(size);
    init(*this, arguments...);
  }

  T& operator[](Integer auto i) { return entries_[checked_index(i, entries_.size())]; }
  const T& operator[](Integer auto i) const { return entries_[checked_index(i, entries_.size())]; }

  // From a vector of another type or an array.
  template <class U>
  bool Assign(const Vector<U>& other) {
    entries_.clear();
    for (const U& x : other.flat_entries()) entries_.push_back(static_cast<T>(x));
    return true;
  }
  bool Assign(const AnyArray auto& array) {
    entries_.clear();
    for (const auto& x : flat(array)) entries_.push_back(static_cast<T>(x));
    return true;
  }
  bool Copy(const Vector& other) {
    entries_ = other.entries_;
    return true;
  }
  bool Swap(Vector& other) {
    entries_.swap(other.entries_);
    return true;
  }
  bool Set(ulong i, T value) {
    (*this)[i] = value;
    return true;
  }
  T Dot(const Vector& other) const { return (*this * other).Sum(); }
  T Median() const {
    Vector sorted = *this;
    std::sort(sorted.entries_.begin(), sorted.entries_.end());
    const size_t n = sorted.entries_.size();
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / T(2);
  }
  friend bool operator==(const Vector& a, const Vector& b) { return a.entries_ == b.entries_; }
  operator String() const { return list_text(this->flat_entries()); }  // NOLINT: Print takes it
};

}  // namespace anyshape::mql5

using vector = anyshape::mql5::Vector<double>;
using vectorf = anyshape::mql5::Vector<float>;
using vectorc = anyshape::mql5::Vector<complex>;
