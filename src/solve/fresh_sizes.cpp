#include "solve/fresh_sizes.h"

#include <algorithm>
#include <unordered_set>

namespace anyshape {
namespace {

bool on_axes(const FreshSizes& sizes, const Condition& condition) {
  const auto symbols = condition.symbols();
  return std::all_of(symbols.begin(), symbols.end(), [&](Dim s) { return sizes.kind(s) == SymbolKind::axis; });
}

}  // namespace

SymbolKind FreshSizes::kind(Dim symbol) const {
  const auto it = kinds.find(symbol);
  return it == kinds.end() ? SymbolKind::axis : it->second;
}

Condition whole(const Requirement& r) { return r.path.is_always() ? r.condition : !r.path || r.condition; }

Condition with_bounds(const FreshSizes& sizes, Condition condition) {
  const auto says_more = [](const Condition& bound) { return bound.symbols().size() > 1 || bound.any_of().size() > 1; };
  std::vector<const Condition*> left;
  for (const Condition& bound : sizes.bounds)
    if (says_more(bound)) left.push_back(&bound);
  std::unordered_set<Dim> on_data;
  for (bool more = true; more && !condition.is_opaque();) {
    for (Dim symbol : condition.symbols())
      if (sizes.kind(symbol) == SymbolKind::data) on_data.insert(symbol);
    const auto begin = std::stable_partition(left.begin(), left.end(), [&](const Condition* bound) {
      const auto symbols = bound->symbols();
      return std::none_of(symbols.begin(), symbols.end(), [&](Dim symbol) { return on_data.contains(symbol); });
    });
    more = begin != left.end();
    for (auto it = begin; it != left.end(); ++it) condition = condition && **it;
    left.erase(begin, left.end());
  }
  return condition;
}

Projection without_data(const FreshSizes& sizes, const Assumptions& ground, Condition condition) {
  Projection projection{std::move(condition), true};
  if (projection.condition.is_opaque()) return {Condition::opaque(), false};
  for (Dim symbol : projection.condition.symbols()) {
    if (sizes.kind(symbol) != SymbolKind::data) continue;
    const Projection step = eliminate(projection.condition, symbol, ground);
    projection = {step.condition, projection.exact && step.exact};
  }
  const bool told = !projection.condition.is_opaque() && on_axes(sizes, projection.condition);
  return told ? projection : Projection{Condition::opaque(), false};
}

}  // namespace anyshape
