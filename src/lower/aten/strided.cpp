#include <algorithm>

#include "lower/aten/move.h"
#include "lower/aten/nn.h"
#include "lower/strides.h"

namespace anyshape::lower {
namespace {

// What as_strided is asked for, and the memory it reads.
struct Strided {
  Ref x;
  Dims own_sizes, own;  // of x
  Dims sizes, strides;
  Dim offset = 0;  // from x's first entry
};

// first + the sum of steps[i] * (place on axis i), for all places of a tensor of these sizes.
Ref places_strided(Lowering& l, const Dims& sizes, const Dims& steps, Dim first) {
  Ref sum = l->scalar(first);
  for (size_t i = 0; i < sizes.size(); ++i) {
    Ref along = counted(l, sizes[i], DType::i64);
    if (steps[i] != Dim(1)) along = l.op("Mul", {along, l->scalar(steps[i])});
    if (i == 0 && first == Dim(0))
      sum = along;
    else
      sum = l.op("Add", {l->rank(sum) == 0 ? sum : l->unsqueeze(sum, {-1}), along});
  }
  return sum;
}

// Target axes that are axes of x as they are, and the others, which walk over the rest of x as if it were one axis.
struct Walk {
  std::vector<int64_t> kept;  // per target axis: the axis of x, -1 for the others
  std::vector<size_t> rest;   // axes of x, outermost first
  Dims sizes, steps;          // of the other target axes, in entries of that one axis
  Dim first = 0, length = 1;
};

std::vector<int64_t> kept_axes(Lowering& l, const Strided& s) {
  std::vector<int64_t> kept(s.sizes.size(), -1);
  for (size_t i = s.sizes.size(); i-- > 0;)
    for (size_t k = s.own.size(); k-- > 0;) {
      const auto axis = static_cast<int64_t>(k);
      if (kept[i] >= 0 || std::find(kept.begin(), kept.end(), axis) != kept.end() || s.own_sizes[k] == Dim(1)) continue;
      if (l->same(s.sizes[i], s.own_sizes[k]) && l->same(s.strides[i], s.own[k])) kept[i] = axis;
    }
  return kept;
}

std::optional<Walk> walk_of(Lowering& l, const Strided& s, std::vector<int64_t> kept) {
  Walk walk;
  walk.kept = std::move(kept);
  for (size_t k = 0; k < s.own.size(); ++k)
    if (std::find(walk.kept.begin(), walk.kept.end(), static_cast<int64_t>(k)) == walk.kept.end())
      walk.rest.push_back(k);
  Dim unit = 1;
  bool first = true;
  for (size_t i = walk.rest.size(); i-- > 0;) {
    const size_t k = walk.rest[i];
    if (s.own_sizes[k] == Dim(1)) continue;
    if (first) unit = s.own[k];
    if (!first && !l->same(s.own[k], unit * walk.length)) return std::nullopt;
    walk.length = walk.length * s.own_sizes[k];
    first = false;
  }
  const auto in_units = [&](Dim stride) {
    return stride == Dim(0) ? std::optional(stride) : l->assumptions().exact_div(stride, unit);
  };
  const auto start = in_units(s.offset);
  if (!start) return std::nullopt;
  walk.first = *start;
  Dim last = walk.first;
  for (size_t i = 0; i < s.sizes.size(); ++i) {
    if (walk.kept[i] >= 0) continue;
    const auto step = in_units(s.strides[i]);
    if (!step) return std::nullopt;
    walk.sizes.push_back(s.sizes[i]);
    walk.steps.push_back(*step);
    last = last + (s.sizes[i] - Dim(1)) * *step;
  }
  if (!l->proves(Condition::lt(last, walk.length))) return std::nullopt;
  return walk;
}

// With as many axes kept as the others can spare.
std::optional<Walk> best_walk(Lowering& l, const Strided& s) {
  constexpr size_t kMost = 6;
  const std::vector<int64_t> all = kept_axes(l, s);
  if (all.size() > kMost) return std::nullopt;
  std::vector<unsigned> choices(size_t{1} << all.size());
  for (unsigned i = 0; i < choices.size(); ++i) choices[i] = i;
  std::stable_sort(choices.begin(), choices.end(),
                   [](unsigned a, unsigned b) { return __builtin_popcount(a) < __builtin_popcount(b); });
  for (const unsigned dropped : choices) {
    std::vector<int64_t> kept = all;
    bool real = true;
    for (size_t i = 0; i < kept.size(); ++i) {
      if ((dropped >> i & 1) == 0) continue;
      real = real && kept[i] >= 0;
      kept[i] = -1;
    }
    if (!real) continue;
    if (auto walk = walk_of(l, s, std::move(kept))) return walk;
  }
  return std::nullopt;
}

Ref walked(Lowering& l, const Strided& s, const Walk& walk) {
  std::vector<int64_t> order, target, others;
  Dims merged;
  int64_t place = -1;
  const auto add_rest = [&] {
    place = static_cast<int64_t>(merged.size());
    order.insert(order.end(), walk.rest.begin(), walk.rest.end());
    merged.push_back(walk.length);
  };
  for (const int64_t axis : walk.kept) {
    if (axis < 0 && place < 0) add_rest();
    if (axis < 0) continue;
    order.push_back(axis);
    merged.push_back(s.own_sizes[static_cast<size_t>(axis)]);
  }
  if (place < 0) add_rest();
  const Ref line = l->reshape(l->transpose(s.x, order), merged);
  const bool whole =
      walk.first == Dim(0) && l->same(product(walk.sizes), walk.length) && walk.steps == row_major(walk.sizes);
  Ref out;
  if (whole) {
    Dims sizes = merged;
    const auto at = sizes.erase(sizes.begin() + place);
    sizes.insert(at, walk.sizes.begin(), walk.sizes.end());
    out = l->reshape(line, sizes);
  } else {
    out = l->gather(line, places_strided(l, walk.sizes, walk.steps, walk.first), place);
  }
  // The other axes stand together now.
  int64_t next_kept = 0, next_other = place;
  const auto count = static_cast<int64_t>(walk.sizes.size());
  for (const int64_t axis : walk.kept) {
    if (next_kept == place) next_kept += count;
    target.push_back(axis < 0 ? next_other++ : next_kept++);
  }
  return target == all_axes(target.size()) ? out : l->transpose(out, target);
}

// The axes of x from the outermost to the innermost in memory; empty, and refused, where they do not fill it.
std::vector<int64_t> memory_order(Lowering& l, const Strided& s) {
  std::vector<int64_t> order;
  Dim expected = 1;
  const auto rank = static_cast<int64_t>(s.own.size());
  while (static_cast<int64_t>(order.size()) < rank) {
    int64_t next = -1;
    for (int64_t k = rank; k-- > 0 && next < 0;) {
      const auto at = static_cast<size_t>(k);
      if (std::find(order.begin(), order.end(), k) != order.end()) continue;
      if (s.own_sizes[at] == Dim(1) || l->same(s.own[at], expected)) next = k;
    }
    if (next < 0) {
      l->refuse("aten.as_strided",
                "as_strided reads memory of which the tensor is only a part; call .contiguous() before");
      return {};
    }
    order.push_back(next);
    expected = expected * s.own_sizes[static_cast<size_t>(next)];
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// Over all of x's memory.
Ref places_in_memory(Lowering& l, const Strided& s) {
  for (const Dim stride : s.strides)
    for (const Dim own : s.own)
      if (std::find(s.own.begin(), s.own.end(), stride) == s.own.end() && l.captured().is_baked(stride, own)) {
        l->refuse("aten.as_strided",
                  "as_strided has the number {} as a stride where the tensor's own stride is {}: the program was "
                  "captured with"
                  " the sizes of the example in it",
                  print(stride), print(own));
        return {};
      }
  return places_strided(l, s.sizes, s.strides, s.offset);
}

std::optional<Strided> strided_of(Lowering& l, const Args& a) {
  Strided s;
  s.x = a.self();
  s.own_sizes = l->dims(s.x);
  s.sizes = a.dims("size");
  s.strides = a.dims("stride");
  s.offset = a.dim("storage_offset");
  const Var variable = a.self_variable();
  const auto own = variable ? l.memory().strides(variable) : row_major(s.own_sizes);
  if (l->failed()) return std::nullopt;
  if (!own || s.sizes.size() != s.strides.size()) {
    l->refuse("aten.as_strided",
              "how the tensor lies in memory is not known, which as_strided depends on; call"
              " .contiguous() before");
    return std::nullopt;
  }
  if (s.offset != Dim(0) && variable && variable->base) {
    l->refuse("aten.as_strided", "as_strided with a storage_offset of a view; call .clone() before");
    return std::nullopt;
  }
  s.own = *own;
  for (Dims* dims : {&s.sizes, &s.strides, &s.own})
    for (Dim& dim : *dims) dim = l->assumptions().simplify(dim);
  return s;
}

Arg as_strided(Lowering& l, const Args& a) {
  const auto s = strided_of(l, a);
  if (!s) return {};
  if (const auto walk = best_walk(l, *s)) return walked(l, *s, *walk);
  const Ref index = places_in_memory(l, *s);
  const std::vector<int64_t> order = memory_order(l, *s);
  if (l->failed()) return {};
  return l->gather(l->reshape(l->transpose(s->x, order), {product(s->own_sizes)}), index, 0);
}

// Where places coincide PyTorch leaves open which of the entries stays.
Ref scattered_strided(Lowering& l, const Args& a, Ref part) {
  const auto s = strided_of(l, a);
  if (!s) return {};
  const Ref index = places_in_memory(l, *s);
  const std::vector<int64_t> order = memory_order(l, *s);
  if (l->failed()) return {};
  if (order != all_axes(order.size())) {
    l->refuse("aten.as_strided", "as_strided writes into memory in another order than that of the tensor's axes");
    return {};
  }
  const Dim count = product(s->sizes);
  const Ref flat = l->reshape(s->x, {product(s->own_sizes)});
  const Ref out =
      l.op("ScatterElements", {flat, l->reshape(l->expand(index, s->sizes), {count}), l->reshape(part, {count})},
           {attr("axis", int64_t{0})});
  return l->reshape(out, s->own_sizes);
}

Ref put_strided(Lowering& l, const Args& a, Ref self, Ref part, size_t) {
  return scattered_strided(l, a.with_self(self), part);
}

Arg as_strided_scatter(Lowering& l, const Args& a) {
  return scattered_strided(l, a, l->cast(a.tensor("src"), l->dtype(a.self())));
}

constexpr AtenOp kStridedOps[] = {
    {.name = "as_strided", .lower = as_strided, .put = put_strided, .reorders = true},
    {.name = "as_strided_copy", .lower = as_strided},
    {.name = "as_strided_scatter", .lower = as_strided_scatter},
};

}  // namespace

std::span<const AtenOp> strided_ops() { return kStridedOps; }

}  // namespace anyshape::lower
