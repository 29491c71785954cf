#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace anyshape {

// An optional that takes the room of a pointer: a value, copied deeply, that may be absent and may contain its own
// type. For what most objects do not have.
template <class T>
class Box {
 public:
  Box() = default;
  Box(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Box(std::optional<T> value) : value_(value ? std::make_unique<T>(*std::move(value)) : nullptr) {}
  Box(const Box& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Box(Box&& other) noexcept = default;
  Box& operator=(const Box& other) {
    if (this != &other) value_ = other ? std::make_unique<T>(*other) : nullptr;
    return *this;
  }
  Box& operator=(Box&& other) noexcept = default;
  ~Box() = default;

  explicit operator bool() const { return value_ != nullptr; }
  operator std::optional<T>() const { return value_ ? std::optional<T>(*value_) : std::nullopt; }
  bool has_value() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  T& emplace() { return *(value_ = std::make_unique<T>()); }
  void reset() { value_.reset(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace anyshape
