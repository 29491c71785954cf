#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

// The stored pair of a generated class: inputs drawn by a generator that MQL5 repeats, and what they give.
namespace anyshape::mqh {

// How the entries of an input are drawn.
struct Recipe {
  // Entry i of floats is centre[k] + spread[k] * u with u from -1 up to 1 in steps of 1/1024, k = i / inner % size.
  std::vector<double> centre{0}, spread{1};
  int64_t inner = 1;
  int64_t span = 8;  // integers are 0 .. span - 1
};

struct InputSample {
  Recipe recipe;
  std::vector<double> entries;
};

struct OutputSample {
  std::vector<double> entries;  // every step-th
  int64_t step = 1;
  double scale = 1;      // the largest entry: errors are told as parts of it
  double tolerance = 0;  // 0: entries are equal
  double weighted = 0;   // the sum of (1 + i % 7) * entry i, divided by their number
};

// A stored entry that stands for a number that is not finite.
inline constexpr double kNotFinite = 1.7976931348623157e308;

// Numbers of 23 bits: state = (1103515245 * state + 12345) mod 2^31, the lower 8 bits left out.
class Generator {
 public:
  uint32_t next() {
    state_ = (1103515245u * state_ + 12345u) & 0x7fffffffu;
    return state_ >> 8;
  }

 private:
  uint32_t state_ = 1;
};

// The entries of a tensor of that type, in order.
std::vector<double> draw(Generator& generator, const Recipe& recipe, DType type, int64_t count);
// The tensor with these entries. Errors: tensor.memory.
Result<Tensor> tensor_of(DType type, const std::vector<int64_t>& dims, const std::vector<double>& entries);
// What is stored of an output.
OutputSample sample_of(const Tensor& output);
bool all_finite(const Tensor& tensor);

}  // namespace anyshape::mqh
