#include <algorithm>
#include <limits>

#include "solve/rows_rule.h"

namespace anyshape::row_rules {
namespace {

bool count_or_same(const RowCall& call, size_t input) { return call.same(input) || !call.layout(input); }

// Where a tensor of these sizes has the rows when one row follows the other `outer` times, `inner` entries each.
std::optional<RowLayout> layout_in(const Dims& dims, Dim rows, Dim outer, Dim inner) {
  Dim before = 1;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (!dims[axis].mentions(rows)) {
      before = before * dims[axis];
      continue;
    }
    const auto outer_here = exact_div(outer, before);
    const auto inner_here = outer_here ? exact_div(dims[axis], *outer_here * rows) : std::nullopt;
    Dim after = 1;
    for (size_t i = axis + 1; i < dims.size(); ++i) after = after * dims[i];
    if (!inner_here || *inner_here * after != inner) return std::nullopt;
    return RowLayout{axis, *outer_here, *inner_here};
  }
  return std::nullopt;
}

Dim size_product(const Dims& dims, size_t from, size_t to) {
  Dim out = 1;
  for (size_t i = from; i < to; ++i) out = out * dims[i];
  return out;
}

bool has_zero(const Dims& dims) { return std::find(dims.begin(), dims.end(), Dim(0)) != dims.end(); }

// The one axis of the output whose size is made of the number of rows: each of them is `size / rows` entries of it.
std::optional<RowLayout> repeated(const RowCall& call, size_t output) {
  if (!call.out_rank(output)) return std::nullopt;
  const Dims& dims = *call.out(output).dims;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis].mentions(call.rows)) {
      const auto inner = exact_div(dims[axis], call.rows);
      if (!inner) return std::nullopt;
      return RowLayout{axis, 1, *inner};
    }
  return std::nullopt;
}

// The entries of a list of numbers about axes; where the list belongs to the rows' axis it must be a number.
std::optional<Dims> entries(const RowCall& call, size_t input) {
  if (!call.has(input) || !call.in(input).elements || call.in(input).denominator != 1) return std::nullopt;
  return *call.in(input).elements;
}

bool clean(const RowCall& call, Dim entry) { return !entry.mentions(call.rows); }

// The slice takes all of its axis.
bool takes_all(const RowCall& call, const Fact& out, size_t axis, Dim start, std::optional<Dim> step) {
  return start == Dim(0) && (!step || *step == Dim(1)) && (*out.dims)[axis] == (*call.in(0).dims)[axis];
}

}  // namespace

std::optional<RowLayout> reshape(const RowCall& call, size_t output) {
  const RowLayout* layout = call.layout(0);
  if (!layout || !call.rank(0) || !call.out_rank(output)) return std::nullopt;
  for (size_t i = 1; i < call.node.in.size(); ++i)
    if (!count_or_same(call, i)) return std::nullopt;
  const Dims &from = *call.in(0).dims, &to = *call.out(output).dims;
  if (has_zero(from) || has_zero(to)) return std::nullopt;
  return layout_in(to, call.rows, size_product(from, 0, layout->axis) * layout->outer,
                   layout->inner * size_product(from, layout->axis + 1, from.size()));
}

std::optional<RowLayout> transpose(const RowCall& call, size_t) {
  const RowLayout* layout = call.layout(0);
  const auto rank = call.rank(0);
  if (!layout || !rank) return std::nullopt;
  RowLayout out = *layout;
  out.axis = *rank - 1 - layout->axis;
  if (const Attribute* attribute = call.node.attribute("perm")) {
    const auto* perm = std::get_if<std::vector<int64_t>>(&attribute->value);
    const auto it = perm ? std::find(perm->begin(), perm->end(), static_cast<int64_t>(layout->axis))
                         : std::vector<int64_t>::const_iterator();
    if (!perm || it == perm->end()) return std::nullopt;
    out.axis = static_cast<size_t>(it - perm->begin());
  }
  return out;
}

