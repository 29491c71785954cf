#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tensor/real.h"
#include "verify/compare.h"

namespace anyshape {
namespace {

// How far two tensors of one type and shape lie apart.
struct Apart {
  double furthest = 0, together = 0;  // together: the root of the mean square

  bool within(const Apart& other, double times) const {
    return furthest <= times * other.furthest && together <= times * other.together;
  }
};

constexpr Apart kApart{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};

std::optional<double> entry(const Tensor& tensor, int64_t i) {
  if (is_integer(tensor.dtype()) || tensor.dtype() == DType::boolean) return static_cast<double>(tensor.int_at(i));
  return real_at(tensor, i);
}

// Infinitely far where they cannot be compared entry by entry, or one is not finite where the other is.
Apart apart(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims() || a.dtype() == DType::string) return kApart;
  Apart out;
  for (int64_t i = 0; i < a.count(); ++i) {
    const auto x = entry(a, i), y = entry(b, i);
    if (!x || !y) return kApart;
    if (*x == *y || (std::isnan(*x) && std::isnan(*y))) continue;
    const double far = std::fabs(*x - *y);
    if (!std::isfinite(far)) return kApart;
    out.furthest = std::max(out.furthest, far);
    out.together += far * far;
  }
  out.together = std::sqrt(out.together / static_cast<double>(std::max<int64_t>(a.count(), 1)));
  return out;
}

Apart noise_of(const std::vector<Computed>& right) {
  Apart out;
  for (const Computed& pair : right) {
    const Apart one = apart(pair.one.tensor(), pair.other.tensor());
    if (!std::isfinite(one.furthest)) continue;
    out.furthest = std::max(out.furthest, one.furthest);
    out.together = std::max(out.together, one.together);
  }
  return out;
}

// Item i of each pair that has one on both sides.
std::vector<Computed> items_of(const std::vector<Computed>& right, size_t i) {
  std::vector<Computed> out;
  for (const Computed& pair : right)
    if (i < pair.one.items().size() && i < pair.other.items().size())
      out.push_back({pair.one.items()[i], pair.other.items()[i]});
  return out;
}

}  // namespace

std::string difference(const Datum& got, const Datum& want, const Tolerance& tolerance,
                       const std::vector<Computed>& right) {
  std::string plain = difference(got, want, tolerance);
  if (plain.empty() || got.kind() != want.kind()) return plain;
  if (want.is_tensor()) return apart(got.tensor(), want.tensor()).within(noise_of(right), kNoise) ? "" : plain;
  if (got.items().size() != want.items().size()) return plain;
  for (size_t i = 0; i < want.items().size(); ++i)
    if (!difference(got.items()[i], want.items()[i], tolerance, items_of(right, i)).empty()) return plain;
  return {};
}

bool equally_right(const Datum& one, const Datum& other, const Datum& plain) {
  if (one.kind() != other.kind() || one.kind() != plain.kind()) return false;
  if (one.is_tensor()) {
    const Apart between = apart(one.tensor(), other.tensor());
    const Apart first = apart(one.tensor(), plain.tensor()), second = apart(other.tensor(), plain.tensor());
    return std::isfinite(first.furthest + second.furthest) && between.within(first, kNoise) &&
           between.within(second, kNoise);
  }
  if (one.items().size() != other.items().size() || one.items().size() != plain.items().size()) return false;
  for (size_t i = 0; i < one.items().size(); ++i)
    if (!equally_right(one.items()[i], other.items()[i], plain.items()[i])) return false;
  return true;
}

Result<Datum> nudged(const Datum& value, uint64_t seed) {
  const Tensor& tensor = value.tensor();
  if (!value.is_tensor() || (tensor.dtype() != DType::f32 && tensor.dtype() != DType::f64)) return value;
  std::mt19937_64 generator(seed);
  TRY(Tensor out, Tensor::allocate(tensor.dtype(), tensor.dims()));
  const auto fill = [&]<class T>(T infinity) {
    for (int64_t i = 0; i < tensor.count(); ++i)
      out.as_mutable<T>()[static_cast<size_t>(i)] =
          std::nextafter(tensor.at<T>(i), (generator() & 1) != 0 ? infinity : -infinity);
  };
  if (tensor.dtype() == DType::f32)
    fill(std::numeric_limits<float>::infinity());
  else
    fill(std::numeric_limits<double>::infinity());
  return Datum(std::move(out));
}

}  // namespace anyshape
