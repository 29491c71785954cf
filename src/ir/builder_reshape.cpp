#include <algorithm>

#include "ir/builder.h"

namespace anyshape {
namespace {

// Pairs (i, j), increasing in both, with from[i] and to[j] the same symbolic size: the longest such list.
std::vector<std::pair<size_t, size_t>> matches(const Dims& from, const Dims& to) {
  std::vector<std::vector<size_t>> best(from.size() + 1, std::vector<size_t>(to.size() + 1));
  const auto equal = [&](size_t i, size_t j) { return !to[j].is_constant() && from[i] == to[j]; };
  for (size_t i = from.size(); i-- > 0;)
    for (size_t j = to.size(); j-- > 0;)
      best[i][j] = equal(i, j) ? best[i + 1][j + 1] + 1 : std::max(best[i + 1][j], best[i][j + 1]);
  std::vector<std::pair<size_t, size_t>> out;
  for (size_t i = 0, j = 0; i < from.size() && j < to.size();) {
    if (equal(i, j)) {
      out.emplace_back(i++, j++);
    } else if (best[i + 1][j] >= best[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return out;
}

Ref reshape_to(Builder& b, Ref x, std::vector<int64_t> target) {
  return b.op("Reshape", {x, b.ints(std::move(target))});
}

// Axes of size 1 come and go: no sizes are needed.
std::optional<Ref> reshape_by_ones(Builder& b, Ref x, const Dims& from, const Dims& to) {
  std::vector<int64_t> gone, added;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && j < to.size() && from[i] == to[j]) {
      ++i, ++j;
    } else if (i < from.size() && from[i] == Dim(1)) {
      gone.push_back(static_cast<int64_t>(i++));
    } else if (j < to.size() && to[j] == Dim(1)) {
      added.push_back(static_cast<int64_t>(j++));
    } else {
      return std::nullopt;
    }
  }
  return b.unsqueeze(b.squeeze(x, gone), added);
}

// A symbolic size is copied (0) from the axis at the same place; axes of size 1 are put in on either side until places
// agree. One size may be left over for -1.
std::optional<Ref> reshape_aligned(Builder& b, Ref x, const Dims& from, const Dims& to, bool same_count) {
  const auto pairs = matches(from, to);
  size_t symbolic = 0;
  for (Dim d : to) symbolic += !d.is_constant();
  if (symbolic - pairs.size() > (same_count ? 1u : 0u)) return std::nullopt;

  std::vector<int64_t> target, put_in, take_out;
  size_t in_front = 0;  // axes put in so far
  size_t pair = 0;
  for (size_t j = 0; j < to.size(); ++j) {
    const bool copied = pair < pairs.size() && pairs[pair].second == j;
    if (copied) {
      const size_t wanted = pairs[pair].first + in_front;
      while (target.size() < wanted) {
        take_out.push_back(static_cast<int64_t>(target.size()));
        target.push_back(1);
      }
      for (size_t k = wanted; k < target.size(); ++k, ++in_front)
        put_in.push_back(static_cast<int64_t>(pairs[pair].first + in_front));
      ++pair;
      target.push_back(0);
    } else {
      target.push_back(to[j].is_constant() ? *to[j].constant() : -1);
    }
  }
  return b.squeeze(reshape_to(b, b.unsqueeze(x, put_in), target), take_out);
}

// Whether an entry of a target can be 0 where the input is not empty, so that it stands for `size`.
bool may_copy(Builder& b, const Dims& from, Dim entry, Dim size) {
  const Condition zero = Condition::eq(entry, 0);
  if (b.assumptions().proves(!zero || Condition::eq(size, 0))) return false;
  Assumptions::Scope scope(b.assumptions());
  b.assumptions().assume(zero);
  return !b.assumptions().proves(Condition::eq(product(from), 0));
}

Ref reshape_computed(Builder& b, Ref x, const Dims& from, const Dims& to, bool same_count, size_t open) {
  // The size that is dearest to compute is left to the runtime.
  size_t left_over = open;
  for (size_t j = 0; same_count && open == to.size() && j < to.size(); ++j) {
    if (to[j].is_constant() || (j < from.size() && from[j] == to[j])) continue;
    if (left_over == to.size() || !b.has_size(to[j])) left_over = j;
  }
  const auto copied = [&](size_t j) { return j < from.size() && from[j] == to[j] && !to[j].is_constant(); };
  // A computed 0 would copy the axis at its place, which is another size unless the input is empty anyway.
  bool copies_by_accident = false;
  for (size_t j = 0; j < std::min(from.size(), to.size()); ++j)
    copies_by_accident |= !to[j].is_constant() && !copied(j) && j != left_over && may_copy(b, from, to[j], from[j]);
  if (copies_by_accident && b.opset() >= 14 && open == to.size())
    return b.op("Reshape", {x, b.shape(to)}, {attr("allowzero", 1)});
  Dims target;
  for (size_t j = 0; j < to.size(); ++j) target.push_back(j == left_over ? Dim(-1) : copied(j) ? Dim(0) : to[j]);
  return b.op("Reshape", {x, b.shape(target)});
}

// Puts a size in the place of -1, which asks for the others not to be 0: what they share with the count cancels. The
// place, where the count need not come out even; else to.size().
size_t close_target(Builder& b, const Dims& from, Dims& to) {
  const auto hole = std::find(to.begin(), to.end(), Dim(-1));
  if (hole == to.end()) return to.size();
  *hole = 1;
  Dim count = product(from), rest = 1;
  for (Dim d : to) {
    const auto quotient = d == Dim(0) ? std::nullopt : exact_div(count, d);
    count = quotient ? *quotient : count;
    rest = quotient ? rest : rest * d;
  }
  const auto exact = b.assumptions().exact_div(count, rest);
  *hole = exact ? *exact : floordiv(count, rest);
  return exact ? to.size() : static_cast<size_t>(hole - to.begin());
}

}  // namespace

Ref Builder::reshape(Ref x, Dims to) {
  if (failed()) return {};
  const Dims from = dims(x);
  const bool asked = std::find(to.begin(), to.end(), Dim(-1)) != to.end();
  const size_t open = close_target(*this, from, to);
  for (Dim& d : to) {
    if (!d.is_constant()) d = assumptions_.simplify(d);
    if (d.is_unknown()) {
      refuse("export.size", "a size of a reshape is computed in a way that has no expression");
      return {};
    }
  }
  if (from == to) return x;
  if (auto done = reshape_by_ones(*this, x, from, to)) return *done;
  const auto is_number = [](Dim d) { return d.is_constant(); };
  const bool has_zero = std::find(to.begin(), to.end(), Dim(0)) != to.end();
  if (has_zero || std::all_of(to.begin(), to.end(), is_number)) {
    std::vector<Attribute> attributes;
    if (has_zero && opset() >= 14) attributes.push_back(attr("allowzero", 1));
    return op("Reshape", {x, shape(to)}, std::move(attributes));
  }
  if (to.size() == 2 && open == to.size())
    for (size_t k = 1; k < from.size(); ++k) {
      const auto middle = from.begin() + static_cast<std::ptrdiff_t>(k);
      if (product({from.begin(), middle}) == to[0] && product({middle, from.end()}) == to[1])
        return op("Flatten", {x}, {attr("axis", static_cast<int64_t>(k))});
    }
  // -1 hides a wrong count, so it is written only where the count is proved or the caller asked for it.
  const bool same_count = asked || same(product(from), product(to));
  if (auto done = reshape_aligned(*this, x, from, to, same_count)) return *done;
  return reshape_computed(*this, x, from, to, same_count, open);
}

Ref Builder::expand(Ref x, Dims to) {
  if (failed()) return {};
  const Dims from = dims(x);
  const size_t added = to.size() - std::min(to.size(), from.size());
  bool nothing = true;
  for (size_t i = 0; i < to.size(); ++i) {
    if (!to[i].is_constant()) to[i] = assumptions_.simplify(to[i]);
    const bool kept = i < added ? to[i] == Dim(1) : same(from[i - added], to[i]);
    if (kept) to[i] = 1;
    nothing &= kept;
  }
  // ONNX Runtime does not expand bfloat16.
  if (!nothing && dtype(x) == DType::bf16) return cast(op("Expand", {cast(x, DType::f32), shape(to)}), DType::bf16);
  if (!nothing) return op("Expand", {x, shape(to)});
  std::vector<int64_t> front(added);
  for (size_t i = 0; i < added; ++i) front[i] = static_cast<int64_t>(i);
  return unsqueeze(x, front);
}

Ref Builder::full(const Dims& dims, const Tensor& value) {
  constexpr int64_t kInline = 4096;
  const Dim count = product(dims);
  const Ref single = constant(value.reshaped({}));
  if (dims.empty()) return single;
  const auto is_number = [](Dim d) { return d.is_constant(); };
  if (std::all_of(dims.begin(), dims.end(), is_number) && count.is_constant() && *count.constant() > kInline)
    return op("Expand", {single, shape(dims)});
  // Before opset 20 there is no bf16 here.
  const bool wide = value.dtype() == DType::bf16 && opset() < 20;
  const Tensor used = wide ? fact(cast(single, DType::f32)).as_tensor() : value;
  if (failed()) return {};
  return cast(op("ConstantOfShape", {shape(dims)}, {attr("value", used.reshaped({1}))}), value.dtype());
}

}  // namespace anyshape
