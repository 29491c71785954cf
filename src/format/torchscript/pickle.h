#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace anyshape::torchscript {

// A window on a storage, as a pickle describes it. Offsets and strides count elements.
struct StorageView {
  std::string key;  // of the storage: "0"
  DType dtype = DType::undefined;
  int64_t count = 0;  // elements of the whole storage
  int64_t offset = 0;
  std::vector<int64_t> sizes, strides;
};

// What the integers of a quantised tensor mean: (i - zero_point) * scale.
struct Quantizer {
  Tensor scale, zero_point;  // f64 and i64, of rank 0 or one for each entry of `axis`
  int64_t axis = 0;
};

struct PickledTensor {
  StorageView view;
  std::shared_ptr<const Quantizer> quantizer;  // null: not quantised
  Tensor tensor;                               // row-major; no tensor where the archive holds none (example inputs)
  bool requires_grad = false;
};

// One value of a pickle. Values refer to each other by pointer and live in their Pickle: two places that held one
// object hold one pointer, there are no cycles, and nesting is at most kMaxDepth deep.
struct Pickled {
  enum class Kind : uint8_t {
    none,
    boolean,  // integer is 0 or 1
    integer,
    real,
    complex,  // real, imaginary
    text,
    device,  // text
    tensor,
    list,
    tuple,
    dict,        // items: key, value, key, value, ...
    object,      // text: qualified class name; items: its state, if it has one
    enumerator,  // text: qualified class name; items: its value
    global,      // text: "module name"; only while reading
    storage,     // only while reading
  };
  Kind kind = Kind::none;
  int64_t integer = 0;
  double real = 0, imaginary = 0;
  std::string text;
  std::vector<const Pickled*> items;
  std::shared_ptr<PickledTensor> tensor;  // of a tensor; its view of a storage

  // The attribute of an object, the entry of a dict with string keys; null where there is none. Of two entries with
  // one name the last counts.
  const Pickled* find(std::string_view name) const;
};

inline constexpr int kMaxDepth = 200;

struct Pickle {
  const Pickled* root = nullptr;
  std::deque<Pickled> values;
};

// Gives the bytes of a window on a storage; a null one leaves PickledTensor::tensor empty.
using TensorSource = std::function<Result<Tensor>(const StorageView&)>;

// What a pickle may take in memory, in proportion to the file it is from. A value takes a hundred bytes and one at
// least of the pickle, which PyTorch does not pack.
constexpr uint64_t pickle_limit(uint64_t file_bytes) { return (uint64_t{64} << 20) + 128 * file_bytes; }

// Runs the opcodes that PyTorch writes; nothing is called and nothing but the globals PyTorch writes is known, so a
// pickle can only make data. `most`: bytes that it may take beside what `source` hands out. Codes: pickle.truncated,
// pickle.opcode, pickle.global (names it), pickle.malformed, pickle.tensor, pickle.depth, pickle.size (beyond `most`,
// or values held in so many places that nobody can walk through all of them), work.*, and those of `source`.
Result<Pickle> unpickle(std::span<const std::byte> bytes, const TensorSource& source, uint64_t most);
inline Result<Pickle> unpickle(std::span<const std::byte> bytes, const TensorSource& source) {
  return unpickle(bytes, source, pickle_limit(bytes.size()));
}

}  // namespace anyshape::torchscript
