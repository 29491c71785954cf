#pragma once

#include <cmath>
#include <type_traits>

#include "anyshape/mql5/matrix.h"

// Functions that Expert Advisors call around a model. Those of numbers take vectors and matrices too, entry by entry.

namespace anyshape::mql5 {

template <class T, class F>
auto each(const T& x, F f) {
  if constexpr (Number<T>) {
    return f(x);
  } else {
    T out = x;
    out.change(f);
    return out;
  }
}

// What MathMax and MathMin give: the wider of both types.
template <class A, class B>
using Wider = std::common_type_t<A, B>;

}  // namespace anyshape::mql5

template <class T>
auto MathAbs(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return static_cast<decltype(v)>(v < 0 ? -v : v); });
}
template <class A, class B>
anyshape::mql5::Wider<A, B> MathMax(A a, B b) {
  using T = anyshape::mql5::Wider<A, B>;
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B>
anyshape::mql5::Wider<A, B> MathMin(A a, B b) {
  using T = anyshape::mql5::Wider<A, B>;
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class T>
auto MathSqrt(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return std::sqrt(v); });
}
template <class T>
auto MathExp(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return std::exp(v); });
}
template <class T>
auto MathLog(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return std::log(v); });
}
template <class T>
auto MathLog10(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return std::log10(v); });
}
template <class T>
auto MathTanh(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return std::tanh(v); });
}
template <class T>
auto MathSin(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return std::sin(v); });
}
template <class T>
auto MathCos(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return std::cos(v); });
}
template <class T>
auto MathArctan(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return std::atan(v); });
}
template <class T>
auto MathFloor(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return std::floor(v); });
}
template <class T>
auto MathCeil(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return std::ceil(v); });
}
template <class T>
auto MathRound(const T& x) {
  return anyshape::mql5::each(x, [](auto v) { return std::round(v); });
}
template <class T>
auto MathPow(const T& x, double exponent) {
  return anyshape::mql5::each(x, [exponent](auto v) { return std::pow(v, exponent); });
}
inline double MathMod(double a, double b) { return std::fmod(a, b); }
inline bool MathIsValidNumber(double x) { return std::isfinite(x); }
double NormalizeDouble(double value, int digits);

// 0..32767, the same numbers after the same seed on every machine.
int MathRand();
void MathSrand(int seed);

// The error of the last call that failed on this thread; calls that succeed leave it.
int GetLastError();
void ResetLastError();
void SetUserError(ushort code);
#define _LastError (GetLastError())

struct MqlDateTime {
  int year = 1970, mon = 1, day = 1, hour = 0, min = 0, sec = 0;
  int day_of_week = 4, day_of_year = 0;  // 0: Sunday; 0: January 1st
};
bool TimeToStruct(datetime time, MqlDateTime& parts);
datetime StructToTime(const MqlDateTime& parts);

// No clock runs: what anyshape::mql5::set_time() set, 2026.01.01 00:00 before.
datetime TimeCurrent();
datetime TimeCurrent(MqlDateTime& parts);
datetime TimeLocal();
datetime TimeGMT();
uint GetTickCount();
ulong GetTickCount64();
ulong GetMicrosecondCount();
inline void Sleep(int) {}
inline bool IsStopped() { return false; }

enum ENUM_CRYPT_METHOD : int { CRYPT_HASH_SHA256 };
// The number of bytes of the hash; the key is not used.
int CryptEncode(ENUM_CRYPT_METHOD method, const mql5_array<uchar>& data, const mql5_array<uchar>& key,
                mql5_array<uchar>& result);

// Numbers of 16 bits for models run with ONNX_NO_CONVERSION; rounded to the nearest, to even in the middle.
bool ArrayToFP16(mql5_array<ushort>& to, const mql5_array<float>& from, ENUM_FLOAT16_FORMAT format);
bool ArrayToFP16(mql5_array<ushort>& to, const mql5_array<double>& from, ENUM_FLOAT16_FORMAT format);
bool ArrayFromFP16(mql5_array<float>& to, const mql5_array<ushort>& from, ENUM_FLOAT16_FORMAT format);
bool ArrayFromFP16(mql5_array<double>& to, const mql5_array<ushort>& from, ENUM_FLOAT16_FORMAT format);
