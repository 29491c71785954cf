#include "solve/baked.h"

#include "sym/assumptions.h"

namespace anyshape {

std::optional<int64_t> baked_size(const Condition& condition, Dim symbol) {
  constexpr int64_t kLarge = int64_t{1} << 32;
  for (const auto& conjunction : condition.any_of())
    for (const Relation& relation : conjunction) {
      if (relation.kind != Relation::Kind::eq || relation.expr.symbols() != std::vector<Dim>{symbol}) continue;
      const auto sizes = PeriodicSet::solve(Condition::of(relation), symbol, 2, std::nullopt);
      const auto large = PeriodicSet::solve(Condition::of(relation), symbol, kLarge, std::nullopt);
      if (large && !large->empty()) continue;
      if (const auto size = sizes ? sizes->smallest() : std::nullopt) return size;
    }
  return std::nullopt;
}

}  // namespace anyshape
