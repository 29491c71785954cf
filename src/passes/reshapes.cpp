#include <algorithm>

#include "ir/fact.h"
#include "passes/draft.h"

namespace anyshape {
namespace {

// Each axis of `from` as a run of axes of `to` whose product it is; nothing where that is not so.
std::optional<std::vector<std::vector<size_t>>> refined(const Dims& from, const Dims& to) {
  std::vector<std::vector<size_t>> out;
  size_t k = 0;
  for (Dim size : from) {
    std::vector<size_t>& run = out.emplace_back();
    Dim product = 1;
    while (k < to.size() && (run.empty() || product != size)) {
      product = product * to[k];
      run.push_back(k++);
    }
    if (product != size) return std::nullopt;
  }
  while (k < to.size() && to[k] == Dim(1) && !out.empty()) out.back().push_back(k++);
  if (k != to.size()) return std::nullopt;
  return out;
}

// The sizes as the second input of Reshape, where constants and "as in the input" can say them.
std::optional<std::vector<int64_t>> target_of(const Dims& from, const Dims& to) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < to.size(); ++i) {
    const auto number = to[i].constant();
    if (number && *number > 0)
      out.push_back(*number);
    else if (i < from.size() && from[i] == to[i])
      out.push_back(0);
    else
      return std::nullopt;
  }
  return out;
}

const std::vector<int64_t>* perm_of(const Node& node) {
  const auto* perm = node.attribute("perm");
  return perm ? std::get_if<std::vector<int64_t>>(&perm->value) : nullptr;
}

struct Chain {
  uint32_t first, transpose, second;  // nodes, by index
  std::optional<uint32_t> ones;       // before the second: adds or drops axes of size 1, which it does as well
};

class Rewriter {
 public:
  explicit Rewriter(Draft& draft)
      : draft_(draft),
        uses_(draft.uses()),
        pinned_(draft.pinned()),
        producers_(draft.producers()),
        dead_(draft.graph.nodes.size(), false) {}

  Status run() {
    for (uint32_t i = 0; i < draft_.graph.nodes.size(); ++i)
      if (const auto chain = chain_of(i)) TRY_OK(rewrite(*chain));
    draft_.drop(dead_);
    return {};
  }

 private:
  Node& node(uint32_t i) { return draft_.graph.nodes[i]; }

  const Dims* dims(ValueId id) const {
    return draft_.facts[id].is_tensor() && draft_.facts[id].dims ? &*draft_.facts[id].dims : nullptr;
  }

  // The node of that operator that makes input 0 of node i, for it alone.
  std::optional<uint32_t> before(uint32_t i, std::string_view op) {
    const ValueId id = node(i).in.empty() ? kNoValue : node(i).in[0];
    if (id == kNoValue || producers_[id] == kNoValue || uses_[id] != 1 || pinned_.contains(id)) return std::nullopt;
    const uint32_t maker = producers_[id];
    if (!is_op(node(maker), op) || draft_.is_demanding(node(maker)) || dead_[maker]) return std::nullopt;
    return maker;
  }

  std::optional<Chain> chain_of(uint32_t i) {
    if (!is_op(node(i), "Reshape") || draft_.is_demanding(node(i))) return std::nullopt;
    auto ones = before(i, "Unsqueeze");
    if (!ones) ones = before(i, "Squeeze");
    const auto transpose = before(ones.value_or(i), "Transpose");
    const auto first = transpose ? before(*transpose, "Reshape") : std::nullopt;
    if (!first || !perm_of(node(*transpose)) || !dims(node(*first).in[0])) return std::nullopt;
    for (uint32_t at : {*first, *transpose, i})
      if (!dims(node(at).out[0])) return std::nullopt;
    return Chain{*first, *transpose, i, ones};
  }

  Status rewrite(const Chain& chain) {
    const auto& perm = *perm_of(node(chain.transpose));
    const ValueId source = node(chain.first).in[0];
    const Dims &middle = *dims(node(chain.transpose).out[0]), &last = *dims(node(chain.second).out[0]);
    const auto runs = refined(middle, last);
    if (!runs || perm.size() != runs->size()) return {};
    // The axes of `last` in the order before the transpose, and where each of them is then.
    Dims split;
    std::vector<int64_t> place(last.size());
    for (size_t axis = 0; axis < perm.size(); ++axis) {
      const size_t after =
          static_cast<size_t>(std::find(perm.begin(), perm.end(), static_cast<int64_t>(axis)) - perm.begin());
      if (after == perm.size()) return {};
      for (size_t k : (*runs)[after]) {
        place[k] = static_cast<int64_t>(split.size());
        split.push_back(last[k]);
      }
    }
    const auto target = target_of(*dims(source), split);
    if (!target) return {};
    return put(chain, source, split, *target, std::move(place));
  }

  // first, transpose, second become a Reshape, where the sizes differ, and a Transpose.
  Status put(const Chain& chain, ValueId source, const Dims& split, const std::vector<int64_t>& target,
             std::vector<int64_t> place) {
    ValueId from = source;
    dead_[chain.first] = dead_[chain.transpose] = true;
    if (chain.ones) dead_[*chain.ones] = true;
    if (*dims(source) != split) {
      TRY(Tensor shape, Tensor::allocate(DType::i64, {static_cast<int64_t>(target.size())}));
      std::copy(target.begin(), target.end(), shape.as_mutable<int64_t>().begin());
      const std::string name = draft_.graph.values[node(chain.transpose).out[0]].name;
      const ValueId sizes = draft_.add_constant(name + ".sizes", std::move(shape));
      from = draft_.add_value(name + ".split", Fact::tensor(draft_.facts[source].dtype, split));
      node(chain.transpose) = node(chain.first);
      node(chain.transpose).in = {source, sizes};
      node(chain.transpose).out = {from};
      dead_[chain.transpose] = false;
      uses_.resize(draft_.facts.size(), 1);
      producers_.resize(draft_.facts.size(), kNoValue);
      producers_[from] = chain.transpose;
    }
    Node& end = node(chain.second);
    end.name = draft_.graph.label(end);
    const int64_t version = node(chain.first).version;
    end.in = {from};
    end.attributes.clear();
    end.attributes.push_back({"perm", std::move(place)});
    set_op(end, "", "Transpose", version);
    return {};
  }

  Draft& draft_;
  std::vector<uint32_t> uses_;
  std::unordered_set<ValueId> pinned_;
  std::vector<uint32_t> producers_;
  std::vector<bool> dead_;
};

}  // namespace

Status join_reshapes(Draft& draft) { return Rewriter(draft).run(); }

}  // namespace anyshape
