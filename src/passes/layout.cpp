#include "passes/layout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "ops/nn/blocked.h"

// Chains of convolutions, and what stands between them, work on blocked channels; values are reordered where a chain
// begins and ends.
namespace anyshape {
namespace {

using layout::Form;
using layout::Operand;

// Sizes that are not known are taken for this many, to weigh work against reorders.
constexpr int64_t kNominal = 64;
// What one entry costs that is reordered, in multiply-adds saved in convolutions.
constexpr double kReorder = 32;
// Convolutions of one place are matrix products, which plain channels suit nearly as well.
constexpr double kPointwise = 0.25;

double nominal_count(const Dims& dims) {
  double count = 1;
  for (Dim d : dims)
    count *= static_cast<double>(
        std::max<int64_t>(1, evaluate(d, [](Dim) { return std::optional(kNominal); }).value_or(kNominal)));
  return count;
}

// Which nodes work on blocked channels.
class Choice {
 public:
  explicit Choice(const Draft& draft)
      : draft_(draft), producers_(draft.producers()), pinned_(draft.pinned()), forms_(draft.graph.nodes.size()) {
    for (size_t i = 0; i < forms_.size(); ++i) forms_[i] = layout::form_of(draft, draft.graph.nodes[i], lanes());
    leave_out_loose_ends();
    leave_out_what_does_not_pay();
  }

  int64_t lanes() const { return draft_.target.lanes; }
  const std::optional<Form>& form(size_t node) const { return forms_[node]; }
  // Made by a node that works on blocked channels.
  bool is_blocked(ValueId id) const { return producers_[id] != kNoValue && forms_[producers_[id]].has_value(); }
  bool reads_plain(const Form& form, size_t input, ValueId id) const {
    if (form.in[input] == Operand::blocked) return form.stem && input == 0 && !is_blocked(id);
    return form.in[input] != Operand::channels;
  }

  // Values that somebody reads as they were.
  std::vector<bool> wanted_plain() const {
    std::vector<bool> out(draft_.graph.values.size(), false);
    for (ValueId id : pinned_)
      if (id != kNoValue) out[id] = true;
    for (size_t i = 0; i < forms_.size(); ++i) {
      const Node& node = draft_.graph.nodes[i];
      for (size_t k = 0; k < node.in.size(); ++k)
        if (node.in[k] != kNoValue && (!forms_[i] || reads_plain(*forms_[i], k, node.in[k]))) out[node.in[k]] = true;
    }
    return out;
  }

 private:
  // Only convolutions begin a chain. What else reads two values, one of them plain, or makes more places than it reads
  // is worth it in the middle of one.
  void leave_out_loose_ends() {
    for (bool again = true; again;) {
      again = false;
      const std::vector<bool> read = read_by_chain();
      for (size_t i = 0; i < forms_.size(); ++i) {
        if (!forms_[i] || forms_[i]->kind == Form::Kind::convolution) continue;
        const Node& node = draft_.graph.nodes[i];
        size_t blocked = 0, plain = 0;
        for (size_t k = 0; k < node.in.size(); ++k)
          if (forms_[i]->in[k] == Operand::blocked) ++(is_blocked(node.in[k]) ? blocked : plain);
        const bool grows = forms_[i]->kind == Form::Kind::transposed || forms_[i]->kind == Form::Kind::resize;
        if (blocked > 0 && ((plain == 0 && !grows) || read[node.out[0]])) continue;
        forms_[i].reset();
        again = true;
      }
    }
  }

  std::vector<bool> read_by_chain() const {
    std::vector<bool> out(draft_.graph.values.size(), false);
    for (size_t i = 0; i < forms_.size(); ++i)
      for (size_t k = 0; forms_[i] && k < forms_[i]->in.size(); ++k)
        if (forms_[i]->in[k] == Operand::blocked) out[draft_.graph.nodes[i].in[k]] = true;
    return out;
  }

  // Chains as sets of nodes, each by one of them.
  size_t chain_of(size_t node) {
    while (chain_[node] != node) node = chain_[node] = chain_[chain_[node]];
    return node;
  }

  void join_chains() {
    chain_.resize(forms_.size());
    std::iota(chain_.begin(), chain_.end(), size_t{0});
    for (size_t i = 0; i < forms_.size(); ++i) {
      if (!forms_[i]) continue;
      const Node& node = draft_.graph.nodes[i];
      for (size_t k = 0; k < node.in.size(); ++k)
        if (node.in[k] != kNoValue && forms_[i]->in[k] != Operand::as_it_is && is_blocked(node.in[k]))
          chain_[chain_of(i)] = chain_of(producers_[node.in[k]]);
    }
  }

