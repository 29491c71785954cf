#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "anyshape/api.h"
#include "anyshape/dtype.h"
#include "anyshape/error.h"
#include "anyshape/tolerance.h"

namespace anyshape {

class Datum;

// What goes into a model and comes out of it: a tensor, or a sequence, optional or map of such. A handle: copies share
// the memory.
class ANYSHAPE_API AnyValue {
 public:
  enum class Kind : uint8_t { none, tensor, sequence, optional, map };

  AnyValue();  // nothing

  // A tensor over memory of the caller, dense and row-major, aligned for its elements. The memory must live as long as
  // the value is used. Errors: "tensor.dims", "tensor.bytes" (not the size the shape needs).
  static Result<AnyValue> borrow(DType type, std::vector<int64_t> shape, void* data, size_t bytes);
  static Result<AnyValue> copy_of(DType type, std::vector<int64_t> shape, const void* data, size_t bytes);
  static Result<AnyValue> zeros(DType type, std::vector<int64_t> shape);
  static Result<AnyValue> strings(std::vector<int64_t> shape, std::vector<std::string> entries);
  static AnyValue sequence(DType type, const std::vector<AnyValue>& items);
  static AnyValue optional(const AnyValue& item);
  static AnyValue empty_optional(DType type);
  // Normal numbers for floats, small integers, true and false; the same for the same seed on every machine.
  static Result<AnyValue> random(DType type, std::vector<int64_t> shape, uint64_t seed);

  // A .npy file, or an ONNX .pb file holding a value of that kind. `wanted`: the element type the reader has use for,
  // where NumPy has none like it (bf16, f8*, f4, i4, ...). Errors: "file.open", "npy.*", "onnx.*".
  static Result<AnyValue> read(const std::filesystem::path& path, Kind kind = Kind::tensor,
                               DType wanted = DType::undefined);
  // .npy or .pb, by the ending.
  Status write(const std::filesystem::path& path, std::string_view name = "") const;

  explicit operator bool() const { return kind() != Kind::none; }
  Kind kind() const;
  // Of a tensor, of the tensors inside, of the values of a map.
  DType type() const;
  const std::vector<int64_t>& shape() const;  // of a tensor
  int64_t count() const;                      // of its elements
  const void* data() const;                   // null for strings and containers
  void* mutable_data();
  size_t bytes() const;
  const std::vector<std::string>& string_entries() const;  // of a tensor of strings
  // Entry i of a tensor of numbers; 0 for strings and complex numbers.
  double number(int64_t i) const;
  // Of a sequence; of an optional none or one; of a map its keys and its values.
  std::vector<AnyValue> items() const;
  // The same value in memory that stays as it is for as long as somebody holds it: what is borrowed, or lies in memory
  // of a run, is copied. Error "tensor.memory".
  Result<AnyValue> kept() const;
  // The same with each float, of a tensor of f32 or f64, the next number above or below, as drawn. Error
  // "tensor.memory".
  Result<AnyValue> nudged(uint64_t seed) const;
  // The value as JSON: a tensor as a list of lists (a scalar as its entry), a sequence as a list, an optional as its
  // content or null, a map as an object. Complex numbers are pairs; "NaN", "Infinity" and "-Infinity" are texts.
  std::string json() const;
  // The tensors it is made of, by names that begin with `name`, for formats that hold nothing else. A tensor: itself.
  // A sequence of maps with equal keys: NAME.keys and NAME.values, a row for each map. Any other: NAME.length and
  // NAME.0, NAME.1, ...; a map: NAME.keys, NAME.values; an optional: NAME.length (0 or 1) and NAME.0.
  Result<std::vector<std::pair<std::string, AnyValue>>> columns(const std::string& name) const;
  // One line for people: `f32[2, 3]  min -1.2  mean 0.1  max 2.5  [0.1, -0.3, ...]`.
  std::string summary() const;

  // Only for the library itself.
  explicit AnyValue(std::shared_ptr<Datum> datum) : datum_(std::move(datum)) {}
  const Datum& datum() const { return *datum_; }
  Datum& datum() { return *datum_; }

 private:
  std::shared_ptr<Datum> datum_;
};

// Named values: an .npz file. Errors: "file.open", "zip.*", "npy.*".
// `wanted`: the element types the reader has use for, by name.
ANYSHAPE_API Result<std::vector<std::pair<std::string, AnyValue>>> read_npz(
    const std::filesystem::path& path, const std::vector<std::pair<std::string, DType>>& wanted = {});
ANYSHAPE_API Status write_npz(const std::filesystem::path& path,
                              const std::vector<std::pair<std::string, AnyValue>>& values);

// Empty when `got` is `want`: kind, element type, shape, and entries of floats within the tolerance. Otherwise one
// sentence with the first difference.
ANYSHAPE_API std::string difference(const AnyValue& got, const AnyValue& want, const Tolerance& tolerance);
inline std::string difference(const AnyValue& got, const AnyValue& want, double relative, double absolute) {
  return difference(got, want, Tolerance{relative, absolute});
}
// Two right computations of one value: by other kernels, or from inputs a rounding step away.
struct Computations {
  AnyValue one, other;
};
// The same, where right computations of the value are known: entries beyond the tolerance may also lie apart as far as
// those do, four times, both the furthest entry and all of them together.
ANYSHAPE_API std::string difference(const AnyValue& got, const AnyValue& want, const Tolerance& tolerance,
                                    const std::vector<Computations>& right);
// Of two values that differ by more than that: do both lie about as far from what plain loops make of the same (a
// session with optimize = false) as from each other? Then the sums they are made of cancel, and none is the better one.
ANYSHAPE_API bool equally_right(const AnyValue& one, const AnyValue& other, const AnyValue& plain);
// The largest |got - want| / max(|want|, 1e-6 * largest |want|).
ANYSHAPE_API double largest_relative_error(const AnyValue& got, const AnyValue& want);

}  // namespace anyshape
