#include "verify/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <string_view>

#include "base/utf8.h"
#include "tensor/real.h"

namespace anyshape {
namespace {

std::string_view kind_name(Datum::Kind kind) {
  constexpr std::string_view kNames[] = {"nothing", "a tensor", "a sequence", "an optional", "a map"};
  return kNames[static_cast<size_t>(kind)];
}

// The parts of a tensor as doubles: one per entry, two for complex numbers.
template <class Visit>
bool for_each_real(const Tensor& a, const Tensor& b, Visit visit) {
  const auto complex = [&]<class T>(T) {
    for (int64_t i = 0; i < 2 * a.count(); ++i)
      if (!visit(i / 2, static_cast<double>(a.at<T>(i)), static_cast<double>(b.at<T>(i)))) return;
  };
  if (a.dtype() == DType::c64) return complex(float{}), true;
  if (a.dtype() == DType::c128) return complex(double{}), true;
  for (int64_t i = 0; i < a.count(); ++i) {
    const auto x = real_at(a, i), y = real_at(b, i);
    if (!x || !y) return false;
    if (!visit(i, *x, *y)) return true;
  }
  return true;
}

bool close(double got, double want, const Tolerance& tolerance) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  if (std::isinf(got) || std::isinf(want)) return got == want;
  return std::fabs(got - want) <= tolerance.absolute + tolerance.relative * std::fabs(want);
}

std::string strings_difference(const Tensor& got, const Tensor& want) {
  for (size_t i = 0; i < want.strings().size(); ++i)
    if (got.strings()[i] != want.strings()[i])
      return fmt::format("entry {} is {:?} instead of {:?}", i, shortened(got.strings()[i], 80),
                         shortened(want.strings()[i], 80));
  return {};
}

std::string entries_difference(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (want.dtype() == DType::string) return strings_difference(got, want);
  if (is_integer(want.dtype()) || want.dtype() == DType::boolean) {
    for (int64_t i = 0; i < want.count(); ++i)
      if (got.int_at(i) != want.int_at(i))
        return fmt::format("entry {} is {} instead of {}", i, got.int_at(i), want.int_at(i));
    return {};
  }
  std::string out;
  const bool read = for_each_real(got, want, [&](int64_t i, double x, double y) {
    if (!close(x, y, tolerance)) out = fmt::format("entry {} is {} instead of {}", i, x, y);
    return out.empty();
  });
  if (!read && !std::ranges::equal(got.bytes(), want.bytes())) return "the bytes differ";
  return out;
}

std::string tensor_difference(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (got.dtype() != want.dtype())
    return fmt::format("element type {} instead of {}", name(got.dtype()), name(want.dtype()));
  if (got.dims() != want.dims())
    return fmt::format("shape [{}] instead of [{}]", fmt::join(got.dims(), ", "), fmt::join(want.dims(), ", "));
  return entries_difference(got, want, tolerance);
}

}  // namespace

std::string difference(const Datum& got, const Datum& want, const Tolerance& tolerance) {
  if (got.kind() != want.kind()) return fmt::format("{} instead of {}", kind_name(got.kind()), kind_name(want.kind()));
  if (want.is_tensor()) return tensor_difference(got.tensor(), want.tensor(), tolerance);
  if (got.items().size() != want.items().size())
    return fmt::format("{} items instead of {}", got.items().size(), want.items().size());
  for (size_t i = 0; i < want.items().size(); ++i)
    if (std::string wrong = difference(got.items()[i], want.items()[i], tolerance); !wrong.empty())
      return fmt::format("item {}: {}", i, wrong);
  return {};
}

double largest_relative_error(const Datum& got, const Datum& want) {
  double worst = 0;
  if (!want.is_tensor()) {
    for (size_t i = 0; i < want.items().size(); ++i)
      worst = std::max(worst, largest_relative_error(got.items()[i], want.items()[i]));
    return worst;
  }
  if (!is_float(want.dtype()) && want.dtype() != DType::c64 && want.dtype() != DType::c128) return 0;
  double largest = 0;
  for_each_real(want.tensor(), want.tensor(), [&](int64_t, double, double y) {
    if (std::isfinite(y)) largest = std::max(largest, std::fabs(y));
    return true;
  });
  const double floor = std::max(1e-6 * largest, 1e-30);
  for_each_real(got.tensor(), want.tensor(), [&](int64_t, double x, double y) {
    if (std::isfinite(x) && std::isfinite(y)) worst = std::max(worst, std::fabs(x - y) / std::max(std::fabs(y), floor));
    return true;
  });
  return worst;
}

bool all_finite(const Datum& value) {
  if (!value.is_tensor() || value.tensor().dtype() != DType::f32) return true;
  bool finite = true;
  for_each_real(value.tensor(), value.tensor(), [&](int64_t, double x, double) { return finite = std::isfinite(x); });
  return finite;
}

std::optional<std::vector<size_t>> matched(const std::vector<std::string>& names,
                                           const std::vector<std::string>& others) {
  if (names.size() != others.size()) return std::nullopt;
  std::vector<size_t> by_name, by_order;
  for (const std::string& one : names) {
    by_order.push_back(by_order.size());
    const auto it = std::find(others.begin(), others.end(), one);
    if (it != others.end()) by_name.push_back(static_cast<size_t>(it - others.begin()));
  }
  return by_name.size() == names.size() ? by_name : by_order;
}

}  // namespace anyshape