std::optional<RowLayout> concat(const RowCall& call, size_t) {
  const RowLayout* layout = call.layout(0);
  const auto rank = call.rank(0);
  const auto axis = rank ? call.axis("axis", *rank) : std::nullopt;
  if (!layout || !axis || *axis == layout->axis) return std::nullopt;
  for (size_t i = 1; i < call.node.in.size(); ++i)
    if (!call.layout(i) || *call.layout(i) != *layout) return std::nullopt;
  return *layout;
}

std::optional<RowLayout> slice(const RowCall& call, size_t output) {
  constexpr size_t kStarts = 1, kEnds = 2, kAxes = 3, kSteps = 4;
  const RowLayout* layout = call.layout(0);
  const auto rank = call.rank(0);
  if (!layout || !rank || !call.out_rank(output)) return std::nullopt;
  // Up to version 9 all of it is attributes, of which one names the axes or all from the first on are meant.
  const bool by_attributes = call.node.version < 10;
  auto axes = call.axes(kAxes, *rank, false);
  if (!axes) return std::nullopt;
  if (by_attributes)
    return axes->empty() || std::find(axes->begin(), axes->end(), layout->axis) != axes->end() ? std::nullopt
                                                                                               : std::optional(*layout);
  const auto starts = entries(call, kStarts), ends = entries(call, kEnds), steps = entries(call, kSteps);
  if (!call.has(kAxes)) {
    if (!starts) return std::nullopt;
    for (size_t i = 0; i < starts->size(); ++i) axes->push_back(i);
  }
  for (size_t i = 0; i < axes->size(); ++i) {
    if ((*axes)[i] == layout->axis) {
      if (!starts || (call.has(kSteps) && !steps)) return std::nullopt;
      if (!takes_all(call, call.out(output), layout->axis, (*starts)[i], steps ? std::optional((*steps)[i]) : Dim(1)))
        return std::nullopt;
      continue;
    }
    const bool fixed = (call.same(kStarts) || (starts && clean(call, (*starts)[i]))) &&
                       (call.same(kEnds) || (ends && clean(call, (*ends)[i]))) && call.same(kSteps);
    if (!fixed) return std::nullopt;
  }
  return *layout;
}

std::optional<RowLayout> pad(const RowCall& call, size_t) {
  constexpr size_t kPads = 1, kValue = 2, kAxes = 3;
  const RowLayout* layout = call.layout(0);
  const auto rank = call.rank(0);
  const auto pads = entries(call, kPads);
  if (!layout || !rank || !pads || call.has(kAxes) || !call.same(kValue) || pads->size() != 2 * *rank)
    return std::nullopt;
  if ((*pads)[layout->axis] != Dim(0) || (*pads)[layout->axis + *rank] != Dim(0)) return std::nullopt;
  const bool fixed = std::all_of(pads->begin(), pads->end(), [&](Dim entry) { return clean(call, entry); });
  return fixed ? std::optional(*layout) : std::nullopt;
}

std::optional<RowLayout> expand(const RowCall& call, size_t output) {
  const auto rank = call.rank(0), out_rank = call.out_rank(output);
  if (!rank || !out_rank || !count_or_same(call, 1)) return std::nullopt;
  if (const RowLayout* layout = call.layout(0)) {
    RowLayout out = *layout;
    out.axis += *out_rank - *rank;
    return out;
  }
  const auto out = repeated(call, output);
  if (!call.same(0) || !out) return std::nullopt;
  const size_t from_right = *out_rank - out->axis;
  return *rank >= from_right && (*call.in(0).dims)[*rank - from_right] != Dim(1) ? std::nullopt : out;
}

std::optional<RowLayout> tile(const RowCall& call, size_t output) {
  const auto repeats = entries(call, 1);
  const auto rank = call.rank(0);
  if (!rank || !repeats || repeats->size() != *rank) return std::nullopt;
  if (const RowLayout* layout = call.layout(0))
    return (*repeats)[layout->axis] == Dim(1) ? std::optional(*layout) : std::nullopt;
  const auto out = repeated(call, output);
  // Whole copies to each row.
  const bool whole = call.same(0) && out && exact_div((*repeats)[out->axis], call.rows).has_value();
  return whole ? out : std::nullopt;
}

std::optional<RowLayout> filled(const RowCall& call, size_t output) { return repeated(call, output); }

}  // namespace anyshape::row_rules
