#pragma once

// For types that most files copy, move and destroy: the six special members are compiled once instead of in every file.
// ANYSHAPE_SPECIAL_MEMBERS(T); stands in the class, ANYSHAPE_DEFINE_SPECIAL_MEMBERS(T) beside its other members.
#define ANYSHAPE_SPECIAL_MEMBERS(T) \
  T();                              \
  T(const T&);                      \
  T(T&&) noexcept;                  \
  T& operator=(const T&);           \
  T& operator=(T&&) noexcept;       \
  ~T()

#define ANYSHAPE_DEFINE_SPECIAL_MEMBERS(T) \
  T::T() = default;                        \
  T::T(const T&) = default;                \
  T::T(T&&) noexcept = default;            \
  T& T::operator=(const T&) = default;     \
  T& T::operator=(T&&) noexcept = default; \
  T::~T() = default;
