#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "anyshape/mql5/functions.h"

// MQL5's interface to ONNX models. docs/mql5.md says what each error means and what MQL5's reference leaves open.
// Handles may be used from several threads; calls with the same handle wait for each other.

struct OnnxTypeInfo;

struct OnnxTensorTypeInfo {
  ENUM_ONNX_DATA_TYPE data_type = ONNX_DATA_TYPE_UNDEFINED;
  mql5_array<long> dimensions;  // -1: dynamic
};

namespace anyshape::mql5 {

// The type inside of a map or sequence. What is none of them has an unknown type there.
class InnerType {
 public:
  const OnnxTypeInfo& value_type;

  InnerType();
  explicit InnerType(const OnnxTypeInfo& type);  // which must live as long
  explicit InnerType(std::shared_ptr<const OnnxTypeInfo> type);
  InnerType(const InnerType& other) : value_type(other.value_type), owner_(other.owner_) {}
  // A reference cannot be set again: the object is made anew.
  InnerType& operator=(const InnerType& other) {
    if (this == &other) return *this;
    const InnerType kept = other;
    std::destroy_at(this);
    return *std::construct_at(this, kept);
  }

 private:
  std::shared_ptr<const OnnxTypeInfo> owner_;
};

}  // namespace anyshape::mql5

struct OnnxMapTypeInfo : anyshape::mql5::InnerType {
  using InnerType::InnerType;
  ENUM_ONNX_DATA_TYPE key_type = ONNX_DATA_TYPE_UNDEFINED;
};
struct OnnxSequenceTypeInfo : anyshape::mql5::InnerType {
  using InnerType::InnerType;
};

struct OnnxTypeInfo {
  ENUM_ONNX_TYPE type = ONNX_TYPE_UNKNOWN;  // the kind; the type of a tensor's entries is tensor.data_type
  OnnxTensorTypeInfo tensor;
  OnnxMapTypeInfo map;
  OnnxSequenceTypeInfo sequence;
};

namespace anyshape::mql5 {

// A shape as a program writes it: {1, 120, 1}, an array of any integers, a vector of the library.
class ShapeArgument {
 public:
  // Any integer, without C++'s rule on narrowing in braces.
  struct Size {
    template <Integer T>
    Size(T size) : value(static_cast<int64_t>(size)) {}  // NOLINT: an integer is a size
    int64_t value;
  };

  ShapeArgument(std::initializer_list<Size> sizes) {  // NOLINT
    for (const Size& size : sizes) sizes_.push_back(size.value);
  }
  template <AnyArray A>
  ShapeArgument(const A& array) {  // NOLINT
    for (const auto size : flat(array)) sizes_.push_back(static_cast<int64_t>(size));
  }

  const std::vector<int64_t>& sizes() const { return sizes_; }

