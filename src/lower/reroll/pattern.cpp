#include "lower/reroll/pattern.h"

#include <algorithm>
#include <cmath>

#include "lower/reroll/match.h"
#include "tensor/real.h"

namespace anyshape::lower::reroll {
namespace {

// Patterns of more entries are not looked for one by one.
constexpr int64_t kMostEntries = 4096;
constexpr double kRounding = 1e-6;
// Integers beyond are ends of slices and masks, and doubles do not hold them.
constexpr double kLargest = 1e15;

bool close(double a, double b) { return a == b || std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b)); }

std::optional<double> entry(const Tensor& tensor, int64_t i) {
  if (tensor.dtype() == DType::string) return std::nullopt;
  if (is_float(tensor.dtype())) return real_at(tensor, i);
  return static_cast<double>(tensor.int_at(i));
}

std::optional<Affine> slope_of(const std::vector<Seen>& seen) {
  Affine out;
  const Seen& first = seen.front();
  for (const Seen& other : seen)
    if (other.length == first.length && other.step != first.step) {
      out.step = (other.value - first.value) / static_cast<double>(other.step - first.step);
      break;
    }
  for (const Seen& other : seen)
    if (other.length != first.length) {
      const double moved = other.value - out.step * static_cast<double>(other.step - first.step);
      out.length = (moved - first.value) / static_cast<double>(other.length - first.length);
      break;
    }
  out.rest = first.value - out.step * static_cast<double>(first.step) - out.length * static_cast<double>(first.length);
  return out;
}

std::optional<Pattern> fit_entries(const std::vector<SeenTensor>& seen) {
  Pattern out;
  out.kind = Pattern::entries;
  out.value = seen.front().value;
  for (const SeenTensor& one : seen)
    if (one.value.dims() != out.value.dims()) return std::nullopt;
  for (int64_t i = 0; i < out.value.count(); ++i) {
    std::vector<Seen> values;
    for (const SeenTensor& one : seen) {
      const auto known = entry(one.value, i);
      if (!known) return std::nullopt;
      values.push_back({one.step, one.length, *known});
    }
    const auto number = fit(values);
    if (!number) return std::nullopt;
    out.numbers.push_back(*number);
  }
  return out;
}

std::vector<int64_t> steps_of(const std::vector<int64_t>& dims) {
  std::vector<int64_t> out(dims.size(), 1);
  for (size_t k = dims.size(); k-- > 1;) out[k - 1] = out[k] * dims[k];
  return out;
}

// What the first entries along each axis say.
std::optional<std::vector<double>> strides_of(const Tensor& tensor) {
  std::vector<double> out;
  const auto steps = steps_of(tensor.dims());
  for (size_t k = 0; k < steps.size(); ++k) {
    if (tensor.dims()[k] < 2) {
      out.push_back(0);
      continue;
    }
    const auto first = entry(tensor, 0), next = entry(tensor, steps[k]);
    if (!first || !next) return std::nullopt;
    out.push_back(*next - *first);
  }
  return out;
}

// A pattern whose sizes follow the length.
std::optional<Pattern> growing(Pattern::Kind kind, const std::vector<SeenTensor>& seen) {
  Pattern out;
  out.kind = kind;
  out.value = seen.front().value;
  for (const SeenTensor& one : seen)
    if (one.value.rank() != out.value.rank() || one.value.dtype() != out.value.dtype() || one.value.count() < 1)
      return std::nullopt;
  for (size_t k = 0; k < out.value.rank(); ++k) {
    std::vector<Seen> sizes;
    for (const SeenTensor& one : seen)
      sizes.push_back({one.step, one.length, static_cast<double>(one.value.dims()[k])});
    const auto size = fit(sizes);
    if (!size || size->step != 0) return std::nullopt;
    out.dims.push_back(*size);
  }
  return out;
}

bool has_dims(const Pattern& pattern, const Tensor& tensor, int64_t length) {
  if (tensor.rank() != pattern.dims.size()) return false;
  for (size_t k = 0; k < tensor.rank(); ++k)
    if (static_cast<double>(tensor.dims()[k]) != pattern.dims[k].at(0, length)) return false;
  return true;
}

// How far entry i lies from the diagonal of the two axes.
int64_t offset_of(const Pattern& band, const Tensor& tensor, const std::vector<int64_t>& steps, int64_t i) {
  const auto index = [&](size_t axis) { return i / steps[axis] % tensor.dims()[axis]; };
  return index(band.axes[1]) - index(band.axes[0]);
}

// The diagonals next to the main one, on the side of `sign`, on which the mask is what it is there: how many, and
// nullopt where it is so on all.
std::optional<int64_t> reach(const Tensor& tensor, const Pattern& band, int64_t sign) {
  const auto steps = steps_of(tensor.dims());
  const int64_t size = tensor.dims()[band.axes[sign > 0]];
  for (int64_t off = 1; off < size; ++off)
    if (const auto found = entry(tensor, off * steps[band.axes[sign > 0]]); !found || *found != band.inside)
      return off - 1;
  return std::nullopt;
}

