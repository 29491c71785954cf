#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "base/error.h"
#include "tensor/dtype.h"

// Where a model is to run: what its runtime reads and its host can hold. A profile is data with a name.
namespace anyshape::target {

// A set of element types.
class Types {
 public:
  constexpr Types() = default;
  constexpr Types(std::initializer_list<DType> types) {
    for (DType type : types) bits_ |= bit(type);
  }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool contains(DType type) const { return (bits_ & bit(type)) != 0; }
  friend constexpr Types operator|(Types a, Types b) { return Types(a.bits_ | b.bits_); }

 private:
  explicit constexpr Types(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t bit(DType type) { return uint32_t{1} << static_cast<unsigned>(type); }
  uint32_t bits_ = 0;
};

// The element types a kernel takes at one place of its operator.
struct PortTypes {
  int port = 0;  // an input; below 0 an output, -1 is the first
  Types types;
};

// An operator that a runtime has, from a version of its domain on until the next row of the operator.
struct KernelRow {
  std::string_view domain;  // "" is ai.onnx
  std::string_view op;
  int since;
  PortTypes limits[3] = {};              // ports with an empty set are not limited
  std::string_view zero_attribute = "";  // an integer that must be 0
  bool half = true;                      // f16 is computed as f32, cast before and behind
};

struct Profile {
  std::string_view name;     // as --target takes it
  std::string_view host;     // "MetaTrader 5"
  std::string_view runtime;  // "ONNX Runtime 1.14"
  int64_t opset, ml_opset;   // the highest versions of ai.onnx and ai.onnx.ml
  int64_t ir_version;        // the highest version of the format
  Types values;              // that the operators of the highest opset know at all
  Types held;                // of inputs and outputs that the host has a type for
  Types converted;           // of inputs and outputs that the host can only convert
  int64_t large_bytes;       // beyond it some builds of the host do not embed a file
  int64_t most_bytes;        // beyond it none does
  std::span<const KernelRow> kernels;
};

// Usage error "target.unknown" with the names there are.
Result<const Profile*> find_profile(std::string_view name);

// ai.onnx or ai.onnx.ml: the highest version the profile reads; 0 for other domains.
int64_t highest_version(const Profile& profile, std::string_view domain);

// The row in force, or null.
const KernelRow* find_kernel(const Profile& profile, std::string_view domain, std::string_view op, int64_t version);

// What ONNX Runtime 1.14 runs on the CPU.
std::span<const KernelRow> ort_1_14_kernels();

}  // namespace anyshape::target
