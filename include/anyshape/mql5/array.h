#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

#include "anyshape/mql5/string.h"
#include "anyshape/mql5/types.h"

namespace anyshape::mql5 {

// The inner axes of `T a[][N]`: N entries in place.
template <class T, size_t N>
struct Row {
  T entries[N];

  T& operator[](Integer auto i) { return entries[checked_index(i, N)]; }
  const T& operator[](Integer auto i) const { return entries[checked_index(i, N)]; }
};

// MQL5's array in its first axis, `T a[]` or `T a[n]`. Entries lie one after the other, also where it is indexed as a
// series, from the last to the first.
template <class T>
class Array {
 public:
  using value_type = T;

  Array() = default;
  Array(std::initializer_list<T> entries) { assign(entries.begin(), entries.size()); }
  explicit Array(std::span<const T> entries) { assign(entries.data(), entries.size()); }
  Array(const Array& other) : series_(other.series_), fixed_(other.fixed_) { assign(other.data(), other.size()); }
  Array(Array&& other) noexcept
      : entries_(std::move(other.entries_)),
        size_(std::exchange(other.size_, 0)),
        series_(other.series_),
        fixed_(other.fixed_) {}
  Array& operator=(const Array& other) {
    if (this != &other) assign(other.data(), other.size());
    return *this;
  }
  Array& operator=(Array&& other) noexcept {
    entries_ = std::move(other.entries_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~Array() = default;

  // `T a[n]`, `T a[n] = {...}`: no ArrayResize changes its size; what has no initial value is zero.
  static Array fixed(size_t n, std::initializer_list<T> first = {}) {
    Array out;
    out.resize(n);
    std::copy_n(first.begin(), std::min(n, first.size()), out.data());
    out.fixed_ = true;
    return out;
  }

  T* data() { return entries_.get(); }
  const T* data() const { return entries_.get(); }
  size_t size() const { return size_; }
  bool is_fixed() const { return fixed_; }
  bool is_series() const { return series_; }
  void set_series(bool series) { series_ = series; }

  T& operator[](Integer auto i) { return entries_[place(checked_index(i, size_))]; }
  const T& operator[](Integer auto i) const { return entries_[place(checked_index(i, size_))]; }

  // New entries are zero.
  void resize(size_t n) {
    if (n == size_) return;
    auto grown = n ? std::make_unique<T[]>(n) : nullptr;
    std::move(data(), data() + std::min(n, size_), grown.get());
    entries_ = std::move(grown);
    size_ = n;
  }
  void assign(const T* from, size_t n) {
    resize(n);
    std::copy_n(from, n, data());
  }

 private:
  size_t place(size_t i) const { return series_ ? size_ - 1 - i : i; }

  std::unique_ptr<T[]> entries_;
  size_t size_ = 0;
  bool series_ = false, fixed_ = false;
};

// The entry of the innermost axis, how many of them one T holds, and the size of each axis.
template <class T>
struct Innermost {
  using Type = T;
  static constexpr size_t kCount = 1;
  static constexpr size_t axis(int) { return 0; }
};
template <class T, size_t N>
struct Innermost<T[N]> {
  using Type = typename Innermost<T>::Type;
  static constexpr size_t kCount = N * Innermost<T>::kCount;
  static constexpr size_t axis(int i) { return i == 0 ? N : Innermost<T>::axis(i - 1); }
};
template <class T, size_t N>
struct Innermost<Row<T, N>> : Innermost<T[N]> {};

// All entries of an array as they lie in memory.
template <class T, size_t N>
auto flat(T (&array)[N]) {
  using Plain = typename Innermost<std::remove_cv_t<std::remove_all_extents_t<T>>>::Type;
  using Entry = std::conditional_t<std::is_const_v<std::remove_all_extents_t<T>>, const Plain, Plain>;
  return std::span<Entry>(reinterpret_cast<Entry*>(array), sizeof(array) / sizeof(Entry));
}
template <class T>
auto flat(Array<T>& array) {
  using Entry = typename Innermost<T>::Type;
  return std::span<Entry>(reinterpret_cast<Entry*>(array.data()), array.size() * Innermost<T>::kCount);
}
template <class T>
auto flat(const Array<T>& array) {
  using Entry = const typename Innermost<T>::Type;
  return std::span<Entry>(reinterpret_cast<Entry*>(array.data()), array.size() * Innermost<T>::kCount);
}

template <class A>
concept AnyArray = requires(A& array) {
  flat(array);
};

// How many entries from `start` on a function shall touch, `count` being WHOLE_ARRAY or a number.
inline size_t entries_from(size_t size, int start, int count) {
  if (start < 0 || static_cast<size_t>(start) >= size) return 0;
  const size_t rest = size - static_cast<size_t>(start);
  return count < 0 ? rest : std::min(rest, static_cast<size_t>(count));
}

template <class T>
std::string list_text(std::span<T> entries) {
  std::string out = "[";
  for (size_t i = 0; i < entries.size(); ++i) out += (i ? "," : "") + joined(entries[i]);
  return out + "]";
}

}  // namespace anyshape::mql5

// What `T a[]` and `T a[][n]` of an MQL5 program are in C++: mql5_array<T> and mql5_array<mql5_row<T, n>>.
template <class T>
using mql5_array = anyshape::mql5::Array<T>;
template <class T, size_t N>
using mql5_row = anyshape::mql5::Row<T, N>;

// The number of all entries, of every axis.
int ArraySize(const anyshape::mql5::AnyArray auto& array) {
  return static_cast<int>(anyshape::mql5::flat(array).size());
}

// The size of one axis; 0 where there is none.
template <class T, size_t N>
int ArrayRange(const T (&)[N], int axis) {
  return static_cast<int>(anyshape::mql5::Innermost<T[N]>::axis(axis));
}
template <class T>
int ArrayRange(const mql5_array<T>& array, int axis) {
  return static_cast<int>(axis == 0 ? array.size() : anyshape::mql5::Innermost<T>::axis(axis - 1));
}

// The number of all entries then, -1 where the array has a size of its own.
template <class T>
int ArrayResize(mql5_array<T>& array, int size, int /*reserve*/ = 0) {
  if (size < 0 || array.is_fixed()) return -1;
  array.resize(static_cast<size_t>(size));
  return ArraySize(array);
}
template <class T, size_t N>
int ArrayResize(T (&)[N], int, int = 0) {
  return -1;
}
template <class T>
void ArrayFree(mql5_array<T>& array) {
  if (!array.is_fixed()) array.resize(0);
}
template <class T>
bool ArrayIsDynamic(const mql5_array<T>& array) {
  return !array.is_fixed();
}
template <class T>
bool ArraySetAsSeries(mql5_array<T>& array, bool series) {
  if (array.is_fixed()) return false;
  array.set_series(series);
  return true;
}
template <class T>
bool ArrayGetAsSeries(const mql5_array<T>& array) {
  return array.is_series();
}

template <anyshape::mql5::AnyArray A, class V>
int ArrayInitialize(A& array, V value) {
  const auto entries = anyshape::mql5::flat(array);
  std::fill(entries.begin(), entries.end(), static_cast<typename decltype(entries)::value_type>(value));
  return static_cast<int>(entries.size());
}
template <anyshape::mql5::AnyArray A, class V>
void ArrayFill(A& array, int start, int count, V value) {
  const auto entries = anyshape::mql5::flat(array);
  const size_t n = count < 0 ? 0 : anyshape::mql5::entries_from(entries.size(), start, count);
  if (n) std::fill_n(entries.begin() + start, n, static_cast<typename decltype(entries)::value_type>(value));
}

// How many entries were copied, converted where the types differ. An array without a size of its own grows.
template <anyshape::mql5::AnyArray To, anyshape::mql5::AnyArray From>
int ArrayCopy(To& to, const From& from, int to_start = 0, int from_start = 0, int count = WHOLE_ARRAY) {
  const auto source = anyshape::mql5::flat(from);
  size_t n = anyshape::mql5::entries_from(source.size(), from_start, count);
  if (to_start < 0) return 0;
  if constexpr (requires { to.is_fixed(); }) {
    const size_t row = anyshape::mql5::Innermost<typename To::value_type>::kCount;
    const size_t wanted = (static_cast<size_t>(to_start) + n + row - 1) / row;
    if (!to.is_fixed() && to.size() < wanted) to.resize(wanted);
  }
  const auto target = anyshape::mql5::flat(to);
  n = std::min(n, anyshape::mql5::entries_from(target.size(), to_start, WHOLE_ARRAY));
  for (size_t i = 0; i < n; ++i)
    target[static_cast<size_t>(to_start) + i] =
        static_cast<typename decltype(target)::value_type>(source[static_cast<size_t>(from_start) + i]);
  return static_cast<int>(n);
}

template <anyshape::mql5::AnyArray A>
bool ArrayReverse(A& array) {
  const auto entries = anyshape::mql5::flat(array);
  std::reverse(entries.begin(), entries.end());
  return true;
}
template <anyshape::mql5::AnyArray A>
bool ArraySort(A& array) {
  const auto entries = anyshape::mql5::flat(array);
  std::sort(entries.begin(), entries.end());
  return true;
}

// The place of the first largest or smallest entry; -1 where there is none.
template <anyshape::mql5::AnyArray A>
int ArrayMaximum(const A& array, int start = 0, int count = WHOLE_ARRAY) {
  const auto entries = anyshape::mql5::flat(array);
  const size_t n = anyshape::mql5::entries_from(entries.size(), start, count);
  if (n == 0) return -1;
  return static_cast<int>(std::max_element(entries.begin() + start, entries.begin() + start + n) - entries.begin());
}
template <anyshape::mql5::AnyArray A>
int ArrayMinimum(const A& array, int start = 0, int count = WHOLE_ARRAY) {
  const auto entries = anyshape::mql5::flat(array);
  const size_t n = anyshape::mql5::entries_from(entries.size(), start, count);
  if (n == 0) return -1;
  return static_cast<int>(std::min_element(entries.begin() + start, entries.begin() + start + n) - entries.begin());
}
template <anyshape::mql5::AnyArray A>
void ArrayPrint(const A& array) {
  anyshape::mql5::print(anyshape::mql5::list_text(anyshape::mql5::flat(array)));
}

// The parts of a text between separators.
int StringSplit(const string& text, ushort separator, mql5_array<string>& parts);
// Bytes of a text, without a 0 behind them where `count` says how many.
int StringToCharArray(const string& text, mql5_array<uchar>& bytes, int start = 0, int count = WHOLE_ARRAY);
string CharArrayToString(const mql5_array<uchar>& bytes, int start = 0, int count = WHOLE_ARRAY);
