#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/special_members.h"
#include "tensor/dtype.h"

namespace anyshape {

// The number of elements, or nullopt when a size is negative or the product passes int64.
std::optional<int64_t> element_count(std::span<const int64_t> dims);

// A dense row-major tensor whose bytes are shared: copying a Tensor copies a handle. Bytes borrowed from a mapped file
// carry no alignment promise: read them with at<T>() or take aligned() first. Immutable once shared; only the maker of
// a tensor from allocate() writes into it.
class Tensor {
 public:
  // The first: no tensor, dtype undefined.
  ANYSHAPE_SPECIAL_MEMBERS(Tensor);

  // Zero-filled, aligned to 64 bytes. In the scope of a TemporaryMemory it is made there and must not outlive it.
  // Errors: "tensor.dims", "tensor.memory", "run.memory" where a MemoryMeter says no.
  static Result<Tensor> allocate(DType dtype, std::span<const int64_t> dims);
  static Result<Tensor> allocate(DType dtype, std::initializer_list<int64_t> dims) {
    return allocate(dtype, std::span(dims.begin(), dims.size()));
  }
  // Borrows `bytes`, kept alive by `owner`. REQUIRES: bytes holds exactly the packed elements.
  static Tensor borrow(DType dtype, std::vector<int64_t> dims, std::span<const std::byte> bytes,
                       std::shared_ptr<const void> owner);
  static Tensor of_strings(std::vector<int64_t> dims, std::vector<std::string> values);
  static Tensor of_ints(std::vector<int64_t> dims, std::span<const int64_t> values);  // i64; throws bad_alloc
  static Tensor scalar(int64_t value);

  // Makes this a tensor over `data`, kept alive by `owner` if there is one. Allocates nothing when it had as many axes
  // before. REQUIRES: no strings; data holds the packed elements.
  void point_at(DType dtype, std::span<const int64_t> dims, const std::byte* data,
                std::shared_ptr<const void> owner = nullptr);
  // False for bytes that somebody else may free or overwrite.
  bool owned() const { return owner_ != nullptr || strings_ != nullptr; }
  // Somebody else holds these bytes, too: they must not be written.
  bool shared() const;

  explicit operator bool() const { return dtype_ != DType::undefined; }
  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  size_t rank() const { return dims_.size(); }
  int64_t count() const { return count_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::byte* data() { return const_cast<std::byte*>(bytes_.data()); }

  // Element i of a tensor whose elements are a T; any alignment. Any bool byte but 0 is true, whoever wrote the file.
  template <class T>
  T at(int64_t i) const {
    if constexpr (std::is_same_v<T, bool>) return at<uint8_t>(i) != 0;
    T value;
    std::memcpy(&value, bytes_.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    return value;
  }
  // REQUIRES: aligned for T (allocate() and aligned() are).
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.data()), static_cast<size_t>(count_)};
  }
  template <class T>
  std::span<T> as_mutable() {
    return {reinterpret_cast<T*>(data()), static_cast<size_t>(count_)};
  }
  const std::vector<std::string>& strings() const { return *strings_; }
  std::vector<std::string>& strings_mutable() { return *strings_; }
  // Entry i becomes one text after the other. Throws std::bad_alloc, also where a MemoryMeter says no.
  void put_string(int64_t i, std::string_view text, std::string_view more = {});

  // Any integer or bool type, widened (u64 past int64 wraps to negative). Sub-byte types too, of floats the code.
  int64_t int_at(int64_t i) const;
  void set_int(int64_t i, int64_t value);

  // This tensor if it is aligned to 64 bytes, else one aligned copy.
  Result<Tensor> aligned() const;
  // The same elements under other dims. REQUIRES: equal count.
  Tensor reshaped(std::span<const int64_t> dims) const;
  Tensor reshaped(std::initializer_list<int64_t> dims) const { return reshaped(std::span(dims.begin(), dims.size())); }

 private:
  // Errors "tensor.memory", "run.memory".
  Status take_memory(size_t bytes);
  Status take_strings(int64_t count);

  DType dtype_ = DType::undefined;
  std::vector<int64_t> dims_;
  int64_t count_ = 0;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<std::vector<std::string>> strings_;
};

}  // namespace anyshape
