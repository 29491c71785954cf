#pragma once

#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace anyshape::lower::reroll {

// A number that follows the step of a loop and the length of the axis.
struct Affine {
  double step = 0, length = 0, rest = 0;

  double at(int64_t its_step, int64_t its_length) const {
    return step * static_cast<double>(its_step) + length * static_cast<double>(its_length) + rest;
  }
  friend bool operator==(const Affine&, const Affine&) = default;
};

// A value seen at a step of a program of that length.
struct Seen {
  int64_t step = 0, length = 0;
  double value = 0;
};
// The one that gives all of them, to within float32's rounding where they are no integers.
std::optional<Affine> fit(const std::vector<Seen>& seen);

// A constant of a program at a step.
struct SeenTensor {
  int64_t step = 0, length = 0;
  Tensor value;
};

// A constant as a function of step and length.
struct Pattern {
  enum Kind : uint8_t {
    same,     // `value`, always
    entries,  // entry i is numbers[i], in the shape of `value`
    grid,  // numbers[0] + sum of strides[k] * (index along axis k), in a shape of sizes `dims` that follow the length
    band,  // a mask: `inside` where the index along axes[1] less that along axes[0] is within lo..hi, else `outside`
  };
  Kind kind = same;
  Tensor value;
  std::vector<Affine> numbers;
  std::vector<Affine> dims;
  std::vector<double> strides;
  size_t axes[2] = {0, 0};
  std::optional<int64_t> lo, hi;  // without: no bound
  double inside = 0, outside = 0;

  bool follows_step() const;
  // What it says there is this, to within float32's rounding.
  bool gives(const Tensor& tensor, int64_t step, int64_t length) const;
};
std::optional<Pattern> fit(const std::vector<SeenTensor>& seen);

}  // namespace anyshape::lower::reroll
