#include "ops/control/invariant.h"

namespace anyshape::ops {
namespace {

constexpr int kMaxTrials = 8;

}  // namespace

Fact source_of_sizes(bool from_shapes) {
  Fact source;
  source.from_shapes = from_shapes;
  return source;
}

Facts carried_of(const Iteration& iteration, const Facts& outputs) {
  const auto first = outputs.begin() + static_cast<ptrdiff_t>(iteration.carried_at);
  return Facts(first, first + static_cast<ptrdiff_t>(iteration.carried));
}

Invariant::Invariant(InferContext& context, const Iteration& iteration, const Facts& initial, const Facts& first,
                     Dim number, bool by_shapes)
    : context_(context), iteration_(iteration), number_(number), by_shapes_(by_shapes) {
  for (size_t i = 0; i < initial.size(); ++i) state_.push_back(guess(initial[i], first[i]));
}

Result<Facts> Invariant::settle(const Condition& path) {
  for (int trial = 0; trial < kMaxTrials; ++trial) {
    auto outputs = context_.try_body(*iteration_.body, iteration_.inputs(number_, state_), path);
    if (!outputs) {
      if (outputs.error().kind != Error::Kind::refused || blank_) return outputs;
      blank();
      continue;
    }
    if (!weaken(carried_of(iteration_, *outputs))) return outputs;
  }
  blank();
  return context_.try_body(*iteration_.body, iteration_.inputs(number_, state_), path);
}

bool Invariant::exact() const {
  const auto known = [](const Fact& fact) { return !fact.is_tensor() || fact.dims; };
  return !blank_ && free_.empty() && std::all_of(state_.begin(), state_.end(), known);
}

bool Invariant::mentions_free(Dim dim) const {
  const auto used = dim.symbols();
  return std::any_of(used.begin(), used.end(), [&](Dim s) { return is_free(s); });
}

Facts Invariant::after(Dim count) {
  Facts out;
  for (const Fact& fact : state_) {
    out.push_back(map_dims(fact, [&](Dim d) {
      if (is_free(d)) return context_.fresh(source_of_sizes(by_shapes_), std::string(iteration_.code));
      return d.is_unknown() ? d : context_.simplify(substitute(d, {{number_, count}}));
    }));
    if (fact.kind == Fact::Kind::sequence && !fact.length)
      out.back().length = context_.fresh(source_of_sizes(by_shapes_), "length");
    const auto& elements = out.back().elements;
    if (elements && std::any_of(elements->begin(), elements->end(), [](Dim d) { return d.is_unknown(); }))
      out.back().elements = nullptr;
    out.back().from_shapes = fact.from_shapes && by_shapes_;
  }
  return out;
}

void Invariant::assume_free() const {
  for (Dim d : free_) context_.assumptions().assume(Condition::ge(d, 0));
}

Dim Invariant::free_size() {
  free_.push_back(context_.fresh(source_of_sizes(by_shapes_), std::string(iteration_.code)));
  return free_.back();
}

Fact Invariant::guess(const Fact& initial, const Fact& first) {
  const JoinDim grow = [&](Dim a, Dim b) { return a + number_ * (b - a); };
  auto joined = join(context_, initial, first, {grow, grow});
  Fact out = joined ? *std::move(joined) : Fact();
  if (out.bounds && !(initial.bounds && first.bounds && same(context_, initial, first))) out.bounds.reset();
  if (iteration_.fixed_dims) out.dims = initial.dims;
  return out;
}

bool Invariant::weaken(const Facts& outputs) {
  bool changed = false;
  for (size_t i = 0; i < state_.size(); ++i) {
    Fact expected = map_dims(state_[i], [&](Dim d) { return substitute(d, {{number_, number_ + 1}}); });
    Fact next = weaker(expected, outputs[i]);
    if (same(context_, next, expected)) continue;
    changed = true;
    // Parts that were kept are still functions of the iteration number: shift them back.
    state_[i] = map_dims(next, [&](Dim d) { return is_free(d) ? d : substitute(d, {{number_, number_ - 1}}); });
  }
  return changed;
}

Fact Invariant::weaker(const Fact& expected, const Fact& output) {
  const JoinDim loosen = [&](Dim a, Dim) { return is_free(a) ? a : free_size(); };
  auto joined = join(context_, expected, output, {loosen, std::nullopt});
  if (!joined) return Fact();
  if (joined->bounds && !expected.bounds) joined->bounds.reset();
  if (joined->bounds && !same_bounds(*joined->bounds, *expected.bounds)) joined->bounds.reset();
  if (iteration_.fixed_dims) joined->dims = expected.dims;
  return *std::move(joined);
}

void Invariant::blank() {
  blank_ = true;
  for (Fact& fact : state_) {
    const bool from_shapes = fact.from_shapes;
    fact = fact.type_only();
    fact.from_shapes = from_shapes;
    fact.length.reset();
    if (!iteration_.fixed_dims) fact.dims.reset();
    if (fact.item) {
      Fact item = fact.item->type_only();
      item.dims.reset();
      fact.item = std::make_shared<const Fact>(std::move(item));
    }
  }
}

}  // namespace anyshape::ops