  // A chain pays when the work of its convolutions outweighs its reorders. One convolution of one place never does.
  void leave_out_what_does_not_pay() {
    join_chains();
    std::vector<double> gain(forms_.size(), 0);
    std::vector<int> convolutions(forms_.size(), 0);
    std::unordered_set<ValueId> reordered;
    const std::vector<bool> plain = wanted_plain();
    for (size_t i = 0; i < forms_.size(); ++i) {
      if (!forms_[i]) continue;
      const size_t chain = chain_of(i);
      if (forms_[i]->kind == Form::Kind::convolution) convolutions[chain] += forms_[i]->pointwise ? 1 : 2;
      gain[chain] += work_of(i);
      for (ValueId id : reorders_of(i, plain))
        if (reordered.insert(id).second) gain[chain] -= kReorder * nominal_count(*draft_.facts[id].dims);
    }
    for (size_t i = 0; i < forms_.size(); ++i)
      if (gain[chain_of(i)] <= 0 || convolutions[chain_of(i)] < 2) forms_[i].reset();
  }

  double work_of(size_t i) const {
    if (forms_[i]->kind != Form::Kind::convolution) return 0;
    const Dims& out = *draft_.facts[draft_.graph.nodes[i].out[0]].dims;
    return nominal_count(out) * static_cast<double>(forms_[i]->depth) * (forms_[i]->pointwise ? kPointwise : 1);
  }

  // What has to be reordered for a node that works on blocked channels.
  std::vector<ValueId> reorders_of(size_t i, const std::vector<bool>& wanted_plain) const {
    const Node& node = draft_.graph.nodes[i];
    std::vector<ValueId> out;
    for (size_t k = 0; k < node.in.size(); ++k)
      if (forms_[i]->in[k] == Operand::blocked && !is_blocked(node.in[k]) && !reads_plain(*forms_[i], k, node.in[k]))
        out.push_back(node.in[k]);
    if (wanted_plain[node.out[0]]) out.push_back(node.out[0]);
    return out;
  }

  const Draft& draft_;
  std::vector<uint32_t> producers_;
  std::unordered_set<ValueId> pinned_;
  std::vector<std::optional<Form>> forms_;
  std::vector<size_t> chain_;
};

// The graph with the nodes chosen on blocked channels.
class Rewriter {
 public:
  Rewriter(Draft& draft, const Choice& choice)
      : draft_(draft), choice_(choice), wanted_plain_(choice.wanted_plain()), lanes_(choice.lanes()) {}

  Status run() {
    std::vector<Node> old = std::exchange(draft_.graph.nodes, {});
    const size_t values = draft_.graph.values.size();
    blocked_.assign(values, kNoValue);
    for (size_t i = 0; i < old.size(); ++i) {
      if (choice_.form(i)) {
        TRY_OK(add(old[i], *choice_.form(i)));
      } else {
        draft_.graph.nodes.push_back(std::move(old[i]));
      }
    }
    if (values_ > 0)
      draft_.note = fmt::format("{} values in blocks of {} channels, {} reorders", values_, lanes_, reorders_);
    return {};
  }

 private:
  const std::string& name_of(ValueId id) const { return draft_.graph.values[id].name; }

  Status add(const Node& plain, const Form& form) {
    Node node = layout::in_form(plain, form, draft_.target);
    const ValueId out = plain.out[0];
    for (size_t i = 0; i < node.in.size(); ++i) {
      if (node.in[i] == kNoValue) continue;
      TRY(node.in[i], operand(plain.in[i], form, i, draft_.facts[out].rank()));
    }
    const Dims dims = ops::blocked_dims(*draft_.facts[out].dims, lanes_);
    blocked_[out] = draft_.add_value(name_of(out) + ".blocked", Fact::tensor(DType::f32, dims));
    node.out = {blocked_[out]};
    draft_.graph.nodes.push_back(std::move(node));
    ++values_;
    if (wanted_plain_[out]) give_plain(out);
    return {};
  }