// Of masks only: two values, one on the diagonals around the main one.
std::optional<Pattern> fit_band(const std::vector<SeenTensor>& seen) {
  auto out = growing(Pattern::band, seen);
  if (!out) return std::nullopt;
  std::vector<size_t> axes;
  for (size_t k = 0; k < out->dims.size(); ++k)
    if (out->dims[k].length != 0) axes.push_back(k);
  if (axes.size() != 2) return std::nullopt;
  std::ranges::copy(axes, out->axes);
  const Tensor& longest = std::ranges::max_element(seen, {}, &SeenTensor::length)->value;
  const auto diagonal = entry(longest, 0);
  if (!diagonal) return std::nullopt;
  out->inside = out->outside = *diagonal;
  for (int64_t i = 0; i < longest.count() && out->outside == out->inside; ++i)
    out->outside = entry(longest, i).value_or(*diagonal);
  out->hi = reach(longest, *out, 1);
  out->lo = reach(longest, *out, -1);
  if (out->lo) out->lo = -*out->lo;
  return out;
}

bool gives_band(const Pattern& pattern, const Tensor& tensor, int64_t length) {
  if (!has_dims(pattern, tensor, length)) return false;
  const auto steps = steps_of(tensor.dims());
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const int64_t off = offset_of(pattern, tensor, steps, i);
    const bool inside = (!pattern.lo || off >= *pattern.lo) && (!pattern.hi || off <= *pattern.hi);
    if (entry(tensor, i) != (inside ? pattern.inside : pattern.outside)) return false;
  }
  return true;
}

std::optional<Pattern> fit_grid(const std::vector<SeenTensor>& seen) {
  auto found = growing(Pattern::grid, seen);
  if (!found) return std::nullopt;
  Pattern& out = *found;
  const auto strides = strides_of(out.value);
  std::vector<Seen> corners;
  for (const SeenTensor& one : seen)
    if (const auto corner = entry(one.value, 0)) corners.push_back({one.step, one.length, *corner});
  const auto corner = corners.size() == seen.size() ? fit(corners) : std::nullopt;
  if (!strides || !corner) return std::nullopt;
  out.strides = *strides;
  out.numbers = {*corner};
  return found;
}

bool gives_grid(const Pattern& pattern, const Tensor& tensor, int64_t step, int64_t length) {
  if (!has_dims(pattern, tensor, length)) return false;
  const auto steps = steps_of(tensor.dims());
  for (int64_t i = 0; i < tensor.count(); ++i) {
    double expected = pattern.numbers[0].at(step, length);
    for (size_t k = 0; k < steps.size(); ++k)
      expected += pattern.strides[k] * static_cast<double>(i / steps[k] % tensor.dims()[k]);
    const auto found = entry(tensor, i);
    if (!found || !close(expected, *found)) return false;
  }
  return true;
}

}  // namespace

std::optional<Affine> fit(const std::vector<Seen>& seen) {
  if (seen.empty()) return std::nullopt;
  const bool same = std::ranges::all_of(seen, [&](const Seen& one) { return one.value == seen.front().value; });
  if (same) return Affine{0, 0, seen.front().value};
  const auto out = slope_of(seen);
  for (const Seen& one : seen)
    if (!(std::abs(one.value) < kLargest) || !close(out->at(one.step, one.length), one.value)) return std::nullopt;
  return out;
}

bool Pattern::follows_step() const {
  return std::ranges::any_of(numbers, [](const Affine& number) { return number.step != 0; });
}

bool Pattern::gives(const Tensor& tensor, int64_t step, int64_t length) const {
  if (tensor.dtype() != value.dtype()) return false;
  if (kind == same) return same_content(value, tensor);
  if (kind == grid) return gives_grid(*this, tensor, step, length);
  if (kind == band) return gives_band(*this, tensor, length);
  if (tensor.dims() != value.dims()) return false;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const auto found = entry(tensor, i);
    if (!found || !close(numbers[static_cast<size_t>(i)].at(step, length), *found)) return false;
  }
  return true;
}

std::optional<Pattern> fit(const std::vector<SeenTensor>& seen) {
  if (seen.empty()) return std::nullopt;
  const auto gives_all = [&](const Pattern& pattern) {
    return std::ranges::all_of(seen,
                               [&](const SeenTensor& one) { return pattern.gives(one.value, one.step, one.length); });
  };
  Pattern out;
  out.value = seen.front().value;
  if (gives_all(out)) return out;
  for (const SeenTensor& one : seen)
    if (one.value.dtype() != out.value.dtype() || one.value.count() > kMostEntries) return std::nullopt;
  if (const auto found = fit_entries(seen); found && gives_all(*found)) return found;
  if (const auto found = fit_grid(seen); found && gives_all(*found)) return found;
  if (const auto found = fit_band(seen); found && gives_all(*found)) return found;
  return std::nullopt;
}

}  // namespace anyshape::lower::reroll