 private:
  std::vector<int64_t> sizes_;
};

// An argument of OnnxRun: where its entries are and of what type. What is no container has no `of`.
struct RunArgument {
  enum class Of { nothing, numbers, bytes, maps };
  Of of = Of::nothing;
  DType type = DType::undefined;
  const void* data = nullptr;
  size_t count = 0, bytes = 0;
  bool writable = false;
  // Of an array of structs with an array of keys and one of values: one map goes into one struct.
  std::function<void(size_t count)> resize;
  std::function<void(size_t at, const std::vector<int64_t>& keys, const std::vector<double>& values)> set;
};

// Something that any array can be initialised with.
struct AnyArrayValue {
  template <class T>
  operator Array<T>() const;  // NOLINT
};
// A struct of exactly two arrays.
template <class T>
concept KeysAndValues = std::is_aggregate_v<T> && requires {
  T{AnyArrayValue{}, AnyArrayValue{}};
} && !requires {
  T{AnyArrayValue{}, AnyArrayValue{}, AnyArrayValue{}};
};

template <class T>
RunArgument entries_argument(std::span<T> entries) {
  using Plain = std::remove_const_t<T>;
  RunArgument out;
  out.type = dtype_of<Plain>();
  if constexpr (std::is_trivially_copyable_v<Plain>)
    out.of = out.type == DType::undefined ? RunArgument::Of::bytes : RunArgument::Of::numbers;
  out.data = entries.data();
  out.count = entries.size();
  out.bytes = entries.size_bytes();
  out.writable = !std::is_const_v<T>;
  return out;
}

template <KeysAndValues T>
RunArgument maps_argument(Array<T>& maps) {
  RunArgument out;
  out.of = RunArgument::Of::maps;
  out.writable = true;
  out.resize = [&maps](size_t count) { maps.resize(count); };
  out.set = [&maps](size_t at, const std::vector<int64_t>& keys, const std::vector<double>& values) {
    auto& [into_keys, into_values] = maps[at];
    ArrayResize(into_keys, static_cast<int>(keys.size()));
    ArrayResize(into_values, static_cast<int>(values.size()));
    ArrayCopy(into_keys, Array<int64_t>(std::span(keys)));
    ArrayCopy(into_values, Array<double>(std::span(values)));
  };
  return out;
}

template <class A>
RunArgument run_argument(A& argument) {
  if constexpr (requires { argument.flat_entries(); }) {
    return entries_argument(argument.flat_entries());
  } else if constexpr (requires {
                         requires KeysAndValues<typename A::value_type>;
                         maps_argument(argument);
                       }) {
    return maps_argument(argument);
  } else if constexpr (AnyArray<A>) {
    return entries_argument(flat(argument));
  } else {
    return {};
  }
}

bool run_model(long handle, ulong flags, std::span<const RunArgument> arguments);

// Where what OnnxCreate takes with ONNX_COMMON_FOLDER lies; the working folder before.
ANYSHAPE_API void set_common_folder(std::string_view folder);
// What TimeCurrent() and its like say.
ANYSHAPE_API void set_time(datetime now);
// Gets each line of the log of models (stderr before) and each line that the program prints (stdout before), from
// whatever thread it comes, one at a time. An empty function: as before.
using LineSink = std::function<void(std::string_view line)>;
ANYSHAPE_API void set_log(LineSink sink);
ANYSHAPE_API void set_print(LineSink sink);

}  // namespace anyshape::mql5

// The handle, or INVALID_HANDLE. A relative path begins in the working folder, "\\" separates folders as "/" does; a
// file that is not there is tried with ".onnx" behind its name.
long OnnxCreate(const string& filename, uint flags);
long OnnxCreateFromBuffer(std::span<const uchar> buffer, ulong flags);
template <anyshape::mql5::AnyArray A>
long OnnxCreateFromBuffer(const A& buffer, ulong flags) {
  static_assert(sizeof(*anyshape::mql5::flat(buffer).data()) == 1, "the buffer is an array of uchar");
  const auto bytes = anyshape::mql5::flat(buffer);
  return OnnxCreateFromBuffer(std::span(reinterpret_cast<const uchar*>(bytes.data()), bytes.size()), flags);
}
bool OnnxRelease(long onnx_handle);

// All inputs in order, then all outputs: arrays, vectors and matrices whose number of entries is that of the shape.
template <class... Arguments>
bool OnnxRun(long onnx_handle, ulong flags, Arguments&&... arguments) {
  const std::array<anyshape::mql5::RunArgument, sizeof...(Arguments)> list{
      anyshape::mql5::run_argument<std::remove_reference_t<Arguments>>(arguments)...};
  return anyshape::mql5::run_model(onnx_handle, flags, list);
}

long OnnxGetInputCount(long onnx_handle);  // -1 on error
long OnnxGetOutputCount(long onnx_handle);
string OnnxGetInputName(long onnx_handle, long index);  // NULL on error
string OnnxGetOutputName(long onnx_handle, long index);
bool OnnxGetInputTypeInfo(long onnx_handle, long index, OnnxTypeInfo& typeinfo);
bool OnnxGetOutputTypeInfo(long onnx_handle, long index, OnnxTypeInfo& typeinfo);

// All axes of one input or output, as often as it has to change. False with ERR_ONNX_WRONG_DIMENSION for another number
// of axes, for 0 and for another size of an axis that has one; what was set before stays.
bool OnnxSetInputShape(long onnx_handle, long input_index, const anyshape::mql5::ShapeArgument& shape);
bool OnnxSetOutputShape(long onnx_handle, long output_index, const anyshape::mql5::ShapeArgument& shape);
