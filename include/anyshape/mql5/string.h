#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "anyshape/mql5/types.h"

namespace anyshape::mql5 {

// Numbers as MQL5 writes them in a text: the shortest that reads back, 1.0 for a whole double, true and false.
ANYSHAPE_API std::string number_text(bool value);
ANYSHAPE_API std::string number_text(int64_t value);
ANYSHAPE_API std::string number_text(uint64_t value);
ANYSHAPE_API std::string number_text(float value);
ANYSHAPE_API std::string number_text(double value);

template <Number T>
std::string text_of(T value) {
  if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>) return number_text(value);
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return number_text(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value));
}

// MQL5's string: a text, or NULL, which is another value than the empty text. Bytes, where MQL5 has UTF-16.
class String {
 public:
  String() = default;                                                            // NULL
  String(const char* text) : null_(text == nullptr), text_(text ? text : "") {}  // NOLINT: a literal is a string
  String(std::string text) : null_(false), text_(std::move(text)) {}             // NOLINT
  // A `long` has to be converted in so many words, as the type of NULL is one.
  template <Number T>
  explicit(std::is_same_v<T, long>) String(T value) : String(text_of(value)) {}  // NOLINT: a number becomes a string
  template <class T>
  requires std::is_enum_v<T>
  explicit String(T value) : String(text_of(static_cast<std::underlying_type_t<T>>(value))) {}

  bool is_null() const { return null_; }
  const std::string& text() const { return text_; }
  std::string& text() {
    null_ = false;
    return text_;
  }
  ushort operator[](Integer auto i) const { return static_cast<unsigned char>(text_[checked_index(i, text_.size())]); }

  String& operator+=(const String& other) {
    null_ = null_ && other.null_;
    text_ += other.text_;
    return *this;
  }
  template <Number T>
  String& operator+=(T value) {
    return *this += String(value);
  }
  friend String operator+(String a, const String& b) { return a += b; }
  template <Number T>
  friend String operator+(String a, T b) {
    return a += b;
  }
  template <Number T>
  friend String operator+(T a, const String& b) {
    return String(a) += b;
  }
  friend bool operator==(const String&, const String&) = default;
  friend std::strong_ordering operator<=>(const String& a, const String& b) { return a.text_ <=> b.text_; }

 private:
  bool null_ = true;
  std::string text_;
};

// An argument of PrintFormat and StringFormat. A conversion that does not fit its argument gets it converted.
using FormatArgument = std::variant<int64_t, uint64_t, double, std::string>;

template <class T>
FormatArgument format_argument(const T& value) {
  if constexpr (std::is_floating_point_v<T>) return double{value};
  if constexpr (std::is_enum_v<T>) return static_cast<int64_t>(value);
  if constexpr (std::is_unsigned_v<T>) return static_cast<uint64_t>(value);
  if constexpr (std::is_integral_v<T> && !std::is_unsigned_v<T>) return static_cast<int64_t>(value);
  if constexpr (std::is_convertible_v<const T&, String> && !std::is_arithmetic_v<T>) return String(value).text();
}

// C's conversions with MQL5's sizes: %I64d, %I64u, %I64x.
ANYSHAPE_API std::string format(std::string_view pattern, std::span<const FormatArgument> arguments);
// One line of the Experts log, with what would command a terminal escaped.
ANYSHAPE_API void print(std::string_view text);

template <class... T>
std::string joined(const T&... parts) {
  String out("");
  ((out += String(parts)), ...);
  return out.text();
}

}  // namespace anyshape::mql5

using string = anyshape::mql5::String;

template <class... T>
string StringFormat(const string& pattern, const T&... arguments) {
  const std::vector<anyshape::mql5::FormatArgument> list{anyshape::mql5::format_argument(arguments)...};
  return anyshape::mql5::format(pattern.text(), list);
}
template <class... T>
void PrintFormat(const string& pattern, const T&... arguments) {
  anyshape::mql5::print(StringFormat(pattern, arguments...).text());
}
template <class... T>
void printf(const string& pattern, const T&... arguments) {
  PrintFormat(pattern, arguments...);
}
template <class... T>
void Print(const T&... parts) {
  anyshape::mql5::print(anyshape::mql5::joined(parts...));
}
template <class... T>
void Comment(const T&... parts) {
  Print(parts...);
}
template <class... T>
void Alert(const T&... parts) {
  Print(string("Alert: "), parts...);
}
template <class... T>
int StringConcatenate(string& out, const T&... parts) {
  out = anyshape::mql5::joined(parts...);
  return static_cast<int>(out.text().size());
}

// Positions and lengths count bytes. Functions that change a string say whether they could.
int StringLen(const string& text);
int StringFind(const string& text, const string& part, int from = 0);  // -1: it is not there
string StringSubstr(const string& text, int from, int length = -1);
int StringReplace(string& text, const string& part, const string& by);  // how many
bool StringToLower(string& text);
bool StringToUpper(string& text);
int StringTrimLeft(string& text);  // how many characters were cut off
int StringTrimRight(string& text);
ushort StringGetCharacter(const string& text, int at);
int StringCompare(const string& a, const string& b, bool case_sensitive = true);
double StringToDouble(const string& text);
long StringToInteger(const string& text);
string DoubleToString(double value, int digits = 8);  // digits < 0: as many significant ones, with an exponent
string IntegerToString(long value, int length = 0, ushort fill = ' ');
string CharToString(uchar code);
string ShortToString(ushort code);

enum : int { TIME_DATE = 1, TIME_MINUTES = 2, TIME_SECONDS = 4 };
string TimeToString(datetime time, int parts = TIME_DATE | TIME_MINUTES);  // 2026.01.31 23:59
datetime StringToTime(const string& text);                                 // 0 for what is no time

string EnumToString(ENUM_ONNX_TYPE value);
string EnumToString(ENUM_ONNX_DATA_TYPE value);
string EnumToString(ENUM_ONNX_FLAGS value);
string EnumToString(ENUM_INIT_RETCODE value);
