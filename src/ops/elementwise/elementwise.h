#pragma once

#include <functional>
#include <optional>
#include <span>

#include "ops/common.h"

// What the operators that work entry by entry share.
namespace anyshape::ops {

// Groups of element types, to be or-ed.
enum TypeMask : unsigned {
  kMaskBool = 1,
  kMaskInt = 2,    // i8..i64, u8..u64
  kMaskFloat = 4,  // f16 bf16 f32 f64
  kMaskString = 8,
  kMaskOther = 16,  // complex, float8, float4, (u)int4, (u)int2
  kMaskNumber = kMaskInt | kMaskFloat,
  kMaskAny = 31,
};

// Input i is a tensor (or nothing is known of it) with an element type of the mask. Codes "kind", "dtype".
Status require_tensor(const Call& call, size_t input, unsigned mask = kMaskAny);
// All these inputs have one element type where it is known; gives it. Code "dtype.equal".
Result<DType> common_dtype(const Call& call, size_t first, size_t last);

// One entry: num / den, den >= 1. In a float tensor a den that is a power of two means the entry is exactly that
// number; any other den means it is that number rounded once.
struct Ratio {
  Dim num;
  int64_t den = 1;
};
inline bool exact(const Ratio& r) { return (r.den & (r.den - 1)) == 0; }

// The entries that are known one by one: elements, or a small float constant with exact dyadic values.
std::optional<std::vector<Ratio>> known_entries(const Fact& fact);

// `r` when a tensor of that dtype holds it as claimed, else unknown.
Ratio settle_ratio(InferContext& context, DType dtype, Ratio r);

// Entries of `out` from those of all inputs, with broadcasting; absent inputs are unknown() in the span. Nothing
// happens unless every present input is known. Float results that are all plain numbers are left to the kernel, which
// knows signed zeros and rounding.
using RatioFn = std::function<Ratio(std::span<const Ratio>)>;
void map_ratios(const Call& call, InferContext& context, const RatioFn& fn, Fact& out);
inline Ratio unknown_ratio() { return {Dim::unknown(), 1}; }
// Gives `out` these entries, unless one is unknown.
void set_entries(Fact& out, const std::vector<Ratio>& entries);

// `out.bounds` with both ends in the dtype's range, else nothing.
void set_bounds(InferContext& context, Fact& out, Dim lo, Dim hi, bool attained = false);
std::optional<Bounds> bounds_of(const Call& call, size_t input);

// Integer division as ONNX does it, towards zero. unknown() unless the divisor is provably positive or a constant.
Dim truncated_div(InferContext& context, Dim a, Dim b);
// 1 where the condition holds, else 0.
Dim truth(InferContext& context, const Condition& condition);
// a where cond, else b, with the condition decided if it can be.
Dim choose(InferContext& context, const Condition& condition, Dim a, Dim b);

// The attributes of operators that broadcast, before version 7.
inline constexpr AttributeDef kOldBroadcast[] = {{"axis", AttributeDef::integer, {1, 6}}, {"broadcast", 0, {1, 6}}};

// The dims all inputs broadcast to. Before version 7 the attributes `broadcast` and `axis` say how the second input is
// laid under the first. nullopt: not known, because a rank is not and the other inputs are scalars.
Result<std::optional<Dims>> elementwise_dims(const Call& call, InferContext& context);
// The dims of the second input with the 1s that `axis` of the old versions stands for.
template <class List>
List legacy_dims(const Call& call, size_t first_rank, List second) {
  const int64_t rank = static_cast<int64_t>(first_rank), own = static_cast<int64_t>(second.size());
  if (call.version() >= 7 || call.i("broadcast") == 0 || !call.has_attr("axis") || own > rank) return second;
  const int64_t axis = call.i("axis") < 0 ? call.i("axis") + rank : call.i("axis");
  if (axis < 0 || axis > rank - own) return second;
  second.resize(static_cast<size_t>(rank - axis), typename List::value_type(1));
  return second;
}

// A fact of that dtype with these dims, or of unknown rank.
Fact typed(DType dtype, std::optional<Dims> dims);

}  // namespace anyshape::ops