  Result<ValueId> operand(ValueId id, const Form& form, size_t input, size_t rank) {
    if (form.in[input] == Operand::scales) return with_one_more_scale(id);
    if (choice_.reads_plain(form, input, id)) return form.in[input] == Operand::places ? with_one_more_axis(id) : id;
    if (const Tensor* constant = draft_.constant(id)) return blocked_constant(id, *constant, rank);
    if (blocked_[id] != kNoValue) return blocked_[id];
    const Dims dims = ops::blocked_dims(*draft_.facts[id].dims, lanes_);
    blocked_[id] = draft_.add_value(name_of(id) + ".blocked", Fact::tensor(DType::f32, dims));
    if (same_memory(id)) {
      add_reshape(id, blocked_[id]);
    } else {
      add_node(id, "anyshape", "ToBlocked", 1, {id}, blocked_[id]).attributes.push_back({"lanes", lanes_});
      ++reorders_;
    }
    return blocked_[id];
  }

  // One entry per channel of values of that rank.
  Result<ValueId> blocked_constant(ValueId id, const Tensor& constant, size_t rank) {
    const auto [place, first] = constants_.try_emplace({id, rank}, kNoValue);
    if (!first) return place->second;
    std::vector<int64_t> dims(rank, 1);
    dims[1] = constant.count();
    TRY(Tensor laid_out, ops::to_blocked(constant.reshaped(dims), lanes_));
    return place->second = draft_.add_constant(name_of(id) + ".blocked", std::move(laid_out));
  }

  Result<ValueId> with_one_more_scale(ValueId id) {
    const Tensor& given = *draft_.constant(id);
    TRY(Tensor scales, Tensor::allocate(DType::f32, std::vector<int64_t>{given.count() + 1}));
    const auto to = scales.as_mutable<float>();
    for (int64_t i = 0; i < given.count(); ++i) to[static_cast<size_t>(i)] = given.at<float>(i);
    to.back() = 1;
    return draft_.add_constant(name_of(id) + ".blocked", std::move(scales));
  }

  ValueId with_one_more_axis(ValueId id) {
    Dims dims = *draft_.facts[id].dims;
    dims.emplace_back(1);
    const ValueId out = draft_.add_value(name_of(id) + ".places", Fact::tensor(DType::f32, std::move(dims)));
    const int64_t last[] = {-1};
    const ValueId axes = draft_.add_constant(name_of(id) + ".axes", Tensor::of_ints({1}, last));
    add_node(id, "", "Unsqueeze", 13, {id, axes}, out);
    return out;
  }

  void give_plain(ValueId id) {
    if (same_memory(id)) return add_reshape(blocked_[id], id);
    Node& node = add_node(id, "anyshape", "FromBlocked", 1, {blocked_[id]}, id);
    node.attributes.push_back({"channels", layout::channels_of(draft_.facts[id])});
    node.attributes.push_back({"lanes", lanes_});
    ++reorders_;
  }

  // One place, and whole blocks: the entries are in the same order.
  bool same_memory(ValueId id) const {
    const Dims& dims = *draft_.facts[id].dims;
    return layout::channels_of(draft_.facts[id]) % lanes_ == 0 &&
           std::all_of(dims.begin() + 2, dims.end(), [](Dim d) { return d == Dim(1); });
  }

  // All sizes but the first are numbers.
  void add_reshape(ValueId from, ValueId to) {
    std::vector<int64_t> shape;
    for (Dim d : *draft_.facts[to].dims) shape.push_back(d.constant().value_or(0));
    shape[0] = 0;
    Tensor target = Tensor::of_ints({static_cast<int64_t>(shape.size())}, shape);
    add_node(to, "", "Reshape", 13, {from, draft_.add_constant(name_of(to) + ".shape", std::move(target))}, to);
  }

  Node& add_node(ValueId named_after, std::string_view domain, std::string_view type, int64_t version,
                 std::vector<ValueId> in, ValueId out) {
    Node& node = draft_.graph.nodes.emplace_back();
    set_op(node, domain, type, version);
    node.name = name_of(named_after);
    node.in = std::move(in);
    node.out = {out};
    return node;
  }

  Draft& draft_;
  const Choice& choice_;
  std::vector<bool> wanted_plain_;
  int64_t lanes_;
  std::vector<ValueId> blocked_;  // by value: the same blocked, where there is one
  std::map<std::pair<ValueId, size_t>, ValueId> constants_;
  size_t values_ = 0, reorders_ = 0;
};

}  // namespace

Status choose_layouts(Draft& draft) {
  if (draft.target.lanes < 2 || !takes_op(draft.target, "anyshape", "BlockedConv", 1)) return {};
  const Choice choice(draft);
  return Rewriter(draft, choice).run();
}

}  // namespace anyshape
