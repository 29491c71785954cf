#pragma once

#include <functional>
#include <initializer_list>
#include <span>

#include "base/error.h"
#include "base/temporary.h"
#include "ir/call.h"
#include "ir/fact.h"
#include "ir/infer.h"
#include "ir/op.h"

// What the rules of many operators share.
namespace anyshape::ops {

// -rank <= axis < rank, counted from the front. Error "axis.range".
Result<size_t> normalize_axis(int64_t axis, size_t rank);
Result<Temporary<size_t>> normalize_axes(std::span<const int64_t> axes, size_t rank);  // also refuses a repeated one

// The dims that all of `shapes` broadcast to (NumPy's rule), with the requirements this needs. Code "broadcast".
Result<Dims> broadcast_dims(InferContext& context, std::span<const Dims> shapes);
// `from` must broadcast to exactly `to` (one way). Code "broadcast".
Status require_broadcastable_to(InferContext& context, const Dims& from, const Dims& to, std::string_view what);
// Equal rank and equal dims, axis by axis. Code "shape.equal".
Status require_same_dims(InferContext& context, const Dims& a, const Dims& b, std::string_view what);
// Input i has this rank. Code "rank".
Status require_rank(const Call& call, size_t input, size_t rank);
Status require_min_rank(const Call& call, size_t input, size_t rank);

// The dims as concrete text for a sentence: "[batch, 4, 16]".
inline std::string text(const Dims& dims) { return print(dims); }

// For operators that only move entries around (Gather, Slice, Concat, Transpose, ...): entries and bounds of `out` from
// those of the inputs listed in `data`, by running the reference kernel on entry numbers. Inputs not listed must have
// known values for entries to be carried; bounds are carried whenever every data input has them.
void carry_values(const Call& call, const Kernel& reference, std::initializer_list<size_t> data, Fact& out);
void carry_values(const Call& call, const Kernel& reference, std::span<const size_t> data, Fact& out);

// Entry-by-entry arithmetic on known entries with broadcasting: `fn` gets one entry of each input. Nothing happens when
// an input's entries or dims are not known, or fn answers unknown(). Integer dtypes only (denominators are 1).
using EntryFn = std::function<Dim(std::span<const Dim>)>;
void map_entries(const Call& call, const EntryFn& fn, Fact& out);

// Integer input i as known plain numbers, or nullopt.
std::optional<std::vector<int64_t>> known_numbers(const Call& call, size_t input);

// The largest and smallest value of an integer dtype of at most 64 bits (u64: up to INT64_MAX).
std::pair<int64_t, int64_t> integer_limits(DType dtype);
// `value` when it provably stays within the dtype, else unknown(): the model's own arithmetic would wrap.
Dim fit(InferContext& context, DType dtype, Dim value);

}  // namespace anyshape::ops
