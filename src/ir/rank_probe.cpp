#include "ir/rank_probe.h"

#include <algorithm>
#include <unordered_map>

#include "ir/infer.h"

namespace anyshape {
namespace {

bool lacks_rank(const Fact& fact) {
  if (fact.is_tensor()) return !fact.dims;
  const auto lacks = [](const Fact& item) { return lacks_rank(item); };
  if (fact.items) return std::any_of(fact.items->begin(), fact.items->end(), lacks);
  return fact.item && lacks_rank(*fact.item);
}

// Facts with numbers for sizes, of the same size the same.
class Numbers {
 public:
  explicit Numbers(size_t rank) : rank_(rank) {}

  Fact of(const Fact& fact) {
    Fact out = fact;
    if (out.is_tensor() && !out.dims) out.dims.emplace(rank_, Dim::unknown());
    if (out.dims)
      for (Dim& size : *out.dims) size = number(size);
    out.bounds.reset();
    if (out.elements && !out.numbers()) out.elements.reset();
    if (out.item) out.item = std::make_shared<const Fact>(of(*out.item));
    if (out.items) out.items = std::make_shared<const Facts>(all(*out.items));
    if (out.length && !out.length->is_constant()) out.length.reset();
    return out;
  }

 private:
  Facts all(const Facts& facts) {
    Facts out;
    for (const Fact& fact : facts) out.push_back(of(fact));
    return out;
  }

  Dim number(Dim size) {
    if (size.is_constant()) return size;
    if (size.is_unknown()) return ++last_;
    const auto [it, added] = known_.try_emplace(size, last_ + 1);
    if (added) ++last_;
    return it->second;
  }

  size_t rank_;
  int64_t last_ = 100;  // above what attributes and constants are likely to name
  std::unordered_map<Dim, int64_t> known_;
};

}  // namespace

bool lacks_rank(const std::vector<const Fact*>& in) {
  return std::any_of(in.begin(), in.end(), [](const Fact* fact) { return fact && lacks_rank(*fact); });
}

bool refuses_some_rank(const Graph& graph, const Node& node, const std::vector<const Fact*>& in) {
  constexpr size_t kRanks = 7;
  for (size_t rank = 0; rank < kRanks; ++rank) {
    Numbers numbers(rank);
    Facts facts;
    for (const Fact* fact : in) facts.push_back(fact ? numbers.of(*fact) : Fact());
    std::vector<const Fact*> given;
    for (size_t i = 0; i < in.size(); ++i) given.push_back(in[i] ? &facts[i] : nullptr);
    const auto answer = infer_node(graph, node, given);
    if (!answer && answer.error().kind == Error::Kind::refused) return true;
  }
  return false;
}

}  // namespace anyshape
