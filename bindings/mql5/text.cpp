#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "anyshape/mql5/array.h"

namespace anyshape::mql5 {
namespace {

template <class T>
std::string shortest(T value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string out(buffer.data(), end);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

template <class F>
bool change_letters(string& text, F f) {
  for (char& c : text.text()) c = static_cast<char>(f(static_cast<unsigned char>(c)));
  return true;
}

// ASCII only: what lies beyond is bytes.
int lower(int c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }
int upper(int c) { return c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c; }

constexpr std::string_view kBlanks = " \t\r\n\v\f";

template <class Names>
string name_in(const Names& names, size_t value) {
  return value < names.size() ? string(names[value]) : string(value);
}

}  // namespace

std::string number_text(bool value) { return value ? "true" : "false"; }
std::string number_text(int64_t value) { return std::to_string(value); }
std::string number_text(uint64_t value) { return std::to_string(value); }
std::string number_text(float value) { return shortest(value); }
std::string number_text(double value) { return shortest(value); }

}  // namespace anyshape::mql5

using namespace anyshape::mql5;

int StringLen(const string& text) { return static_cast<int>(text.text().size()); }

int StringFind(const string& text, const string& part, int from) {
  const size_t at = text.text().find(part.text(), static_cast<size_t>(std::max(from, 0)));
  return at == std::string::npos ? -1 : static_cast<int>(at);
}

string StringSubstr(const string& text, int from, int length) {
  const std::string& all = text.text();
  if (from < 0 || static_cast<size_t>(from) >= all.size()) return std::string();
  return all.substr(static_cast<size_t>(from), length < 0 ? std::string::npos : static_cast<size_t>(length));
}

int StringReplace(string& text, const string& part, const string& by) {
  const std::string &old = part.text(), &next = by.text();
  if (old.empty()) return 0;
  int count = 0;
  for (size_t at = 0; (at = text.text().find(old, at)) != std::string::npos; at += next.size(), ++count)
    text.text().replace(at, old.size(), next);
  return count;
}

bool StringToLower(string& text) { return change_letters(text, lower); }
bool StringToUpper(string& text) { return change_letters(text, upper); }

int StringTrimLeft(string& text) {
  const size_t cut = std::min(text.text().find_first_not_of(kBlanks), text.text().size());
  text.text().erase(0, cut);
  return static_cast<int>(cut);
}

int StringTrimRight(string& text) {
  const size_t last = text.text().find_last_not_of(kBlanks), size = text.text().size();
  const size_t keep = last == std::string::npos ? 0 : last + 1;
  text.text().resize(keep);
  return static_cast<int>(size - keep);
}

ushort StringGetCharacter(const string& text, int at) { return at < 0 || at >= StringLen(text) ? ushort{0} : text[at]; }

int StringCompare(const string& a, const string& b, bool case_sensitive) {
  string x = a, y = b;
  if (!case_sensitive) StringToLower(x), StringToLower(y);
  const int order = x.text().compare(y.text());
  return (order > 0) - (order < 0);
}

double StringToDouble(const string& text) { return std::strtod(text.text().c_str(), nullptr); }
long StringToInteger(const string& text) { return std::strtol(text.text().c_str(), nullptr, 10); }

string DoubleToString(double value, int digits) {
  std::array<char, 400> buffer;
  const char* pattern = digits < 0 ? "%.*e" : "%.*f";
  std::snprintf(buffer.data(), buffer.size(), pattern, std::clamp(std::abs(digits), 0, 16), value);
  return buffer.data();
}

string IntegerToString(long value, int length, ushort fill) {
  std::string out = std::to_string(value);
  const size_t wanted = static_cast<size_t>(std::clamp(length, 0, 1000));
  if (out.size() < wanted) out.insert(0, wanted - out.size(), static_cast<char>(fill));
  return out;
}

string CharToString(uchar code) { return std::string(1, static_cast<char>(code)); }

// UTF-8 of one unit of UTF-16.
string ShortToString(ushort code) {
  const auto byte = [](int bits) { return static_cast<char>(bits); };
  if (code < 0x80) return std::string{byte(code)};
  if (code < 0x800) return std::string{byte(0xc0 | code >> 6), byte(0x80 | (code & 0x3f))};
  return std::string{byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f))};
}

