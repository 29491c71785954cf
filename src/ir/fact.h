#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/box.h"
#include "base/special_members.h"
#include "sym/dim.h"
#include "tensor/datum.h"

namespace anyshape {

struct Fact;
using Facts = std::vector<Fact>;

// Inclusive bounds of every element of an integer tensor.
struct Bounds {
  Dim lo, hi;
  // Both ends are taken by some element whenever there are elements: exceeding a limit is then an error, not a risk.
  bool attained = false;
};

// All that is known about one value before it runs. A fact never claims more than is true at every accepted shape.
struct Fact {
  enum class Kind : uint8_t { unknown, tensor, sparse_tensor, sequence, optional, map };

  static constexpr size_t kMaxElements = 1024;

  Kind kind = Kind::unknown;
  DType dtype = DType::undefined;  // tensor and sparse_tensor; the key type of a map
  // True when the value (not the shape) is a function of input shapes and constants only, never of input data. In a
  // symbolic walk sizes of any value count as shapes: even of one that depends on data a concrete shape may tell all.
  bool from_shapes = false;
  // Sizes of values have a part in it, be it beside data: a concrete shape may tell more than a symbolic walk does.
  bool from_sizes = false;
  std::optional<Dims> dims;  // nullopt: rank not known

  // The entries of a small integer, bool (0 or 1) or float tensor, row-major; entry i has the value
  // elements[i] / denominator. denominator is 1 unless dtype is a float type, where the claim holds for numerators
  // below 2^24 (beyond that float rounding is the model's).
  std::shared_ptr<const Dims> elements;
  int64_t denominator = 1;

  Box<Bounds> bounds;                      // integer tensors whose elements are not known one by one
  std::shared_ptr<const Tensor> constant;  // the value itself, any dtype

  std::shared_ptr<const Fact> item;    // type of a sequence's or optional's content, of a map's values
  std::shared_ptr<const Facts> items;  // a sequence whose length and entries are known one by one
  std::optional<Dim> length;           // of a sequence; of an optional 0 or 1

  ANYSHAPE_SPECIAL_MEMBERS(Fact);

  static Fact tensor(DType dtype, Dims dims);
  static Fact tensor_of_unknown_rank(DType dtype);
  static Fact scalar(DType dtype) { return tensor(dtype, {}); }
  // A tensor with known entries. REQUIRES: values.size() is the product of dims, at most kMaxElements.
  static Fact of_elements(DType dtype, Dims dims, Dims values, int64_t denominator = 1);
  static Fact of_constant(Tensor value);
  // All there is to know about a value that is there. An absent one gives kind unknown.
  static Fact of(const Datum& datum);
  static Fact sequence(Fact item);
  static Fact optional(Fact item);

  bool is_tensor() const { return kind == Kind::tensor; }
  bool has_rank() const { return dims.has_value(); }
  size_t rank() const { return dims->size(); }

  // The single entry of a one-element tensor with known integer entries.
  std::optional<Dim> single() const;
  // The entries as plain numbers, if every one is.
  std::optional<std::vector<int64_t>> numbers() const;
  // Bounds from whichever of elements, constant, bounds is there (integer and bool tensors).
  std::optional<Bounds> value_bounds() const;
  // The value as a tensor: the constant, or built from elements that are all numbers. Empty Tensor otherwise.
  Tensor as_tensor() const;
  // The dims as numbers, if every one is.
  std::optional<std::vector<int64_t>> numeric_dims() const;

  // The same value without what is known of its entries.
  Fact type_only() const;
};

// The two claim the same of a value.
bool same_facts(const Fact& a, const Fact& b);

// "f32[batch, seq, 1]", "i64[2] = [batch, 120]", "seq(f32[?])", "?"; for messages and dumps.
std::string print(const Fact& fact);

}  // namespace anyshape
