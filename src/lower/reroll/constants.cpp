#include "lower/reroll/constants.h"

#include <algorithm>
#include <cmath>

#include "tensor/real.h"

namespace anyshape::lower::reroll {
namespace {

// What is computed with before the result gets its type.
DType wide_of(DType dtype) { return is_float(dtype) ? DType::f64 : DType::i64; }

bool is_whole(double value) { return value == std::floor(value); }

bool whole(const Pattern& pattern) {
  return std::ranges::all_of(
      pattern.numbers, [](const Affine& n) { return is_whole(n.step) && is_whole(n.length) && is_whole(n.rest); });
}

// The first number of a grid, of rank 0.
Pattern corner_of(const Pattern& grid) {
  Pattern out = grid;
  out.kind = Pattern::entries;
  if (auto number = Tensor::allocate(grid.value.dtype(), {})) out.value = *std::move(number);
  return out;
}

}  // namespace

Constants::Constants(Builder& builder, Dim length, const CapturedSteps& model) : b_(builder), length_(length) {
  for (const Value& value : model.graph->values)
    if (value.is_initializer) names_[value.constant->as_tensor().bytes().data()] = value.name;
}

Dim Constants::size(const Affine& number) const {
  return length_ * Dim(static_cast<int64_t>(number.length)) + static_cast<int64_t>(number.rest);
}

std::optional<Dims> Constants::sizes(const Pattern& pattern) const {
  if (pattern.kind != Pattern::entries || pattern.value.rank() != 1 || is_float(pattern.value.dtype()) ||
      !whole(pattern) || pattern.follows_step())
    return std::nullopt;
  Dims out;
  for (const Affine& number : pattern.numbers) out.push_back(size(number));
  return out;
}

Ref Constants::weight(const Tensor& tensor) {
  const std::byte* data = tensor.bytes().data();
  const auto name = data ? names_.find(data) : names_.end();
  if (name == names_.end()) return b_.constant(tensor);
  const auto [known, first] = made_.try_emplace(data);
  if (first) known->second = b_.constant(tensor, name->second);
  return known->second;
}

// One number of each entry, as a tensor in the constant's shape.
Ref Constants::filled(const Pattern& pattern, double Affine::*part) {
  const DType dtype = wide_of(pattern.value.dtype());
  auto made = Tensor::allocate(dtype, pattern.value.dims());
  if (!made) {
    b_.fail(std::move(made).error());
    return {};
  }
  for (int64_t i = 0; i < made->count(); ++i) {
    const double value = pattern.numbers[static_cast<size_t>(i)].*part;
    if (dtype == DType::i64)
      made->set_int(i, static_cast<int64_t>(value));
    else
      set_real(*made, i, value);
  }
  return b_.constant(*std::move(made));
}

Ref Constants::real(const Pattern& pattern) {
  const Ref rest = filled(pattern, &Affine::rest);
  const bool moves = std::ranges::any_of(pattern.numbers, [](const Affine& n) { return n.length != 0; });
  if (!moves) return rest;
  const Ref length = b_.cast(b_.scalar(length_), wide_of(pattern.value.dtype()));
  return b_.op("Add", {b_.op("Mul", {filled(pattern, &Affine::length), length}), rest});
}

Ref Constants::entries(const Pattern& pattern) {
  if (is_float(pattern.value.dtype())) return real(pattern);
  Dims numbers;
  for (const Affine& number : pattern.numbers) numbers.push_back(size(number));
  if (pattern.value.rank() == 0) return b_.scalar(numbers[0]);
  const Ref flat = b_.shape(numbers);
  const auto& dims = pattern.value.dims();
  return pattern.value.rank() == 1 ? flat : b_.reshape(flat, Dims(dims.begin(), dims.end()));
}

Ref Constants::grid(const Pattern& pattern) {
  const DType dtype = wide_of(pattern.value.dtype());
  Ref out = entries(corner_of(pattern));
  Dims dims;
  for (const Affine& dim : pattern.dims) dims.push_back(size(dim));
  for (size_t k = 0; k < dims.size(); ++k) {
    if (pattern.strides[k] == 0) continue;
    const Ref index = b_.op("Range", {b_.number(int64_t{0}), b_.scalar(dims[k]), b_.number(int64_t{1})});
    const Ref stride = dtype == DType::i64 ? b_.integer(static_cast<int64_t>(pattern.strides[k]), dtype)
                                           : b_.number(pattern.strides[k], dtype);
    Ref along = b_.op("Mul", {b_.cast(index, dtype), stride});
    std::vector<int64_t> behind;
    for (size_t rest = k + 1; rest < dims.size(); ++rest) behind.push_back(static_cast<int64_t>(rest - k));
    if (!behind.empty()) along = b_.unsqueeze(along, behind);
    out = b_.op("Add", {out, along});
  }
  return b_.expand(out, dims);
}

Ref Constants::band(const Pattern& pattern) {
  Dims dims;
  for (const Affine& dim : pattern.dims) dims.push_back(size(dim));
  const auto index = [&](size_t axis) {
    const Ref range = b_.op("Range", {b_.number(int64_t{0}), b_.scalar(dims[axis]), b_.number(int64_t{1})});
    std::vector<int64_t> behind(dims.size() - 1 - axis);
    for (size_t k = 0; k < behind.size(); ++k) behind[k] = static_cast<int64_t>(k + 1);
    return behind.empty() ? range : b_.unsqueeze(range, behind);
  };
  const Ref apart = b_.op("Sub", {index(pattern.axes[1]), index(pattern.axes[0])});
  Ref beyond;
  if (pattern.lo) beyond = b_.op("Less", {apart, b_.number(*pattern.lo)});
  if (pattern.hi) {
    const Ref above = b_.op("Greater", {apart, b_.number(*pattern.hi)});
    beyond = beyond ? b_.op("Or", {beyond, above}) : above;
  }
  const DType dtype = wide_of(pattern.value.dtype());
  const auto number = [&](double value) {
    return dtype == DType::i64 ? b_.number(static_cast<int64_t>(value)) : b_.number(value, dtype);
  };
  const Ref inside = number(pattern.inside);
  return b_.expand(beyond ? b_.op("Where", {beyond, number(pattern.outside), inside}) : inside, dims);
}

Ref Constants::at_start(const Pattern& pattern) {
  if (pattern.kind == Pattern::same) return weight(pattern.value);
  return b_.cast(wide_start(pattern), pattern.value.dtype());
}

Ref Constants::wide_start(const Pattern& pattern) {
  if (pattern.kind == Pattern::band) return band(pattern);
  return pattern.kind == Pattern::grid ? grid(pattern) : entries(pattern);
}

Ref Constants::wide_step(const Pattern& pattern) {
  return filled(pattern.kind == Pattern::grid ? corner_of(pattern) : pattern, &Affine::step);
}

}  // namespace anyshape::lower::reroll
