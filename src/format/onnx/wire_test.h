#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/onnx/proto.h"

// The protobuf wire format for tests: strings that concatenate.
namespace anyshape::onnx::wire {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  return out + static_cast<char>(value);
}
inline std::string number(uint32_t field, int64_t value) {
  return varint(uint64_t{field} << 3U) + varint(static_cast<uint64_t>(value));
}
inline std::string block(uint32_t field, std::string_view content) {
  return varint(uint64_t{field} << 3U | 2U) + varint(content.size()) + std::string(content);
}

// "0a 03 61" with comments after #; spaces are skipped.
inline std::string hex(std::string_view text) {
  std::string out;
  std::string digits;
  for (char c : text.substr(0, text.find('#'))) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    out += static_cast<char>(std::stoi(digits, nullptr, 16));
    digits.clear();
  }
  return out;
}

inline Bytes bytes(std::string_view text) { return {reinterpret_cast<const std::byte*>(text.data()), text.size()}; }

// Bytes in a heap block of exactly their size, so that a sanitizer sees any read beyond them.
class Exact {
 public:
  explicit Exact(std::string_view text) : size_(text.size()), data_(std::make_unique<std::byte[]>(text.size())) {
    for (size_t i = 0; i < size_; ++i) data_[i] = static_cast<std::byte>(text[i]);
  }
  Bytes bytes() const { return {data_.get(), size_}; }

 private:
  size_t size_;
  std::unique_ptr<std::byte[]> data_;
};

// A model with a subgraph, a function, an initializer and metadata.
inline std::string small_model() {
  const std::string type = block(1, number(1, 1) + block(2, block(1, number(1, 4)) + block(1, block(2, "seq"))));
  const std::string input = block(1, "x") + block(2, type);
  const std::string tensor = number(1, 2) + number(2, 1) + block(8, "w") + block(9, std::string(8, '\1'));
  const std::string inner = block(1, block(1, "x") + block(2, "z") + block(4, "Relu")) + block(12, block(1, "z"));
  const std::string attribute = block(1, "then_branch") + block(6, inner) + number(20, 5);
  const std::string ints = block(1, "axes") + number(8, 1) + number(8, -1) + number(20, 7);
  const std::string node = block(1, "x") + block(2, "y") + block(3, "n") + block(4, "If") + block(5, attribute) +
                           block(5, ints) + block(9, block(1, "k") + block(2, "v"));
  const std::string graph =
      block(1, node) + block(2, "g") + block(5, tensor) + block(11, input) + block(12, block(1, "y"));
  const std::string function = block(1, "F") + block(4, "a") + block(5, "b") + block(7, node) + block(10, "local");
  return number(1, 10) + block(2, "test") + block(7, graph) + block(8, number(2, 21)) + block(25, function);
}

}  // namespace anyshape::onnx::wire
