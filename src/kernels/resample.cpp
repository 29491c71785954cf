#include "kernels/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>

#include "base/temporary.h"
#include "kernels/copy.h"
#include "kernels/reals.h"

namespace anyshape::kernels {
namespace {

// What one output position takes from the axis: `weights` from `first` on, clamped to the axis.
struct Tap {
  int64_t first = 0;
  bool outside = false;  // the extrapolation value instead
  Temporary<double> weights;
};

// Triangle or cubic, stretched to the width of an output cell; the weights sum up to 1.
Temporary<double> smooth_weights(const Resample& how, double ratio, double scale) {
  scale = std::min(scale, 1.0);
  const bool cubic = how.interpolation == Interpolation::cubic;
  const auto first = static_cast<int64_t>(std::floor((cubic ? -2 : -1) / scale)) + 1;
  Temporary<double> weights;
  double sum = 0;
  for (int64_t i = first; i < 2 - first; ++i) {
    const double x = (static_cast<double>(i) - ratio) * scale;
    weights.push_back(cubic ? cubic_at(x, how.cubic_a) : std::max(0.0, 1 - std::fabs(x)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

Result<Tap> tap_at(const Resample& how, const SampledAxis& axis, int64_t i) {
  Tap tap;
  if (!how.antialias) {
    TRY(const Sample sample, sample_at(how, axis, i));
    tap.first = sample.first;
    tap.outside = sample.outside;
    if (how.interpolation != Interpolation::nearest && !sample.outside)
      tap.weights.assign(sample.weights, sample.weights + most_taps(how.interpolation));
    return tap;
  }
  TRY(const auto x, sampled_position(how, axis, i));
  tap.outside = !x;
  if (!x) return tap;
  const auto left = static_cast<int64_t>(std::ceil(*x)) - 1;
  tap.weights = smooth_weights(how, *x - static_cast<double>(left), axis.how.scale);
  tap.first = left - static_cast<int64_t>(tap.weights.size() / 2) + 1;
  if (how.exclude_outside) drop_outside(axis.in, tap.first, tap.weights);
  return tap;
}

Result<Temporary<Tap>> taps_of(const Resample& how, const SampledAxis& axis) {
  Temporary<Tap> taps;
  taps.reserve(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) {
    TRY(Tap tap, tap_at(how, axis, i));
    taps.push_back(std::move(tap));
  }
  return taps;
}

// Adds to `inner` numbers what the tap takes from an axis of `size` times as many.
void combine(const Tap& tap, const double* from, int64_t size, int64_t inner, double* to) {
  for (size_t k = 0; k < tap.weights.size(); ++k) {
    const int64_t at = std::clamp<int64_t>(tap.first + static_cast<int64_t>(k), 0, size - 1);
    const double weight = tap.weights[k];
    if (weight == 0) continue;
    for (int64_t i = 0; i < inner; ++i) to[i] += weight * from[at * inner + i];
  }
}

// One axis of the numbers, `inner` of them side by side.
Temporary<double> along(const SampledAxis& axis, const Temporary<Tap>& taps, double outside,
                        const Temporary<double>& from, int64_t outer, int64_t inner) {
  Temporary<double> out(static_cast<size_t>(outer * axis.out * inner));
  double* to = out.data();
  for (int64_t o = 0; o < outer; ++o)
    for (const Tap& tap : taps) {
      if (tap.outside) {
        std::fill_n(to, inner, outside);
      } else {
        combine(tap, from.data() + o * axis.in * inner, axis.in, inner, to);
      }
      to += inner;
    }
  return out;
}

struct Split {
  int64_t outer = 1, inner = 1;
};

Split split_at(std::span<const int64_t> dims, size_t axis) {
  Split split;
  for (size_t i = 0; i < axis; ++i) split.outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i) split.inner *= dims[i];
  return split;
}

Status resample_numbers(const Resample& how, const Tensor& in, Tensor& out) {
  TRY(Temporary<double> values, to_reals(in));
  const int64_t parts = in.count() > 0 ? static_cast<int64_t>(values.size()) / in.count() : 1;
  auto dims = temporary(in.dims());
  for (const ResampledAxis& resampled : how.axes) {
    const SampledAxis axis{in.dims()[resampled.axis], out.dims()[resampled.axis], resampled};
    if (axis.unchanged()) continue;
    TRY(const auto taps, taps_of(how, axis));
    const Split split = split_at(dims, resampled.axis);
    values = along(axis, taps, how.extrapolation, values, split.outer, split.inner * parts);
    dims[resampled.axis] = axis.out;
  }
  return from_reals(values, out);
}

// One cell of that type; of a type that is no number an empty one.
Result<Tensor> cell_of(DType dtype, double value) {
  TRY(Tensor cell, Tensor::allocate(dtype, {}));
  const bool is_complex = dtype == DType::c64 || dtype == DType::c128;
  const double parts[] = {value, 0};
  if (dtype != DType::string) TRY_OK(from_reals(std::span(parts).first(is_complex ? 2 : 1), cell));
  return cell;
}

template <class T>
void pick(const T* from, std::span<const int64_t> places, T* to) {
  for (size_t i = 0; i < places.size(); ++i) to[i] = from[places[i]];
}

// The same where every place is inside and elements are whole bytes: row after row of the last axis.
bool nearest_rows(const Temporary<Temporary<int64_t>>& places, const Tensor& in, Tensor& out) {
  const int width = out.dtype() == DType::string ? 0 : bits(out.dtype());
  if (out.rank() == 0 || (width != 8 && width != 16 && width != 32 && width != 64)) return false;
  const size_t last = out.rank() - 1, size = static_cast<size_t>(width) / 8;
  const int64_t row = out.dims()[last], rows = out.count() / row;
  Temporary<int64_t> index(last, 0);
  std::byte* to = out.data();
  int64_t before = -1;
  for (int64_t n = 0; n < rows; ++n, to += static_cast<size_t>(row) * size) {
    int64_t start = 0;
    for (size_t axis = 0; axis < last; ++axis)
      start = start * in.dims()[axis] + places[axis][static_cast<size_t>(index[axis])];
    const std::byte* from = in.bytes().data() + static_cast<size_t>(start * in.dims()[last]) * size;
    if (start == before) {
      std::memcpy(to, to - static_cast<size_t>(row) * size, static_cast<size_t>(row) * size);
    } else if (size == 1) {
      pick(reinterpret_cast<const uint8_t*>(from), places[last], reinterpret_cast<uint8_t*>(to));
    } else if (size == 2) {
      pick(reinterpret_cast<const uint16_t*>(from), places[last], reinterpret_cast<uint16_t*>(to));
    } else if (size == 4) {
      pick(reinterpret_cast<const uint32_t*>(from), places[last], reinterpret_cast<uint32_t*>(to));
    } else {
      pick(reinterpret_cast<const uint64_t*>(from), places[last], reinterpret_cast<uint64_t*>(to));
    }
    before = start;
    for (size_t axis = last; axis-- > 0;) {
      if (++index[axis] < out.dims()[axis]) break;
      index[axis] = 0;
    }
  }
  return true;
}

// The place on its axis that each output place reads; nothing where one is outside.
std::optional<Temporary<Temporary<int64_t>>> places_of(const Temporary<Temporary<Tap>>& taps, const Tensor& out) {
  Temporary<Temporary<int64_t>> places(taps.size());
  for (size_t axis = 0; axis < taps.size(); ++axis)
    for (int64_t i = 0; i < out.dims()[axis]; ++i) {
      const Tap* tap = taps[axis].empty() ? nullptr : &taps[axis][static_cast<size_t>(i)];
      if (tap && tap->outside) return std::nullopt;
      places[axis].push_back(tap ? tap->first : i);
    }
  return places;
}

Status resample_nearest(const Resample& how, const Tensor& in, Tensor& out) {
  Temporary<Temporary<Tap>> taps(out.rank());
  for (const ResampledAxis& resampled : how.axes) {
    const size_t axis = resampled.axis;
    TRY(taps[axis], taps_of(how, {in.dims()[axis], out.dims()[axis], resampled}));
  }
  if (const auto places = places_of(taps, out); places && nearest_rows(*places, in, out)) return {};
  Temporary<int64_t> index(out.rank(), 0);
  TRY(const Tensor blank, cell_of(out.dtype(), how.extrapolation));
  for (int64_t n = 0; n < out.count(); ++n) {
    int64_t from = 0;
    bool outside = false;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      const auto at = static_cast<size_t>(index[axis]);
      const bool moved = !taps[axis].empty();
      outside |= moved && taps[axis][at].outside;
      from = from * in.dims()[axis] + (moved ? taps[axis][at].first : index[axis]);
    }
    copy_elements(out, n, outside ? blank : in, outside ? 0 : from, 1);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < out.dims()[axis]) break;
      index[axis] = 0;
    }
  }
  return {};
}

}  // namespace

Status require_numbers(Interpolation interpolation, DType dtype) {
  if (interpolation == Interpolation::nearest || dtype != DType::string) return {};
  return refuse("dtype", "there is nothing between two strings: of the modes only \"nearest\" takes them");
}

Status resample(const Resample& how, const Tensor& in, Tensor& out) {
  if (out.count() == 0) return {};
  TRY_OK(require_numbers(how.interpolation, in.dtype()));
  return how.interpolation == Interpolation::nearest ? resample_nearest(how, in, out) : resample_numbers(how, in, out);
}

}  // namespace anyshape::kernels
