#pragma once

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace anyshape {

// A vector that takes the room of a pointer while it is empty: for lists that most objects do not have.
template <class T>
class Few {
 public:
  using value_type = T;

  Few() = default;
  Few(std::vector<T> list) : list_(list.empty() ? nullptr : std::make_unique<std::vector<T>>(std::move(list))) {}
  Few(std::initializer_list<T> list) : Few(std::vector<T>(list)) {}
  Few(const Few& other) : list_(other.list_ ? std::make_unique<std::vector<T>>(*other.list_) : nullptr) {}
  Few(Few&& other) noexcept = default;
  Few& operator=(const Few& other) {
    if (this != &other) *this = Few(other);
    return *this;
  }
  Few& operator=(Few&& other) noexcept = default;
  ~Few() = default;

  operator const std::vector<T>&() const { return get(); }
  const std::vector<T>& get() const {
    static const std::vector<T> none;
    return list_ ? *list_ : none;
  }
  std::vector<T>& edit() {
    if (!list_) list_ = std::make_unique<std::vector<T>>();
    return *list_;
  }

  bool empty() const { return !list_ || list_->empty(); }
  size_t size() const { return list_ ? list_->size() : 0; }
  const T& operator[](size_t i) const { return (*list_)[i]; }
  T& operator[](size_t i) { return (*list_)[i]; }
  const T& back() const { return list_->back(); }
  T& back() { return list_->back(); }
  const T* begin() const { return list_ ? list_->data() : nullptr; }
  const T* end() const { return begin() + size(); }
  T* begin() { return list_ ? list_->data() : nullptr; }
  T* end() { return begin() + size(); }
  void push_back(T value) { edit().push_back(std::move(value)); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    return edit().emplace_back(std::forward<Args>(args)...);
  }
  template <class It>
  void assign(It first, It last) {
    *this = Few(std::vector<T>(first, last));
  }
  void clear() { list_.reset(); }

 private:
  std::unique_ptr<std::vector<T>> list_;
};

}  // namespace anyshape
