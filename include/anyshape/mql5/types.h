#pragma once

#include <math.h>

#include <cfloat>
#include <climits>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "anyshape/api.h"
#include "anyshape/dtype.h"

// The types and constants of MQL5 that C++ lacks, in the global namespace as there.

// `long` has 64 bits in MQL5.
static_assert(sizeof(long) == 8, "the MQL5 interface needs a platform whose long has 64 bits");

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
using color = uint;
using datetime = long;  // seconds since 1970

struct complex {
  double real = 0, imag = 0;

  constexpr complex() = default;
  constexpr complex(double re, double im = 0) : real(re), imag(im) {}  // NOLINT: a number is a complex one

  friend constexpr complex operator+(complex a, complex b) { return {a.real + b.real, a.imag + b.imag}; }
  friend constexpr complex operator-(complex a, complex b) { return {a.real - b.real, a.imag - b.imag}; }
  friend constexpr complex operator*(complex a, complex b) {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  }
  friend constexpr complex operator/(complex a, complex b) {
    const double norm = b.real * b.real + b.imag * b.imag;
    return {(a.real * b.real + a.imag * b.imag) / norm, (a.imag * b.real - a.real * b.imag) / norm};
  }
  friend constexpr complex operator-(complex a) { return {-a.real, -a.imag}; }
  friend constexpr bool operator==(complex, complex) = default;
  complex& operator+=(complex b) { return *this = *this + b; }
  complex& operator-=(complex b) { return *this = *this - b; }
  complex& operator*=(complex b) { return *this = *this * b; }
  complex& operator/=(complex b) { return *this = *this / b; }
};

inline constexpr int INVALID_HANDLE = -1;
// -1 of any type: programs give it to variables of an enum.
struct WrongValue {
  constexpr operator int() const { return -1; }  // NOLINT
  template <class T>
  requires std::is_enum_v<T>
  constexpr operator T() const {  // NOLINT
    return static_cast<T>(-1);
  }
};
inline constexpr WrongValue WRONG_VALUE;
template <class T>
requires std::is_enum_v<T>
constexpr bool operator==(T value, WrongValue) { return static_cast<int>(value) == -1; }
inline constexpr int WHOLE_ARRAY = -1;
inline constexpr double EMPTY_VALUE = DBL_MAX;
inline constexpr int FILE_COMMON = 4096;

enum ENUM_INIT_RETCODE : int {
  INIT_SUCCEEDED = 0,
  INIT_FAILED = 1,
  INIT_PARAMETERS_INCORRECT = 2,
  INIT_AGENT_NOT_SUITABLE = 3,
};

// Those that the functions of onnx.h leave in GetLastError().
enum : int {
  ERR_SUCCESS = 0,
  ERR_INVALID_HANDLE = 4024,
  ERR_FILE_NOT_EXIST = 5019,
  ERR_ONNX_INTERNAL = 5800,
  ERR_ONNX_NOT_INITIALIZED = 5801,
  ERR_ONNX_NOT_SUPPORTED = 5802,
  ERR_ONNX_RUN_FAILED = 5803,
  ERR_ONNX_INVALID_PARAMETERS_COUNT = 5804,
  ERR_ONNX_INVALID_PARAMETER = 5805,
  ERR_ONNX_INVALID_PARAMETER_TYPE = 5806,
  ERR_ONNX_INVALID_PARAMETER_SIZE = 5807,
  ERR_ONNX_WRONG_DIMENSION = 5808,
  ERR_USER_ERROR_FIRST = 65536,
};

