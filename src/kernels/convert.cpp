#include "kernels/convert.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/utf8.h"
#include "kernels/dispatch.h"
#include "tensor/real.h"

namespace anyshape::kernels {
namespace {

bool is_small_integer(DType dtype) { return is_integer(dtype) && bits(dtype) < 8; }

// 8- and 16-bit integers come by way of int32, like the 32-bit instruction a compiler uses for them.
template <class T>
T float_to_int(double value) {
  const auto wide = truncate_to_int64(value);
  if constexpr (std::is_same_v<T, uint64_t>)
    if (value >= 0x1p63 && value < 0x1p64) return static_cast<uint64_t>(value);
  if constexpr (sizeof(T) < 4 || std::is_same_v<T, int32_t>)
    if (wide < std::numeric_limits<int32_t>::min() || wide > std::numeric_limits<int32_t>::max())
      return static_cast<T>(std::numeric_limits<int32_t>::min());
  return static_cast<T>(wide);
}

template <class From, class To>
To convert_one(From value) {
  const auto wide = widen(value);
  if constexpr (std::is_same_v<To, bool>)
    return wide != 0;
  else if constexpr (kIsFloat<From> && !kIsFloat<To>)
    return float_to_int<To>(static_cast<double>(wide));
  else if constexpr (kIsFloat<To>)
    return To(static_cast<Compute<To>>(wide));
  else
    return static_cast<To>(wide);
}

template <class From>
Status convert_from(const Tensor& from, Tensor& to, const CastRules& rules) {
  if (is_small_float(to.dtype())) {
    for (int64_t i = 0; i < to.count(); ++i)
      set_code(
          to, i,
          small_float_code(to.dtype(), static_cast<double>(widen(from.at<From>(i))), rules.saturate, rules.rounding));
    return {};
  }
  if (is_small_integer(to.dtype())) {
    for (int64_t i = 0; i < to.count(); ++i) to.set_int(i, convert_one<From, int32_t>(from.at<From>(i)));
    return {};
  }
  return visit_type<kAll>(to.dtype(), [&]<class To>(To) -> Status {
    auto out = to.as_mutable<To>();
    for (int64_t i = 0; i < to.count(); ++i) out[static_cast<size_t>(i)] = convert_one<From, To>(from.at<From>(i));
    return {};
  });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

bool gives_back(DType dtype, const std::string& digits, double value) {
  auto one = Tensor::allocate(dtype, {});
  if (!one || !set_real(*one, 0, std::strtod(digits.c_str(), nullptr))) return true;
  return *real_at(*one, 0) == value;
}

// The fewest digits that give the value back; of floats under 16 bits as f32, since they saturate where others do not.
std::string real_text(DType dtype, double value) {
  if (is_small_float(dtype)) dtype = DType::f32;
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string digits;
  int precision = 0;
  do digits = fmt::format("{:.{}e}", value, precision);
  while (++precision < 17 && !gives_back(dtype, digits, value));
  const double size = std::fabs(value);
  const size_t e = digits.find('e');
  if (size != 0 && (size < 1e-4 || size >= 1e16)) return digits;
  const int exponent = std::atoi(digits.c_str() + e + 1);
  return fmt::format("{:.{}f}", std::strtod(digits.c_str(), nullptr), std::max(precision - 1 - exponent, 1));
}

Status to_strings(const Tensor& from, Tensor& to) {
  if (!is_integer(from.dtype()) && !is_float(from.dtype()) && from.dtype() != DType::boolean)
    return unknown("dtype", "no conversion of {} to strings", name(from.dtype()));
  for (int64_t i = 0; i < from.count(); ++i) to.put_string(i, number_text(from, i));
  return {};
}

// An integer keeps all its digits; any other number goes by way of double.
Status set_parsed(Tensor& one, const std::string& text) {
  const std::string_view digits = trimmed(text);
  int64_t value = 0;
  uint64_t large = 0;
  const char* end = digits.data() + digits.size();
  if (const auto [at, error] = std::from_chars(digits.data(), end, value); error == std::errc() && at == end) {
    one.as_mutable<int64_t>()[0] = value;
    return {};
  }
  if (const auto [at, error] = std::from_chars(digits.data(), end, large); error == std::errc() && at == end) {
    one.as_mutable<int64_t>()[0] = static_cast<int64_t>(large);
    return {};
  }
  const auto real = parse_number(text);
  if (!real) return refuse("cast.string", "the text {:?} is no number", shortened(text, 80));
  one.as_mutable<int64_t>()[0] = truncate_to_int64(*real);
  return {};
}

Status from_strings(const Tensor& from, Tensor& to, const CastRules& rules) {
  const bool whole = is_integer(to.dtype());
  TRY(Tensor wide, Tensor::allocate(whole ? DType::i64 : DType::f64, from.dims()));
  TRY(Tensor one, Tensor::allocate(DType::i64, {}));
  for (int64_t i = 0; i < from.count(); ++i) {
    const std::string& text = from.strings()[static_cast<size_t>(i)];
    if (whole) {
      TRY_OK(set_parsed(one, text));
      wide.as_mutable<int64_t>()[static_cast<size_t>(i)] = one.at<int64_t>(0);
      continue;
    }
    const auto real = parse_number(text);
    if (!real) return refuse("cast.string", "the text {:?} is no number", shortened(text, 80));
    wide.as_mutable<double>()[static_cast<size_t>(i)] = *real;
  }
  return convert(wide, to, rules);
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos;
    const double limit = tiny ? 0 : std::numeric_limits<double>::infinity();
    return text[0] == '-' ? -limit : limit;
  }
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::string number_text(const Tensor& tensor, int64_t i) {
  if (tensor.dtype() == DType::boolean) return tensor.int_at(i) != 0 ? "True" : "False";
  if (tensor.dtype() == DType::u64) return fmt::format("{}", tensor.at<uint64_t>(i));
  if (is_integer(tensor.dtype())) return fmt::format("{}", tensor.int_at(i));
  return real_text(tensor.dtype(), real_at(tensor, i).value_or(0));
}

int64_t truncate_to_int64(double value) {
  if (!(value > -0x1p63 && value < 0x1p63)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

Status convert(const Tensor& from, Tensor& to, const CastRules& rules) {
  if (from.dtype() == DType::string) return from_strings(from, to, rules);
  if (to.dtype() == DType::string) return to_strings(from, to);
  if (is_small_integer(from.dtype())) {
    TRY(Tensor wide, Tensor::allocate(DType::i32, from.dims()));
    for (int64_t i = 0; i < from.count(); ++i) wide.set_int(i, from.int_at(i));
    return convert_from<int32_t>(wide, to, rules);
  }
  if (is_small_float(from.dtype())) {
    TRY(Tensor wide, Tensor::allocate(DType::f32, from.dims()));
    for (int64_t i = 0; i < from.count(); ++i) set_real(wide, i, *real_at(from, i));
    return convert_from<float>(wide, to, rules);
  }
  return visit_type<kAll>(from.dtype(),
                          [&]<class From>(From) -> Status { return convert_from<From>(from, to, rules); });
}

}  // namespace anyshape::kernels
