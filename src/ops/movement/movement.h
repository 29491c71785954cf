#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "base/temporary.h"
#include "kernels/copy.h"
#include "ops/common.h"

// What the operators that move, select or repeat entries share.
namespace anyshape::ops {

// Positions past this are taken as "to the end": no axis is that long.
inline constexpr int64_t kFar = int64_t{1} << 48;

Temporary<int64_t> row_strides(std::span<const int64_t> dims);

// visit(index, n) for every index of a tensor with these dims, row-major; n counts from 0.
template <class Visit>
void for_each_index(std::span<const int64_t> dims, Visit visit) {
  const auto count = element_count(dims);
  Temporary<int64_t> index(dims.size(), 0);
  for (int64_t n = 0; n < count.value_or(0); ++n) {
    visit(std::span<const int64_t>(index), n);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
  }
}

// out[index] = from[source(index)]; where source is negative, out stays 0.
template <class Source>
void fill_by(Tensor& out, const Tensor& from, Source source) {
  for_each_index(out.dims(), [&](std::span<const int64_t> index, int64_t n) {
    const int64_t offset = source(index);
    if (offset >= 0) kernels::copy_elements(out, n, from, offset, 1);
  });
}

// Like carry_values, for every output at once; entries the kernel does not write are 0.
void carry_all(const Call& call, const Kernel& reference, std::span<const size_t> data, Facts& out);
// The output has every entry of the input and no other: bounds keep that both ends are taken.
void keep_attained(const Fact& in, Fact& out);

// OpDef::view of operators whose only output has the elements of input 0 in the same order.
std::vector<ViewRule> same_elements_view(const Call& call, const Facts& out);
// A window with every axis of input 0 in order, from its start in steps of 1.
ViewRule whole_window(size_t rank);

// The same elements in the same order under other dims. REQUIRES: as many elements.
Fact with_dims(const Fact& in, Dims dims);

// The entries of a small tensor as exact fractions over one denominator.
struct Rationals {
  Dims numerators;
  int64_t denominator = 1;
};
// From known entries, or from a constant of integers or of floats that are multiples of 2^-20.
std::optional<Rationals> rationals_of(const Fact& fact);
// The same entries over a denominator that is a multiple of their own.
Dims over(const Rationals& values, int64_t denominator);
std::optional<int64_t> common_multiple(int64_t a, int64_t b);

// Stands for "computed from these inputs": a function of shapes where all of them are. Absent inputs do not count.
Fact source_of(const Call& call, std::initializer_list<size_t> inputs);

// The axes named by an input (a list or one number), or by attribute `axes` when `input` is past the signature of this
// version. nullopt inside: not named at all. The "unknown" error when they are not known before the model runs.
Result<std::optional<std::vector<int64_t>>> axes_of(const Call& call, std::optional<size_t> input);
// For kernels: the same from the tensors.
std::optional<Temporary<int64_t>> axes_in(const Call& call, const KernelArgs& args, std::optional<size_t> input);
Temporary<int64_t> ints_of(const Tensor& tensor);

// Input i, where its element type is known, has one of the integer types. Code "dtype".
Status require_integers(const Call& call, size_t input);
// The present ones among these inputs have one element type. Code "dtype".
Status require_same_dtype(const Call& call, std::initializer_list<size_t> inputs);

// Every entry of the index tensor must lie within size entries.
Status require_index(const Call& call, InferContext& context, size_t input, Dim size, std::string_view code);
// The last axis of the index tensor holds tuples, entry k of each indexes an axis of sizes[k].
Status require_tuples(const Call& call, InferContext& context, size_t input, const Dims& sizes, std::string_view code);
// The position an index names, or an error with that code. REQUIRES: size >= 0.
Result<int64_t> checked_index(int64_t raw, int64_t size, std::string_view code);

// The smallest of the candidates; those that provably are not are left out.
Dim least_of(InferContext& context, Dims candidates);
// max(0, value), or the value itself where it is provably not negative.
Dim at_least_zero(InferContext& context, Dim value);

// The dims an input of sizes names (Expand, ConstantOfShape, ...): its entries, or fresh sizes where they are not
// known. The "unknown" error when not even their number is.
Result<Dims> sizes_from(const Call& call, InferContext& context, size_t input, std::string_view stem);

}  // namespace anyshape::ops