// MQL5 tells the value of ONNX_COMMON_FOLDER and shows that ONNX_DEFAULT is 0; the others are ours.
enum ENUM_ONNX_FLAGS : uint {
  ONNX_DEFAULT = 0,
  ONNX_LOGLEVEL_VERBOSE = 1,
  ONNX_LOGLEVEL_INFO = 2,
  ONNX_DEBUG_LOGS = ONNX_LOGLEVEL_INFO,
  ONNX_LOGLEVEL_WARNING = 4,  // where no level is given
  ONNX_LOGLEVEL_ERROR = 8,
  ONNX_NO_CONVERSION = 16,
  ONNX_USE_CPU_ONLY = 32,
  ONNX_ENABLE_PROFILING = 64,
  ONNX_COMMON_FOLDER = FILE_COMMON,
  ONNX_GPU_DEVICE_0 = 1u << 16,
  ONNX_GPU_DEVICE_1 = 1u << 17,
  ONNX_GPU_DEVICE_2 = 1u << 18,
  ONNX_GPU_DEVICE_3 = 1u << 19,
  ONNX_GPU_DEVICE_4 = 1u << 20,
  ONNX_GPU_DEVICE_5 = 1u << 21,
  ONNX_GPU_DEVICE_6 = 1u << 22,
  ONNX_GPU_DEVICE_7 = 1u << 23,
};

// In the order of ONNX Runtime.
enum ENUM_ONNX_TYPE : int {
  ONNX_TYPE_UNKNOWN,
  ONNX_TYPE_TENSOR,
  ONNX_TYPE_SEQUENCE,
  ONNX_TYPE_MAP,
  ONNX_TYPE_OPAQUE,
  ONNX_TYPE_SPARSETENSOR,
};

// In the order of ONNX Runtime, which is that of the ONNX format.
enum ENUM_ONNX_DATA_TYPE : int {
  ONNX_DATA_TYPE_UNDEFINED,
  ONNX_DATA_TYPE_FLOAT,
  ONNX_DATA_TYPE_UINT8,
  ONNX_DATA_TYPE_INT8,
  ONNX_DATA_TYPE_UINT16,
  ONNX_DATA_TYPE_INT16,
  ONNX_DATA_TYPE_INT32,
  ONNX_DATA_TYPE_INT64,
  ONNX_DATA_TYPE_STRING,
  ONNX_DATA_TYPE_BOOL,
  ONNX_DATA_TYPE_FLOAT16,
  ONNX_DATA_TYPE_DOUBLE,
  ONNX_DATA_TYPE_UINT32,
  ONNX_DATA_TYPE_UINT64,
  ONNX_DATA_TYPE_COMPLEX64,
  ONNX_DATA_TYPE_COMPLEX128,
  ONNX_DATA_TYPE_BFLOAT16,
};

enum ENUM_FLOAT16_FORMAT : int { FLOAT_FP16, FLOAT_BFP16 };

namespace anyshape::mql5 {

// A number of MQL5 that is no complex one; bool is among them.
template <class T>
concept Number = std::is_arithmetic_v<T>;
// What an axis or an index may be.
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

// The tensor type that holds a T without conversion; undefined for what is no number.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, complex>) return DType::c128;
  if constexpr (std::integral<T> && sizeof(T) == 1) return std::is_signed_v<T> ? DType::i8 : DType::u8;
  if constexpr (std::integral<T> && sizeof(T) == 2) return std::is_signed_v<T> ? DType::i16 : DType::u16;
  if constexpr (std::integral<T> && sizeof(T) == 4) return std::is_signed_v<T> ? DType::i32 : DType::u32;
  if constexpr (std::integral<T> && sizeof(T) == 8) return std::is_signed_v<T> ? DType::i64 : DType::u64;
  return DType::undefined;
}

// An index outside of an array ends an MQL5 program; here it says which and ends the process.
[[noreturn]] ANYSHAPE_API void index_out_of_range(int64_t index, size_t size);
// The same for vectors and matrices that do not fit each other.
[[noreturn]] ANYSHAPE_API void sizes_differ(size_t a, size_t b);

inline void must_be_equal(size_t a, size_t b) {
  if (a != b) sizes_differ(a, b);
}

template <Integer I>
constexpr size_t checked_index(I index, size_t size) {
  const auto at = static_cast<size_t>(index);
  if (std::cmp_less(index, 0) || at >= size) index_out_of_range(static_cast<int64_t>(index), size);
  return at;
}

}  // namespace anyshape::mql5
