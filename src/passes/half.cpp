#include <algorithm>
#include <utility>

#include "ir/call.h"
#include "kernels/convert.h"
#include "passes/draft.h"

namespace anyshape {
namespace {

// Not bf16: it has so few digits that a result with fewer roundings is another one.
bool is_half(const Fact& fact) { return fact.is_tensor() && fact.dtype == DType::f16; }

// Operators that passes write as others.
constexpr std::string_view kRewritten[] = {"BatchNormalization"};
// Attributes that name an element type of the result, or hold an entry of it.
constexpr const char* kTyped[] = {"to", "dtype", "output_dtype", "value"};

// Every value of 16 bits that a node in f32 makes or reads has a twin in f32. The value itself is made where somebody
// still reads it.
class Widener {
 public:
  explicit Widener(Draft& draft) : draft_(draft), pinned_(draft.pinned()), now_(draft.graph.values.size()) {
    for (ValueId id = 0; id < now_.size(); ++id) now_[id] = id;
    wide_.resize(now_.size(), kNoValue);
    pending_.resize(now_.size(), false);
  }

  Status run() {
    if (draft_.target.rows.empty() || draft_.target.exact) return {};
    if (std::none_of(draft_.facts.begin(), draft_.facts.end(), is_half)) return {};
    for (Node& node : std::exchange(draft_.graph.nodes, {})) {
      for (ValueId& id : node.in)
        if (id != kNoValue && id < now_.size()) id = now_[id];
      if (takes_twin(node)) continue;
      TRY(const bool wide, widens(node));
      if (wide)
        TRY_OK(widen(std::move(node)));
      else
        keep(std::move(node));
    }
    return {};
  }

 private:
  bool half(ValueId id) const { return id != kNoValue && is_half(draft_.facts[id]); }
  bool has_twin(ValueId id) const { return id < wide_.size() && wide_[id] != kNoValue; }

  // A Cast to f32 of what was f32 all the time.
  bool takes_twin(const Node& node) {
    if (!is_op(node, "Cast") || !half(node.in[0]) || !has_twin(node.in[0])) return false;
    const ValueId out = node.out[0];
    if (draft_.facts[out].dtype != DType::f32 || pinned_.contains(out) || draft_.is_demanding(node)) return false;
    now_[out] = wide_[node.in[0]];
    return true;
  }

  Result<bool> widens(const Node& node) {
    if (!node.op || !node.op->pure || draft_.is_demanding(node) || node.has_graph_attribute()) return false;
    if (is_op(node, "Cast") || is_op(node, "CastLike")) return false;
    if (std::none_of(node.in.begin(), node.in.end(), [&](ValueId id) { return half(id); })) return false;
    for (const char* name : kTyped)
      if (node.attribute(name)) return false;
    const bool twin = std::any_of(node.in.begin(), node.in.end(), [&](ValueId id) { return half(id) && has_twin(id); });
    if (node.op->view || among_rewritten(node)) return twin || !node.op->view;
    if (!draft_.target.has_kernel(*node.op)) return false;
    // What works on 16 bits as they are does so until somebody else needs f32.
    if (!twin && taken(node, draft_.facts)) return false;
    Facts wide;
    for (ValueId id : node.in) {
      TRY(Fact fact, id == kNoValue ? Result<Fact>(Fact()) : wide_fact(id));
      wide.push_back(std::move(fact));
    }
    std::vector<const Fact*> facts;
    for (size_t i = 0; i < node.in.size(); ++i) facts.push_back(node.in[i] == kNoValue ? nullptr : &wide[i]);
    return draft_.target.choose(Call(node, node.name, facts)).kernel != nullptr;
  }

  static bool among_rewritten(const Node& node) {
    return std::any_of(std::begin(kRewritten), std::end(kRewritten),
                       [&](std::string_view name) { return is_op(node, name); });
  }

  bool taken(const Node& node, const Facts& known) const {
    std::vector<const Fact*> facts;
    for (ValueId id : node.in) facts.push_back(id == kNoValue ? nullptr : &known[id]);
    return draft_.target.choose(Call(node, node.name, facts)).kernel != nullptr;
  }

  // Of the twin, be it there or not; a constant has one from then on.
  Result<Fact> wide_fact(ValueId id) {
    if (!half(id)) return draft_.facts[id];
    if (has_twin(id)) return draft_.facts[wide_[id]];
    if (const Tensor* narrow = draft_.constant(id)) {
      TRY(Tensor wide, Tensor::allocate(DType::f32, narrow->dims()));
      TRY_OK(kernels::convert(*narrow, wide));
      wide_[id] = draft_.add_constant(draft_.graph.values[id].name + ".f32", std::move(wide));
      return draft_.facts[wide_[id]];
    }
    return typed_as(id, DType::f32);
  }
  Fact typed_as(ValueId id, DType dtype) const {
    Fact fact = draft_.facts[id].type_only();
    fact.dtype = dtype;
    return fact;
  }

  void cast(ValueId from, ValueId to) {
    Node node;
    set_op(node, "", "Cast", 13);
    node.name = draft_.graph.values[from].name + "/Cast";
    node.attributes.push_back({"to", static_cast<int64_t>(draft_.facts[to].dtype)});
    node.in = {from};
    node.out = {to};
    draft_.graph.nodes.push_back(std::move(node));
  }

  // The value itself, where only its twin is there.
  void narrow(ValueId id) {
    if (id >= pending_.size() || !pending_[id]) return;
    pending_[id] = false;
    cast(wide_[id], id);
  }

  Result<ValueId> twin_of(ValueId id) {
    TRY(Fact fact, wide_fact(id));
    if (has_twin(id)) return wide_[id];
    const ValueId twin = draft_.add_value(draft_.graph.values[id].name + ".f32", std::move(fact));
    cast(id, twin);
    return wide_[id] = twin;
  }

  Status widen(Node node) {
    for (ValueId& id : node.in) {
      if (!half(id)) continue;
      TRY(id, twin_of(id));
    }
    const std::vector<ValueId> made = node.out;
    for (ValueId& id : node.out) {
      if (!half(id)) continue;
      wide_[id] = draft_.add_value(draft_.graph.values[id].name + ".f32", typed_as(id, DType::f32));
      pending_[id] = true;
      id = wide_[id];
    }
    draft_.graph.nodes.push_back(std::move(node));
    for (ValueId id : made)
      if (id != kNoValue && pinned_.contains(id)) narrow(id);
    return {};
  }

  void keep(Node node) {
    for (ValueId id : node.in)
      if (half(id)) narrow(id);
    draft_.graph.nodes.push_back(std::move(node));
  }

  Draft& draft_;
  std::unordered_set<ValueId> pinned_;
  std::vector<ValueId> now_, wide_;
  std::vector<bool> pending_;
};

}  // namespace

Status widen_halves(Draft& draft) { return Widener(draft).run(); }

}  // namespace anyshape
