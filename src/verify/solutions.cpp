#include "verify/solutions.h"

#include <algorithm>
#include <unordered_set>

#include "base/work.h"
#include "sym/assumptions.h"

namespace anyshape {
namespace {

constexpr int64_t kLargestSide = 4096;
constexpr size_t kMostSolutions = 32, kMostSymbols = 4;

bool is_equation(const Condition& condition) {
  const auto ties = [](const Relation& one) {
    return one.kind == Relation::Kind::eq && one.expr.symbols().size() >= 2;
  };
  return !condition.is_opaque() &&
         std::any_of(condition.any_of().begin(), condition.any_of().end(),
                     [&](const auto& all) { return std::any_of(all.begin(), all.end(), ties); });
}

std::vector<SymbolSizes> solutions_of(const Condition& condition, Dim first, Dim second) {
  std::vector<SymbolSizes> out;
  std::unordered_set<int64_t> seen;
  for (int64_t size = 1; size <= kLargestSide && !Work::stopped(); ++size) {
    const auto left = PeriodicSet::solve(substitute(condition, {{first, Dim(size)}}), second, 1, kLargestSide);
    const auto other = left ? left->smallest() : std::nullopt;
    if (!other || !seen.insert(*other).second) continue;
    if (out.size() == kMostSolutions) return {};
    out.push_back({{first, size}, {second, *other}});
  }
  return out;
}

}  // namespace

std::vector<SymbolSizes> few_solutions(const Condition& condition, const SymbolSizes& others) {
  const std::vector<Dim> symbols = condition.symbols();
  std::vector<SymbolSizes> out;
  if (!is_equation(condition) || symbols.size() > kMostSymbols) return out;
  for (size_t i = 0; i < symbols.size(); ++i)
    for (size_t k = i + 1; k < symbols.size(); ++k) {
      std::vector<std::pair<Dim, Dim>> known;
      for (Dim symbol : symbols)
        if (const auto size = others.find(symbol); symbol != symbols[i] && symbol != symbols[k] && size != others.end())
          known.emplace_back(symbol, Dim(size->second));
      for (SymbolSizes& one : solutions_of(substitute(condition, known), symbols[i], symbols[k]))
        out.push_back(std::move(one));
    }
  return out;
}

}  // namespace anyshape
