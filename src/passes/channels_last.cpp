#include "passes/channels_last.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

// Chains of convolutions of bytes, and what stands between them, work on values whose channels are the last axis, so
// that what is multiplied together lies together; values are turned where a chain begins and ends.
namespace anyshape {
namespace {

using channels_last::Form;

// Which nodes work so.
class Choice {
 public:
  explicit Choice(const Draft& draft) : draft_(draft), producers_(draft.producers()), forms_(draft.graph.nodes.size()) {
    for (size_t i = 0; i < forms_.size(); ++i) forms_[i] = channels_last::form_of(draft, draft.graph.nodes[i]);
    while (leave_out_loose_ends()) continue;
  }

  const std::optional<Form>& form(size_t node) const { return forms_[node]; }

  // Values that somebody reads as they were.
  std::vector<bool> wanted_plain() const {
    std::vector<bool> out = read_by(false);
    for (ValueId id : draft_.pinned())
      if (id != kNoValue) out[id] = true;
    return out;
  }

 private:
  bool is_made(ValueId id) const { return producers_[id] != kNoValue && forms_[producers_[id]].has_value(); }

  // Values that the chains read with their channels last, or all that is read as it was.
  std::vector<bool> read_by(bool chain) const {
    std::vector<bool> out(draft_.graph.values.size(), false);
    for (size_t i = 0; i < forms_.size(); ++i) {
      const Node& node = draft_.graph.nodes[i];
      for (size_t k = 0; k < node.in.size(); ++k) {
        const bool moves = forms_[i] && std::count(forms_[i]->move.begin(), forms_[i]->move.end(), k) > 0;
        if (node.in[k] != kNoValue && moves == chain) out[node.in[k]] = true;
      }
    }
    return out;
  }

  bool stays(const Node& node, const Form& form, const std::vector<bool>& read) const {
    if (form.begins) return true;
    const bool follows = std::any_of(form.move.begin(), form.move.end(), [&](size_t k) { return is_made(node.in[k]); });
    return follows && (form.ends || read[node.out[0]]);
  }

  bool leave_out_loose_ends() {
    bool changed = false;
    const std::vector<bool> read = read_by(true);
    for (size_t i = 0; i < forms_.size(); ++i) {
      if (!forms_[i] || stays(draft_.graph.nodes[i], *forms_[i], read)) continue;
      forms_[i].reset();
      changed = true;
    }
    return changed;
  }

  const Draft& draft_;
  std::vector<uint32_t> producers_;
  std::vector<std::optional<Form>> forms_;
};

class Rewriter {
 public:
  Rewriter(Draft& draft, const Choice& choice)
      : draft_(draft), choice_(choice), wanted_plain_(choice.wanted_plain()), last_(wanted_plain_.size(), kNoValue) {}

  Status run() {
    std::vector<Node> old = std::exchange(draft_.graph.nodes, {});
    for (size_t i = 0; i < old.size(); ++i) {
      if (choice_.form(i)) {
        TRY_OK(add(old[i], *choice_.form(i)));
      } else {
        draft_.graph.nodes.push_back(std::move(old[i]));
      }
    }
    if (values_ > 0) draft_.note = fmt::format("{} values with their channels last, {} turned", values_, turned_);
    return {};
  }

 private:
  Status add(const Node& plain, const Form& form) {
    Node node = form.node;
    const ValueId out = plain.out[0];
    for (size_t k : form.move) {
      TRY(node.in[k], operand(node.in[k], draft_.facts[out].rank()));
    }
    last_[out] = add_last(out);
    node.out = {last_[out]};
    draft_.graph.nodes.push_back(std::move(node));
    ++values_;
    if (wanted_plain_[out]) add_transpose(last_[out], out, false);
    return {};
  }

  ValueId add_last(ValueId id) {
    const Fact fact = Fact::tensor(draft_.facts[id].dtype, channels_last::moved(*draft_.facts[id].dims));
    return draft_.add_value(draft_.graph.values[id].name + ".last", fact);
  }

  Result<ValueId> operand(ValueId id, size_t rank) {
    if (last_[id] != kNoValue) return last_[id];
    if (const Tensor* constant = draft_.constant(id)) {
      std::vector<int64_t> dims(rank, 1);
      dims.back() = constant->count();
      return draft_.add_constant(draft_.graph.values[id].name + ".last", constant->reshaped(dims));
    }
    last_[id] = add_last(id);
    add_transpose(id, last_[id], true);
    return last_[id];
  }

  void add_transpose(ValueId from, ValueId to, bool channels_to_back) {
    Node& node = draft_.graph.nodes.emplace_back();
    set_op(node, "", "Transpose", 13);
    node.name = draft_.graph.values[to].name;
    node.in = {from};
    node.out = {to};
    std::vector<int64_t> axes;
    for (size_t i = 0; i < draft_.facts[to].rank(); ++i) axes.push_back(static_cast<int64_t>(i));
    if (channels_to_back)
      std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
    else
      std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
    node.attributes.push_back({"perm", std::move(axes)});
    ++turned_;
  }

  Draft& draft_;
  const Choice& choice_;
  std::vector<bool> wanted_plain_;
  std::vector<ValueId> last_;  // by value: the same with its channels last, where there is one
  size_t values_ = 0, turned_ = 0;
};

}  // namespace

Status put_channels_last(Draft& draft) {
  if (!takes_op(draft.target, "com.microsoft", "QLinearConv", 1)) return {};
  const Choice choice(draft);
  return Rewriter(draft, choice).run();
}

}  // namespace anyshape