int StringSplit(const string& text, ushort separator, mql5_array<string>& parts) {
  parts.resize(0);
  std::string_view rest = text.text();
  while (!rest.empty()) {
    const size_t end = rest.find(static_cast<char>(separator));
    parts.resize(parts.size() + 1);
    parts[parts.size() - 1] = std::string(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
    if (rest.empty()) parts.resize(parts.size() + 1), parts[parts.size() - 1] = "";
  }
  return static_cast<int>(parts.size());
}

int StringToCharArray(const string& text, mql5_array<uchar>& bytes, int start, int count) {
  const size_t size = text.text().size(), at = static_cast<size_t>(std::max(start, 0));
  const size_t n = count < 0 ? size + 1 : std::min(size, static_cast<size_t>(count));
  if (!bytes.is_fixed() && bytes.size() < at + n) bytes.resize(at + n);
  if (bytes.size() < at + n) return 0;
  std::copy_n(text.text().c_str(), n, bytes.data() + at);
  return static_cast<int>(n);
}

string CharArrayToString(const mql5_array<uchar>& bytes, int start, int count) {
  const size_t n = entries_from(bytes.size(), start, count);
  if (n == 0) return "";
  const uchar* from = bytes.data() + start;
  return std::string(from, std::find(from, from + n, uchar{0}));
}

string EnumToString(ENUM_ONNX_TYPE value) {
  constexpr std::array kNames{"ONNX_TYPE_UNKNOWN", "ONNX_TYPE_TENSOR", "ONNX_TYPE_SEQUENCE",
                              "ONNX_TYPE_MAP",     "ONNX_TYPE_OPAQUE", "ONNX_TYPE_SPARSETENSOR"};
  return name_in(kNames, static_cast<size_t>(value));
}

string EnumToString(ENUM_ONNX_DATA_TYPE value) {
  constexpr std::array kNames{"ONNX_DATA_TYPE_UNDEFINED",  "ONNX_DATA_TYPE_FLOAT",   "ONNX_DATA_TYPE_UINT8",
                              "ONNX_DATA_TYPE_INT8",       "ONNX_DATA_TYPE_UINT16",  "ONNX_DATA_TYPE_INT16",
                              "ONNX_DATA_TYPE_INT32",      "ONNX_DATA_TYPE_INT64",   "ONNX_DATA_TYPE_STRING",
                              "ONNX_DATA_TYPE_BOOL",       "ONNX_DATA_TYPE_FLOAT16", "ONNX_DATA_TYPE_DOUBLE",
                              "ONNX_DATA_TYPE_UINT32",     "ONNX_DATA_TYPE_UINT64",  "ONNX_DATA_TYPE_COMPLEX64",
                              "ONNX_DATA_TYPE_COMPLEX128", "ONNX_DATA_TYPE_BFLOAT16"};
  return name_in(kNames, static_cast<size_t>(value));
}

string EnumToString(ENUM_ONNX_FLAGS value) {
  constexpr std::array kNames{std::pair{ONNX_DEFAULT, "ONNX_DEFAULT"},
                              std::pair{ONNX_LOGLEVEL_VERBOSE, "ONNX_LOGLEVEL_VERBOSE"},
                              std::pair{ONNX_LOGLEVEL_INFO, "ONNX_LOGLEVEL_INFO"},
                              std::pair{ONNX_LOGLEVEL_WARNING, "ONNX_LOGLEVEL_WARNING"},
                              std::pair{ONNX_LOGLEVEL_ERROR, "ONNX_LOGLEVEL_ERROR"},
                              std::pair{ONNX_NO_CONVERSION, "ONNX_NO_CONVERSION"},
                              std::pair{ONNX_USE_CPU_ONLY, "ONNX_USE_CPU_ONLY"},
                              std::pair{ONNX_ENABLE_PROFILING, "ONNX_ENABLE_PROFILING"},
                              std::pair{ONNX_COMMON_FOLDER, "ONNX_COMMON_FOLDER"}};
  for (const auto& [flag, text] : kNames)
    if (flag == value) return text;
  for (uint i = 0; i < 8; ++i)
    if (static_cast<uint>(value) == ONNX_GPU_DEVICE_0 << i) return joined("ONNX_GPU_DEVICE_", i);
  return static_cast<uint>(value);
}

string EnumToString(ENUM_INIT_RETCODE value) {
  constexpr std::array kNames{"INIT_SUCCEEDED", "INIT_FAILED", "INIT_PARAMETERS_INCORRECT", "INIT_AGENT_NOT_SUITABLE"};
  return name_in(kNames, static_cast<size_t>(value));
}
